// Statements that remove what the stores hold of an entity beyond the entity itself (ER-2, ER-3).
import type { PendingQuery, Row, Sql } from 'postgres'
import { nativeProductId } from '../../catalog/prices.js'
import type { ClickHouse } from '../../storage/clickhouse.js'
import { type Entity, inAudit, mentions } from './marks.js'

/** Rows removed or blanked, by place. */
export type Removed = Record<string, number>

/** Before the entity is removed: rows that are found through it. Its notes have no other trace of it. */
export async function scrubNotes(tx: Sql, { id }: Entity): Promise<Removed> {
  const { count } = await tx`
    delete from company_override_notes where override_id in (
      select id from company_overrides where company_id = ${id}
      union select override_id from override_changes where company_id = ${id})`
  return { override_notes: count }
}

/**
 * Before the entity is removed: filters of moves that were made by its texts. Their search text and values of traits go; a
 * move whose companies are not listed yet is cancelled, as it cannot find them any more.
 *
 * returns  the ids of the moves. Other rows that hold the same filters, of kept answers and of the audit log, mention these.
 * source   ER-8
 */
export async function scrubMoves(tx: Sql, { id, environmentId }: Entity): Promise<readonly string[]> {
  const rows = await tx<{ id: string }[]>`
    update plan_version_migrations m
    set filter = filter
        || case when filter->>'q' is null then '{}' else '{"q": "Erased"}'::jsonb end
        || case when filter->'traits' is null or filter->'traits' = 'null' then '{}'
          else jsonb_build_object('traits', (
            select coalesce(jsonb_agg(jsonb_build_object('name', f->>'name', 'value', 'Erased')), '[]')
            from jsonb_array_elements(filter->'traits') f)) end,
      status = case when listed_at is null and status in ('pending', 'in_progress') then 'cancelled' else status end,
      completed_at = case when listed_at is null then coalesce(completed_at, now()) else completed_at end,
      paused_at = case when listed_at is null then null else paused_at end
    where environment_id = ${environmentId}
      and (filter->>'q' is not null or jsonb_typeof(filter->'traits') = 'array')
      and (
        exists (select from plan_version_company_migrations c where c.migration_id = m.id and c.company_id = ${id})
        or exists (select from listed e where e.id = ${id} and position(lower(filter->>'q') in e.text) > 0)
        or exists (
          select from jsonb_path_query(filter, '$.traits[*].value') f where f #>> '{}' in (
            select value from entity_traits where entity_id = ${id}
            union all select value from entity_keys where entity_id = ${id})))
    returning id`
  return rows.map(row => row.id)
}

/**
 * Postgres, after the entity is removed. Amounts and states of billing stay; names and addresses go. Rows that have its id
 * are its own; others that have a mark are, if they came before it was removed: its keys may belong to another by now.
 *
 * erasureId  its row knows when the entity was removed.
 */
export async function scrubPostgres(
  tx: Sql,
  erasureId: string,
  entity: Entity,
  marks: readonly string[],
): Promise<Removed> {
  const { kind, id, environmentId } = entity
  const here = tx`environment_id = ${environmentId}`
  const its = (text: PendingQuery<Row[]>, at: PendingQuery<Row[]>) => tx`(
    position(${id}::text in ${text}) > 0
    or ${at} <= (select removed_at from erasures where id = ${erasureId}) and ${mentions(tx, text, marks)})`
  const removed: Removed = {}
  const count = (place: string, { count }: { readonly count: number }): void => {
    removed[place] = (removed[place] ?? 0) + count
  }
  count(
    'webhook_payloads',
    await tx`
      delete from webhook_outbox where ${here}
        and (company_id = ${id} or ${its(tx`(coalesce(body, '') || coalesce(happened, ''))`, tx`created_at`)})`,
  )
  count(
    'webhook_payloads',
    await tx`
      delete from webhook_events where ${here} and status = 'pending' and ${its(tx`payload`, tx`created_at`)}`,
  )
  count(
    'webhook_payloads',
    await tx`
      update webhook_events set payload = '{}' where ${here} and ${its(tx`payload`, tx`created_at`)}`,
  )
  count(
    'kept_answers',
    await tx`delete from paid_writes where ${here} and ${its(tx`coalesce(body, '')`, tx`made_at`)}`,
  )
  count(
    'failed_records',
    await tx`delete from projection_failures where ${its(tx`(record || error)`, tx`failed_at`)}`,
  )
  count(
    'stream_subscriptions',
    await tx`delete from stream_subscriptions where ${here} and entity_id = ${id}`,
  )
  const column = tx(kind === 'company' ? 'company_id' : 'user_id')
  count(
    'spend_policies',
    await tx`update credit_spend_policies set label = null where ${here} and ${column} = ${id}`,
  )
  if (kind === 'company') Object.assign(removed, await scrubBilling(tx, entity))
  return removed
}

