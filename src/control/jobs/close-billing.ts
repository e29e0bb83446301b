// Closes billing periods that are over, and looks whether billing thresholds were reached.

import { grouped } from '../../catalog/plans.js'
import type { BillingFacts } from '../../core/rating/facts.js'
import { Refused } from '../../entities/shards/shards.js'
import type { Services } from '../../kit/services.js'
import { inParallel } from '../../turns/in-parallel.js'
import { awaitStores, debtsOf } from '../charges/charges.js'
import { type ClosingPlace, closeCompany, type DueRow, watchCompany } from '../charges/closing.js'
import { billingFacts } from '../charges/facts.js'
import { endedMonths, noteUsers } from '../charges/fallback.js'

/** Companies of one environment per run, and those rated at the same time. */
const perTurn = 100
const atOnce = 4
/** How long after its end a period is closed: what was received before its end is stored by then. */
const graceMs = 60_000
/** How often a company with a billing threshold is looked at. */
const watchedMs = 60_000

/**
 * Close every billing period that is over, and tell of windows of overage that closed. Where nothing is due, it costs two
 * statements. With a test clock nothing is waited for.
 *
 * errors  those of Postgres. A company that fails is looked at again in the next run.
 * source  RA-20, RA-21, RA-25.
 */
export async function closeBilling(services: Services, environmentIds: readonly string[]): Promise<void> {
  const ends = environmentIds.map(id => ({ id, uptoMs: services.clock.now(id) - waitOf(services, id) }))
  for (const ended of await endedMonths(services.sql, ends)) await noteUsers(services, ended)
  for (const [environmentId, due] of await dueRows(services, environmentIds))
    await each(services, environmentId, due, (place, facts, row) => closeCompany(place, facts, row))
}

async function dueRows(
  services: Services,
  environmentIds: readonly string[],
): Promise<Map<string, DueRow[]>> {
  const { sql, clock } = services
  const places = environmentIds.map(id => ({ id, upto: clock.now(id) - waitOf(services, id) }))
  const rows = await sql<DueRow[]>`
    select d.* from unnest(${places.map(one => one.id)}::text[], ${places.map(one => one.upto)}::bigint[]) as e (id, upto)
    cross join lateral (
      select company_id, environment_id, closed_ms, touched, watched_at from billing_due
      where environment_id = e.id and due_ms <= e.upto order by due_ms limit ${perTurn}) as d`
  return grouped(rows, row => row.environment_id)
}

/**
 * Look at companies with a billing threshold, each once in a while.
 *
 * everyMs  how long ago the last look must be.
 * source   RA-22.
 */
export async function watchThresholds(services: Services, everyMs = watchedMs): Promise<void> {
  const rows = await services.sql<DueRow[]>`
    update billing_due set watched_at = now() where company_id in (
      select company_id from billing_due
      where watched_at is not null and watched_at <= now() - ${everyMs} * interval '1 millisecond'
      order by watched_at limit ${perTurn} for update skip locked)
    returning company_id, environment_id, closed_ms, touched, watched_at`
  for (const [environmentId, due] of grouped(rows, row => row.environment_id))
    await each(services, environmentId, due, (place, facts) => watchCompany(place, facts))
}

function placeOf(services: Services, environmentId: string): ClosingPlace {
  const { clock, catalogs } = services
  const nowMs = clock.now(environmentId)
  const { accountId } = catalogs.get(environmentId)
  return { services, environmentId, accountId, nowMs, uptoMs: nowMs - waitOf(services, environmentId) }
}

const waitOf = ({ clock }: Services, environmentId: string): number =>
  clock.testClock(environmentId) === null ? graceMs : 0

type Work = (place: ClosingPlace, facts: BillingFacts, row: DueRow) => Promise<void>

/** Settle companies, wait for the stores, and work on each with its facts. */
async function each(
  services: Services,
  environmentId: string,
  due: readonly DueRow[],
  work: Work,
): Promise<void> {
  const place = placeOf(services, environmentId)
  const { nowMs } = place
  const ready: DueRow[] = []
  for (const row of due) if (await isSettled(place, row)) ready.push(row)
  const reading = { services, environment: { id: environmentId }, nowMs }
  await awaitStores(reading)
  const ids = ready.map(one => one.company_id)
  const facts = await billingFacts(services.sql, environmentId, ids, await debtsOf(reading, ids))
  await inParallel(ready, atOnce, row =>
    work(place, facts.get(row.company_id)!, row).catch(error =>
      services.log.warn({ err: error, company_id: row.company_id }, 'billing of a company waits'),
    ),
  )
}

/** Write down the changes that time has made; false: it cannot be now. A company that is gone has nothing left to write. */
async function isSettled({ services, environmentId, nowMs }: ClosingPlace, row: DueRow): Promise<boolean> {
  try {
    await services.shards.ask('c', environmentId, row.company_id, { type: 'settle' }, nowMs)
    return true
  } catch (error) {
    if (error instanceof Refused && error.refusal === 'not_found') return true
    services.log.warn({ err: error, company_id: row.company_id }, 'billing of a company waits')
    return false
  }
}
