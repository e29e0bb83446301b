// Companies that pay for a plan's product, whether or not they are on the plan.
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { page, type QueryOf, query, required, string } from '../../kit/query.js'
import { companyDetails } from '../companies/read.js'
import { countOf, type Listed, mentions, newestFirst, pageOfIds, withSubscription } from '../entities/list.js'
import { findPlan, placeOf } from '../plan-versions/version-rows.js'

const shape = { plan_id: required(string), q: string, ...page } as const
export const productMatchQuery = query(shape)
type ProductMatchQuery = QueryOf<typeof shape>

/**
 * GET /plans/billing-product-match-companies: companies with an active subscription to a product of the plan, in any
 * of its versions; newest first.
 *
 * errors  404 for an unknown plan.
 * source  interface document; the definition of a match: decision, as in PB-51.
 */
export const listMatches: Handler<undefined, ProductMatchQuery> = async call => {
  const matches = matching(call, await productsOf(call))
  return {
    data: await companyDetails(call, await pageOfIds(call.services.sql, matches, newestFirst, call.query)),
  }
}

/** GET /plans/billing-product-match-companies/count. */
export const countMatches: Handler<undefined, ProductMatchQuery> = async call => {
  const matches = matching(call, await productsOf(call))
  return { data: { count: await countOf(call.services.sql, matches) } }
}

/** The products of the requested plan. Throws 404. Postgres has everything acknowledged before. */
async function productsOf(call: Call<undefined, ProductMatchQuery>): Promise<readonly string[]> {
  const { services, environment, query } = call
  if (!(await findPlan(services.sql, placeOf(call), query.plan_id)))
    throw new ServiceError('not_found', 'plan_id: no such plan')
  await services.projections.barrier('postgres')
  const plan = services.catalogs.get(environment.id).plans.find(one => one.id === query.plan_id)
  return plan?.versions.flatMap(version => version.billingProductId ?? []) ?? []
}

function matching(call: Call<undefined, ProductMatchQuery>, products: readonly string[]): Listed {
  const { services, environment, query } = call
  const { sql } = services
  const of = { kind: 'company', environmentId: environment.id } as const
  const sells = withSubscription(
    sql,
    environment.id,
    sql`s.status in ('active', 'past_due', 'trialing') and s.state->'productIds' ?| ${[...products]}::text[]`,
  )
  return { ...of, conditions: query.q ? [sells, mentions(sql, of, query.q)] : [sells] }
}
