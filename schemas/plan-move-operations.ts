// The operations of moves between plans, and of what holds, ends and repeats a migration: part of operations.ts.
import type { Count } from './envelope.js'
import type {
  PlanMove,
  PlanMoveCompany,
  PlanMoveCreateRequestBody,
  PlanMovePreview,
  PlanMoveRetry,
} from './plan-moves.js'
import type { MigrationCompleteNow, MigrationRetry, PlanVersionMigration } from './plans.js'

export interface PlanMoveOperations {
  /** Moves between plans and moves back, newest first. */
  'GET /plan-moves': { id: 'listPlanMoves'; data: PlanMove[] }
  /**
   * Moves companies to a plan: now, at an instant, or each at the end of its billing period. The answer waits some seconds;
   * the rest goes on by itself, also after a stop. Each company moves once. One that cannot move keeps its plan, with a reason.
   */
  'POST /plan-moves': { id: 'createPlanMove'; body: PlanMoveCreateRequestBody; data: PlanMove }
  'GET /plan-moves/count': { id: 'countPlanMoves'; data: Count }
  /** A look at a move: its effect on each company, and in sum; nothing is changed. */
  'POST /plan-moves/preview': {
    id: 'previewPlanMove'
    body: PlanMoveCreateRequestBody
    data: PlanMovePreview
  }
  /** A move with its progress. */
  'GET /plan-moves/{plan_move_id}': { id: 'getPlanMove'; data: PlanMove }
  /** Cancels what waits; companies that moved stay there. */
  'POST /plan-moves/{plan_move_id}/cancel': { id: 'cancelPlanMove'; data: PlanMove }
  /** The companies of a move, with outcome and reason. */
  'GET /plan-moves/{plan_move_id}/companies': { id: 'listPlanMoveCompanies'; data: PlanMoveCompany[] }
  /** Holds a move: no further company moves, not even at a date that was agreed, until it is resumed. */
  'POST /plan-moves/{plan_move_id}/pause': { id: 'pausePlanMove'; data: PlanMove }
  /** Lets a paused move go on. A company whose period ended meanwhile waits for the end of the next. */
  'POST /plan-moves/{plan_move_id}/resume': { id: 'resumePlanMove'; data: PlanMove }
  /** Tries the companies again that failed. */
  'POST /plan-moves/{plan_move_id}/retry': { id: 'retryPlanMove'; body: PlanMoveRetry; data: PlanMove }
  /**
   * Takes a move back: what waits is cancelled, and each company that moved has again the plan, version and price it had.
   * One that has changed its plan since stays. The answer is a move of kind `revert`.
   */
  'POST /plan-moves/{plan_move_id}/revert': { id: 'revertPlanMove'; data: PlanMove }
  'POST /plan-version-migrations/{plan_version_migration_id}/cancel': {
    id: 'cancelMigration'
    data: PlanVersionMigration
  }
  'POST /plan-version-migrations/{plan_version_migration_id}/complete-now': {
    id: 'completeMigrationNow'
    body: MigrationCompleteNow
    data: PlanVersionMigration
  }
  'POST /plan-version-migrations/{plan_version_migration_id}/retry': {
    id: 'retryMigration'
    body: MigrationRetry
    data: PlanVersionMigration
  }
  /** Holds a migration: no further company moves, not even at a date that was agreed, until it is resumed. */
  'POST /plan-version-migrations/{plan_version_migration_id}/pause': {
    id: 'pauseMigration'
    data: PlanVersionMigration
  }
  /** Lets a paused migration go on. A company whose period ended meanwhile waits for the end of the next. */
  'POST /plan-version-migrations/{plan_version_migration_id}/resume': {
    id: 'resumeMigration'
    data: PlanVersionMigration
  }
  /** Takes a migration back, as a move is taken back. The answer is a move of kind `revert`. */
  'POST /plan-version-migrations/{plan_version_migration_id}/revert': {
    id: 'revertMigration'
    data: PlanMove
  }
}
