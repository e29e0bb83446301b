// Texts by which rows that mention an entity are found: its id, and its keys as bodies and URLs write them.
import type { PendingQuery, Row, Sql } from 'postgres'

export type Kind = 'company' | 'user'

/** The entity of an erasure or export. */
export interface Entity {
  readonly kind: Kind
  readonly id: string
  readonly environmentId: string
  readonly accountId: string
}

/** The marks of an entity, from its stored keys. */
export async function marksOf(sql: Sql, { id, environmentId }: Entity): Promise<string[]> {
  const pairs = await sql<{ name: string; value: string }[]>`
    select name, value from entity_keys where entity_id = ${id} and environment_id = ${environmentId}`
  return [id, ...new Set(pairs.flatMap(({ name, value }) => marksOfPair(name, value)))]
}

function marksOfPair(name: string, value: string): string[] {
  const [n, v] = [JSON.stringify(name), JSON.stringify(value)]
  const [urlName, urlValue] = [encodeURIComponent(name), encodeURIComponent(value)]
  return [
    `${n}:${v}`,
    `${n}: ${v}`,
    `${urlName}=${urlValue}`,
    `keys[${urlName}]=${urlValue}`,
    `keys%5B${urlName}%5D=${urlValue}`,
  ]
}

/** A condition: a text contains one of the marks. */
export function mentions(sql: Sql, text: PendingQuery<Row[]>, marks: readonly string[]) {
  return sql`exists (select from unnest(${marks as string[]}::text[]) mark where position(mark in ${text}) > 0)`
}
