// Companies and users of an import.
import type { CompanyDetail } from '../../../schemas/companies.js'
import type { PlanDetail } from '../../../schemas/plans.js'
import type { UserDetail } from '../../../schemas/users.js'
import { keysLabel, keysQuery } from './keys.js'
import {
  byEntity,
  type Context,
  changedBy,
  difference,
  type Kind,
  made,
  type Outcome,
  taken,
} from './kind.js'
import { MemberFault, type Row } from './members.js'

const text = { type: 'text' } as const
const time = { type: 'time' } as const

export const companies: Kind = {
  name: 'companies',
  members: {
    keys: { type: 'map', required: true },
    name: { type: 'text', clears: true },
    traits: { type: 'traits', clears: true },
    plan: { type: 'text', clears: true },
    add_ons: { type: 'list', clears: true },
    interval: text,
    currency: text,
    billing_cycle_anchor: time,
    trial_end: time,
    created_at: time,
    last_seen_at: time,
  },
  label: ({ keys }) => keysLabel(keys),
  ...byEntity('keys', writeCompany),
}

export const users: Kind = {
  name: 'users',
  members: {
    keys: { type: 'map', required: true },
    name: { type: 'text', clears: true },
    traits: { type: 'traits', clears: true },
    company: { type: 'map' },
    companies: { type: 'json' },
    created_at: time,
    last_seen_at: time,
  },
  label: ({ keys }) => keysLabel(keys),
  ...byEntity('keys', writeUser),
}

interface Entity {
  readonly id: string
  readonly name: string
  readonly keys: readonly { readonly key: string; readonly value: string }[]
  readonly traits: Readonly<Record<string, unknown>>
  readonly last_seen_at: string | null
}

/** The entity that has the keys of a record; null: none. errors: MemberFault where two have them. */
async function lookUp<T>({ client }: Context, path: string, keys: unknown): Promise<T | null> {
  const found = await client.attempt('GET', `${path}/lookup?${keysQuery(keys)}`)
  if (found.status !== 404) return taken<T>(found)
  const pairs = Object.entries(keys as Row)
  if (pairs.length > 1)
    for (const [name, value] of pairs) {
      const one = await client.attempt('GET', `${path}/lookup?${keysQuery({ [name]: value })}`)
      if (one.error === null) throw new MemberFault('keys', `keys: they match several of ${path.slice(1)}`)
    }
  return null
}

/** A record with its keys as the entity has them: values of some names are kept in lower case (CU-4). */
async function asKept(context: Context, path: string, entity: Entity, row: Row): Promise<Row> {
  const keys: Record<string, unknown> = { ...(row.keys as Row) }
  for (const [name, value] of Object.entries(keys)) {
    const had = entity.keys.find(one => one.key === name)?.value
    if (had === undefined || had === value || had !== String(value).toLowerCase()) continue
    const found = await lookUp<Entity>(context, path, { [name]: value })
    if (found?.id === entity.id) keys[name] = had
  }
  return { ...row, keys }
}

/** Members of an entity that a record changes. */
function entityChanges(entity: Entity, row: Row): string[] {
  const changes: string[] = []
  const compare = (member: string, from: unknown, to: unknown): void => {
    if ((from ?? '') !== (to ?? '')) changes.push(difference(member, from, to))
  }
  for (const [name, value] of Object.entries((row.keys ?? {}) as Row)) {
    if (name === 'id') continue
    compare(`keys.${name}`, entity.keys.find(one => one.key === name)?.value, value)
  }
  if (row.name !== undefined) compare('name', entity.name, row.name)
  for (const [name, value] of flat((row.traits ?? {}) as Row)) {
    const had = entity.traits[name]
    if (value === null ? had !== undefined : had === undefined || !isSame(had, value))
      changes.push(difference(`traits.${name}`, had, value))
  }
  const seen = row.last_seen_at as string | undefined
  if (seen !== undefined && (entity.last_seen_at === null || entity.last_seen_at < seen))
    compare('last_seen_at', entity.last_seen_at, seen)
  return changes
}

/** Traits by the whole of their names. */
function* flat(traits: Row, before = ''): Generator<readonly [string, unknown]> {
  for (const [name, value] of Object.entries(traits))
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      yield* flat(value as Row, `${before}${name}.`)
    else yield [before + name, value]
}

