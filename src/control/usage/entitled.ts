// Companies entitled to a feature, and their users.
import type { FeatureCompany, FeatureCompanyUser, FeatureUsage } from '../../../schemas/usage.js'
import type { EntityCall } from '../../kit/entities.js'
import type { Page } from '../../kit/query.js'
import { companyDetails } from '../companies/read.js'
import { userBrief } from '../entities/view.js'
import { usageRowsOrNull, usageViews } from './rows.js'
import { entitledCompanyIds, entitledMembers, userRows } from './store.js'

/** Companies entitled to a feature, newest first, each with its usage as of now. */
export async function companiesOfFeature(
  call: EntityCall,
  featureId: string,
  q: string | undefined,
  page: Page,
): Promise<FeatureCompany[]> {
  const { services, environment, nowMs } = call
  const catalog = services.catalogs.get(environment.id)
  const ids = await entitledCompanyIds(services.sql, catalog, featureId, q, nowMs, page)
  const [usages, companies] = await Promise.all([usageByCompany(call, ids, featureId), detailsOf(call, ids)])
  return ids.flatMap(id => {
    const usage = usages.get(id)
    const company = companies.get(id)
    return usage && company ? [{ ...usage, company }] : []
  })
}

/**
 * Users of these companies, newest membership first. Figures are the company's, because entitlements are: decision.
 */
export async function usersOfFeature(
  call: EntityCall,
  featureId: string,
  q: string | undefined,
  page: Page,
): Promise<FeatureCompanyUser[]> {
  const { services, environment, nowMs } = call
  const catalog = services.catalogs.get(environment.id)
  const members = await entitledMembers(services.sql, catalog, featureId, q, nowMs, page)
  const companyIds = [...new Set(members.map(member => member.companyId))]
  const userIds = [...new Set(members.map(member => member.userId))]
  const [usages, companies, users] = await Promise.all([
    usageByCompany(call, companyIds, featureId),
    detailsOf(call, companyIds),
    userRows(services.sql, environment.id, userIds),
  ])
  const userById = new Map(users.map(user => [user.id, userBrief(user, services.userSeen.of(user.id))]))
  return members.flatMap(({ userId, companyId }) => {
    const usage = usages.get(companyId)
    const [company, user] = [companies.get(companyId), userById.get(userId)]
    return usage && company && user ? [{ ...entitlementOf(usage), company, user }] : []
  })
}

function entitlementOf(usage: FeatureUsage): FeatureCompanyUser {
  const { feature, plan } = usage
  return {
    access: usage.access,
    allocation: usage.allocation,
    allocation_type: usage.allocation_type,
    entitlement_id: usage.entitlement_id,
    entitlement_type: usage.entitlement_type,
    usage: usage.usage,
    period: usage.period,
    month_reset: usage.month_reset,
    metric_reset_at: usage.metric_reset_at,
    ...(feature && { feature }),
    ...(plan && { plan }),
  }
}

/** Usage by company id, without companies no longer entitled. */
async function usageByCompany(
  call: EntityCall,
  companyIds: readonly string[],
  featureId: string,
): Promise<ReadonlyMap<string, FeatureUsage>> {
  const featureIds = [featureId]
  const answers = await Promise.all(companyIds.map(id => usageRowsOrNull(call, id, { featureIds })))
  const asked = companyIds.map((companyId, i) => ({ companyId, rows: answers[i] ?? [] }))
  const views = await usageViews(call, asked)
  return new Map(asked.flatMap(({ companyId }, i) => views[i]!.map(view => [companyId, view] as const)))
}

async function detailsOf(call: EntityCall, ids: readonly string[]) {
  const details = await companyDetails(call, ids)
  return new Map(details.map(company => [company.id, company]))
}
