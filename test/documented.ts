// Whole answers held against the members the specification documents: nothing missing, nothing undocumented, and
// every value of the kind it names. `test/fixtures/interface.json` says for each operation what it answers.
import { readFileSync } from 'node:fs'
import { currencyCodes } from '../schemas/enums.js'
import { routes } from '../src/serve/routes.js'

/** One operation of the specification. */
export interface Endpoint {
  readonly tag: 'seed' | 'ext'
  readonly method: string
  /** With `{name}` parameters. */
  readonly path: string
  readonly status: number
  /** The type of `data`; null: no body. */
  readonly data: string | null
  /** Statuses of refusals. */
  readonly errors: readonly number[]
}

/** Member → `R type`, `O type` or `ON type`; or a choice of types. */
type Members = Readonly<Record<string, string>>

const { endpoints, types, words } = JSON.parse(
  readFileSync(new URL('../../test/fixtures/interface.json', import.meta.url), 'utf8'),
) as {
  readonly endpoints: readonly Endpoint[]
  readonly types: Record<string, Members | string>
  readonly words: Readonly<Record<string, readonly string[]>>
}

/** When and from where a key is taken, and its values: chosen for each key, beyond the interface document. */
const keyMembers: Members = {
  scopes: 'R list<admin|capture|check|read|write>',
  disabled: 'R boolean',
  not_before: 'ON datetime',
  expires_at: 'ON datetime',
  allowed_addresses: 'ON list<string>',
  last_four: 'ON string',
  previous_value_until: 'ON datetime',
}

/** The audit log as evidence: who asked from where, and the chain. */
const auditMembers: Members = {
  kind: 'R auth_failure|change|read|system',
  remote_ip: 'ON string',
  user_agent: 'ON string',
  request_id: 'ON string',
  seq: 'ON long',
  hash: 'ON string',
  feature_name: 'ON string',
  plan_name: 'ON string',
}

/** Members of the console: their roles, and how they sign in. */
const memberMembers: Members = {
  console_roles: 'R map<string,string>',
  disabled: 'R boolean',
  source: 'R string',
  signed_in_at: 'ON datetime',
}