/** Values are kept as text; numbers in their shortest form (CU-32). */
function isSame(had: unknown, value: unknown): boolean {
  if (Array.isArray(value)) return had === JSON.stringify(value)
  return String(had) === String(value) || (typeof had === 'number' && had === Number(value))
}

function entityBody(row: Row, more: Row): Row {
  const { keys, name, traits, created_at, last_seen_at } = row
  return { keys, name, traits, created_at, last_seen_at, ...more }
}

async function writeCompany(context: Context, row: Row): Promise<Outcome> {
  const wanted = await wantedPlans(context, row)
  const had = await lookUp<CompanyDetail>(context, '/companies', row.keys)
  const own = had === null ? [] : entityChanges(had, await asKept(context, '/companies', had, row))
  const plans = planChanges(had, wanted)
  const writes = had === null || own.length > 0
  // what is refused leaves nothing behind: plans that cannot be had leave the company as it was
  if (had !== null && plans.length > 0 && (context.dryRun || writes))
    await putPlans({ ...context, dryRun: true }, had, wanted, row)
  if (had === null) requirePrices(wanted)
  if (context.dryRun) return had === null ? made : changedBy([...own, ...plans])
  if (writes) {
    taken(await context.client.attempt('POST', '/companies', entityBody(row, {})))
    // the company is read again: an answer without a store says only that the write was taken
    const written = plans.length > 0 ? await lookUp<CompanyDetail>(context, '/companies', row.keys) : null
    if (written) await putPlans(context, written, wanted, row).catch(undoing(context, had, written))
  } else if (plans.length > 0) await putPlans(context, had, wanted, row)
  return had === null ? made : changedBy([...own, ...plans])
}

/** Remove a company that its record made, and whose plans were refused. errors: the refusal. */
const undoing =
  ({ client }: Context, had: CompanyDetail | null, { id }: CompanyDetail) =>
  async (error: unknown): Promise<never> => {
    if (had === null && error instanceof MemberFault)
      taken(await client.attempt('DELETE', `/companies/${id}`))
    throw error
  }

/** Plans that a record names; undefined: it says nothing about them. */
interface WantedPlans {
  readonly base: Priced | null | undefined
  readonly addOns: readonly Priced[] | undefined
}
interface Priced {
  readonly plan: PlanDetail
  readonly priceId: string | null
  readonly period: string | null
}

async function wantedPlans({ names }: Context, row: Row): Promise<WantedPlans> {
  const { plan, add_ons } = row as { plan?: string | null; add_ons?: readonly string[] | null }
  const addOns = add_ons === null ? [] : add_ons
  return {
    base: plan == null ? plan : priced(await names.plan('plan', plan), 'plan', row),
    addOns:
      addOns &&
      (await Promise.all(addOns.map(async one => priced(await names.addOn('add_ons', one), 'add_ons', row)))),
  }
}

const intervals = { month: 'monthly_price', quarter: 'quarterly_price', year: 'yearly_price' } as const
type Interval = keyof typeof intervals

/** A company that is not there yet has no price: of several the record names one (decision 41), in a dry run too. */
function requirePrices({ base, addOns }: WantedPlans): void {
  const all = [
    ...(base ? [{ ...base, member: 'plan' }] : []),
    ...(addOns ?? []).map(one => ({ ...one, member: 'add_ons' })),
  ]
  const lacking = all.find(one => one.priceId === null && soldAt(one.plan).length > 1)
  if (lacking === undefined) return
  const { member, plan } = lacking
  throw new MemberFault(
    member,
    `${member}: ${plan.name} ${isSoldFor(plan)}; the record names none (interval, currency)`,
  )
}

const soldAt = (plan: PlanDetail) =>
  plan.currency_prices.flatMap(one =>
    (Object.keys(intervals) as Interval[]).flatMap(period => {
      const price = one[intervals[period]]
      return price ? [{ period, currency: one.currency, id: price.id }] : []
    }),
  )

const isSoldFor = (plan: PlanDetail): string =>
  `is sold for ${soldAt(plan)
    .map(one => `${one.currency} a ${one.period}`)
    .join(', ')}`

