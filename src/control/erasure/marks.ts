// Texts by which rows that mention an entity are found: its id, its keys as bodies and URLs write them, and the ids of its
// own plans, overrides and billing records.
import type { PendingQuery, Row, Sql } from 'postgres'

export type Kind = 'company' | 'user'

/** The entity of an erasure or export. */
export interface Entity {
  readonly kind: Kind
  readonly id: string
  readonly environmentId: string
  readonly accountId: string
}

/** The marks of an entity, from its stored keys, its former keys, and its own records. */
export async function marksOf(sql: Sql, { kind, id, environmentId }: Entity): Promise<string[]> {
  const pairs = await sql<Pair[]>`
    select name, value from entity_keys where entity_id = ${id} and environment_id = ${environmentId}
    union select substr(slot, 5), value from entity_history
    where entity_id = ${id} and environment_id = ${environmentId} and slot like 'key:%' and value is not null`
  const own = kind === 'company' ? await ownOf(sql, id) : { ids: [], pairs: [] }
  const marks = [...pairs, ...own.pairs].flatMap(({ name, value }) => marksOfPair(name, value))
  return [...new Set([id, ...own.ids, ...marks])]
}

interface Pair {
  readonly name: string
  readonly value: string
}

/** Ids of a company's own plans and overrides, and ids that a payment provider gave to its records. */
async function ownOf(sql: Sql, id: string) {
  const ids = await sql<{ id: string }[]>`
    select id from plans where company_id = ${id}
    union all select v.id from plan_versions v join plans p on p.id = v.plan_id where p.company_id = ${id}
    union all select id from company_overrides where company_id = ${id}`
  const pairs = await sql<Pair[]>`
    select name, external_id as value from (
      select external_id, array['external_id', 'customer_external_id'] as names from billing_customers
      where company_id = ${id}
      union all select external_id, array['subscription_external_id'] from billing_subscriptions
      where company_id = ${id}
      union all select external_id, array['external_id'] from billing_invoices
      where company_id = ${id} and external_id is not null
      union all select external_id, array['external_id', 'payment_method_external_id',
        'default_payment_method_external_id', 'default_payment_method_id'] from billing_payment_methods
      where company_id = ${id}) records, unnest(names) name`
  return { ids: ids.map(one => one.id), pairs }
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

/** A condition: a row of the audit log is about the entity, or mentions it. */
export function inAudit(sql: Sql, { id, accountId }: Entity, marks: readonly string[]) {
  const texts = sql`concat_ws(' ', req_body, resp_body, url, secondary_resource, resource_id)`
  return sql`account_id = ${accountId} and (resource_id = ${id} or ${mentions(sql, texts, marks)})`
}