/** Where the shapes are not the last word, and what is. */
const settled: Readonly<Record<string, Members>> = {
  // a feature shows the event_source it takes (decision 12)
  Feature: { event_source: 'O inference|track' },
  FeatureDetail: { event_source: 'O inference|track' },
  // "fields seen" in the interface document, optional elsewhere
  FlagInPlan: {
    feature: 'O Feature',
    feature_id: 'ON string',
    last_checked_at: 'ON datetime',
    maintainer_account_member_id: 'ON string',
  },
  // rules of flags are Rules too (FlagInPlan and Rule in the interface document)
  RuleDetail: { account_id: 'R string' },
  // how it compares, where it says so (FE-69)
  Condition: { comparable_type: 'O string' },
  RuleConditionDetail: {
    account_id: 'R string',
    trait_definition: 'O TraitDefinition',
    comparison_trait_definition: 'O TraitDefinition',
    credit_id: 'ON string',
    consumption_rate: 'ON double',
    quantity_rates: 'O map<string,double>',
    comparable_type: 'O string',
  },
  // a created environment is an Environment in the interface document
  EnvironmentDetail: { require_context_signature: 'R boolean' },
  // what publishable keys may do, where it was set; whose word is taken for a trait, where that was allowed
  Environment: { publishable_limits: 'O map<string,any>', lowercase_keys: 'O map<string,list<string>>' },
  EntityTraitDefinition: { publishable_writes: 'O boolean' },
  // an override may carry rates by quantity too (decision 12)
  CompanyOverride: { quantity_rates: 'O map<string,double>' },
  // publishable keys are not secrets (decision 13)
  ApiKey: { secret: 'ON string', ...keyMembers },
  ApiKeyCreate: keyMembers,
  AccountMember: memberMembers,
  // a key says what it may do; a person who they are
  WhoAmI: {
    account_member: 'ON any',
    name: 'R string',
    scopes: 'R list<string>',
    readonly: 'R boolean',
    expires_at: 'ON datetime',
  },
  // a change shows what it changed
  AuditLog: { ...auditMembers, before: 'ON string' },
  AuditLogList: auditMembers,
  // the cost of an inference event, from which price (decision 18), and the event it was made from (EV-66)
  EventDetail: { cost: 'ON string', currency: 'ON string', price_id: 'ON string', derived_from: 'ON string' },
  // how a plan grant renews, of one that does (decision 30)
  BillingPlanCreditGrant: { renewal_enabled: 'O boolean', renewal_period: 'O billing_period|first_of_month' },
  // a bound on what is spent in a window, and the group it is for (BU-1)
  CreditSpendPolicy: {
    period: 'O hour|day|week|month',
    max_spend: 'O double',
    unit: 'O credits|cost',
    currency: 'O string',
    mode: 'O hard|soft',
    group_trait: 'O string',
    group_value: 'O string',
  },
  // what is wrong with an event, where `report=true` asks for it (EV-7)
  // and whether its idempotency key was used before (decision 23)
  RawEvent: { error: 'ON string', duplicate: 'O boolean', content_differs: 'O boolean' },
  // the period that a draft is for, and its lines (RA-23)
  Invoice: { billing_period_id: 'O string', lines: 'O list<any>' },
  // a pause (MI-20), and what a preview tells of each company and in sum (MI-1…5)
  PlanVersionMigration: { paused_at: 'ON datetime' },
  PlanVersionMigrationPreview: { totals: 'R any' },
  PlanVersionMigrationPreviewCompany: {
    gains: 'R list<any>',
    losses: 'R list<any>',
    exceeded_limits: 'R list<any>',
    prices: 'R list<any>',
    failure_reason: 'ON string',
    end_of_billing_period_at: 'ON datetime',
  },
  // why this context could not be checked (FE-92)
  CheckFlags: { error: 'O string' },
}
/** Notifications of billing. */
const billingNotices = [
  'billing.overage_window.closed',
  'billing.period.closed',
  'billing.threshold.reached',
  'spend_policy.reached',
]
Object.assign(words, { WebhookRequestType: [...words.WebhookRequestType!, ...billingNotices] })
for (const [name, members] of Object.entries(settled)) Object.assign(types[name]!, members)

/** Documented without an answer, and served as its working form is. */
const answers: Readonly<Record<string, string>> = { 'GET /billing/credits/ledger': 'list<CreditEventLedger>' }

/** Operations by decision, whose paths others of the specification would match. */
const decided = [
  ['/billing/credits/lease', 'list<CreditLease>'],
  ['/billing/credits/lease/count', 'CountResponse'],
  ['/billing/credits/lease/{lease_id}', 'CreditLease'],
  ['/billing/credits/reservations', 'list<CreditReservation>'],
  ['/billing/credits/reservations/count', 'CountResponse'],
  ['/billing/credits/reservations/{reservation_id}', 'CreditReservation'],
].map(
  ([path, data]) =>
    ({ tag: 'ext', method: 'GET', path: path!, status: 200, data: data!, errors: [] }) as const,
)

export { endpoints, types }

/** The operation that a request is for; null for one beyond the specification. Words win over parameters. */
export function endpointOf(method: string, url: string): Endpoint | null {
  const path = url.split('?')[0]!
  // short lists have rows of their own
  if (own.has(path) || url.includes('view=summary')) return null
  const parts = path.split('/')
  const fits = [...decided, ...endpoints].filter(
    one => one.method === method && matches(one.path.split('/'), parts),
  )
  const least = (one: Endpoint) => one.path.split('{').length
  return fits.sort((a, b) => least(a) - least(b))[0] ?? null
}

/** Paths of Tollgate's own that look like `{id}` of a documented one. */
const own: ReadonlySet<string> = new Set(['/audit-log/chain', '/audit-log/head', '/events/count'])

function matches(template: readonly string[], parts: readonly string[]): boolean {
  return (
    template.length === parts.length &&
    template.every((part, at) => part.startsWith('{') || part === parts[at])
  )
}

