// Features, flags and plans belong to the account (PB-1). A key bound to one environment may change or delete them
// only while no other environment uses them. Checks count as use in production only, where they bind the keys of all other
// environments: elsewhere anybody with a publishable key could lock production out of its own flag (security M5).
// source: AL-10 (a key works in its environment only); refusing a change because of use elsewhere: decision.
import type { Sql } from 'postgres'
import { ServiceError } from '../../errors.js'
import type { Call, EnvironmentRecord } from '../../kit/call.js'

/** A flag counts as in use in an environment for this long after its last check there. */
const checkedWithinMs = 30 * 86_400_000
/** Readers of the data stream count for this long after they left. Postgres knows the time to a minute. */
const readMinutes = 11
/** Longest list of plan names in one error. */
const namesMax = 10
const plurals: Readonly<Record<string, string>> = {
  'plan entitlement': 'plan entitlements',
  'company override': 'company overrides',
  'credit grant per licence': 'credit grants per licence',
  'published version': 'published versions',
  'draft version': 'draft versions',
  company: 'companies',
  'plan group': 'plan groups',
  rule: 'rules',
}

type Asking = Pick<Call<unknown, unknown>, 'services' | 'key'>

/**
 * One use of a definition by an environment: its kind (`plan entitlement`), a count, and names where the account
 * has them.
 */
interface Use {
  readonly environment_id: string
  readonly what: string
  readonly count: number
  readonly names: readonly string[] | null
}

/** The parts of a flag that decide whether it is in use. */
interface UsedFlag {
  readonly id: string
  readonly key: string
  readonly feature_id: string | null
}

/**
 * Throws 403 while an environment outside the key's reach has entitlements, overrides, grants, rules or checks of
 * the feature.
 */
export async function mayChangeFeature(sql: Sql, call: Asking, featureId: string): Promise<void> {
  if (call.key.environmentId === null) return
  const flags = await sql<UsedFlag[]>`select id, key, feature_id from flags where feature_id = ${featureId}`
  const uses = await Promise.all([
    featureUses(sql, featureId),
    ...flags.map(flag => flagUses(sql, call, flag)),
  ])
  refuse(call, 'feature', uses.flat())
}

/** mayChangeFeature for a flag: its own rules and checks, and every use of its feature. */
export async function mayChangeFlag(sql: Sql, call: Asking, flag: UsedFlag): Promise<void> {
  if (call.key.environmentId === null) return
  const ofFeature = flag.feature_id === null ? [] : await featureUses(sql, flag.feature_id)
  refuse(call, 'flag', [...ofFeature, ...(await flagUses(sql, call, flag))])
}

/**
 * mayChangeFeature for a plan: versions, companies, plan groups and rules. Each version belongs to one environment.
 */
export async function mayChangePlan(sql: Sql, call: Asking, planId: string): Promise<void> {
  if (call.key.environmentId === null) return
  refuse(call, 'plan', await planUses(sql, planId))
}

/**
 * Entitlements of versions that are published, drafts, or held by companies; overrides; credits per licence. Custom
 * plans are not named: they belong to their environment.
 */
function featureUses(sql: Sql, featureId: string): Promise<readonly Use[]> {
  return sql<Use[]>`
    select v.environment_id, 'plan entitlement' as what, count(*)::int as count,
      array_agg(distinct p.name) filter (where p.company_id is null) as names
    from plan_entitlements e
    join plan_versions v on v.id = e.plan_version_id and v.deleted_at is null
    join plans p on p.id = v.plan_id and p.deleted_at is null
    where e.feature_id = ${featureId}
      and (v.status <> 'archived' or exists (select 1 from company_plans c where c.version_id = v.id))
    group by v.environment_id
    union all
    select environment_id, 'company override', count(*)::int, null
    from company_overrides where feature_id = ${featureId} group by environment_id
    union all
    select g.environment_id, 'credit grant per licence', count(*)::int, null
    from licenses l join plan_credit_grants g on g.license_id = l.id
    where l.feature_id = ${featureId} group by g.environment_id`
}

