// Generates examples for the OpenAPI document from schemas: values that fit, with names typical of the interface.
// Every build produces the same ones.
import { derivedId } from '../../core/values/id.js'

interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  /** The items of a tuple. */
  readonly prefixItems?: readonly Schema[]
  readonly additionalProperties?: boolean | Schema
  readonly format?: string
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly minItems?: number
}

type Named = Readonly<Record<string, Schema>>

/** Deeper objects are left out where the schema allows it. */
const depthMax = 3
/** Members shown of an object without required ones. */
const membersShown = 3

/** Id prefixes by the noun before `_id`, or by the object whose `id` it is; the longest suffix wins. */
const prefixes: Readonly<Record<string, string>> = {
  account: 'acct_',
  account_member: 'acme_',
  add_on: 'plan_',
  api_key: 'apik_',
  audit_log: 'audt_',
  billing: 'ext_',
  billing_profile: 'bprf_',
  billing_credit: 'bcrd_',
  bundle: 'bcbn_',
  company: 'comp_',
  company_membership: 'cmem_',
  company_override: 'cmov_',
  condition: 'cond_',
  coupon: 'bilcpn_',
  credit: 'bcrd_',
  credit_type: 'bcrd_',
  customer: 'bilcus_',
  definition: 'trt_',
  entity: 'comp_',
  entity_key: 'eky_',
  entity_key_definition: 'ekey_',
  entity_trait: 'etrt_',
  entity_trait_definition: 'trt_',
  environment: 'env_',
  event: 'evt_',
  feature: 'feat_',
  flag: 'flag_',
  grant: 'bcgr_',
  invoice: 'bilinv_',
  lease: 'bcle_',
  license: 'lice_',
  plan: 'plan_',
  plan_change: 'plch_',
  plan_entitlement: 'pltl_',
  plan_grant: 'pcgr_',
  plan_group: 'plgr_',
  plan_move: 'pmov_',
  plan_version: 'plvr_',
  plan_version_company_migration: 'pvcm_',
  plan_version_migration: 'pvmg_',
  custom_plan_billing: 'cpbl_',
  product: 'bilp_',
  price: 'bilpp_',
  reservation: 'bcle_',
  resource: 'plan_',
  rule: 'rule_',
  spend_policy: 'cspl_',
  subscription: 'bilsub_',
  trait: 'trt_',
  user: 'user_',
  webhook: 'whk_',
  webhook_event: 'whev_',
}

/** Text examples by member name. */
const texts: Readonly<Record<string, string>> = {
  description: 'To begin with',
  email: 'ada@acme.example',
  url: 'https://acme.example/hooks',
  key: 'exports',
  flag_key: 'exports',
  feature_key: 'exports',
  event: 'export',
  event_name: 'export',
  event_subtype: 'export',
  trait: 'seats',
  currency: 'usd',
  idempotency_key: 'call-1',
  reason: 'as agreed',
  note: 'as agreed',
  method: 'POST',
  icon: 'gear',
  remote_addr: '127.0.0.1',
  remote_ip: '127.0.0.1',
  user_agent: 'curl/8.5.0',
  field: 'name',
  duration: 'once',
  interval: 'month',
  collection_method: 'charge_automatically',
  payment_method_type: 'card',
  event_payload_key: 'value',
  external_resource_id: 'resource-1',
  bundle_name: 'A thousand more',
  price_per_unit_decimal: '900.5',
  label: 'Night builds',
  color: '#3366cc',
  provider: 'models.example',
  model: 'large-1',
  input: '0.000003',
  output: '0.000015',
}

/** Names of objects, by the first word of their type. */
const names: Readonly<Record<string, string>> = {
  api: 'Billing service',
  billing: 'AI credits',
  environment: 'Staging',
  feature: 'Exports',
  flag: 'Exports',
  plan: 'Starter',
  rule: 'Starter',
  user: 'Ada',
  webhook: 'Our ledger',
}

const at = '2026-11-20T06:05:54.981Z'

/**
 * An example of a schema.
 *
 * named    the schemas that references point to.
 * returns  a value that fits; optional members are left out.
 */
export function exampleOf(schema: object, named: object): unknown {
  return new Examples(named as Named).of(schema as Schema, '', '', 0)
}

/** An example of a path parameter: an id of its kind, or the key that other examples use. */
export function parameterExample(name: string): string {
  return textOf({ type: 'string' }, name, '')
}

class Examples {
  private readonly within: string[] = []

  constructor(private readonly named: Named) {}

