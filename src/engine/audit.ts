// The audit log's writer: changes are noted in memory as they are answered and written to Postgres in batches.
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { KeyRecord } from '../api/call.js'
import { isAway } from '../storage/away.js'

/** A change that was asked for, as the front end saw it. */
export interface AskedChange {
  readonly key: KeyRecord
  readonly environmentId: string | null
  readonly method: string
  /** The route's path with `:name` parameters, and what stood in their places, still percent-encoded. */
  readonly path: string
  readonly parameters: readonly string[]
  /** Path and query as asked. */
  readonly url: string
  /** Null without a body. */
  readonly requestBody: string | null
  readonly status: number
  readonly responseBody: string
  readonly startedAtMs: number
  readonly endedAtMs: number
}

const bodyBytesMax = 16_384
const urlCharactersMax = 2_048
const nameCharactersMax = 256
/** Beyond this an answer is not parsed for the name of what it shows. */
const parsedCharactersMax = 65_536
const flushAfterMs = 500
const rowsPerStatement = 200
/** Kept while Postgres is away. */
const pendingBytesMax = 67_108_864
/** What a row weighs besides its texts. */
const rowBytes = 500

interface Row {
  readonly id: string
  readonly account_id: string
  readonly environment_id: string | null
  readonly actor_type: 'api_key'
  readonly api_key_id: string
  readonly method: string
  readonly url: string
  readonly resource_type: string
  readonly resource_id: string | null
  readonly resource_name: string | null
  readonly secondary_resource: string | null
  readonly req_body: string | null
  readonly resp_body: string | null
  readonly resp_code: number
  readonly started_at: string
  readonly ended_at: string
}

/** Notes changes; a flood while Postgres is away costs a bounded memory and the oldest rows. */
export class AuditLog {
  #pending: Row[] = []
  #bytes = 0
  #dropped = 0
  #timer: NodeJS.Timeout | null = null
  #flushing: Promise<void> | null = null

  constructor(
    private readonly sql: Sql,
    private readonly log: Logger,
    private readonly bytesMax = pendingBytesMax,
  ) {}

  /** Note a change; written within a second. */
  note(change: AskedChange): void {
    const row = rowOf(change)
    this.#pending.push(row)
    this.#bytes += weight(row)
    while (this.#bytes > this.bytesMax && this.#pending.length > 1) {
      this.#bytes -= weight(this.#pending.shift()!)
      this.#dropped++
    }
    this.#timer ??= setTimeout(() => void this.flush(), flushAfterMs).unref()
  }

  /**
   * Write what was noted so far. Failures are logged, not thrown: rows stay while Postgres is away, and whoever reads
   * after this fails by himself.
   */
  async flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    // what is noted while a batch is under way goes with the next one
    await this.#flushing
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = null
    })
    await this.#flushing
  }

  async #write(): Promise<void> {
    if (this.#dropped > 0) this.log.error({ rows: this.#dropped }, 'audit log rows dropped')
    this.#dropped = 0
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0, rowsPerStatement)
      for (const row of batch) this.#bytes -= weight(row)
      try {
        await this.#insert(batch)
      } catch (error) {
        if (!isAway(error)) {
          this.log.error({ err: error, rows: batch.length }, 'audit log rows refused')
          continue
        }
        this.log.warn({ err: error, rows: batch.length + this.#pending.length }, 'audit log not written')
        this.#pending = [...batch, ...this.#pending]
        for (const row of batch) this.#bytes += weight(row)
        this.#timer ??= setTimeout(() => void this.flush(), 2 * flushAfterMs).unref()
        return
      }
    }
  }

  async #insert(rows: readonly Row[]): Promise<void> {
    // an account that is gone meanwhile takes its rows with it; a repeated batch writes nothing twice
    await this.sql`
      insert into audit_logs (id, account_id, environment_id, actor_type, api_key_id, method, url, resource_type,
        resource_id, resource_name, secondary_resource, req_body, resp_body, resp_code, started_at, ended_at)
      select r.* from jsonb_to_recordset(${this.sql.json(rows as unknown as Parameters<Sql['json']>[0])}) as r (
        id uuid, account_id text, environment_id text, actor_type text, api_key_id text, method text, url text,
        resource_type text, resource_id text, resource_name text, secondary_resource text, req_body text,
        resp_body text, resp_code integer, started_at timestamptz, ended_at timestamptz)
      where exists (select from accounts where accounts.id = r.account_id)
      on conflict (id) do nothing`
  }
}

function rowOf(change: AskedChange): Row {
  const { key, path, parameters } = change
  const shown = shownOf(change.responseBody)
  const named = parameters.at(-1)
  return {
    id: randomUUID(),
    account_id: key.accountId,
    environment_id: change.environmentId,
    actor_type: 'api_key',
    api_key_id: key.id,
    method: change.method,
    url: storable(change.url, urlCharactersMax),
    ...resourceOf(path),
    resource_id: storableOrNull(named === undefined ? shown.id : named, nameCharactersMax),
    resource_name: storableOrNull(shown.name, nameCharactersMax),
    req_body: change.requestBody === null ? null : storable(redacted(change.requestBody), bodyBytesMax),
    resp_body: change.responseBody === '' ? null : storable(redacted(change.responseBody), bodyBytesMax),
    resp_code: change.status,
    started_at: new Date(change.startedAtMs).toISOString(),
    ended_at: new Date(change.endedAtMs).toISOString(),
  }
}

/**
 * What a route changes: the last parameter's noun, else the first part of the path in the singular.
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

/** The id and name that an answer shows of its resource. */
function shownOf(body: string): { readonly id: unknown; readonly name: unknown } {
  const nothing = { id: null, name: null }
  if (body.length > parsedCharactersMax || !body.startsWith('{"data":{')) return nothing
  try {
    return { ...nothing, ...(JSON.parse(body) as { readonly data: object }).data }
  } catch {
    return nothing
  }
}

// Within a JSON text a member's name cannot be mistaken for part of a value, whose quotes are escaped.
const secretMember = /"([a-z_]*(?:secret|password|token|api_key))"(\s*:\s*)"(?:[^"\\]|\\.)*("|$)/gi

/** A body without the values of members that hold secrets. Bounded first: what is cut off is not looked at. */
export function redacted(body: string): string {
  return body.slice(0, 2 * bodyBytesMax).replaceAll(secretMember, '"$1"$2"***"')
}

/** At most so many bytes of a text, without what Postgres keeps in no text: U+0000 and halves of characters. */
function storable(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text.replaceAll('\0', ''))
  return bytes.length <= bytesMax ? bytes.toString() : `${bytes.subarray(0, bytesMax - 8).toString()}…`
}

function storableOrNull(value: unknown, bytesMax: number): string | null {
  return typeof value === 'string' ? storable(value, bytesMax) : null
}

function weight(row: Row): number {
  return rowBytes + row.url.length + (row.req_body?.length ?? 0) + (row.resp_body?.length ?? 0)
}
