// Dates of companies that wait for the end of their billing period, as they follow from the subscriptions now (PB-21, N1).
import type { Call } from '../../kit/call.js'
import { isKnown } from '../../kit/entities.js'
import { inParallel } from '../../turns/in-parallel.js'
import { described } from '../companies/read.js'
import { type CountedMigration, type NamedCompanyMigration, pendingCompanyMigrations } from './store.js'

/** Companies asked at a time. */
const atOnce = 32

/** Rows with the dates that follow from each company's subscription as it is now. */
export function withDates(
  call: Call<unknown, unknown>,
  rows: readonly NamedCompanyMigration[],
): Promise<readonly NamedCompanyMigration[]> {
  return inParallel(rows, atOnce, async row => {
    const waits = row.status === 'pending' && row.agreed && row.strategy === 'end_of_billing_period'
    if (!waits || !isKnown(call, 'company', row.company_id)) return row
    const { schedule } = (await described(call, row.company_id)).state
    const agreed = schedule?.migrations.find(one => one.migrationId === row.migration_id)
    return agreed ? { ...row, due_at: dateOrNull(agreed.effectiveAtMs) } : row
  })
}

const dateOrNull = (ms: number | null) => (ms === null ? null : new Date(ms))

/** Companies that are asked for their date when a migration is shown; further ones count with the date told last. */
const datedMax = 100

/**
 * A migration or move with the next of its dates. The companies with the earliest dates told are asked, at most so many.
 */
export async function withNextDate(
  call: Call<unknown, unknown>,
  row: CountedMigration,
): Promise<CountedMigration> {
  const waits = row.status === 'pending' || row.status === 'in_progress'
  if (!waits || row.strategy !== 'end_of_billing_period') return row
  const rows = await pendingCompanyMigrations(call.services.sql, row.id, datedMax + 1)
  const dated = await withDates(call, rows.slice(0, datedMax))
  const dates = [...dated, ...rows.slice(datedMax)].flatMap(({ due_at }) => due_at ?? [])
  const next = dates.length === 0 ? null : new Date(Math.min(...dates.map(date => date.getTime())))
  return { ...row, next_due_at: next }
}
