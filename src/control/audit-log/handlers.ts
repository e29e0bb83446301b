// The audit log: who changed what, and when. src/account/audit/audit.ts records changes; these handlers show them.
import type { AuditChainRow, AuditHead, AuditLog, AuditLogList } from '../../../schemas/audit-log.js'
import { actorTypes, auditKinds } from '../../../schemas/enums.js'
import { type ChainedRow, chainedRows } from '../../account/audit/chain.js'
import { reaches } from '../../account/conditions.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { datetime, oneOf, page, type QueryOf, query, requireNear, string } from '../../kit/query.js'
import type { Services } from '../../kit/services.js'
import { isoTime } from '../../kit/time.js'
import { type ApiKeyRow, apiKeyView, environmentView } from '../keys/view.js'
import {
  type AuditFilter,
  type AuditRow,
  countChanges,
  findChange,
  keysOf,
  listChanges,
  peopleOf,
  type Subject,
  stateBefore,
  subjectsOf,
} from './store.js'

const listShape = {
  actor_type: oneOf(actorTypes),
  company_id: string,
  end_time: datetime,
  environment_id: string,
  kind: oneOf(auditKinds),
  q: string,
  resource_id: string,
  resource_type: string,
  start_time: datetime,
  ...page,
} as const
export const auditListQuery = query(listShape)
type AuditListQuery = QueryOf<typeof listShape>

function filterOf({ key, query }: Call<undefined, AuditListQuery>): AuditFilter {
  return {
    accountId: key.accountId,
    actorType: query.actor_type,
    companyId: query.company_id,
    environmentId: query.environment_id,
    kind: query.kind,
    reach: reaches(key, null) ? null : key.environmentId,
    q: query.q,
    resourceId: query.resource_id,
    resourceType: query.resource_type,
    fromMs: query.start_time,
    toMs: query.end_time,
  }
}

/**
 * GET /audit-log, newest first. It shows every answered change; reads and failed authentications only if `kind`
 * asks for them. `company_id` names a company: changes of it, of its plan, and of what belongs to it.
 *
 * errors  400 as `requireNear`
 * source  interface document; start inclusive, end exclusive, `company_id`: decision.
 */
export const listAuditLogs: Handler<undefined, AuditListQuery> = async call => {
  const { services } = call
  requireNear(call.query)
  await services.audit.flush()
  const rows = await listChanges(services.sql, filterOf(call), call.query)
  const names = await namesOf(services, rows)
  return { data: rows.map(row => listView(row, names, services)) }
}

/** GET /audit-log/count. */
export const countAuditLogs: Handler<undefined, AuditListQuery> = async call => {
  await call.services.audit.flush()
  return { data: { count: await countChanges(call.services.sql, filterOf(call)) } }
}

/** GET /audit-log/{audit_log_id}. */
export const getAuditLog: Handler = async ({ services, key, params }) => {
  await services.audit.flush()
  const row = await findChange(services.sql, key.accountId, params.audit_log_id!)
  if (!row || !reaches(key, row.environment_id))
    throw new ServiceError('not_found', 'Audit log entry not found')
  const view = listView(row, await namesOf(services, [row]), services)
  const { req_body, resp_body } = row
  const before = await stateBefore(services.sql, row)
  return {
    data: {
      ...view,
      account_member_id: row.actor_type === 'app_user' ? row.api_key_id : null,
      req_body,
      resp_body,
      before,
      user_id: null,
    } satisfies AuditLog,
  }
}

/**
 * GET /audit-log/head: the end of the chain, covering every change answered so far. Operators keep a copy
 * elsewhere.
 *
 * source  decision.
 */
export const getChainHead: Handler = async ({ services }) => {
  const { seq, hash } = await services.audit.head()
  return { data: { seq, hash } satisfies AuditHead }
}

const chainShape = { after: page.offset, limit: page.limit } as const
export const chainQuery = query(chainShape)

/**
 * GET /audit-log/chain: complete rows of the chain after a position, exactly as their hashes cover them.
 *
 * source  decision.
 */
export const listChain: Handler<undefined, QueryOf<typeof chainShape>> = async ({ services, query }) => {
  await services.audit.flush()
  const rows = await chainedRows(services.sql, query.after, Math.min(query.limit, chainRowsMax))
  return { data: rows.map(row => rowView(row)) }
}

/** Page size: a row may carry two bodies of 16 KiB each. */
const chainRowsMax = 100

function rowView(row: ChainedRow): AuditChainRow {
  const { seq, previous_hash, hash, id, kind, account_id, environment_id, actor_type, api_key_id } = row
  const { method, url, resource_type, resource_id, resource_name, secondary_resource } = row
  const { req_body, resp_body, resp_code, remote_ip, user_agent, request_id, started_at, ended_at } = row
  return {
    ...{ seq, previous_hash, hash, id, kind, account_id, environment_id, actor_type, api_key_id },
    ...{ method, url, resource_type, resource_id, resource_name, secondary_resource },
    ...{ req_body, resp_body, resp_code, remote_ip, user_agent, request_id, started_at, ended_at },
    ...(row.erased === true && { erased: true }),
  }
}

/** Keys of rows, names of people, and of what they are about. */
interface Names {
  readonly keys: ReadonlyMap<string, ApiKeyRow>
  readonly people: ReadonlyMap<string, string>
  readonly subjects: ReadonlyMap<string, Subject>
}

async function namesOf({ sql }: Services, rows: readonly AuditRow[]): Promise<Names> {
  const [keys, people, subjects] = await Promise.all([
    keysOf(sql, rows),
    peopleOf(sql, rows),
    subjectsOf(sql, rows),
  ])
  return { keys, people, subjects }
}

function listView(row: AuditRow, { keys, people, subjects }: Names, services: Services): AuditLogList {
  const key = keys.get(row.api_key_id ?? '')
  const environment = row.environment_id === null ? null : services.keys.environment(row.environment_id)
  return {
    id: row.id,
    kind: row.kind,
    actor_type: row.actor_type,
    ...(key && { api_key: apiKeyView(key, services) }),
    api_key_id: row.actor_type === 'api_key' ? row.api_key_id : null,
    ...(environment && { environment: environmentView(environment) }),
    environment_id: row.environment_id,
    method: row.method,
    url: row.url,
    resource_id: null,
    resource_id_string: row.resource_id,
    resource_name: row.resource_name,
    resource_type: row.resource_type,
    secondary_resource: row.secondary_resource,
    feature_name: subjects.get(row.id)?.feature ?? null,
    plan_name: subjects.get(row.id)?.plan ?? null,
    resp_code: row.resp_code,
    remote_ip: row.remote_ip,
    user_agent: row.user_agent,
    request_id: row.request_id,
    seq: row.seq === null ? null : Number(row.seq),
    hash: row.hash,
    started_at: isoTime(row.started_at.getTime()),
    ended_at: isoTime(row.ended_at.getTime()),
    user_name: people.get(row.api_key_id ?? '') ?? null,
  }
}
