// Starts a migration for a request, and waits some seconds for it.
import type { Sql } from 'postgres'
import type { MigrationStrategy } from '../../../schemas/enums.js'
import { addMonthsClamped } from '../../core/values/period.js'
import { ServiceError } from '../../errors.js'
import type { Call } from '../../kit/call.js'
import { isKnown } from '../../kit/entities.js'
import { inTransaction } from '../../kit/sql.js'
import { requireTime } from '../../kit/time.js'
import type { MigrationRow } from './rows.js'

const monthsAhead = 24

/**
 * The instant of a migration with strategy `scheduled`, epoch ms; null for other strategies.
 *
 * errors  400 for an instant that is missing, past or too far ahead, and for one that the strategy does not use.
 * source  decision 28.
 */
export function scheduledAt(
  strategy: MigrationStrategy,
  requested: string | null,
  nowMs: number,
  member = 'migration_scheduled_at',
): number | null {
  const refuse = (why: string) => new ServiceError('value_invalid', `${member}: ${why}`)
  if (strategy !== 'scheduled') {
    if (requested !== null) throw refuse('only for the strategy scheduled')
    return null
  }
  if (requested === null) throw refuse('required for the strategy scheduled')
  const atMs = requireTime(requested, member)
  if (atMs <= nowMs) throw refuse('must be in the future')
  if (atMs > addMonthsClamped(nowMs, monthsAhead)) throw refuse('at most two years ahead')
  return atMs
}

/** Throws 404, naming the member, for an unknown company. */
export function requireCompanies(
  call: Call<unknown, unknown>,
  ids: readonly string[] | null | undefined,
  member: string,
): void {
  const unknown = ids?.find(id => !isKnown(call, 'company', id))
  if (unknown !== undefined) throw new ServiceError('not_found', `${member}: no company ${unknown}`)
}

/** Run a change together with its audit row in one transaction. */
export function recorded<T>(call: Call<unknown, unknown>, work: (tx: Sql) => Promise<T>): Promise<T> {
  return inTransaction(call.services.sql, async tx => {
    const result = await work(tx)
    await call.record?.(tx)
    return result
  })
}

/** Throws 400 for a migration or move that has ended. */
export function requireOpen({ kind, status }: Pick<MigrationRow, 'kind' | 'status'>): void {
  if (status !== 'pending' && status !== 'in_progress')
    throw new ServiceError('state_conflict', `The ${kind} is ${status}`)
}

/** Longest wait of a request for its migration, which continues afterwards. source: decision */
const patienceMs = 10_000

/**
 * Start migrations, or send out cancellations. Resolves when nothing is left to do now, or after the longest wait.
 * Failures are retried in the background.
 */
export async function soon(
  { services }: Call<unknown, unknown>,
  ...migrationIds: readonly string[]
): Promise<void> {
  const { migrations, projections, log } = services
  const begin = (id: string) =>
    migrations.run(id).catch(error => {
      log.warn({ err: error, migration_id: id }, 'a migration waits for a store')
    })
  if (migrationIds.length === 0) return
  const begun = Promise.all([...new Set(migrationIds)].map(begin))
  // the lists read afterwards must show the result
  const run = begun.then(() => projections.barrier('postgres')).catch(() => {})
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, patienceMs)
  })
  await Promise.race([run, late])
  clearTimeout(timer)
}
