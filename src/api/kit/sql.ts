// Pieces of statements that lists of every room share.
import type { Sql } from 'postgres'

/** `(…)` of a list of any length, for `x in ${among(sql, ids)}`. */
export function among(sql: Sql, values: readonly string[]) {
  return sql`(select jsonb_array_elements_text(${sql.json([...values])}))`
}

/** Newest first, ties by id (AL-51), of one page. */
export function newest(sql: Sql, page: { readonly limit: number; readonly offset: number }) {
  return sql`order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`
}

/** Whether a text contains another, whatever their case (CU-60). */
export function contains(sql: Sql, column: string, part: string) {
  return sql`lower(${sql(column)}) like lower(${anywhere(part)})`
}

/** The pattern of texts that contain this one. */
export function anywhere(part: string): string {
  return `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`
}

/** A value for a jsonb column. Our own interfaces have no index signature, which the driver's type asks for. */
export function asJson(sql: Sql, value: object) {
  return sql.json(value as Parameters<Sql['json']>[0])
}

/** Run in one transaction; rejections roll back and pass through. */
export async function inTransaction<T>(sql: Sql, work: (tx: Sql) => Promise<T>): Promise<T> {
  let result: { readonly value: T } | null = null
  // the driver's type of a transaction lacks what only a pool can do
  await sql.begin(async tx => {
    result = { value: await work(tx as unknown as Sql) }
  })
  return (result as unknown as { readonly value: T }).value
}
