// Settles companies whose plans have changed by time alone, whether they are in memory or not.

import { Refused } from '../../entities/shards/shards.js'
import type { Services } from '../../kit/services.js'
import { isoTime } from '../../kit/time.js'
import { inParallel } from '../../turns/in-parallel.js'

/** Companies of one environment per run, and concurrently. */
const perTurn = 500
const atOnce = 16

interface TimerRow {
  readonly environment_id: string
  readonly company_id: string
}

/**
 * Settle every company with a due trial, subscription, downgrade or migration. Lists, records and notifications
 * follow from that. A company is asked again in the next run until its row is gone.
 *
 * errors  those of Postgres. A company that cannot be asked now is asked in the next run.
 * source  EN-91, EN-93, EN-95, EN-96, PB-56, PB-58.
 */
export async function settleDue(services: Services, environmentIds: readonly string[]): Promise<void> {
  const { sql, clock } = services
  const presents = environmentIds.map(id => isoTime(clock.now(id)))
  const due = await sql<TimerRow[]>`
    select distinct d.environment_id, d.company_id
    from unnest(${[...environmentIds]}::text[], ${presents}::text[]) as e (id, present)
    cross join lateral (
      select environment_id, company_id from company_timers
      where environment_id = e.id and due_at <= e.present::timestamptz order by due_at limit ${perTurn}) as d`
  await inParallel(due, atOnce, row => settleOne(services, row))
}

async function settleOne(
  { sql, shards, clock, log }: Services,
  { environment_id: env, company_id: id }: TimerRow,
): Promise<void> {
  try {
    await shards.ask('c', env, id, { type: 'settle' }, clock.now(env))
  } catch (error) {
    if (error instanceof Refused && error.refusal === 'not_found')
      await sql`delete from company_timers where company_id = ${id}`
    else log.warn({ err: error, company_id: id }, 'a company waits to be settled')
  }
}