/** The price of a plan for the interval and currency of a record; a plan without prices has none. */
function priced(plan: PlanDetail, member: string, row: Row): Priced {
  const { interval, currency } = row as { interval?: string; currency?: string }
  if (interval === undefined && currency === undefined) return { plan, priceId: null, period: null }
  if (interval !== undefined && !(interval in intervals))
    throw new MemberFault('interval', `interval: expected one of ${Object.keys(intervals).join(', ')}`)
  const sold = soldAt(plan)
  if (sold.length === 0) return { plan, priceId: null, period: null }
  const fits = sold.filter(
    one =>
      (interval === undefined || one.period === interval) &&
      (currency === undefined || one.currency === currency.toLowerCase()),
  )
  if (fits.length === 1) return { plan, priceId: fits[0]!.id, period: fits[0]!.period }
  throw new MemberFault(
    member,
    `${member}: ${plan.name} ${isSoldFor(plan)}; the record fits ${fits.length} of them (interval, currency)`,
  )
}

/** The base plan that was given to a company; null: it has the fallback plan, or none. */
const heldPlan = ({ plan }: CompanyDetail) => (plan && plan.added_on !== null ? plan : null)

function planChanges(had: CompanyDetail | null, { base, addOns }: WantedPlans): string[] {
  const changes: string[] = []
  const held = had && heldPlan(had)
  if (base !== undefined) {
    if ((held?.id ?? null) !== (base?.plan.id ?? null))
      changes.push(difference('plan', held?.name, base?.plan.name ?? null))
    else if (base?.period && held?.plan_period && base.period !== held.plan_period)
      changes.push(difference('interval', held.plan_period, base.period))
  }
  if (addOns !== undefined) {
    const before = (had?.add_ons ?? []).map(one => one.name).sort()
    const after = addOns.map(one => one.plan.name).sort()
    if (before.join('\n') !== after.join('\n'))
      changes.push(difference('add_ons', before.length === 0 ? null : before, after))
  }
  return changes
}

/** Put a company on the plans of a record. A customer that is brought along has no new trial. */
async function putPlans(
  { client, dryRun }: Context,
  company: CompanyDetail,
  { base, addOns }: WantedPlans,
  row: Row,
): Promise<void> {
  const held = heldPlan(company)
  const body = {
    company_id: company.id,
    base_plan_id: base === undefined ? (held?.id ?? null) : (base?.plan.id ?? null),
    ...(base?.priceId && { base_plan_price_id: base.priceId }),
    add_on_selections:
      addOns?.map(one => ({ plan_id: one.plan.id, ...(one.priceId && { price_id: one.priceId }) })) ??
      company.add_ons.map(({ id }) => ({ plan_id: id })),
    ...(company.billing_subscription === undefined && {
      billing_cycle_anchor: row.billing_cycle_anchor,
      trial_end: row.trial_end,
    }),
  }
  if (dryRun) return void taken(await client.attempt('POST', '/manage-plan/preview', body))
  const { company: after } = taken<{ company: CompanyDetail }>(
    await client.attempt('POST', '/manage-plan', body),
  )
  const begun = after?.billing_subscription
  if (row.trial_end !== undefined || company.billing_subscription || begun?.status !== 'trialing') return
  taken(await client.attempt('PUT', `/subscription/${begun.id}/edit-trial-end`, {}))
}

async function writeUser(context: Context, row: Row): Promise<Outcome> {
  const { names, client, dryRun } = context
  const { company, companies: all } = row as { company?: unknown; companies?: unknown }
  const joined = company === undefined ? [] : [await names.companyId('company', company)]
  if (all !== undefined && !Array.isArray(all))
    throw new MemberFault('companies', 'companies: expected a list of keys')
  const exactly =
    all === undefined
      ? null
      : await Promise.all((all as unknown[]).map(keys => names.companyId('companies', keys)))
  const had = await lookUp<UserDetail>(context, '/users', row.keys)
  const changes = had === null ? [] : entityChanges(had, await asKept(context, '/users', had, row))
  const before = new Set(had?.company_memberships.map(one => one.company_id))
  for (const id of joined.concat(exactly ?? []))
    if (had && !before.has(id)) changes.push(difference('company', null, id))
  if (had && exactly && joined.length === 0)
    for (const id of before) if (!exactly.includes(id)) changes.push(difference('company', id, null))
  if (!dryRun && (had === null || changes.length > 0)) {
    const memberships = joined.length > 0 ? { company_id: joined[0] } : { company_ids: exactly ?? undefined }
    taken(await client.attempt('POST', '/users', entityBody(row, memberships)))
  }
  return had === null ? made : changedBy(changes)
}
