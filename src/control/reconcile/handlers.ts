// Reconciliation: compares the actors' counters with ClickHouse, per company and event.
import { setTimeout as sleep } from 'node:timers/promises'
import { type UsageTotalRow, usageReconcile } from '../../analytics/history.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import { type Quantity, subtractQuantity } from '../../core/values/quantity.js'
import { jsonText } from '../../json.js'
import type { Answer, Call } from '../../kit/call.js'
import { entityUnknown, isKnown } from '../../kit/entities.js'
import { type QueryOf, query, string } from '../../kit/query.js'

const companiesAtOnce = 500
const asksAtOnce = 50
/**
 * Records may be on their way to ClickHouse, so a difference is reported only if this many looks find the same one.
 */
const looks = 4
const pauseMs = 250

const shape = { company_id: string } as const
export const reconcileQuery = query(shape)
type ReconcileCall = Call<undefined, QueryOf<typeof shape>>

/** A company and event whose counts differ. */
interface Difference {
  readonly company_id: string
  readonly event_subtype: string
  /** All-time usage, from the company's actor. */
  readonly actor: Quantity
  /** All-time usage, from ClickHouse's hourly sums. */
  readonly hours: Quantity
  /** The last 364 days, from the hourly sums, and below from the stored events. */
  readonly recent_hours: Quantity
  readonly recent_events: Quantity
}

/**
 * GET /reconcile: compares the all-time usage of every company and event, after everything acknowledged is projected.
 *
 * returns  lines of JSON: a Difference for each pair that differs, and at the end {companies, pairs, differences}.
 * errors   404 for a company that is not in this environment; 503 while a store is down. A failure midway cuts the
 *          connection, and the last line is missing.
 * source   decision.
 */
export async function reconcile(call: ReconcileCall): Promise<Answer> {
  const { company_id: companyId } = call.query
  if (companyId !== undefined && !isKnown(call, 'company', companyId)) throw entityUnknown('company')
  await call.services.projections.barrier('postgres')
  return { stream: { type: 'application/x-ndjson', pieces: lines(call) } }
}

async function* lines(call: ReconcileCall): AsyncGenerator<Buffer> {
  let companies = 0
  let pairs = 0
  let differences = 0
  for await (const ids of companyIds(call)) {
    companies += ids.length
    let looked = await look(call, ids)
    pairs += looked.pairs
    for (let again = 1; again < looks && looked.differences.length > 0; again++) {
      await sleep(pauseMs)
      const known = new Set(looked.differences.map(name))
      const next = await look(call, [...new Set(looked.differences.map(one => one.company_id))])
      looked = { pairs: 0, differences: next.differences.filter(one => known.has(name(one))) }
    }
    differences += looked.differences.length
    if (looked.differences.length > 0)
      yield Buffer.from(looked.differences.map(one => `${jsonText(one)}\n`).join(''))
  }
  yield Buffer.from(`${JSON.stringify({ companies, pairs, differences })}\n`)
}

/** Identifies a difference by its pair and amount: an amount that changes is usage in transit. */
const name = (one: Difference): string =>
  `${one.company_id} ${one.event_subtype}\0${subtractQuantity(one.actor, one.hours)} ${subtractQuantity(one.recent_hours, one.recent_events)}`

async function* companyIds({
  services,
  environment,
  query,
}: ReconcileCall): AsyncGenerator<readonly string[]> {
  const { sql } = services
  if (query.company_id !== undefined) return yield [query.company_id]
  for (let last = ''; ; ) {
    const rows = await sql<{ id: string }[]>`
      select id from companies where environment_id = ${environment.id} and id > ${last}
      order by id limit ${companiesAtOnce}`
    if (rows.length === 0) return
    yield rows.map(row => row.id)
    last = rows.at(-1)!.id
  }
}

/**
 * Read the actors first, then wait until ClickHouse has caught up. Pairs whose counters changed meanwhile are left
 * out.
 */
async function look(call: ReconcileCall, ids: readonly string[]): Promise<Looked> {
  const { services, environment, nowMs } = call
  const before = await counted(call, ids)
  await services.projections.barrierOf('clickhouse', environment.id)
  const stored = await usageReconcile(services.clickhouse, environment.id, [...before.keys()], nowMs)
  const { pairs, differences } = compare(before, stored)
  if (differences.length === 0) return { pairs, differences }
  const after = await counted(call, [...new Set(differences.map(one => one.company_id))])
  const still = differences.filter(
    one => (after.get(one.company_id)?.get(one.event_subtype) ?? 0) === one.actor,
  )
  return { pairs, differences: still }
}

interface Looked {
  readonly pairs: number
  readonly differences: readonly Difference[]
}

/** All-time usage by company and event name, from the actors; without deleted companies. */
async function counted(
  { services, environment, nowMs }: ReconcileCall,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, Quantity>>> {
  const byCompany = new Map<string, ReadonlyMap<string, Quantity>>()
  for (let at = 0; at < ids.length; at += asksAtOnce)
    await Promise.all(
      ids.slice(at, at + asksAtOnce).map(async id => {
        const { reply } = await services.shards.ask<Pick<CompanyDescription, 'metrics'> | null>(
          'c',
          environment.id,
          id,
          { type: 'describe' },
          nowMs,
        )
        if (reply === null) return
        const allTime = reply.metrics.filter(one => one.period === 'all_time')
        byCompany.set(id, new Map(allTime.map(one => [one.eventSubtype, one.value])))
      }),
    )
  return byCompany
}

function compare(
  counts: ReadonlyMap<string, ReadonlyMap<string, Quantity>>,
  stored: readonly UsageTotalRow[],
): Looked {
  const rows = new Map(stored.map(row => [`${row.companyId} ${row.subtype}`, row]))
  const differences: Difference[] = []
  let pairs = 0
  const hold = (
    companyId: string,
    subtype: string,
    actor: Quantity,
    row: UsageTotalRow | undefined,
  ): void => {
    pairs++
    const { total = 0, recent = 0, raw = 0 } = row ?? {}
    if (actor === total && recent === raw) return
    differences.push({
      company_id: companyId,
      event_subtype: subtype,
      actor,
      hours: total,
      recent_hours: recent,
      recent_events: raw,
    })
  }
  for (const [companyId, subtypes] of counts)
    for (const [subtype, actor] of subtypes) {
      const pair = `${companyId} ${subtype}`
      hold(companyId, subtype, actor, rows.get(pair))
      rows.delete(pair)
    }
  for (const row of rows.values()) hold(row.companyId, row.subtype, 0, row)
  return { pairs, differences }
}
