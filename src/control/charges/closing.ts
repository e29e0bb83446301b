// Closes billing periods: rates them once they are over, and writes their lines, draft invoices and notifications in one
// transaction. A run that was killed is begun again; two runs write the same rows, and the second none.
import type { Sql } from 'postgres'
import type { BillingFacts } from '../../core/rating/facts.js'
import { goneAt } from '../../core/rating/history.js'
import type { BillingPeriod } from '../../core/rating/periods.js'
import {
  hasThreshold,
  isPriced,
  isSold,
  nextEnd,
  periodsOf,
  type RatedPeriod,
  reachedThresholds,
} from '../../core/rating/rate.js'
import type { Services } from '../../kit/services.js'
import { inTransaction } from '../../kit/sql.js'
import { isoTime } from '../../kit/time.js'
import { notify } from '../webhooks/outbox.js'
import { lineViews } from './charges.js'
import { type ClosedRow, closedView, never, writeClosed } from './closed.js'
import { draftInvoices } from './drafts.js'
import { rated } from './rated.js'
import { lineView } from './view.js'

/** A row of billing_due. */
export interface DueRow {
  readonly company_id: string
  readonly environment_id: string
  readonly closed_ms: string | null
  readonly touched: string
  readonly watched_at: Date | null
}

/** The place of a company that is closed. */
export interface ClosingPlace {
  readonly services: Services
  readonly environmentId: string
  readonly accountId: string
  /** The environment's present, epoch ms. */
  readonly nowMs: number
  /** Periods that ended at or before it are closed, epoch ms: what is on its way may still belong to later ones. */
  readonly uptoMs: number
}

/**
 * Look at one company: close what is over, tell of windows that closed, and note when to look again. Everything
 * acknowledged before must be in the stores, and the company settled.
 *
 * errors  those of the stores; nothing of the period that failed is written then.
 * source  RA-20, RA-21.
 */
export async function closeCompany(place: ClosingPlace, facts: BillingFacts, due: DueRow): Promise<void> {
  const { services, uptoMs } = place
  const { sql } = services
  if (!isPriced(facts)) {
    await forgetTraits(sql, facts)
    // periods of this time are not closed later either
    await sql`
      update billing_due set due_ms = ${never}, closed_ms = greatest(coalesce(closed_ms, 0), ${uptoMs})
      where company_id = ${due.company_id} and touched = ${due.touched}`
    return
  }
  const closedMs = due.closed_ms === null ? Number.NEGATIVE_INFINITY : Number(due.closed_ms)
  const periods = periodsOf(facts, place.nowMs)
  for (const period of periods)
    if (period.endMs <= uptoMs && period.endMs > closedMs) await closePeriod(place, facts, period)
  const open = periods.find(one => one.startMs <= uptoMs && one.endMs > uptoMs)
  if (open) await tellWindows(place, facts, open)
  const next = Math.min(nextEnd(facts, uptoMs), never)
  if (next === never) await forgetTraits(sql, facts)
  const watched = hasThreshold(facts, place.nowMs)
  await sql`
    update billing_due set
      due_ms = case when touched = ${due.touched} then ${next} else due_ms end,
      watched_at = case when not ${watched} then null else coalesce(watched_at, 'epoch') end
    where company_id = ${due.company_id}`
}

/** A company that was deleted is billed no more: nothing reads its traits. */
async function forgetTraits(sql: Sql, { companyId, history }: BillingFacts): Promise<void> {
  if (goneAt(history) !== Number.POSITIVE_INFINITY)
    await sql`delete from gone_traits where company_id = ${companyId}`
}

async function closePeriod(place: ClosingPlace, facts: BillingFacts, period: BillingPeriod): Promise<void> {
  const { services, environmentId, nowMs } = place
  const { companyId } = facts
  const result = await rated(services, environmentId, facts, period, Math.max(nowMs, period.endMs))
  const lines = lineViews(result.lines)
  const now = new Date(nowMs)
  // RA-20: who has the fallback plan alone, and used nothing of it that costs, is not written down
  const isWritten = lines.length > 0 || isSold(facts)
  await inTransaction(services.sql, async tx => {
    await tx`set local tollgate.unbounded = 'on'`
    const row = isWritten && (await writeClosed(tx, environmentId, companyId, period, lines, now))
    await tx`
      update billing_due set closed_ms = greatest(coalesce(closed_ms, 0), ${period.endMs})
      where company_id = ${companyId}`
    if (!row) return
    await draftInvoices(tx, row, now)
    await tellWindowsOf(place, tx, facts, result)
    await tellThresholds(place, tx, facts, period, result)
    await tellClosed(place, tx, row)
  })
  services.outbox.wake()
}

