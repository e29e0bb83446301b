// Names of companies, as Postgres has them.
import type { Sql } from 'postgres'
import { among } from '../../kit/sql.js'

/** Names by company id, of the companies that are there. `ids`: some may repeat; empty text and null name none. */
export async function companyNames(
  sql: Sql,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids.flatMap(id => id || []))]
  if (wanted.length === 0) return new Map()
  const rows = await sql<{ id: string; name: string }[]>`
    select id, name from companies where id in ${among(sql, wanted)}`
  return new Map(rows.map(({ id, name }) => [id, name]))
}
