// Edits of a published version's parts wait in the plan's draft (PB-3). Until the publish a read does not show them, but its tag
// tells them: of two writes with one tag, one holds (decision 38).
import type { Sql } from 'postgres'
import type { PlanVersionRow } from '../../catalog/plans.js'
import { findDraft } from './version-rows.js'

/** A part of a version: an entitlement or a credit grant. */
interface Part {
  readonly plan_id: string
  readonly plan_version_id: string
  readonly environment_id: string
}

/** A copy differs from its original in these, without an edit. */
const ofCopies: ReadonlySet<string> = new Set([
  'id',
  'plan_version_id',
  'rule_id',
  'rule_id_usage_exceeded',
  'created_at',
  'updated_at',
])

/**
 * The edit of a part that waits in the draft of its plan.
 *
 * copyIn   the part's copy in a version; null: it was removed there.
 * returns  JSON text, for comparisons alone; null: no edit waits.
 */
export async function waitingEdit<T extends Part>(
  sql: Sql,
  part: T,
  copyIn: (version: Pick<PlanVersionRow, 'id'>) => Promise<T | null>,
): Promise<string | null> {
  const draft = await findDraft(sql, part.plan_id, part.environment_id)
  if (draft === undefined || draft.id === part.plan_version_id) return null
  const edited = contentOf(await copyIn(draft))
  return edited === contentOf(part) ? null : edited
}

function contentOf(part: object | null): string {
  const members = Object.entries(part ?? {}).filter(([name]) => !ofCopies.has(name))
  return JSON.stringify(members, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}