async function scrubBilling(tx: Sql, entity: Entity): Promise<Removed> {
  const { id, environmentId } = entity
  const own = tx`environment_id = ${environmentId} and company_id = ${id}`
  const removed: Removed = {}
  for (const table of [
    'company_billing_details',
    'company_billing_profiles',
    'hold_keys',
    'plan_writes',
    'custom_plan_publishes',
    'temporary_access_tokens',
  ])
    removed[table] = (await tx`delete from ${tx(table)} where ${own}`).count
  const blanked: Readonly<Record<string, PendingQuery<Row[]>>> = {
    billing_customers: tx`name = '', email = '', meta = '{}', external_id = id`,
    // rating reads the coupons of discounts
    billing_subscriptions: tx`customer_external_id = company_id, metadata = null, external_id = id,
      default_payment_method_external_id = null, application_id = null,
      products = coalesce((select jsonb_agg(one || '{"subscription_item_external_id": null}')
        from jsonb_array_elements(products) one), '[]'),
      discounts = coalesce((select jsonb_agg(one || '{"external_id": ""}')
        from jsonb_array_elements(discounts) one), '[]')`,
    billing_history: tx`state = case when state ? 'externalId'
      then jsonb_set(state, '{externalId}', to_jsonb(coalesce(subscription_id, ''))) else state end`,
    billing_invoices: tx`customer_external_id = company_id, url = null,
      external_id = case when external_id is not null then id end,
      subscription_external_id = null, payment_method_external_id = null`,
    billing_payment_methods: tx`customer_external_id = company_id, external_id = id, account_name = null,
      bank_name = null, billing_email = null, billing_name = null`,
    custom_plan_billings: tx`customer_email = null, request = null, invoice_url = null,
      external_invoice_id = null`,
    plans: tx`name = 'Erased', description = ''`,
  }
  // former names of its own plans; the next version of the definitions keeps the blanked ones
  removed.definition_history = (
    await tx`
      delete from definition_history where environment_id = ${environmentId} and kind = 'plan'
        and id in (select id from plans where ${own})`
  ).count
  for (const [table, columns] of Object.entries(blanked))
    removed[table] = (await tx`update ${tx(table)} set ${columns} where ${own}`).count
  removed.own_products = await scrubProducts(tx, entity)
  removed.plan_versions = (
    await tx`
      update plan_versions set name = 'Erased', description = ''
      where plan_id in (select id from plans where ${own})`
  ).count
  return removed
}

/** Names of the products that were made for a company's own plans. Returns how many there are. */
async function scrubProducts(tx: Sql, { id, environmentId }: Entity): Promise<number> {
  const sold = await tx<{ plan_id: string; of: string | null }[]>`
    select id as plan_id, null as of from plans where company_id = ${id}
    union select e.plan_id, e.feature_id from plan_entitlements e join plans p on p.id = e.plan_id
    where p.company_id = ${id}
    union select g.plan_id, g.credit_id from plan_credit_grants g join plans p on p.id = g.plan_id
    where p.company_id = ${id}`
  const ids = sold.map(one => nativeProductId(environmentId, one.plan_id, one.of))
  const { count } = await tx`update billing_products set name = 'Erased' where id = any(${ids})`
  return count
}

/** Rows of one statement of the audit log: their numbers go into a record of bounded size. */
const rowsAtOnce = 200

/**
 * Blank the texts of audit rows that mention the entity. The caller has brought all rows into the chain.
 *
 * last     the number of the last row that may be blanked: rows come while others use the keys of the entity.
 * returns  the numbers of the rows.
 */