/** Faults in the body of a success, mostly none; each is named by its place. */
export function faultsOf({ method, path, data: documented }: Endpoint, body: unknown): readonly string[] {
  const data = answers[`${method} ${path}`] ?? documented
  const faults: string[] = []
  const say = (place: string, what: string) => void faults.push(`${place} ${what}`)
  if (data === null) return faults
  const { data: shown, params, ...more } = (body ?? {}) as Readonly<Record<string, unknown>>
  if (typeof params !== 'object' || params === null) say('params', 'missing')
  for (const name of Object.keys(more)) say(name, 'undocumented')
  check(shown, data, 'data', say)
  return faults
}

/** Writes that may be durable before their row is shown: these document 202, and nothing else does. */
const mayLag = routes.filter(route => route.mayLag)

/** Faults of an answer that says only that a write was taken (decision 32). */
export function takenFaults(method: string, url: string, body: unknown): readonly string[] {
  const parts = url.split('?')[0]!.split('/')
  const verb = method === 'DELETE' ? 'del' : method.toLowerCase()
  const known = mayLag.some(
    route => route.method === verb && matches(route.path.replaceAll(/:\w+/g, '{}').split('/'), parts),
  )
  const { data, params, ...more } = (body ?? {}) as Readonly<Record<string, unknown>>
  const faults = known ? [] : ['202 undocumented']
  if (JSON.stringify(data) !== '{"taken":true}') faults.push(`data is ${JSON.stringify(data)}`)
  if (typeof params !== 'object' || params === null) faults.push('params missing')
  return [...faults, ...Object.keys(more).map(name => `${name} undocumented`)]
}

type Say = (place: string, what: string) => void

const scalars: Readonly<Record<string, (value: unknown) => boolean>> = {
  any: () => true,
  string: value => typeof value === 'string',
  boolean: value => typeof value === 'boolean',
  long: value => Number.isInteger(value),
  double: value => typeof value === 'number',
  datetime: value => typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value),
}

function check(value: unknown, type: string, place: string, say: Say): void {
  const scalar = scalars[type]
  if (scalar !== undefined) {
    if (!scalar(value)) say(place, `is ${JSON.stringify(value)}, not a ${type}`)
    return
  }
  const part = /^(list|map)<(?:string,)?(.+)>$/.exec(type)
  if (part !== null) return checkEach(value, part[1] === 'list', part[2]!, place, say)
  const known = types[type]
  if (typeof known === 'object') return checkMembers(value, known, place, say)
  if (known !== undefined) return checkChoice(value, known.split(' | '), place, say)
  // its words are the list of the interface document, section 2
  const choice = type === 'CurrencyCode' ? currencyCodes : (words[type] ?? type.split('|'))
  if (!choice.some(word => word === value))
    say(place, `is ${JSON.stringify(value)}, not one of ${choice.join(', ')}`)
}

function checkEach(value: unknown, isList: boolean, of: string, place: string, say: Say): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) !== isList)
    return say(place, `is no ${isList ? 'list' : 'map'}`)
  for (const [name, one] of Object.entries(value))
    check(one, of, isList ? `${place}[]` : `${place}.${name}`, say)
}

function checkMembers(value: unknown, members: Members, place: string, say: Say): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return say(place, 'is no object')
  const found = value as Readonly<Record<string, unknown>>
  for (const name of Object.keys(found))
    if (members[name] === undefined) say(`${place}.${name}`, 'undocumented')
  for (const [name, said] of Object.entries(members)) {
    const [flag, type] = said.split(/ (.*)/) as [string, string]
    const member = found[name] ?? null
    if (member !== null) check(member, type, `${place}.${name}`, say)
    else if (flag === 'R') say(`${place}.${name}`, name in found ? 'is null' : 'missing')
  }
}

/** One of several types, which nothing tells apart. */
function checkChoice(value: unknown, choice: readonly string[], place: string, say: Say): void {
  const heard = choice.map(type => {
    const faults: string[] = []
    check(value, type, place, (where, what) => void faults.push(`${where} ${what}`))
    return faults
  })
  if (heard.some(faults => faults.length === 0)) return
  for (const fault of heard.sort((a, b) => a.length - b.length)[0]!) say(fault, `(of ${choice.join(', ')})`)
}
