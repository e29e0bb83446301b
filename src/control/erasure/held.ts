// Everything that is held of one company or user, line by line (ER-7).
import type { Sql } from 'postgres'
import type { Services } from '../../kit/services.js'
import type { ClickHouse } from '../../storage/clickhouse.js'
import { type Entity, inAudit, marksOf, mentions } from './marks.js'

/** Rows of one statement. */
const rowsPerPage = 1_000
/** Tables of our own working, without anything of the entity. */
const inner: ReadonlySet<string> = new Set(['company_timers', 'snapshots', 'temporary_access_tokens'])

/** Lines of `{"table": …, "row": …}`. */
export async function* heldOf(services: Services, entity: Entity): AsyncGenerator<Buffer> {
  const { sql, clickhouse } = services
  for (const { table, column } of await tablesOf(sql, entity))
    yield* lines(
      table,
      await sql`select to_jsonb(t) as row from ${sql(table)} t where ${sql(column)} = ${entity.id}`,
    )
  const marks = await marksOf(sql, entity)
  if (entity.kind === 'company')
    yield* lines(
      'company_override_notes',
      await sql`
        select to_jsonb(t) as row from company_override_notes t
        where override_id in (select id from company_overrides where company_id = ${entity.id})`,
    )
  yield* lines(
    'webhook_events',
    await sql`
      select to_jsonb(t) as row from webhook_events t
      where environment_id = ${entity.environmentId} and ${mentions(sql, sql`payload`, marks)}`,
  )
  yield* lines(
    'audit_logs',
    await sql`select to_jsonb(t) as row from audit_logs t where ${inAudit(sql, entity, marks)}`,
  )
  for (const table of [
    'events',
    'usage_by_hour',
    'usage_by_user_hour',
    'late_use',
    'credit_ledger',
    'flag_checks',
  ])
    yield* analysed(clickhouse, table, entity)
}

/** Tables that have rows of the entity: every one with its id in a column, those of later versions too. */
async function tablesOf(sql: Sql, { kind }: Entity) {
  const own = kind === 'company' ? 'companies' : 'users'
  const rows = await sql<{ table: string; column: string }[]>`
    select c.table_name as table, c.column_name as column from information_schema.columns c
    join information_schema.tables t using (table_schema, table_name)
    where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'
      and (c.column_name in (${kind === 'company' ? 'company_id' : 'user_id'}, 'entity_id')
        or c.table_name = ${own} and c.column_name = 'id')
    order by c.table_name = ${own} desc, c.table_name, c.column_name`
  return rows.filter(({ table }) => !inner.has(table))
}

function* lines(table: string, rows: readonly Record<string, unknown>[]): Generator<Buffer> {
  if (rows.length === 0) return
  yield Buffer.from(rows.map(({ row }) => `${JSON.stringify({ table, row })}\n`).join(''))
}

/** Rows of ClickHouse, a page at a time; a table without the entity's column has none. */
async function* analysed(
  clickhouse: ClickHouse,
  table: string,
  { kind, id, environmentId }: Entity,
): AsyncGenerator<Buffer> {
  const column = kind === 'company' ? 'company_id' : 'user_id'
  const columns = await clickhouse.select<{ name: string }>(
    'SELECT name FROM system.columns WHERE database = currentDatabase() AND table = {table:String}',
    { table },
  )
  if (!columns.some(({ name }) => name === column)) return
  for (let offset = 0; ; offset += rowsPerPage) {
    const rows = await clickhouse.select<Record<string, unknown>>(
      `SELECT * FROM ${table} WHERE environment_id = {environment:String} AND ${column} = {id:String}
       ORDER BY ALL LIMIT ${rowsPerPage} OFFSET {offset:UInt64}`,
      { environment: environmentId, id, offset },
    )
    if (rows.length > 0) yield Buffer.from(rows.map(row => `${JSON.stringify({ table, row })}\n`).join(''))
    if (rows.length < rowsPerPage) return
  }
}
