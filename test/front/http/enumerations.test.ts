// Every enumeration of the interface document is checked in every body: found by the names of members, in the document
// that is made from the parsers' own types.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { currencyCodes } from '../../../schemas/enums.js'
import { type Json, openApi } from '../../../src/serve/openapi/openapi.js'
import { routes } from '../../../src/serve/routes.js'

interface Schema extends Json {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: readonly string[]
  readonly const?: unknown
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
}

const { types, words } = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/interface.json', import.meta.url), 'utf8'),
) as {
  readonly types: Readonly<Record<string, Readonly<Record<string, string>> | string>>
  readonly words: Readonly<Record<string, readonly string[]>>
}

/** Members of the same name that the document types as text, and what holds them to their words if anything does. */
const plainText: Readonly<Record<string, string>> = {
  'POST /billing/coupons currency': 'a coupon is shown as its provider tells it',
  'POST /billing/credits/spend-policies currency':
    'either case; the handler takes the currencies of the credit’s prices',
  'POST /billing/invoices currency': 'Invoice.currency is a string',
  'POST /billing/invoices collection_method': 'Invoice.collection_method is a string',
  'POST /billing/credits icon': 'the icon of a credit is a string; IconColor is that of plans',
  'PUT /billing/credits/{credit_id} icon': 'likewise',
  'POST /features icon': 'the icon of a feature is a string',
  'POST /features/billing-linked icon': 'likewise',
  'PUT /features/{feature_id} icon': 'likewise',
  'POST /billing/price/upsert interval': 'also takes "quarter"; the handler refuses other words',
  'POST /billing/subscription/upsert interval': 'BillingSubscription.interval is a string',
  'POST /billing/subscription/upsert product_external_ids[].interval': 'likewise',
  'POST /billing/subscription/upsert status':
    'BillingSubscription.status is a string; the handler refuses other words',
  'PUT /companies/{company_id}/billing-details address.state': 'a state of a country',
  'PUT /plans/version/{plan_version_id}/publish address.state': 'likewise',
  'POST /events body.currency': 'ISO 4217, of what an inference cost',
  'POST /event-batch events[].body.currency': 'likewise',
  'PUT /model-prices [].currency': 'likewise',
  'POST /catalog/apply catalog.model_prices[].currency': 'likewise',
  'POST /catalog/diff catalog.model_prices[].currency': 'likewise',
  'POST /catalog/apply catalog.credits[].icon': 'as in POST /billing/credits',
  'POST /catalog/diff catalog.credits[].icon': 'likewise',
  'POST /catalog/apply catalog.features[].icon': 'as in POST /features',
  'POST /catalog/diff catalog.features[].icon': 'likewise',
}

/** Member name → the words that the document has for it, in any type. */
function documented(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>()
  for (const members of Object.values(types)) {
    if (typeof members === 'string') continue
    for (const [name, said] of Object.entries(members)) {
      const type = said.replace(/^\S+ /, '').replace(/^list<(.*)>$/, '$1')
      const choice = type === 'CurrencyCode' ? currencyCodes : (words[type] ?? type.split('|'))
      if (choice.length < 2 || choice.some(word => types[word.trim()] !== undefined)) continue
      const known = found.get(name) ?? new Set()
      for (const word of choice) known.add(word)
      found.set(name, known)
    }
  }
  return found
}

const document = openApi(routes)
const enumerated = documented()

function seen(schema: Schema | undefined): Schema | undefined {
  return schema?.$ref === undefined
    ? schema
    : seen(document.components.schemas[schema.$ref.split('/').at(-1)!] as Schema | undefined)
}

/** Allowed values of a member, without null. */
function leaves(given: Schema | undefined): Schema[] {
  const schema = seen(given)
  if (schema === undefined) return []
  const choice = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.items ? [schema.items] : [])]
  return choice.length > 0 ? choice.flatMap(leaves) : [schema]
}

/** Every member of a body that has the name of an enumeration. */
function namesakes(
  given: Schema | undefined,
  place: string,
  above: readonly Schema[] = [],
): [place: string, name: string, member: Schema][] {
  const schema = seen(given)
  if (schema === undefined || above.includes(schema)) return []
  const inside = [...above, schema]
  const choice = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  return [
    ...choice.flatMap(one => namesakes(one, place, inside)),
    ...(schema.items ? namesakes(schema.items, `${place}[]`, inside) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
      const at = place === '' ? name : `${place}.${name}`
      const own: [string, string, Schema][] = enumerated.has(name) ? [[at, name, member]] : []
      return [...own, ...namesakes(member, at, inside)]
    }),
  ]
}

t.test('(D9) a member with the name of an enumeration takes words, not any text', async t => {
  const open = new Set<string>()
  let checked = 0
  for (const [path, operations] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(operations)) {
      const { content } = (operation.requestBody ?? {}) as { content?: Record<string, { schema: Schema }> }
      for (const [place, name, member] of namesakes(content?.['application/json']?.schema, '')) {
        const title = `${method.toUpperCase()} ${path} ${place}`
        const texts = leaves(member).filter(
          leaf => leaf.type === 'string' || leaf.enum !== undefined || typeof leaf.const === 'string',
        )
        checked++
        if (texts.some(leaf => leaf.enum === undefined && leaf.const === undefined)) open.add(title)
        else if (name === 'currency') {
          const taken = texts.flatMap(leaf => leaf.enum ?? [leaf.const as string])
          t.same([...new Set(taken)].sort(), [...currencyCodes].sort(), `${title} is a CurrencyCode`)
        }
      }
    }
  t.same([...open].sort(), Object.keys(plainText).sort(), 'members that are text, each with its reason')
  t.ok(checked > 150, `${checked} members`)
})