/** Rules, and checks of the last days, including those not yet written to the store (FE-102). */
async function flagUses(sql: Sql, { services, key }: Asking, flag: UsedFlag): Promise<readonly Use[]> {
  const rules = await sql<Use[]>`
    select environment_id, 'rule' as what, count(*)::int as count, null as names
    from rules where flag_id = ${flag.id} group by environment_id`
  const written = await sql<{ environment_id: string; at: Date }[]>`
    select environment_id, last_checked_at as at from flag_last_checks where flag_id = ${flag.id}`
  const writtenMs = new Map(written.map(row => [row.environment_id, row.at.getTime()]))
  const readers = await sql<{ environment_id: string }[]>`
    select distinct environment_id from stream_keys where seen_at > now() - ${readMinutes} * interval '1 minute'`
  const isRead = new Set(readers.map(row => row.environment_id))
  const sinceMs = services.clock.wall() - checkedWithinMs
  const checked = services.keys
    .environments(key.accountId)
    .filter(isProduction)
    .flatMap(({ id }): Use[] => {
      // a server that reads the stream, at whatever node, checks flags itself, for ten minutes after it left too (security M7)
      if (isRead.has(id) || services.streams.isRead(id))
        return [{ environment_id: id, what: 'stream', count: 1, names: null }]
      const atMs = Math.max(writtenMs.get(id) ?? 0, services.checkedFlags.of(id, flag.key) ?? 0)
      return atMs < sinceMs ? [] : [{ environment_id: id, what: 'check', count: 1, names: null }]
    })
  return [...rules, ...checked]
}

/** Versions by feature, companies, places in the plan group, and written rules that name the plan or a version. */
function planUses(sql: Sql, planId: string): Promise<readonly Use[]> {
  return sql<Use[]>`
    select environment_id, status || ' version' as what, count(*)::int as count, null as names
    from plan_versions v
    where plan_id = ${planId} and deleted_at is null and status <> 'archived' group by environment_id, status
    union all
    select environment_id, 'company', count(distinct company_id)::int, null
    from company_plans where plan_id = ${planId} group by environment_id
    union all
    select environment_id, 'plan group', count(*)::int, null
    from plan_groups g where position(${planId} in row_to_json(g)::text) > 0 group by environment_id
    union all
    select r.environment_id, 'rule', count(distinct r.id)::int, null
    from rules r
    join (
      select ${planId}::text as named union all select id from plan_versions where plan_id = ${planId}
    ) as n on position(n.named in r.conditions::text || r.condition_groups::text) > 0
    group by r.environment_id`
}

function isProduction({ environmentType }: EnvironmentRecord): boolean {
  return environmentType === 'production'
}

/** Throws 403 that names the other environments and their uses, if there are any. */
function refuse({ services, key }: Asking, kind: string, uses: readonly Use[]): void {
  const told = services.keys
    .environments(key.accountId)
    .filter(({ id }) => id !== key.environmentId)
    .map(({ id, name }) => ({ name, uses: uses.filter(use => use.environment_id === id).map(textOf) }))
    .filter(environment => environment.uses.length > 0)
  if (told.length === 0) return
  const where = told.map(({ name, uses }) => `${name} (${uses.join(', ')})`).join(' and ')
  throw new ServiceError(
    'forbidden',
    `The ${kind} is in use in ${where}: only a key that may act there, or an account-wide key, may change it`,
  )
}

function textOf({ what, count, names }: Use): string {
  if (what === 'check') return 'checked lately'
  if (what === 'stream') return 'read by the data stream'
  const some = `${count} ${count === 1 ? what : plurals[what]}`
  return names === null ? some : `${some}: ${names.slice(0, namesMax).join(', ')}`
}
