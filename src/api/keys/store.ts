// Statements of API keys.
import type { Sql } from 'postgres'
import type { ApiKeyScope } from '../../../schemas/enums.js'
import type { ApiKeyRow } from '../key-view.js'
import { newest } from '../sql.js'

/** Which keys a list is of. */
export interface KeyFilter {
  readonly accountId: string
  readonly environmentId: string | undefined
  /** Only keys bound to an environment (AL-12). */
  readonly requireEnvironment: boolean
}

function matching(sql: Sql, filter: KeyFilter) {
  return sql`account_id = ${filter.accountId}
    ${filter.environmentId === undefined ? sql`` : sql`and environment_id = ${filter.environmentId}`}
    ${filter.requireEnvironment ? sql`and environment_id is not null` : sql``}`
}

export function listKeys(
  sql: Sql,
  filter: KeyFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<readonly ApiKeyRow[]> {
  return sql<ApiKeyRow[]>`select * from api_keys where ${matching(sql, filter)} ${newest(sql, page)}`
}

export async function countKeys(sql: Sql, filter: KeyFilter): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from api_keys where ${matching(sql, filter)}`
  return row!.count
}

export async function findKey(sql: Sql, accountId: string, id: string): Promise<ApiKeyRow | null> {
  const [row] = await sql<ApiKeyRow[]>`select * from api_keys where id = ${id} and account_id = ${accountId}`
  return row ?? null
}

export interface NewKey {
  readonly id: string
  readonly accountId: string
  readonly environmentId: string | null
  readonly name: string
  readonly description: string | null
  readonly scopes: readonly ApiKeyScope[]
  readonly readonly: boolean
  readonly rateLimitPercent: number | null
  readonly hash: Buffer
  readonly nowMs: number
}

export async function insertKey(sql: Sql, key: NewKey): Promise<ApiKeyRow> {
  const now = new Date(key.nowMs)
  const [row] = await sql<ApiKeyRow[]>`
    insert into api_keys ${sql({
      id: key.id,
      account_id: key.accountId,
      environment_id: key.environmentId,
      name: key.name,
      description: key.description,
      kind: 'secret',
      scopes: sql.json([...key.scopes]),
      readonly: key.readonly,
      rate_limit_percent: key.rateLimitPercent,
      secret_hash: key.hash,
      created_at: now,
      updated_at: now,
    })} returning *`
  return row!
}

/** Members to change; undefined stays. */
export interface KeyChange {
  readonly name: string | undefined
  readonly description: string | null | undefined
  readonly rateLimitPercent: number | null | undefined
}

/** Null when the account has no such key. */
export async function updateKey(
  sql: Sql,
  accountId: string,
  id: string,
  change: KeyChange,
  nowMs: number,
): Promise<ApiKeyRow | null> {
  const [row] = await sql<ApiKeyRow[]>`
    update api_keys set updated_at = ${new Date(nowMs)}
      ${change.name === undefined ? sql`` : sql`, name = ${change.name}`}
      ${change.description === undefined ? sql`` : sql`, description = ${change.description}`}
      ${change.rateLimitPercent === undefined ? sql`` : sql`, rate_limit_percent = ${change.rateLimitPercent}`}
    where id = ${id} and account_id = ${accountId} returning *`
  return row ?? null
}

/** Null when the account has no such key. */
export async function deleteKey(sql: Sql, accountId: string, id: string): Promise<ApiKeyRow | null> {
  const [row] = await sql<ApiKeyRow[]>`
    delete from api_keys where id = ${id} and account_id = ${accountId} returning *`
  return row ?? null
}

export async function accountName(sql: Sql, accountId: string): Promise<string> {
  const [row] = await sql<{ name: string }[]>`select name from accounts where id = ${accountId}`
  return row?.name ?? ''
}
