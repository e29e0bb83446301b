// Why a company was not moved, in words and codes.
import type { MigrationErrorCode, PlanMoveReason } from '../../../schemas/enums.js'
import type { MigrationReply } from '../../core/model/plan-messages.js'
import type { MigrationRow } from './rows.js'

/** Why a company cannot move to a version that is not sold as the company pays (EN-97, N6). */
export const noPrice = 'The version has no price in the currency and at the interval that the company pays in'

/** The reasons in words. */
export const reasonTexts: Readonly<Record<PlanMoveReason, string>> = {
  already_there: 'The company is on the version already',
  changed_since: 'The plan, its price or its billing interval was changed since',
  company_deleted: 'The company is deleted',
  incompatible_add_on: 'The plan group does not allow an add-on of the company beside the plan',
  left_plan: 'The company has left the plan that it was listed with',
  no_price: noPrice,
  not_assignable: 'The company cannot be on the plan',
  not_paid:
    'The version costs something, and no subscription bills the company for the plan: a change of plan at a price moves it (POST /manage-plan with base_plan_version_id)',
  over_limit: 'The company uses more than the plan allows, and the plan group refuses that',
  provider_billed: 'A provider bills the plan of the company: it is changed there',
  version_gone: 'The version that the company had is deleted',
}

/** The code and the words of an outcome, as a company's row keeps them. A migration knows fewer codes, and none for skips. */
export function outcomeReason(
  kind: MigrationRow['kind'],
  { outcome, reason = null }: Pick<MigrationReply, 'outcome' | 'reason'>,
  detail?: string,
): { readonly error: string | null; readonly errorCode: MigrationErrorCode | PlanMoveReason | null } {
  if (outcome === 'completed' || reason === null) return { error: null, errorCode: null }
  if (kind !== 'migration') return { error: reasonTexts[reason], errorCode: reason }
  if (outcome === 'skipped') return { error: null, errorCode: null }
  if (reason === 'no_price') return { error: noPrice, errorCode: 'no_price_for_interval' }
  return { error: detail ?? reasonTexts[reason], errorCode: 'permanent_config' }
}
