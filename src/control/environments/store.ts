// Statements of environments.
import type { Sql } from 'postgres'
import type { EnvironmentType } from '../../../schemas/enums.js'
import type { PublishableLimitsWrite } from '../../../schemas/environments.js'
import type { LowercaseNames } from '../../account/key-types.js'
import type { EnvironmentRow } from '../../account/keys.js'
import type { ApiKeyRow } from '../keys/view.js'

export async function keysOf(sql: Sql, environmentId: string): Promise<readonly ApiKeyRow[]> {
  return sql<ApiKeyRow[]>`
    select * from api_keys where environment_id = ${environmentId} order by created_at desc, id desc`
}

export async function findEnvironment(sql: Sql, id: string): Promise<EnvironmentRow | null> {
  const [row] = await sql<EnvironmentRow[]>`select * from environments where id = ${id}`
  return row ?? null
}

/** Members to change; undefined is unchanged. */
interface EnvironmentChange {
  readonly name: string | undefined
  readonly environmentType: EnvironmentType | undefined
  readonly requireContextSignature: boolean | undefined
  readonly publishableLimits: PublishableLimitsWrite | undefined
  /** Null: none. */
  readonly lowercaseKeys: LowercaseNames | null | undefined
}

/** `updated_at` always grows, so that it orders any two changes. */
export async function updateEnvironment(
  sql: Sql,
  id: string,
  change: EnvironmentChange,
  nowMs: number,
): Promise<EnvironmentRow | null> {
  const [row] = await sql<EnvironmentRow[]>`
    update environments set updated_at = greatest(${new Date(nowMs)}, updated_at + interval '1 millisecond')
      ${change.name === undefined ? sql`` : sql`, name = ${change.name}`}
      ${change.environmentType === undefined ? sql`` : sql`, environment_type = ${change.environmentType}`}
      ${
        change.requireContextSignature === undefined
          ? sql``
          : sql`, require_context_signature = ${change.requireContextSignature}`
      }
      ${
        change.publishableLimits === undefined
          ? sql``
          : sql`, publishable_limits = ${sql.json({ ...change.publishableLimits })}`
      }
      ${
        change.lowercaseKeys === undefined
          ? sql``
          : sql`, lowercase_keys = ${change.lowercaseKeys && sql.json({ ...change.lowercaseKeys })}`
      }
    where id = ${id} returning *`
  return row ?? null
}

export async function countEnvironments(sql: Sql, accountId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from environments where account_id = ${accountId}`
  return row!.count
}

/** The company traits that the account's features name. */
export async function featureTraits(sql: Sql, accountId: string): Promise<readonly (readonly string[])[]> {
  const rows = await sql<{ hierarchy: readonly string[] }[]>`
    select trait_hierarchy as hierarchy from features where account_id = ${accountId} and trait_hierarchy is not null
    union
    select usage_limit_trait_hierarchy from features
    where account_id = ${accountId} and usage_limit_trait_hierarchy is not null`
  return rows.map(row => row.hierarchy)
}

/** Delete every row with the environment's id from every table (AL-13), except the audit log, which is kept. */
export async function deleteRowsOf(sql: Sql, id: string): Promise<void> {
  const tables = await sql<{ table_name: string }[]>`
    select c.table_name from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = current_schema() and c.column_name = 'environment_id' and t.table_type = 'BASE TABLE'
      and c.table_name <> 'audit_logs'
    order by c.table_name`
  for (const { table_name: table } of tables)
    await sql`delete from ${sql(table)} where environment_id = ${id}`
}

export async function deleteEnvironment(sql: Sql, id: string): Promise<boolean> {
  await deleteRowsOf(sql, id)
  const rows = await sql`delete from environments where id = ${id} returning id`
  return rows.length > 0
}
