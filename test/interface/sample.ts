// Bodies made from the document of the interface: the least that is taken, and the same with one thing wrong.
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Document } from '../../src/serve/openapi/openapi.js'

type Schema = Readonly<Record<string, unknown>>
type Body = Readonly<Record<string, unknown>>

/** A body that must be refused, and what is wrong with it. */
export interface Wrong {
  readonly what: string
  readonly body: unknown
}

export class Sampler {
  private readonly ajv = new Ajv2020({ strict: false, validateFormats: false })

  constructor(private readonly document: Document) {
    this.ajv.addSchema({ $id: 'openapi.json', ...document }, 'openapi.json')
  }

  /** Only what is required, each member as short as may be. */
  least(schema: Schema): unknown {
    const {
      $ref,
      anyOf,
      enum: words,
      type,
      properties,
      required,
      items,
      minItems,
      minLength,
      minimum,
    } = this.resolved(schema)
    if ('const' in schema) return schema.const
    if ($ref !== undefined) throw new Error('resolved')
    if (Array.isArray(anyOf)) return this.least(anyOf.find(one => one.type !== 'null') ?? anyOf[0])
    if (Array.isArray(words)) return words[0]
    switch (type) {
      case 'object': {
        const names = (required ?? []) as readonly string[]
        const of = (properties ?? {}) as Readonly<Record<string, Schema>>
        return Object.fromEntries(names.map(name => [name, this.least(of[name]!)]))
      }
      case 'array':
        return Array.from({ length: Number(minItems ?? 0) }, () => this.least(items as Schema))
      case 'string':
        return 'x'.repeat(Math.max(1, Number(minLength ?? 1)))
      case 'boolean':
        return false
      case 'integer':
      case 'number':
        return Math.max(1, Number(minimum ?? 1))
      default:
        return null
    }
  }

  /** The body without each member it needs, and with a value of another type in place of each it knows. */
  wrong(schema: Schema): readonly Wrong[] {
    const {
      type,
      properties = {},
      required = [],
    } = this.resolved(schema) as {
      type?: string
      properties?: Readonly<Record<string, Schema>>
      required?: readonly string[]
    }
    const least = this.least(schema) as Body
    const without = required.map(name => {
      const { [name]: _, ...rest } = least
      return { what: `without ${name}`, body: rest }
    })
    const otherType = Object.entries(properties).flatMap(([name, member]) => {
      const value = this.misfit(member)
      return value === undefined
        ? []
        : [{ what: `${name}: ${JSON.stringify(value)}`, body: { ...least, [name]: value } }]
    })
    return [
      type === 'array' ? { what: 'an object', body: {} } : { what: 'a list', body: [] },
      { what: 'text', body: 'x' },
      { what: 'null', body: null },
      ...without,
      ...otherType,
    ]
  }

  /** A value that the schema does not allow, of the commonest types; undefined where it allows them all. */
  private misfit(schema: Schema): unknown {
    const defs = { $defs: {}, ...rebased(schema) }
    const allows = this.ajv.compile(defs)
    return [true, 'x', 5, [5], { x: 5 }].find(value => !allows(value))
  }

  private resolved(schema: Schema): Schema {
    const { $ref } = schema
    if (typeof $ref !== 'string') return schema
    const found = $ref
      .slice(2)
      .split('/')
      .reduce<unknown>((at, name) => (at as Body)[name], this.document)
    return this.resolved(found as Schema)
  }
}

/** The same schema with its references led to the document. */
function rebased(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/')) as Schema
}
