// The interface between publishing a plan and billing custom plans.
import type { Sql } from 'postgres'
import type { PlanPublish } from '../../../schemas/plans.js'
import type { PlanRow, PlanVersionRow } from '../../catalog/plans.js'
import type { CompanySnapshot } from '../../core/model/descriptions.js'
import type { Call } from '../../kit/call.js'

/** The part of a company that the billing of its custom plan needs. */
export type PublishedFor = Pick<
  CompanySnapshot,
  'id' | 'plan' | 'addOns' | 'subscriptions' | 'schedule' | 'traits'
>

/** The company of a custom plan before the publish. */
export interface CompanyBefore {
  readonly state: PublishedFor
  /** It is on the plan already: the publish amends its subscription. */
  readonly onPlan: boolean
  /** The change waits for its payment (PB-60). */
  readonly waits: boolean
  /** Currency of its billing profile, if no subscription runs; null: the plan's own. */
  readonly currency: string | null
}

/** A published custom plan. */
export interface CustomPublished {
  readonly plan: PlanRow
  readonly version: PlanVersionRow
  readonly before: CompanyBefore
  /** It is the plan's first published version. */
  readonly first: boolean
  /** The migration that moves the company from its version; null: none. */
  readonly migrationId: string | null
}

export interface CustomPlanFlow {
  /**
   * Check that the publish can take effect. Changes nothing.
   *
   * returns  null if no company will be put on the plan: it is deleted, or excluded by the request.
   * errors   400, 404.
   */
  readonly prepare: (
    call: Call<PlanPublish, unknown>,
    plan: PlanRow,
    draft: PlanVersionRow,
  ) => Promise<CompanyBefore | null>
  /** Write down, in the transaction of the publish, what is to be done after it. */
  readonly begin: (tx: Sql, call: Call<PlanPublish, unknown>, published: CustomPublished) => Promise<void>
  /** Put the company on the plan and bill it, or let it wait for the payment. */
  readonly published: (call: Call<PlanPublish, unknown>, versionId: string) => Promise<void>
}
