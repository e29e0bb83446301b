// Moves between plans, and their companies, as the interface shows them.
import type { PlanMoveReason } from '../../../schemas/enums.js'
import type { PlanMove, PlanMoveCompany, PlanMoveStatus, PlanMoveTime } from '../../../schemas/plan-moves.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { isOpen, type MigrationRow } from './rows.js'
import type { CountedMigration, NamedCompanyMigration } from './store.js'

export function moveView(row: CountedMigration): PlanMove {
  const time = (date: Date | null) => isoTimeOrNull(date?.getTime())
  return {
    id: row.id,
    kind: row.kind === 'revert' ? 'revert' : 'move',
    status: statusOf(row),
    plan_id: row.plan_id,
    plan_version_id: row.plan_version_id_to,
    price_id: row.price_id,
    when: timeOf(row),
    scheduled_at: time(row.scheduled_at),
    proration_behavior: row.proration_behavior,
    filter: row.filter,
    reverts_id: row.reverts_id,
    reverted_by_id: row.reverted_by,
    total_companies: row.total,
    pending_companies: row.pending,
    completed_companies: row.completed,
    failed_companies: row.failed,
    skipped_companies: row.skipped,
    cancelled_companies: row.cancelled,
    next_due_at: time(row.next_due_at),
    error: row.error,
    paused_at: time(row.paused_at),
    started_at: time(row.started_at),
    completed_at: time(row.completed_at),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

const statusOf = (row: MigrationRow): PlanMoveStatus =>
  isOpen(row) && row.paused_at !== null ? 'paused' : row.status

function timeOf({ strategy }: MigrationRow): PlanMoveTime {
  if (strategy === 'scheduled') return 'scheduled'
  return strategy === 'end_of_billing_period' ? 'at_period_end' : 'now'
}

export function moveCompanyView(row: NamedCompanyMigration): PlanMoveCompany {
  const time = (date: Date | null) => isoTimeOrNull(date?.getTime())
  const waits = row.status === 'pending' && row.strategy !== 'immediate'
  return {
    id: row.id,
    plan_move_id: row.migration_id,
    company_id: row.company_id,
    company_name: row.company_name ?? row.company_id,
    plan_id_from: row.plan_id,
    plan_version_id_from: row.plan_version_id_from,
    plan_version_id_to: row.plan_version_id_to,
    status: row.status,
    reason: row.error_code as PlanMoveReason | null,
    note: row.error,
    scheduled_for: waits ? time(row.due_at) : null,
    started_at: time(row.started_at),
    completed_at: time(row.completed_at),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}
