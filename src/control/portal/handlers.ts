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
import type { Question } from '../../core/model/message.js'
import { ServiceError } from '../../errors.js'
import { parseExactly } from '../../json.js'
import type { Call, Handler } from '../../kit/call.js'
import { entityUnknown, isKnown } from '../../kit/entities.js'
import { type QueryOf, query, string } from '../../kit/query.js'
import { isoTime } from '../../kit/time.js'
import { type UsageRow, unpackUsage } from '../../wire/usage-rows.js'
import { pricesOf } from '../companies/read.js'
import type { HeldBilling } from '../companies/view.js'
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
  const ask = async <Reply>(question: Question): Promise<Reply | null> =>
    (await services.shards.ask<Reply | null>('c', environment.id, companyId, question, nowMs)).reply
  // answered from one state: both are asked in one batch
  const [described, used] = await Promise.all([
    ask<CompanyDescription>({ type: 'describe', eventNamesMax: 0 }),
    // a feature that the plan does not include is not shown
    ask<string>({ type: 'feature_usage', withoutNegative: true }),
  ])
  if (described === null || used === null) throw entityUnknown('company')
  const catalog = services.catalogs.get(environment.id)
  const { plan } = described
  const { prices } = await pricesOf(services.sql, catalog, plan === null ? [] : [plan])
  return { data: portalOf(described, unpackUsage(used), prices, catalog) }
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
  { state, plan, addOns, balances }: CompanyDescription,
  used: readonly UsageRow[],
  prices: HeldBilling['prices'],
  catalog: CatalogData,
): Portal {
  const planNamed = (id: string) => catalog.plans.find(one => one.id === id)
  const base = plan && planNamed(plan.planId)
  const price = prices.get(plan?.priceId ?? '')
  return {
    company: { id: state.id, name: state.name },
    plan: base
      ? {
          name: base.name,
          description: base.description ?? null,
          price: price?.price ?? null,
          period: price?.period ?? null,
        }
      : null,
    add_ons: addOns.map(({ planId }) => ({ name: planNamed(planId)?.name ?? '' })),
    features: used.flatMap(row => featureOf(row, catalog)),
    credits: Object.entries(balances).map(([id, { remaining, total }]) => ({
      name: catalog.credits.find(credit => credit.id === id)?.name ?? '',
      remaining,
      total,
    })),
  }
}

/** The figures of a usage row that the page shows. */
interface Figures {
  readonly access: boolean
  readonly allocation: number | null
  readonly allocation_type: string
  readonly usage: number | null
  readonly metric_reset_at: string | null
}

/** `allowed` is what a check of the feature's flag answers; quantities are exact. */
function featureOf({ featureId, json }: UsageRow, catalog: CatalogData): PortalFeature[] {
  const feature = catalog.features.find(one => one.id === featureId)
  if (feature === undefined) return []
  const figures = parseExactly(`${json}}`) as Figures
  return [
    {
      name: feature.name,
      value_type: figures.allocation_type,
      allowed: figures.access,
      usage: figures.usage,
      limit: figures.allocation,
      resets_at: figures.metric_reset_at,
    },
  ]
}