export async function blankAudit(
  tx: Sql,
  entity: Entity,
  marks: readonly string[],
  last: number,
): Promise<readonly number[]> {
  const rows = await tx<{ seq: string }[]>`
    update audit_logs set erased = true, req_body = null, resp_body = null, resource_name = null, url = '',
      secondary_resource = null, remote_ip = null, user_agent = null
    where seq in (
      select seq from audit_logs
      where seq <= ${last} and not erased and ${inAudit(tx, entity, marks)}
      order by seq limit ${rowsAtOnce})
    returning seq`
  return rows.map(row => Number(row.seq)).sort((a, b) => a - b)
}

/** Events of one statement that mention the entity without being its own, and those that one search finds. */
const othersAtOnce = 1_000
const othersFound = 100_000
/** Marks of one statement; the engine takes no more than 255. */
const marksAtOnce = 200

/**
 * Blank the bodies of stored events, and the idempotency keys, which callers make of their own names. Names of events,
 * quantities, times and results of checks stay. The statements name ids alone: they lie on the disk for a while.
 */
export async function scrubClickHouse(
  clickhouse: ClickHouse,
  { kind, id, environmentId }: Entity,
  marks: readonly string[],
): Promise<Removed> {
  const column = kind === 'company' ? 'company_id' : 'user_id'
  const environment = { environment: environmentId }
  // a name of an event stays, so a blanked one may still have a mark: each is looked at once
  const [received] = await clickhouse.select<{ last: number }>(
    `SELECT toUnixTimestamp64Milli(max(loaded_at)) AS last FROM events WHERE environment_id = {environment:String}`,
    environment,
  )
  let events = await blankEvents(clickhouse, `${column} = {id:String}`, { ...environment, id })
  for (let from = 0; from < marks.length; from += marksAtOnce) {
    for (let after = '', isMore = true; isMore; ) {
      const others = await clickhouse.select<{ id: string }>(
        `SELECT id FROM events
         WHERE environment_id = {environment:String} AND id > {after:String}
           AND loaded_at <= fromUnixTimestamp64Milli({last:Int64}, 'UTC') AND multiSearchAny(body, {marks:Array(String)})
         ORDER BY id LIMIT ${othersFound}`,
        { ...environment, after, last: received!.last, marks: marks.slice(from, from + marksAtOnce) },
      )
      const ids = others.map(one => one.id)
      for (let first = 0; first < ids.length; first += othersAtOnce)
        events += await blankEvents(clickhouse, 'id IN {ids:Array(String)}', {
          ...environment,
          ids: ids.slice(first, first + othersAtOnce),
        })
      isMore = ids.length === othersFound
      after = ids.at(-1) ?? after
    }
  }
  return { events }
}

/** Returns how many there are. */
async function blankEvents(
  clickhouse: ClickHouse,
  which: string,
  parameters: Readonly<Record<string, unknown>>,
): Promise<number> {
  const where = `environment_id = {environment:String} AND ${which}`
  const now = { mutations_sync: '2' } as const
  const [found] = await clickhouse.select<{ events: number }>(
    `SELECT count() AS events FROM events WHERE ${where}`,
    parameters,
  )
  await clickhouse.command(
    `ALTER TABLE event_claims UPDATE idempotency_key = concat('erased_', id)
     WHERE environment_id = {environment:String} AND id IN (SELECT id FROM events WHERE ${where})`,
    parameters,
    now,
  )
  await clickhouse.command(
    `ALTER TABLE events UPDATE
       body = multiIf(
         type = 'flag_check', concat('{"flag_key":', toJSONString(toString(subtype)), ',"value":',
           if(JSONExtractBool(body, 'value'), 'true', 'false'), ',"reason":',
           toJSONString(JSONExtractString(body, 'reason')), '}'),
         type = 'identify', '{}',
         concat('{"event":', toJSONString(toString(subtype)), '}')),
       idempotency_key = if(idempotency_key = '', '', concat('erased_', id)),
       error_message = ''
     WHERE ${where}`,
    parameters,
    now,
  )
  return found!.events
}
