// Migrations and moves as requests change them: found, held, let go on, cancelled, tried again. A request waits some seconds
// for the steps that are due.
import type { Sql } from 'postgres'
import type { MigrationStrategy } from '../../../schemas/enums.js'
import { addMonthsClamped } from '../../core/values/period.js'
import { ServiceError } from '../../errors.js'
import type { Call } from '../../kit/call.js'
import { isKnown } from '../../kit/entities.js'
import { inTransaction } from '../../kit/sql.js'
import { requireTime } from '../../kit/time.js'
import { isOpen, type MigrationRow } from './rows.js'
import {
  type CountedMigration,
  cancelPending,
  findMigration,
  type Kinds,
  retryFailed,
  setPaused,
} from './store.js'

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
export function requireOpen(row: Pick<MigrationRow, 'kind' | 'status'>): void {
  if (!isOpen(row)) throw new ServiceError('state_conflict', `The ${row.kind} is ${row.status}`)
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

/** A migration or move, after its steps that are due were made. Throws 404 for an unknown id. */
export async function presentOf(
  call: Call<unknown, unknown>,
  id: string,
  kinds: Kinds,
): Promise<CountedMigration> {
  const { services, environment, nowMs } = call
  const find = () => findMigration(services.sql, environment.id, id, kinds)
  let row = await find()
  if (row?.next_due_at && row.next_due_at.getTime() <= nowMs) {
    await soon(call, row.id)
    row = await find()
  }
  if (!row) throw new ServiceError('not_found', kinds === 'moves' ? 'Move not found' : 'Migration not found')
  return row
}

/** Hold a migration or move. */
export async function pause(call: Call<unknown, unknown>, row: CountedMigration): Promise<void> {
  requireOpen(row)
  if (row.paused_at !== null) throw new ServiceError('state_conflict', 'It is paused already')
  const now = new Date(call.nowMs)
  await recorded(call, tx => setPaused(tx, row.id, now, now))
  await soon(call, row.id)
}

/** Let a migration or move go on. */
export async function resume(call: Call<unknown, unknown>, row: CountedMigration): Promise<void> {
  requireOpen(row)
  if (row.paused_at === null) throw new ServiceError('state_conflict', 'It is not paused')
  await recorded(call, tx => setPaused(tx, row.id, null, new Date(call.nowMs)))
  await soon(call, row.id)
}

/** Leave the companies of a migration or move that have not moved yet. */
export async function cancel(call: Call<unknown, unknown>, row: CountedMigration): Promise<void> {
  requireOpen(row)
  await recorded(call, tx => cancelPending(tx, row.id, new Date(call.nowMs)))
  await soon(call, row.id)
}

/** Try the companies that failed again: all of them, or where codes are given the companies with one of the codes. */
export async function retry(
  call: Call<unknown, unknown>,
  row: CountedMigration,
  codes: readonly string[] | null | undefined,
): Promise<void> {
  if (row.status === 'cancelled') throw new ServiceError('state_conflict', `The ${row.kind} is cancelled`)
  const which = codes?.length ? { codes } : {}
  await recorded(call, tx => retryFailed(tx, row.id, which, new Date(call.nowMs)))
  await soon(call, row.id)
}
