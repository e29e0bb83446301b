// Builds and writes rows of the audit log from a request and its response.
import { randomUUID } from 'node:crypto'
import type { Sql } from 'postgres'
import type { KeyRecord } from '../key-types.js'
import {
  keptBytesMax,
  parsedOrNot,
  redactBody,
  redactPart,
  redactQuery,
  redactText,
  storable,
} from './redact.js'

/** A request with a known key, from the HTTP front. */
export interface RequestedChange {
  /** The row's id, assigned before any work is done. */
  readonly id: string
  /** `read`: a read of secrets, exports, or the audit log itself. */
  readonly kind: 'change' | 'read'
  readonly key: KeyRecord
  readonly environmentId: string | null
  readonly method: string
  /** The route's path with `:name` parameters, and their values, still percent-encoded. */
  readonly path: string
  readonly parameters: readonly string[]
  /** Path and query as sent. */
  readonly url: string
  /** Null without a body. */
  readonly requestBody: string | null
  readonly remoteIp: string
  readonly userAgent: string
  readonly requestId: string
  readonly status: number
  readonly responseBody: string
  readonly startedAtMs: number
  readonly endedAtMs: number
}

/** An event without a key: an action of the operator, failed authentications, or requests that were only counted. */
export interface SystemEvent {
  readonly kind: 'system' | 'auth_failure' | 'read'
  readonly accountId: string
  /** The action, stored as path: `backup`, `pepper/changed`. */
  readonly what: string
  readonly resourceType: string
  readonly resourceId?: string | null
  readonly detail?: object
  readonly status?: number
  readonly remoteIp?: string
}

const methods = { system: 'SYSTEM', auth_failure: 'DENIED', read: 'READ' } as const
/** Bytes kept of each body of a request that was refused: it changed nothing. */
const refusedBytesMax = 1_024
const urlCharactersMax = 2_048
const nameCharactersMax = 256

export interface Row {
  readonly id: string
  readonly kind: string
  readonly account_id: string
  readonly environment_id: string | null
  readonly actor_type: 'api_key' | 'app_user' | 'temporary_access_token' | 'system'
  /** Id of the key; of a person or token, that id. */
  readonly api_key_id: string | null
  readonly method: string
  readonly url: string
  readonly resource_type: string
  readonly resource_id: string | null
  readonly resource_name: string | null
  readonly secondary_resource: string | null
  readonly req_body: string | null
  readonly resp_body: string | null
  readonly resp_code: number
  readonly remote_ip: string | null
  readonly user_agent: string | null
  readonly request_id: string | null
  readonly started_at: string
  readonly ended_at: string
}

export function rowOf(change: RequestedChange): Row {
  const { key, path, parameters, requestBody, responseBody } = change
  const bytesMax = change.status >= 400 ? refusedBytesMax : keptBytesMax
  const parsed = responseBody === '' ? undefined : parsedOrNot(responseBody)
  const asked = requestBody === null ? undefined : parsedOrNot(requestBody)
  const shown = shownOf(responseBody, parsed)
  const named = parameters.at(-1)
  return {
    id: change.id,
    kind: change.kind,
    account_id: key.accountId,
    environment_id: change.environmentId,
    actor_type: key.actor?.type ?? 'api_key',
    api_key_id: key.id,
    method: change.method,
    url: storable(redactQuery(change.url), urlCharactersMax),
    ...resourceOf(path),
    resource_id: storableOrNull(named === undefined ? shown.id : redactPart(named)),
    resource_name: storableOrNull(redacted(shown.name ?? shown.companyId ?? companyIn(asked))),
    req_body: requestBody === null ? null : redactBody(requestBody, asked, bytesMax),
    resp_body:
      responseBody === '' || change.kind === 'read' ? null : redactBody(responseBody, parsed, bytesMax),
    resp_code: change.status,
    remote_ip: storableOrNull(change.remoteIp),
    user_agent: storableOrNull(redactText(change.userAgent.slice(0, nameCharactersMax))),
    request_id: change.requestId,
    started_at: new Date(change.startedAtMs).toISOString(),
    ended_at: new Date(change.endedAtMs).toISOString(),
  }
}

export function rowOfEvent(event: SystemEvent, atMs: number): Row {
  const at = new Date(atMs).toISOString()
  return {
    id: randomUUID(),
    kind: event.kind,
    account_id: event.accountId,
    environment_id: null,
    actor_type: 'system',
    api_key_id: null,
    method: methods[event.kind],
    url: event.what,
    resource_type: event.resourceType,
    resource_id: event.resourceId ?? null,
    resource_name: null,
    secondary_resource: null,
    req_body: event.detail === undefined ? null : redactBody(JSON.stringify(event.detail)),
    resp_body: null,
    resp_code: event.status ?? 200,
    remote_ip: storableOrNull(event.remoteIp),
    user_agent: null,
    request_id: null,
    started_at: at,
    ended_at: at,
  }
}

