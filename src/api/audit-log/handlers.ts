// The audit log: who changed what, and when. The front end notes changes (src/engine/audit.ts); this room shows them.
import type { AuditLog, AuditLogList } from '../../../schemas/audit-log.js'
import { actorTypes } from '../../../schemas/enums.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../call.js'
import { reaches } from '../key-conditions.js'
import { type ApiKeyRow, apiKeyView, environmentView } from '../key-view.js'
import { datetime, oneOf, page, type QueryOf, query, string } from '../query.js'
import type { Services } from '../services.js'
import { isoTime } from '../time.js'
import { type AuditFilter, type AuditRow, countChanges, findChange, keysOf, listChanges } from './store.js'

const listShape = {
  actor_type: oneOf(actorTypes),
  end_time: datetime,
  environment_id: string,
  q: string,
  start_time: datetime,
  ...page,
} as const
export const auditListQuery = query(listShape)
type AuditListQuery = QueryOf<typeof listShape>

function filterOf({ key, query }: Call<undefined, AuditListQuery>): AuditFilter {
  return {
    accountId: key.accountId,
    actorType: query.actor_type,
    environmentId: query.environment_id,
    reach: reaches(key, null) ? null : key.environmentId,
    q: query.q,
    fromMs: query.start_time,
    toMs: query.end_time,
  }
}

/** GET /audit-log, newest first; a change that was answered is in it. source: api/account.md; start inclusive, end exclusive: decision */
export const listAuditLogs: Handler<undefined, AuditListQuery> = async call => {
  const { services } = call
  await services.audit.flush()
  const rows = await listChanges(services.sql, filterOf(call), call.query)
  const keys = await keysOf(services.sql, rows)
  return { data: rows.map(row => listView(row, keys, services)) }
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
  const view = listView(row, await keysOf(services.sql, [row]), services)
  const { req_body, resp_body } = row
  return { data: { ...view, account_member_id: null, req_body, resp_body, user_id: null } satisfies AuditLog }
}

function listView(row: AuditRow, keys: ReadonlyMap<string, ApiKeyRow>, services: Services): AuditLogList {
  const key = keys.get(row.api_key_id ?? '')
  const environment = row.environment_id === null ? null : services.keys.environment(row.environment_id)
  return {
    id: row.id,
    actor_type: row.actor_type,
    ...(key && { api_key: apiKeyView(key, services) }),
    api_key_id: row.api_key_id,
    ...(environment && { environment: environmentView(environment) }),
    environment_id: row.environment_id,
    method: row.method,
    url: row.url,
    resource_id: null,
    resource_id_string: row.resource_id,
    resource_name: row.resource_name,
    resource_type: row.resource_type,
    secondary_resource: row.secondary_resource,
    resp_code: row.resp_code,
    started_at: isoTime(row.started_at.getTime()),
    ended_at: isoTime(row.ended_at.getTime()),
    user_name: null,
  }
}
