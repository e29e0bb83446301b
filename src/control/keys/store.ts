// Statements of API keys.
import type { Sql } from 'postgres'
import type { KeyScope } from '../../../schemas/enums.js'
import { newest } from '../../kit/sql.js'
import type { ApiKeyRow } from './view.js'

/** Filters of a list of keys. */
export interface KeyFilter {
  readonly accountId: string
  readonly environmentId: string | undefined
  /** Only keys of this environment, without the bootstrap key; null: all of the account. */
  readonly reach: string | null
  /** Only keys bound to an environment (AL-12). */
  readonly requireEnvironment: boolean
}

function matching(sql: Sql, filter: KeyFilter) {
  return sql`account_id = ${filter.accountId}
    ${filter.environmentId === undefined ? sql`` : sql`and environment_id = ${filter.environmentId}`}
    ${filter.reach === null ? sql`` : sql`and environment_id = ${filter.reach} and not bootstrap`}
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

/** findKey with a row lock until the transaction ends. */
export async function lockKey(tx: Sql, accountId: string, id: string): Promise<ApiKeyRow | null> {
  const [row] = await tx<ApiKeyRow[]>`
    select * from api_keys where id = ${id} and account_id = ${accountId} for update`
  return row ?? null
}

/** Period of validity and addresses; undefined is unchanged, null clears. */
export interface KeyConditionChange {
  readonly notBeforeMs: number | null | undefined
  readonly expiresAtMs: number | null | undefined
  readonly allowedAddresses: readonly string[] | null | undefined
}

const dateOf = (ms: number | null | undefined): Date | null => (ms == null ? null : new Date(ms))

interface NewKey {
  readonly id: string
  readonly accountId: string
  readonly environmentId: string | null
  readonly name: string
  readonly description: string | null
  readonly scopes: readonly KeyScope[]
  readonly readonly: boolean
  readonly rateLimitPercent: number | null
  readonly hash: Buffer
  readonly lastFour: string | null
  readonly pepperId: string
  readonly conditions: KeyConditionChange
  readonly nowMs: number
}

export async function insertKey(sql: Sql, key: NewKey): Promise<ApiKeyRow> {
  const now = new Date(key.nowMs)
  const { notBeforeMs, expiresAtMs, allowedAddresses } = key.conditions
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
      last_four: key.lastFour,
      pepper_id: key.pepperId,
      not_before: dateOf(notBeforeMs),
      expires_at: dateOf(expiresAtMs),
      allowed_addresses: allowedAddresses == null ? null : sql.json([...allowedAddresses]),
      created_at: now,
      updated_at: now,
    })} returning *`
  return row!
}

/** Members to change; undefined is unchanged. */
interface KeyChange extends KeyConditionChange {
  readonly name: string | undefined
  readonly description: string | null | undefined
  readonly rateLimitPercent: number | null | undefined
  readonly disabled: boolean | undefined
}

/** Update a key that this transaction has locked. */
export async function updateKey(tx: Sql, id: string, change: KeyChange, nowMs: number): Promise<ApiKeyRow> {
  const { name, description, rateLimitPercent, disabled, notBeforeMs, expiresAtMs, allowedAddresses } = change
  const columns = {
    updated_at: new Date(nowMs),
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(rateLimitPercent !== undefined && { rate_limit_percent: rateLimitPercent }),
    ...(disabled !== undefined && { disabled }),
    ...(notBeforeMs !== undefined && { not_before: dateOf(notBeforeMs) }),
    ...(expiresAtMs !== undefined && { expires_at: dateOf(expiresAtMs) }),
    ...(allowedAddresses !== undefined && {
      allowed_addresses: allowedAddresses && tx.json([...allowedAddresses]),
    }),
  }
  const [row] = await tx<ApiKeyRow[]>`update api_keys set ${tx(columns)} where id = ${id} returning *`
  return row!
}

interface NewValue {
  readonly hash: Buffer
  readonly lastFour: string | null
  readonly pepperId: string
  /** For a publishable key only. */
  readonly publishableValue: string | null
  /** Until when the present value is accepted; null: it ends now. */
  readonly untilMs: number | null
  readonly nowMs: number
}

/** Roll a key that this transaction has locked. */
export async function rollKey(tx: Sql, present: ApiKeyRow, value: NewValue): Promise<ApiKeyRow> {
  const { hash, lastFour, pepperId, publishableValue, untilMs, nowMs } = value
  const [row] = await tx<ApiKeyRow[]>`
    update api_keys set ${tx({
      secret_hash: hash,
      last_four: lastFour,
      pepper_id: pepperId,
      publishable_value: publishableValue,
      previous_hash: untilMs === null ? null : Buffer.from(present.secret_hash),
      previous_until: dateOf(untilMs),
      updated_at: new Date(nowMs),
    })} where id = ${present.id} returning *`
  return row!
}

export async function deleteKey(tx: Sql, id: string): Promise<void> {
  await tx`delete from api_keys where id = ${id}`
}

export async function accountName(sql: Sql, accountId: string): Promise<string> {
  const [row] = await sql<{ name: string }[]>`select name from accounts where id = ${accountId}`
  return row?.name ?? ''
}