  /** `name`: the member's name; `owner`: the object that contains it. */
  of(schema: Schema, name: string, owner: string, depth: number): unknown {
    if (schema.const !== undefined) return schema.const
    if (schema.enum) return schema.enum.find(value => value !== null) ?? null
    if (schema.$ref) return this.referred(schema.$ref.split('/').at(-1)!, name, depth)
    const choices = schema.anyOf ?? schema.oneOf
    if (choices) return this.chosen(choices, name, owner, depth)
    switch (schema.type) {
      case 'object':
        return this.object(schema, name, owner, depth)
      case 'array':
        return this.array(schema, name, owner, depth)
      case 'string':
        return textOf(schema, name, owner)
      case 'integer':
      case 'number':
        return Math.max(schema.minimum ?? 0, schema.exclusiveMinimum === undefined ? 0 : 1, numberOf(name))
      case 'boolean':
        return /^(deleted|value|is_active|valid)$/.test(name)
      case 'null':
        return null
      default:
        return {}
    }
  }

  private referred(target: string, name: string, depth: number): unknown {
    const owner = target.replaceAll(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase()
    this.within.push(target)
    const made = this.of(this.named[target] ?? {}, name, owner, depth)
    this.within.pop()
    return made
  }

  // Null if allowed and the maximum depth is reached; else the first choice that is not null.
  private chosen(choices: readonly Schema[], name: string, owner: string, depth: number): unknown {
    const nullable = choices.some(({ type }) => type === 'null')
    const others = choices.filter(({ type }) => type !== 'null')
    const first = others.find(choice => !this.isDeep(choice, depth)) ?? others[0]
    if (first === undefined || (nullable && this.isDeep(first, depth))) return null
    return this.of(first, name, owner, depth)
  }

  private isDeep({ $ref, type }: Schema, depth: number): boolean {
    if ($ref === undefined) return type === 'object' && depth >= depthMax
    const target = $ref.split('/').at(-1)!
    return this.within.includes(target) || (depth >= depthMax && this.named[target]?.type === 'object')
  }

  private array(schema: Schema, name: string, owner: string, depth: number): unknown {
    if (schema.prefixItems) return schema.prefixItems.map(item => this.of(item, name, owner, depth))
    const items = schema.items ?? {}
    if (this.isDeep(items, depth) && !schema.minItems) return []
    const one = this.of(items, name.replace(/ies$/, 'y').replace(/s$/, ''), owner, depth)
    return Array.from({ length: Math.max(1, schema.minItems ?? 1) }, () => one)
  }

  private object(schema: Schema, name: string, owner: string, depth: number): unknown {
    const { properties = {}, required = [], additionalProperties } = schema
    const names = Object.keys(properties)
    if (names.length === 0) return mapOf(name, additionalProperties)
    const shown = required.length > 0 ? required : names.slice(0, membersShown)
    const members = names
      .filter(member => shown.includes(member))
      .map(member => [member, this.of(properties[member]!, member, owner, depth + 1)] as const)
    return Object.fromEntries(members)
  }
}

function mapOf(name: string, values: boolean | Schema | undefined): unknown {
  if (name.endsWith('keys')) return { slug: 'acme' }
  const type = typeof values === 'object' ? values.type : undefined
  return name.endsWith('traits') && type === undefined ? { seats: 25 } : {}
}

function textOf({ format }: Schema, name: string, owner: string): string {
  if (
    format === 'date-time' ||
    /(_at|_date|_time|^time|_at_(min|max)|valid_until|^now|_end|_start)$/.test(name)
  )
    return at
  if (format === 'uri') return texts.url!
  if (format === 'email') return texts.email!
  if (format === 'uuid') return '018f5f0c-7d1e-7c3a-9b52-6f2d4c1e8a90'
  if (texts[name] !== undefined) return texts[name]
  if (/(^|_)name$/.test(name)) return names[owner.split('_', 1)[0]!] ?? 'Acme'
  if (name.endsWith('email')) return texts.email!
  if (name.endsWith('external_id')) return `${name.split('_', 1)[0]}-1`
  const noun = name === 'id' ? owner : /^(.+?)_ids?(_to|_from)?$/.exec(name)?.[1]
  if (noun === undefined) return name.endsWith('amount') ? '100' : name.replaceAll('_', ' ')
  // An object has the same id everywhere in the document.
  const prefix = prefixOf(noun)
  return derivedId(prefix, prefix)
}

function prefixOf(noun: string): string {
  for (let words = noun.split('_'); words.length > 0; words = words.slice(1)) {
    const prefix = prefixes[words.join('_')]
    if (prefix !== undefined) return prefix
  }
  // The view's name begins with the object's: `plan_entitlement_detail`.
  for (let words = noun.split('_'); words.length > 0; words = words.slice(0, -1)) {
    const prefix = prefixes[words.join('_')]
    if (prefix !== undefined) return prefix
  }
  return 'id_'
}

function numberOf(name: string): number {
  if (/amount|quantity|balance|value|allocation|remaining|total/.test(name)) return 100
  if (/price/.test(name)) return 900
  if (/status$|code$/.test(name)) return 200
  return 1
}
