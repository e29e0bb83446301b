// A company's own page: short-lived tokens that read one company, and what that page may show.
import type {
  Portal,
  PortalFeature,
  TemporaryAccessToken,
  TemporaryAccessTokenCreate,
} from '../../../schemas/portal.js'
import { tokenSeconds } from '../../account/access-tokens.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import type { EntitlementReport } from '../../core/model/entitlement-report.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { entityUnknown, isKnown } from '../../kit/entities.js'
import { type QueryOf, query, string } from '../../kit/query.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { lookedUp } from '../entities/write.js'

/** POST /temporary-access-tokens. errors: 404 for keys that no company, or more than one, has. */
export const createTemporaryAccessToken: Handler<TemporaryAccessTokenCreate> = async call => {
  const { services, environment, key, body } = call
  const companyId = lookedUp(call, 'company', body.lookup)
  const of = { accountId: key.accountId, environmentId: environment.id, companyId, keyId: key.id }
  const made = await services.accessTokens.make(of, body.expires_in_seconds ?? tokenSeconds.usual)
  return {
    data: {
      id: made.id,
      environment_id: environment.id,
      token: made.value,
      issuer_type: 'api_key',
      resource_type: 'company',
      ...(!key.actor && { api_key_id: key.id }),
      created_at: isoTime(made.createdAtMs),
      updated_at: isoTime(made.createdAtMs),
      expired_at: isoTime(made.expiresAtMs),
    } satisfies TemporaryAccessToken,
  }
}

const portalShape = { company_id: string } as const
export const portalQuery = query(portalShape)

/**
 * GET /portal: with a token its company, with a key the company that the query names.
 *
 * errors  400 for a key without `company_id`; 403 for a token that names another company; 404 for an unknown company.
 */
export const getPortal: Handler<undefined, QueryOf<typeof portalShape>> = async call => {
  const companyId = companyOf(call)
  const { services, environment, nowMs } = call
  if (!isKnown(call, 'company', companyId)) throw entityUnknown('company')
  const { reply } = await services.shards.ask<CompanyDescription | null>(
    'c',
    environment.id,
    companyId,
    { type: 'describe', eventNamesMax: 0 },
    nowMs,
  )
  if (reply === null) throw entityUnknown('company')
  return { data: portalOf(reply, services.catalogs.get(environment.id)) }
}

function companyOf({ key, query }: Call<undefined, QueryOf<typeof portalShape>>): string {
  const { companyId } = key
  if (companyId === undefined) {
    if (query.company_id === undefined)
      throw new ServiceError('query_invalid', 'company_id: name the company')
    return query.company_id
  }
  if (query.company_id !== undefined && query.company_id !== companyId)
    throw new ServiceError('forbidden', 'This token reads its own company alone')
  return companyId
}

function portalOf(
  { state, plan, addOns, entitlements, balances }: CompanyDescription,
  catalog: CatalogData,
): Portal {
  const planNamed = (id: string) => catalog.plans.find(one => one.id === id)
  const base = plan && planNamed(plan.planId)
  return {
    company: { id: state.id, name: state.name },
    plan: base ? { name: base.name, description: base.description ?? null, price: null, period: null } : null,
    add_ons: addOns.map(({ planId }) => ({ name: planNamed(planId)?.name ?? '' })),
    features: entitlements.flatMap(report => featureOf(report, catalog)),
    credits: Object.entries(balances).map(([id, { remaining, total }]) => ({
      name: catalog.credits.find(credit => credit.id === id)?.name ?? '',
      remaining,
      total,
    })),
  }
}

function featureOf(report: EntitlementReport, catalog: CatalogData): PortalFeature[] {
  const feature = catalog.features.find(one => one.id === report.featureId)
  if (feature === undefined) return []
  const usage = report.usage === null ? null : Number(report.usage)
  const limit = report.allocation === null ? null : Number(report.allocation)
  const isUsedUp = usage !== null && limit !== null && usage >= limit
  const isOutOfCredit = report.valueType === 'credit' && (report.creditRemaining ?? 0) <= 0
  return [
    {
      name: feature.name,
      value_type: report.valueType,
      allowed: !isUsedUp && !isOutOfCredit,
      usage,
      limit,
      resets_at: isoTimeOrNull(report.metricResetAtMs),
    },
  ]
}
