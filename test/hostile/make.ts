// Requests that fit a route's shape, and requests that do not: mostly right with something wrong in it, because what
// is wrong everywhere is refused at the first look.
import type { Random } from '../random.js'
import type { Parameter, Shape } from './grammar.js'

/** Values that belong nowhere. JSON text, so that what no parser should meet can be written too. */
export const oddJson = [
  'null',
  'true',
  '0',
  '-0',
  '-1',
  '1.5',
  '1e999',
  '-1e999',
  '1e-999',
  '5e-324',
  '1e21',
  '9007199254740993',
  '-9223372036854775809',
  '18446744073709551616',
  '""',
  '"\\u0000"',
  '"a\\u0000b"',
  '"\\ud800"',
  '"\\udc00\\ud800x"',
  '"\\u202e\\ufeff"',
  '[]',
  '{}',
  '[[[[[[[[]]]]]]]]',
  '{"__proto__":{"polluted":true}}',
  '{"constructor":{"prototype":{"polluted":true}}}',
  '{"toString":null,"valueOf":"x","hasOwnProperty":1}',
  '{"length":4294967296,"then":"x"}',
  '[{"a":[{"b":[{"c":null}]}]}]',
]

/** Texts that some language or other would run. */
const oddTexts = [
  "'; drop table companies; --",
  '" or 1=1 --',
  "\\'; select pg_sleep(9); --",
  '{companyId: String}',
  '$1',
  '%',
  '_',
  '%_%',
  '\\',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  `\${7*7}{{7*7}}`,
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'a.b.c.d.e.f.g.h.i.j',
  '.',
  '..',
  ' ',
  '\u202e\ufeff\u200b',
  '\ud83d\ude00',
  'é\u0301',
  '\r\nX-Injected: 1',
  'NaN',
  'Infinity',
  '-1',
  '1e999',
  '0x10',
  '٣',
]

const times = [
  '2024-01-02T03:04:05.000Z',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '+275760-09-13T00:00:00Z',
  '2024-02-30T00:00:00Z',
  '2024-01-02',
  '1970-01-01T00:00:00Z',
  'yesterday',
]

export interface World {
  /** Ids that exist, by the name of the member or parameter that carries them: `company_id`. */
  readonly ids: ReadonlyMap<string, readonly string[]>
  /** Keys of flags, names of events and the like. */
  readonly words: readonly string[]
}

export class Maker {
  constructor(
    private readonly random: Random,
    private readonly world: World,
    /** Share of the parts of a body that are replaced by what does not belong there. */
    private readonly wrong = 0.04,
  ) {}

  /** A body as JSON text. */
  body(shape: Shape): string {
    return this.json(shape, '', 0)
  }

  /** A query string with its "?", or ''. */
  query(parameters: readonly Parameter[]): string {
    const { random } = this
    const parts: string[] = []
    for (const parameter of parameters) {
      if (!random.chance(parameters.length > 8 ? 0.25 : 0.6)) continue
      const times = parameter.kind === 'list' ? 1 + random.below(3) : random.chance(0.03) ? 2 : 1
      for (let i = 0; i < times; i++) parts.push(`${parameter.name}${this.value(parameter)}`)
    }
    if (random.chance(0.05)) parts.push(random.pick(['__proto__=1', '=', '&&', '%', 'a[b]=c', 'limit[]=1']))
    return parts.length === 0 ? '' : `?${parts.join('&')}`
  }

  /** A part of a path: an id of the right kind, of another kind, or none at all. */
  segment(name: string): string {
    const { random } = this
    if (random.chance(0.15)) return encodeURIComponent(random.pick(oddTexts))
    if (random.chance(0.03)) return random.pick(['%', '%00', '%ff', '%C3', '%2F..', 'a'.repeat(3_000)])
    return encodeURIComponent(this.idFor(name))
  }

  private value(parameter: Parameter): string {
    const { random } = this
    if (parameter.kind === 'map' && random.chance(0.5))
      return `[${encodeURIComponent(random.pick(['slug', ...oddTexts]))}]=${encodeURIComponent(this.text(''))}`
    return `=${random.chance(0.01) ? random.pick(['%', '%00', '%ff']) : encodeURIComponent(this.given(parameter))}`
  }

  private given({ name, kind, words }: Parameter): string {
    const { random } = this
    if (random.chance(0.1)) return random.pick(oddTexts)
    if (random.chance(0.02)) return 'x'.repeat(random.pick([256, 513, 5_000]))
    if (kind === 'boolean') return random.pick(['true', 'false'])
    if (kind === 'number') return random.pick(['0', '1', '100', '250', '9007199254740991', '-5', '1.5'])
    if (kind === 'time') return random.pick(times)
    if (kind === 'word' && words.length > 0) return random.pick(words)
    if (kind === 'map') return random.pick(['{"slug":"acme"}', '{"__proto__":"x"}', '{"a":1}', '[]', '{'])
    return /id/.test(name) ? this.idFor(name) : this.text(name)
  }

