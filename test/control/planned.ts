// Small things that tests of plans need: companies, features, published plans.
import type { Tollgate } from '../../src/start.js'
import type { Client } from '../harness.js'

/** How versions are published where no company is to move. */
export const publishOnly = { migration_strategy: 'leave', excluded_company_ids: [] }

/** The id of a company with this slug, made by an event of it if there is none. */
export async function companyOf(client: Client, { services }: Tollgate, slug: string): Promise<string> {
  await client.ok('POST', '/events', { event_type: 'track', body: { event: 'begin', company: { slug } } })
  const { environment_id: environmentId } = await client.ok('GET', '/whoami')
  const { found } = services.directory.resolve('company', environmentId, { slug })
  await services.projections.barrier('postgres')
  return found!
}

/** An event feature counting `subtype`. */
export function eventFeature(client: Client, name: string, subtype: string, more: object = {}) {
  const body = { name, description: '', feature_type: 'event', event_subtype: subtype, ...more }
  return client.ok('POST', '/features', body)
}

export function booleanFeature(client: Client, name: string) {
  return client.ok('POST', '/features', { name, description: '', feature_type: 'boolean' })
}

/** Publish the draft of a plan; the plan as it is then. */
export async function publishDraftOf(client: Client, planId: string, body: object = publishOnly) {
  const { draft_version: draft } = await client.ok('GET', `/plans/${planId}`)
  await client.ok('PUT', `/plans/version/${draft.id}/publish`, body)
  return client.ok('GET', `/plans/${planId}`)
}

/** A plan whose first version is published, with these entitlements. */
export async function publishedPlan(
  client: Client,
  name: string,
  entitlements: readonly object[] = [],
  more: object = {},
) {
  const plan = await client.ok('POST', '/plans', { name, plan_type: 'plan', ...more })
  for (const entitlement of entitlements)
    await client.ok('POST', '/plan-entitlements', { plan_id: plan.id, ...entitlement })
  return publishDraftOf(client, plan.id)
}