function tellClosed(
  { services, accountId, environmentId }: ClosingPlace,
  tx: Sql,
  row: ClosedRow,
): Promise<void> {
  const topic = {
    accountId,
    environmentId,
    type: 'billing.period.closed',
    companyId: row.company_id,
  } as const
  const { company_id, totals, line_count } = row
  return notify(tx, services.webhooks, topic, { ...closedView(row), company_id, totals, line_count })
}

/** Windows of overage that closed inside an open period. */
async function tellWindows(place: ClosingPlace, facts: BillingFacts, period: BillingPeriod): Promise<void> {
  const { services, environmentId, uptoMs } = place
  if (nextEnd(facts, period.startMs) > uptoMs) return
  const result = await rated(services, environmentId, facts, period, uptoMs)
  if (result.closed.length === 0) return
  await inTransaction(services.sql, tx => tellWindowsOf(place, tx, facts, result))
  services.outbox.wake()
}

/** Notify of windows that closed, each once. source: RA-21 */
async function tellWindowsOf(
  place: ClosingPlace,
  tx: Sql,
  facts: BillingFacts,
  result: RatedPeriod,
): Promise<void> {
  const { services, accountId, environmentId } = place
  const { companyId } = facts
  for (const { featureId, startMs, nextMs } of result.closed) {
    if (!(await isFirst(place, tx, companyId, `window ${companyId} ${featureId} ${startMs} ${nextMs}`)))
      continue
    const lines = result.lines.filter(
      one =>
        one.featureId === featureId &&
        one.kind === 'overage' &&
        one.window?.startMs === startMs &&
        one.window.nextMs === nextMs,
    )
    const topic = {
      accountId,
      environmentId,
      type: 'billing.overage_window.closed',
      companyId,
      featureId,
    } as const
    await notify(tx, services.webhooks, topic, {
      company_id: companyId,
      feature_id: featureId,
      start_time: isoTime(startMs),
      end_time: isoTime(nextMs),
      lines: lines.map((one, i) => lineView(one, i + 1)),
    })
  }
}

/** Notify of thresholds that were reached, each once in a period. source: RA-22 */
async function tellThresholds(
  place: ClosingPlace,
  tx: Sql,
  facts: BillingFacts,
  period: BillingPeriod,
  result: RatedPeriod,
): Promise<void> {
  const { services, accountId, environmentId } = place
  const { companyId } = facts
  for (const { entitlementId, featureId, currency, threshold, amount } of reachedThresholds(facts, result)) {
    const once = `threshold ${companyId} ${entitlementId} ${currency} ${period.startMs}`
    if (!(await isFirst(place, tx, companyId, once))) continue
    const topic = {
      accountId,
      environmentId,
      type: 'billing.threshold.reached',
      companyId,
      featureId,
    } as const
    await notify(tx, services.webhooks, topic, {
      company_id: companyId,
      feature_id: featureId,
      plan_entitlement_id: entitlementId,
      currency,
      billing_threshold: threshold,
      amount,
      period_start: isoTime(period.startMs),
      period_end: isoTime(period.endMs),
    })
  }
}

async function isFirst(
  { environmentId, nowMs }: ClosingPlace,
  tx: Sql,
  companyId: string,
  id: string,
): Promise<boolean> {
  const rows = await tx`
    insert into billing_told (id, environment_id, company_id, told_at)
    values (${id}, ${environmentId}, ${companyId}, ${new Date(nowMs)}) on conflict do nothing returning id`
  return rows.length > 0
}

/** Look whether a company's use has reached a threshold in its open period. source: RA-22 */
export async function watchCompany(place: ClosingPlace, facts: BillingFacts): Promise<void> {
  const { services, environmentId, nowMs } = place
  const period = periodsOf(facts, nowMs).find(one => one.startMs <= nowMs && one.endMs > nowMs)
  if (period === undefined) return
  const result = await rated(services, environmentId, facts, period, nowMs + 1)
  if (reachedThresholds(facts, result).length === 0) return
  await inTransaction(services.sql, tx => tellThresholds(place, tx, facts, period, result))
  services.outbox.wake()
}
