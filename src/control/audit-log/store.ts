// Statements of the audit log.
import type { Sql } from 'postgres'
import type { ActorType, AuditKind } from '../../../schemas/enums.js'
import { among, contains } from '../../kit/sql.js'
import type { ApiKeyRow } from '../keys/view.js'

export interface AuditFilter {
  readonly accountId: string
  readonly actorType: ActorType | undefined
  /** Changes of this company, and of what belongs to it: overrides, grants, its plan. */
  readonly companyId: string | undefined
  readonly environmentId: string | undefined
  /** Undefined: changes and the operator's actions. */
  readonly kind: AuditKind | undefined
  /** Only changes of this environment; null: the whole account. */
  readonly reach: string | null
  readonly resourceId: string | undefined
  readonly resourceType: string | undefined
  /** Matches part of the URL, of the resource's name or id, or of the key's id. */
  readonly q: string | undefined
  /** Inclusive. */
  readonly fromMs: number | undefined
  /** Exclusive. */
  readonly toMs: number | undefined
}

/** A row of audit_logs. Bodies are present only when a single row is read. */
export interface AuditRow {
  readonly id: string
  readonly environment_id: string | null
  readonly actor_type: ActorType
  readonly api_key_id: string | null
  readonly method: string
  readonly url: string
  readonly resource_type: string | null
  readonly resource_id: string | null
  readonly resource_name: string | null
  readonly secondary_resource: string | null
  readonly resp_code: number
  readonly kind: AuditKind
  readonly remote_ip: string | null
  readonly user_agent: string | null
  readonly request_id: string | null
  readonly seq: string | null
  readonly hash: string | null
  readonly started_at: Date
  readonly ended_at: Date
}

interface AuditRowInFull extends AuditRow {
  readonly req_body: string | null
  readonly resp_body: string | null
}

/** A text that the index of the log finds; for any other each entry is looked at. */
const findable = /[\p{L}\p{N}]{3}/u

/** Entries that are looked at for a text that no index finds: the newest ones. */
const lookedAtMax = 10_000

/** The entries of a filter, as `from` and `where`. */
function matching(sql: Sql, filter: AuditFilter) {
  const { q } = filter
  const rest = sql`audit_logs where ${besidesText(sql, filter)}`
  if (!q) return rest
  const text = sql`(${contains(sql, 'url', q)} or ${contains(sql, 'resource_name', q)}
    or ${contains(sql, 'resource_id', q)} or ${contains(sql, 'api_key_id', q)})`
  if (findable.test(q)) return sql`${rest} and ${text}`
  return sql`(select * from ${rest} order by started_at desc, n desc limit ${lookedAtMax}) as audit_logs where ${text}`
}

function besidesText(sql: Sql, filter: AuditFilter) {
  const { actorType, companyId, environmentId, fromMs, toMs } = filter
  return sql`account_id = ${filter.accountId}
    ${filter.kind ? sql`and kind = ${filter.kind}` : sql`and kind in ('change', 'system')`}
    ${actorType ? sql`and actor_type = ${actorType}` : sql``}
    ${filter.reach === null ? sql`` : sql`and environment_id = ${filter.reach}`}
    ${environmentId ? sql`and environment_id = ${environmentId}` : sql``}
    ${fromMs === undefined ? sql`` : sql`and started_at >= ${new Date(fromMs)}`}
    ${companyId ? sql`and id in (${ofCompany(sql, filter.accountId, companyId)})` : sql``}
    ${filter.resourceId ? sql`and lower(resource_id) = lower(${filter.resourceId}) and resource_id = ${filter.resourceId}` : sql``}
    ${filter.resourceType ? sql`and resource_type = ${filter.resourceType}` : sql``}
    ${toMs === undefined ? sql`` : sql`and started_at < ${new Date(toMs)}`}`
}

/**
 * Ids of the entries that name a company in their address or as their company, and of other entries about the same
 * resources: an entry about a deletion names no company. The index of texts uses `lower`, so this condition does too.
 */
function ofCompany(sql: Sql, accountId: string, companyId: string) {
  return sql`
    select id from audit_logs where account_id = ${accountId} and ${contains(sql, 'url', companyId)}
    union all
    select other.id from audit_logs own join audit_logs other on lower(other.resource_id) = lower(own.resource_id)
    where own.account_id = ${accountId} and other.account_id = ${accountId} and own.resource_id is not null
      and lower(own.resource_name) = lower(${companyId})
    union all
    select id from audit_logs where account_id = ${accountId} and lower(resource_name) = lower(${companyId})
    union all
    select id from audit_logs where account_id = ${accountId} and lower(resource_id) = lower(${companyId})`
}