  private json(shape: Shape, name: string, depth: number): string {
    const { random } = this
    if (depth > 12) return 'null'
    if (random.chance(this.wrong)) return random.chance(0.7) ? random.pick(oddJson) : this.monster()
    switch (shape.kind) {
      case 'text':
        return this.textJson(name)
      case 'number':
        return random.chance(0.6) ? String(random.below(10)) : random.pick(oddNumbers)
      case 'boolean':
        return random.pick(['true', 'false'])
      case 'anything':
        return random.pick([...oddJson, '"text"', '12', '{"a":"b","c":{"d":1}}'])
      case 'literal':
        return JSON.stringify(shape.value)
      case 'either':
        return shape.of.length === 0 ? 'null' : this.json(random.pick(shape.of), name, depth + 1)
      case 'list':
        return `[${this.several(() => this.json(shape.of, name, depth + 1))}]`
      case 'record':
        return `{${this.several(() => `${this.keyJson()}:${this.json(shape.of, '', depth + 1)}`)}}`
      case 'object':
        return this.objectJson(shape, depth)
    }
  }

  private objectJson({ members }: Extract<Shape, { kind: 'object' }>, depth: number): string {
    const { random } = this
    const parts: string[] = []
    for (const [name, { shape, optional }] of members) {
      if (random.chance(optional ? 0.5 : 0.02)) continue
      parts.push(`${JSON.stringify(name)}:${this.json(shape, name, depth + 1)}`)
    }
    if (random.chance(0.03)) parts.push(`${this.keyJson()}:${random.pick(oddJson)}`)
    return `{${parts.join(',')}}`
  }

  private several(make: () => string): string {
    const count = this.random.chance(0.01) ? 150 : this.random.below(4)
    return Array.from({ length: count }, make).join(',')
  }

  private keyJson(): string {
    const { random } = this
    if (random.chance(0.7)) return random.pick(['"slug"', '"mail"', '"plan"', '"n"'])
    return random.chance(0.2) ? '"\\ud800\\u0000"' : JSON.stringify(random.pick(oddTexts))
  }

  private textJson(name: string): string {
    const { random } = this
    if (random.chance(0.03)) return random.pick(['"\\u0000"', '"a\\u0000b"', '"\\ud800"', '"\\udc00x"'])
    if (random.chance(0.01)) return JSON.stringify('x'.repeat(random.pick([256, 257, 1_025, 40_000])))
    return JSON.stringify(/_ids?$|^id$/.test(name) ? this.idFor(name) : this.text(name))
  }

  private text(name: string): string {
    const { random } = this
    if (/_at$|time$|trial_end|^now$/.test(name)) return random.pick(times)
    if (/price|cost|rate|decimal|amount/.test(name))
      return random.pick(['1', '0.000000000000000001', '999999999999999999.5', '-1', '1e5', 'x'])
    if (/currency/.test(name)) return random.pick(['usd', 'EUR', 'x'])
    return random.chance(0.75) ? random.pick(this.world.words) : random.pick(oddTexts)
  }

  /** Mostly an id of the kind a name speaks of. */
  private idFor(name: string): string {
    const { random, world } = this
    const kinds = [...world.ids.keys()]
    const meant = random.chance(0.9) ? kinds.filter(kind => speaksOf(name, kind)) : []
    const ids = world.ids.get(random.pick(meant.length > 0 ? meant : kinds)) ?? []
    return ids.length === 0 || random.chance(0.05) ? 'none_22222222222' : random.pick(ids)
  }

  /** Deep, long, or wide. */
  private monster(): string {
    const { random } = this
    const size = random.pick([40, 700, 5_000])
    return random.pick([
      () => '['.repeat(size) + ']'.repeat(size),
      () => `${'{"a":'.repeat(size)}1${'}'.repeat(size)}`,
      () => JSON.stringify('y'.repeat(size * 20)),
      () => `{${Array.from({ length: size }, (_, i) => `"k${i}":"v"`).join(',')}}`,
      () => `${'9'.repeat(size)}`,
      () => `[${Array.from({ length: size }, () => '{}').join(',')}]`,
    ])()
  }
}

const oddNumbers = ['-1', '1e999', '1.5', '2147483648', '9007199254740993', '1e21', '5e-324', '-0', '1e15']

/** Whether a member `excluded_company_ids` speaks of the ids called `company_id`. */
function speaksOf(name: string, kind: string): boolean {
  return name.replace(/s$/, '').endsWith(kind)
}

/** Text cut, doubled, or replaced in one to three places: mostly no JSON any more. */
export function mutate(random: Random, text: string): string {
  let mutated = text
  for (let i = random.below(3); i >= 0; i--) {
    const at = random.below(mutated.length + 1)
    const skip = random.pick([0, 1, 5])
    const bit = random.pick(['', '{', '}', '[', ']', ',', ':', '"', '\\', '\u0000', 'é', '1e999', 'null'])
    mutated = mutated.slice(0, at) + bit + mutated.slice(at + skip)
  }
  return mutated
}
