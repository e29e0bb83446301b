// What publishing asks of those who bill custom plans: two rooms meet here.
import type { PlanPublish } from '../../../schemas/plans.js'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import type { CompanySnapshot } from '../../core/company/state.js'
import type { Call } from '../kit/call.js'

/** The company of a custom plan as it was before the publish. */
export interface CompanyBefore {
  readonly state: CompanySnapshot
  /** It is on the plan already: the publish amends what it has. */
  readonly onPlan: boolean
  /** What the publish changes waits for its payment (PB-60). */
  readonly waits: boolean
  /** In which its billing profile has it priced, where no subscription runs; null: in the plan's own. */
  readonly currency: string | null
}

/** A custom plan that was published. */
export interface CustomPublished {
  readonly plan: PlanRow
  readonly version: PlanVersionRow
  readonly before: CompanyBefore
  /** It is the plan's first version in force. */
  readonly first: boolean
  /** What moves the company from the version it is on; null when nothing does. */
  readonly migrationId: string | null
}

export interface CustomPlanFlow {
  /**
   * Look whether what the body says can take effect. Changes nothing.
   *
   * returns  null where nobody is to be put on the plan: its company is gone, or left where it is.
   * errors   400, 404.
   */
  readonly prepare: (
    call: Call<PlanPublish, unknown>,
    plan: PlanRow,
    draft: PlanVersionRow,
  ) => Promise<CompanyBefore | null>
  /** Put the company on the plan, bill it, or have it wait for its payment. */
  readonly published: (call: Call<PlanPublish, unknown>, published: CustomPublished) => Promise<void>
}