function columns(sql: Sql) {
  return sql`id, environment_id, actor_type, api_key_id, method, url, resource_type, resource_id, resource_name,
    secondary_resource, resp_code, started_at, ended_at, kind, remote_ip, user_agent, request_id, seq, hash`
}

/** Newest first. */
export function listChanges(
  sql: Sql,
  filter: AuditFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<readonly AuditRow[]> {
  return sql<AuditRow[]>`
    select ${columns(sql)} from ${matching(sql, filter)}
    order by started_at desc, n desc limit ${page.limit} offset ${page.offset}`
}

export async function countChanges(sql: Sql, filter: AuditFilter): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from ${matching(sql, filter)}`
  return row!.count
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export async function findChange(sql: Sql, accountId: string, id: string): Promise<AuditRowInFull | null> {
  if (!uuid.test(id)) return null
  const [row] = await sql<AuditRowInFull[]>`
    select ${columns(sql)}, req_body, resp_body from audit_logs where id = ${id} and account_id = ${accountId}`
  return row ?? null
}

/** The keys named by these rows, by id. Deleted keys are missing. */
export async function keysOf(sql: Sql, rows: readonly AuditRow[]): Promise<ReadonlyMap<string, ApiKeyRow>> {
  const ids = [...new Set(rows.flatMap(row => row.api_key_id ?? []))]
  const keys = await sql<ApiKeyRow[]>`select * from api_keys where id in ${among(sql, ids)}`
  return new Map(keys.map(key => [key.id, key]))
}

/** Names of the people that these rows name, by id. Deleted members are missing. */
export async function peopleOf(sql: Sql, rows: readonly AuditRow[]): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(rows.flatMap(row => (row.actor_type === 'app_user' ? (row.api_key_id ?? []) : [])))]
  if (ids.length === 0) return new Map()
  const people = await sql<{ id: string; name: string }[]>`
    select id, coalesce(name, email, id) as name from account_members where id in ${among(sql, ids)}`
  return new Map(people.map(({ id, name }) => [id, name]))
}

/** Names of the feature and plan that an override or an entitlement is about; null: it is not known any more. */
export interface Subject {
  readonly feature: string | null
  readonly plan: string | null
}

/** The subjects of rows about overrides and entitlements, by the row's id: their bodies name them. */
export async function subjectsOf(sql: Sql, rows: readonly AuditRow[]): Promise<ReadonlyMap<string, Subject>> {
  const ids = rows.filter(row => withSubject.has(row.resource_type)).map(({ id }) => id)
  if (ids.length === 0) return new Map()
  const found = await sql<(Subject & { readonly id: string })[]>`
    select a.id, f.name as feature, p.name as plan
    from (
      select id, account_id, substring(body from '"feature_id":"([^"]+)"') as feature_id,
        substring(body from '"plan_id":"([^"]+)"') as plan_id
      from audit_logs, lateral (select coalesce(resp_body, req_body) as body) b where id = any(${ids}::uuid[])) a
    left join features f on f.id = a.feature_id and f.account_id = a.account_id
    left join plans p on p.id = a.plan_id and p.account_id = a.account_id`
  return new Map(found.map(({ id, ...subject }) => [id, subject]))
}

const withSubject: ReadonlySet<string | null> = new Set(['company_override', 'plan_entitlement'])

/**
 * The answer to the last successful change of the same resource before this one; null: none is kept. A flag's answer has
 * its rules, so it is the one before a change of rules.
 */
export async function stateBefore(sql: Sql, row: AuditRow): Promise<string | null> {
  if (row.resource_id === null || row.kind !== 'change') return null
  const [earlier] = await sql<{ resp_body: string | null }[]>`
    select resp_body from audit_logs a, (select account_id, n from audit_logs where id = ${row.id}) this
    where a.account_id = this.account_id and a.n < this.n and lower(a.resource_id) = lower(${row.resource_id})
      and a.resource_id = ${row.resource_id} and a.resource_type = ${row.resource_type} and a.kind = 'change'
      and (a.secondary_resource is not distinct from ${row.secondary_resource}
        ${row.secondary_resource === 'rules' ? sql`or a.secondary_resource is null` : sql``})
      and a.environment_id is not distinct from ${row.environment_id}
      and a.resp_code between 200 and 299 and a.resp_body is not null
    order by a.n desc limit 1`
  return earlier?.resp_body ?? null
}