/** A row with its place in the chain. */
interface LinkedRow extends Row {
  readonly seq: number
  readonly previous_hash: string
  readonly hash: string
}

/** Insert complete rows with their places in the chain. Returns how many; those whose id is stored are left out. */
export async function insertRows(sql: Sql, rows: readonly LinkedRow[]): Promise<number> {
  const { count } = await sql`
    insert into audit_logs (id, kind, account_id, environment_id, actor_type, api_key_id, method, url, resource_type,
      resource_id, resource_name, secondary_resource, req_body, resp_body, resp_code, remote_ip, user_agent,
      request_id, started_at, ended_at, seq, previous_hash, hash)
    select r.* from jsonb_to_recordset(${sql.json(rows as unknown as Parameters<Sql['json']>[0])}) as r (
      id uuid, kind text, account_id text, environment_id text, actor_type text, api_key_id text, method text,
      url text, resource_type text, resource_id text, resource_name text, secondary_resource text, req_body text,
      resp_body text, resp_code integer, remote_ip text, user_agent text, request_id text,
      started_at timestamptz, ended_at timestamptz, seq bigint, previous_hash text, hash text)
    on conflict (id) do nothing`
  return count
}

/**
 * Write rows. An existing row outside the chain gets the missing response. Idempotent.
 *
 * complete  whether the rows have their responses.
 */
export async function writeRows(sql: Sql, rows: readonly Row[], complete: boolean): Promise<void> {
  // rows of a deleted account are dropped
  await sql`
    insert into audit_logs (id, kind, account_id, environment_id, actor_type, api_key_id, method, url, resource_type,
      resource_id, resource_name, secondary_resource, req_body, resp_body, resp_code, remote_ip, user_agent,
      request_id, started_at, ended_at, complete)
    select r.*, ${complete}::boolean from jsonb_to_recordset(${sql.json(rows as unknown as Parameters<Sql['json']>[0])}) as r (
      id uuid, kind text, account_id text, environment_id text, actor_type text, api_key_id text, method text,
      url text, resource_type text, resource_id text, resource_name text, secondary_resource text, req_body text,
      resp_body text, resp_code integer, remote_ip text, user_agent text, request_id text,
      started_at timestamptz, ended_at timestamptz)
    where exists (select from accounts where accounts.id = r.account_id)
    on conflict (id) do update set resource_id = excluded.resource_id, resource_name = excluded.resource_name,
      resp_body = excluded.resp_body, resp_code = excluded.resp_code, ended_at = excluded.ended_at, complete = true
      where audit_logs.seq is null and not audit_logs.complete and excluded.complete`
}

/**
 * The resource that a route changes: the noun of the last parameter, else the first path segment in the singular.
 *
 * source  decision: `/flags/:flag_id/rules` changes the rules of a flag.
 */
export function resourceOf(path: string): { resource_type: string; secondary_resource: string | null } {
  const parts = path.split('/').filter(part => part !== '' && part !== 'billing')
  const last = parts.findLastIndex(part => part.startsWith(':'))
  if (last < 0) return { resource_type: singular(parts[0] ?? ''), secondary_resource: null }
  const noun = parts[last]!.slice(1).replace(/_id$/, '')
  return { resource_type: noun, secondary_resource: parts.slice(last + 1).join('/') || null }
}

function singular(part: string): string {
  return part.replaceAll('-', '_').replace(/ies$/, 'y').replace(/s$/, '')
}

/** Id and name of the resource in a response, and the company that it belongs to. Rules have the name of their flag. */
function shownOf(
  body: string,
  parsed: unknown,
): { readonly id: unknown; readonly name: unknown; readonly companyId: unknown } {
  if (parsed === undefined || !body.startsWith('{"data":{')) return { id: null, name: null, companyId: null }
  interface Shown {
    readonly id?: unknown
    readonly name?: unknown
  }
  const { data } = parsed as { readonly data: Shown & { readonly flag?: Shown | null } }
  return { id: data.id ?? null, name: data.name ?? data.flag?.name ?? null, companyId: companyIn(data) }
}

/** The company that a body says it is about, by its id; null: none. */
function companyIn(body: unknown): string | null {
  const { company_id: id } = (body ?? {}) as { readonly company_id?: unknown }
  return typeof id === 'string' && id.startsWith('comp_') ? id : null
}

const redacted = (value: unknown): unknown => (typeof value === 'string' ? redactText(value) : value)

function storableOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? storable(value, nameCharactersMax) : null
}
