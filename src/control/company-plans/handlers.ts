// Setting all plans of a company at once, by an administrator.
import type { CompanyDetail } from '../../../schemas/companies.js'
import type { CompanyPlansUpdate } from '../../../schemas/plans.js'
import type { Commitment } from '../../core/model/company-state.js'
import type { CatalogData, PlanDef } from '../../core/model/definitions.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import { isActive } from '../../core/plans/plan.js'
import { isBilledBy } from '../../core/plans/unheld.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { entityUnknown, type Refusals } from '../../kit/entities.js'
import { whole } from '../../kit/unchanged.js'
import { companyDetails, described } from '../companies/read.js'
import { replyWhenShown } from '../entities/write.js'
import { usageViolations, warnOverLimit } from '../manage-plan/usage-violations.js'
import { commitmentsOf } from '../migrations/terms.js'
import { requireCompatible } from '../plan-groups/add-on-compatibility.js'
import { groupSettings } from '../plan-groups/settings.js'

const refusals: Refusals = {
  not_found: ['not_found', 'Company not found'],
  plan_not_assignable: ['state_conflict', 'The company cannot be on these plans'],
}

/**
 * PUT /company-plans/{company_id}: the wanted base plan and add-ons. Absent members are unchanged, null removes. Kept
 * plans keep their version; added ones start at the published version.
 *
 * errors  404 for an unknown company or plan; 400 for a plan without published version, of the wrong type, of another
 *         company, or linked to billing, and for an add-on incompatible with the base plan. Nothing changes then.
 * source  EN-84, EN-86, EN-87, PB-13, PB-30, PB-31, PB-34; billing-linked plans: decision. A kept plan may be linked,
 *         because this call does not assign it: decision.
 */
export const putCompanyPlans: Handler<CompanyPlansUpdate> = async (
  call,
): Promise<{ data: CompanyDetail }> => {
  const { services, environment, body, key, nowMs } = call
  const companyId = call.params.company_id!
  const company = await described(call, companyId)
  const held = new Set([company.plan, ...company.addOns].flatMap(holding => holding?.planId ?? []))
  const catalog = services.catalogs.get(environment.id)
  const wanted = wantedPlans(body, company)
  const { basePlanId, addOnIds } = wanted
  if (basePlanId !== null) requireAssignable(catalog, basePlanId, 'plan', companyId, held)
  for (const id of addOnIds) requireAssignable(catalog, id, 'add_on', companyId, held)
  const { add_on_compatibilities: compatibilities } = await groupSettings(services.sql, environment.id)
  requireCompatible(catalog, company, compatibilities ?? [], wanted, 'add_on_ids')
  requireWholePayment(company, catalog, basePlanId, addOnIds, nowMs)
  const commitments = await newCommitments(call, catalog, basePlanId, held)
  const message = {
    type: 'change_plans',
    ...wanted,
    versionIds: {},
    priceIds: {},
    commitments,
    cause: { action: 'manage_plan', actorType: 'api_key', apiKeyId: key.id },
  } as const
  const violations = usageViolations(catalog, company, message, nowMs)
  await replyWhenShown(call, services.shards.ask('c', environment.id, companyId, message, nowMs), refusals)
  warnOverLimit(call, companyId, violations)
  return { data: await oneCompany(call, companyId) }
}

/** The plans the company is to have; members absent from the body keep theirs (decision 26). */
function wantedPlans(
  body: CompanyPlansUpdate,
  { plan, addOns }: Pick<CompanyDescription, 'plan' | 'addOns'>,
): { readonly basePlanId: string | null; readonly addOnIds: readonly string[] } {
  // the fallback plan of a company without a plan is not an assignment (EN-82)
  const had = {
    base_plan_id: plan && plan.addedAtMs !== 0 ? plan.planId : null,
    add_on_ids: addOns.map(addOn => addOn.planId),
  }
  const said = whole(body, had)
  return { basePlanId: said.base_plan_id ?? null, addOnIds: said.add_on_ids ?? [] }
}

function requireAssignable(
  catalog: CatalogData,
  planId: string,
  planType: PlanDef['planType'],
  companyId: string,
  held: ReadonlySet<string>,
): void {
  const member = planType === 'plan' ? 'base_plan_id' : 'add_on_ids'
  const refuse = (message: string) => new ServiceError('state_conflict', `${member}: ${message}`)
  const plan = catalog.plans.find(one => one.id === planId)
  if (!plan) throw new ServiceError('not_found', `${member}: no such plan`)
  if (plan.planType !== planType) throw refuse(planType === 'plan' ? 'is an add-on' : 'is not an add-on')
  if (plan.companyId !== null && plan.companyId !== companyId) throw refuse('is the plan of another company')
  if (held.has(planId)) return
  const version = plan.versions.find(one => one.id === plan.publishedVersionId)
  if (!version) throw refuse('the plan has no published version')
  if (version.billingProductId !== null) throw refuse('the plan is linked to billing; use POST /manage-plan')
}

/**
 * The plans and add-ons of one own subscription are left together, and the subscription ends with them. Where a part is
 * held on, the call that changes the payment too is needed.
 *
 * errors  400. source  PB-51, EN-82, N3
 */
function requireWholePayment(
  { state, plan, addOns }: CompanyDescription,
  { plans }: CatalogData,
  basePlanId: string | null,
  addOnIds: readonly string[],
  nowMs: number,
): void {
  const wanted = new Set(basePlanId === null ? addOnIds : [basePlanId, ...addOnIds])
  for (const subscription of state.subscriptions) {
    if (subscription.anchorMs == null || !isActive(subscription, nowMs)) continue
    const billed = [plan, ...addOns].filter(
      held =>
        held !== null &&
        isBilledBy(
          held,
          plans.find(({ id }) => id === held.planId),
          subscription,
        ),
    )
    const left = billed.find(holding => !wanted.has(holding!.planId))
    if (left && billed.some(holding => wanted.has(holding!.planId)))
      throw new ServiceError(
        'state_conflict',
        `${left === plan ? 'base_plan_id' : 'add_on_ids'}: one subscription bills what is left and what is kept; use POST /manage-plan`,
      )
  }
}

/**
 * The quantities to which a custom plan commits the company that is put on it (EN-35, N7); none for a plan it has.
 *
 * errors  400 where that costs something, because this call changes no payment.
 */
async function newCommitments(
  { services }: Call<unknown, unknown>,
  { plans }: CatalogData,
  basePlanId: string | null,
  held: ReadonlySet<string>,
): Promise<readonly Commitment[]> {
  const plan = plans.find(({ id }) => id === basePlanId)
  if (!plan || plan.companyId === null || held.has(plan.id)) return []
  const commitments = await commitmentsOf(services.sql, plan.id, plan.publishedVersionId!)
  if (commitments.some(({ sold }) => sold !== undefined))
    throw new ServiceError(
      'state_conflict',
      'base_plan_id: the plan commits to a quantity that is paid for; use POST /manage-plan',
    )
  return commitments
}

async function oneCompany(call: Call<unknown, unknown>, id: string): Promise<CompanyDetail> {
  const [company] = await companyDetails(call, [id])
  if (!company) throw entityUnknown('company')
  return company
}
