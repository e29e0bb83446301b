// SQL fragments that many handlers share.
import type { Sql } from 'postgres'

export { inTransaction } from '../storage/transactions.js'

/** A list of any length as `(…)`, for `x in ${among(sql, ids)}`. */
export function among(sql: Sql, values: readonly string[]) {
  return sql`(select jsonb_array_elements_text(${sql.json([...values])}))`
}

/** Order and bounds of one page, newest first, ties by id (AL-51). */
export function newest(sql: Sql, page: { readonly limit: number; readonly offset: number }) {
  return sql`order by created_at desc, id desc limit ${page.limit} offset ${page.offset}`
}

/** Whether a text contains another, ignoring case (CU-60). */
export function contains(sql: Sql, column: string, part: string) {
  return sql`lower(${sql(column)}) like lower(${anywhere(part)})`
}

/** The `like` pattern of texts that contain this one. */
export function anywhere(part: string): string {
  return `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`
}

/** A value for a jsonb column. Our own interfaces have no index signature, which the driver's type asks for. */
export function asJson(sql: Sql, value: object) {
  return sql.json(value as Parameters<Sql['json']>[0])
}
