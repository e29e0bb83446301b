// Features and their flags. They belong to the account and are the same in every environment (PB-1). The
// traits they name exist in each environment under its own id.
import type { Sql } from 'postgres'
import { billingProviderTypes, type FeatureType, featureTypes } from '../../../schemas/enums.js'
import type {
  BillingLinkedFeatureCreate,
  FeatureCreate,
  FeatureDetail,
  FeatureUpdate,
} from '../../../schemas/features.js'
import type { FlagWithFeature } from '../../../schemas/flags.js'
import { newId } from '../../account/ids.js'
import type { CatalogData } from '../../core/model/definitions.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { boolean, list, listOf, oneOf, page, type QueryOf, query, string, text } from '../../kit/query.js'
import type { Services } from '../../kit/services.js'
import { among } from '../../kit/sql.js'
import { whole } from '../../kit/unchanged.js'
import { mayChangeFeature, mayChangeFlag } from '../account/definitions-in-use.js'
import { featureInUse } from '../account/pending-uses.js'
import { type FeatureRow, featureView, grantedBy, plansByFeature } from '../flags/feature-view.js'
import { type FlagRow, flagDetails, type Outlook } from '../flags/view.js'
import { type FlagChange, findFlag, freeKey, insertFlag, slugOf, updateFlag } from '../flags/write.js'
import { memberViews, requireMember } from '../members/rows.js'
import { ensureFeatureTraits, traitViews } from '../traits/rows.js'
import { announce, readBeforeDelete } from '../webhooks/publish.js'
import { withEvents } from './event-summaries.js'
import { deleteOverridesOf } from './overrides.js'
import {
  countFeatureRows,
  deleteFeatureRow,
  deleteFlagRows,
  type FeatureFilter,
  type FeatureMembers,
  findFeature,
  findLinkedFeature,
  insertFeature,
  insertLicense,
  listFeatureRows,
  renameLicense,
  updateFeature,
} from './store.js'
import { featureSummaries } from './summaries.js'
import { makeLimitTrait, traitNameOf } from './write.js'

const listShape = {
  boolean_require_event: boolean,
  feature_type: listOf(featureTypes),
  ids: list,
  managed_by: oneOf(billingProviderTypes),
  plan_version_id: string,
  q: text(512),
  without_company_override_for: string,
  without_plan_entitlement_for: string,
  view: oneOf(['full', 'summary'] as const),
  ...page,
} as const
export const featureListQuery = query(listShape)
type FeatureListQuery = QueryOf<typeof listShape>

function filterOf(call: Call<undefined, FeatureListQuery>): FeatureFilter {
  const { key, query, services, nowMs } = call
  const { plan_version_id: versionId, without_plan_entitlement_for: planId } = query
  const companyId = query.without_company_override_for
  const catalog = versionId || planId ? services.catalogs.get(call.environment.id) : null
  const granted = versionId ? grantedByVersion(catalog!, versionId) : undefined
  const plan = planId ? catalog!.plans.find(each => each.id === planId) : undefined
  return {
    accountId: key.accountId,
    booleanRequireEvent: query.boolean_require_event === true,
    featureTypes: query.feature_type,
    ids: granted && query.ids ? granted.filter(id => query.ids!.includes(id)) : (granted ?? query.ids),
    exceptIds: plan ? grantedBy(plan) : [],
    managedBy: query.managed_by,
    q: query.q,
    withoutOverrideFor: companyId
      ? { environmentId: call.environment.id, companyId, now: new Date(nowMs) }
      : undefined,
  }
}

function grantedByVersion(catalog: CatalogData, versionId: string): readonly string[] {
  const version = catalog.plans.flatMap(plan => plan.versions).find(each => each.id === versionId)
  return version?.entitlements.map(entitlement => entitlement.featureId) ?? []
}

function outlookOf({ services, key, environmentOrNull }: Call<unknown, unknown>): Outlook {
  return { services, accountId: key.accountId, environment: environmentOrNull }
}

function unknownFeature(): ServiceError {
  return new ServiceError('not_found', 'Feature not found')
}

/** GET /features. Filters by plan and company need an environment. */
export const listFeatures: Handler<undefined, FeatureListQuery> = async call => {
  const { sql } = call.services
  const rows = await listFeatureRows(sql, filterOf(call), call.query)
  if (call.query.view === 'summary') return { data: await featureSummaries(sql, outlookOf(call), rows) }
  return { data: await withEvents(outlookOf(call), await featureDetails(sql, outlookOf(call), rows)) }
}

/** GET /features/count. */
export const countFeatures: Handler<undefined, FeatureListQuery> = async call => ({
  data: { count: await countFeatureRows(call.services.sql, filterOf(call)) },
})

/** GET /features/{feature_id}. */
export const getFeature: Handler = async call => {
  const { sql } = call.services
  const row = await findFeature(sql, call.key.accountId, call.params.feature_id!)
  if (!row) throw unknownFeature()
  const details = await featureDetails(sql, outlookOf(call), [row])
  const [detail] = await withEvents(outlookOf(call), details)
  return { data: detail }
}

export async function featureDetails(
  sql: Sql,
  outlook: Outlook,
  rows: readonly FeatureRow[],
): Promise<FeatureDetail[]> {
  const environmentId = outlook.environment?.id ?? null
  const ids = rows.map(row => row.id)
  const flagRows = await sql<FlagRow[]>`
    select * from flags where feature_id in ${among(sql, ids)} order by created_at, id`
  const flags = await flagDetails(sql, outlook, flagRows)
  const plans = plansByFeature(environmentId === null ? null : outlook.services.catalogs.get(environmentId))
  const members = await memberViews(sql, present(rows.map(row => row.maintainer_account_member_id)))
  const views = rows.map(row => featureView(row, environmentId))
  const traits = await traitViews(sql, present(views.map(view => view.trait_id)))
  return views.map((view, i) => {
    const maintainer = members.get(view.maintainer_account_member_id ?? '')
    const trait = traits.get(view.trait_id ?? '')
    return {
      ...view,
      flags: flags.filter(flag => flag.feature_id === view.id),
      plans: plans.get(view.id) ?? [],
      ...linkOf(rows[i]!),
      ...(maintainer && { maintainer }),
      ...(trait && { trait }),
    }
  })
}

function linkOf(row: FeatureRow): Pick<FeatureDetail, 'billing_linked_resource'> {
  if (row.external_resource_id === null) return {}
  const { managed_by: provider, external_resource_id } = row
  return {
    billing_linked_resource: { billing_provider: provider, external_resource_id, originator: provider },
  }
}

function present(ids: readonly (string | null)[]): string[] {
  return [...new Set(ids.filter(id => id !== null))]
}

// Write a feature in the scope of the account and return it as the same transaction sees it.
async function write(
  call: Call<unknown, unknown>,
  work: (sql: Sql, nowMs: number) => Promise<string>,
  told: (sql: Sql, detail: FeatureDetail) => Promise<void>,
): Promise<FeatureDetail> {
  const { services, key } = call
  return services.catalogs.change({ accountId: key.accountId, environmentId: null }, async tx => {
    const row = await findFeature(tx, key.accountId, await work(tx, services.clock.wall()))
    const [detail] = await featureDetails(tx, outlookOf(call), [row!])
    await told(tx, detail!)
    return detail!
  })
}

/**
 * POST /features. Creates its flag, or takes over the one named by `flag.id`. A trait feature creates or names the
 * trait that holds its usage; a license feature gets a licence and a usage-limit trait.
 *
 * errors  400 for an event feature without `event_subtype`, a taken key, a flag of another feature; 404 for an
 *         unknown trait, flag or maintainer.
 * source  EN-1, EN-2, EN-71; decision 12. A flag without key gets a free slug of the name; a license feature without
 *         trait gets one for the seats in use, because nothing else counts them (EN-73): decisions.
 */
export const createFeature: Handler<FeatureCreate> = async call => {
  const data = await write(
    call,
    (tx, nowMs) => make(tx, call, call.body, null, nowMs),
    async (tx, detail) => {
      await announce(tx, call, 'feature.created', detail, detail.id)
      await announceFlag(tx, call, detail, call.body.flag?.id == null ? 'flag.created' : 'flag.updated')
    },
  )
  return { status: 201, data }
}

/** Publish the flag's webhook too: a feature's flag changes with it. */
async function announceFlag(
  tx: Sql,
  call: Call<unknown, unknown>,
  { id, flags: [flag] }: FeatureDetail,
  type: 'flag.created' | 'flag.updated',
): Promise<void> {
  if (flag) await announce(tx, call, type, flag, id)
}

/** POST /features/billing-linked: create or change the feature linked to this provider's resource. */
export const putBillingLinkedFeature: Handler<BillingLinkedFeatureCreate> = async call => {
  const { body, key } = call
  const link = { provider: body.billing_provider, resourceId: body.external_resource_id }
  let known = false
  const detail = await write(
    call,
    async (tx, nowMs) => {
      const former = await findLinkedFeature(tx, key.accountId, link.provider, link.resourceId)
      known = former !== null
      return former ? change(tx, call, body, former, nowMs) : make(tx, call, body, link, nowMs)
    },
    async (tx, detail) => {
      await announce(tx, call, known ? 'feature.updated' : 'feature.created', detail, detail.id)
      if (!known) await announceFlag(tx, call, detail, 'flag.created')
    },
  )
  return { status: 201, data: detail }
}

async function make(
  tx: Sql,
  call: Call<unknown, unknown>,
  body: FeatureCreate,
  link: {
    readonly provider: BillingLinkedFeatureCreate['billing_provider']
    readonly resourceId: string
  } | null,
  nowMs: number,
): Promise<string> {
  const { accountId } = call.key
  const id = newId('feat_')
  const members = await normaliseFeature(tx, call, body.feature_type, body, null, nowMs)
  await insertFeature(
    tx,
    {
      ...members,
      id,
      account_id: accountId,
      feature_type: body.feature_type,
      managed_by: link?.provider ?? 'native',
      external_resource_id: link?.resourceId ?? null,
    },
    nowMs,
  )
  if (body.feature_type === 'license')
    await insertLicense(tx, { id: newId('lice_'), accountId, featureId: id, name: members.name }, nowMs)
  await putFlag(tx, call, id, members, body.flag ?? {}, nowMs)
  return id
}

/**
 * PUT /features/{feature_id}. Absent members are unchanged, null clears.
 *
 * errors  400 for another type or event source (EN-1; the source: decision, EN-33), a second flag, an event feature
 *         without `event_subtype`; 403 for a feature in use in another environment (definitions-in-use.ts); 404 as
 *         for POST.
 */
export const changeFeature: Handler<FeatureUpdate> = async call => {
  const detail = await write(
    call,
    async (tx, nowMs) => {
      const former = await findFeature(tx, call.key.accountId, call.params.feature_id!)
      if (!former) throw unknownFeature()
      return change(tx, call, call.body, former, nowMs)
    },
    async (tx, detail) => {
      await announce(tx, call, 'feature.updated', detail, detail.id)
      if (call.body.flag) await announceFlag(tx, call, detail, 'flag.updated')
    },
  )
  return { data: detail }
}

async function change(
  tx: Sql,
  call: Call<unknown, unknown>,
  body: FeatureUpdate,
  former: FeatureRow,
  nowMs: number,
): Promise<string> {
  await mayChangeFeature(tx, call, former.id)
  if (body.feature_type != null && body.feature_type !== former.feature_type)
    throw new ServiceError('state_conflict', 'feature_type: fixed at creation')
  if (body.event_source != null && body.event_source !== former.event_source)
    throw new ServiceError('state_conflict', 'event_source: fixed at creation')
  const members = await normaliseFeature(
    tx,
    call,
    former.feature_type,
    whole({ ...body, event_source: undefined }, statedFeature(former)),
    former,
    nowMs,
  )
  await updateFeature(tx, former.id, members, nowMs)
  if (former.license_id !== null) await renameLicense(tx, former.id, members.name, nowMs)
  if (body.flag) await putFlag(tx, call, former.id, members, body.flag, nowMs)
  return former.id
}

/** The optional members of a feature, filled from its row. Traits are resolved by name (EN-2). */
function statedFeature(row: FeatureRow) {
  return {
    name: row.name,
    description: row.description,
    icon: row.icon,
    event_source: row.event_source,
    event_subtype: row.event_subtype,
    lifecycle_phase: row.lifecycle_phase,
    maintainer_account_member_id: row.maintainer_account_member_id,
    plural_name: row.plural_name,
    singular_name: row.singular_name,
  } satisfies FeatureUpdate
}

// The feature after a complete body is applied to `former`; null: it is new.
async function normaliseFeature(
  tx: Sql,
  call: Call<unknown, unknown>,
  type: FeatureType,
  body: FeatureUpdate,
  former: FeatureRow | null,
  nowMs: number,
): Promise<FeatureMembers> {
  const { accountId } = call.key
  const maintainer = body.maintainer_account_member_id ?? null
  if (maintainer !== former?.maintainer_account_member_id) await requireMember(tx, accountId, maintainer)
  const name = body.name ?? former?.name ?? ''
  return {
    name,
    description: body.description ?? former?.description ?? '',
    icon: body.icon ?? '',
    event_source: eventSource(type, body),
    event_subtype: eventSubtype(type, body),
    ...(await normaliseTraits(tx, call, type, { ...body, name }, former, nowMs)),
    lifecycle_phase: body.lifecycle_phase ?? null,
    maintainer_account_member_id: maintainer,
    plural_name: body.plural_name ?? null,
    singular_name: body.singular_name ?? null,
  }
}

function eventSource(type: FeatureType, body: FeatureUpdate) {
  const source = body.event_source ?? 'track'
  if (source === 'inference' && type !== 'event')
    throw new ServiceError(
      'value_invalid',
      'event_source: only event features are metered by inference events',
    )
  return source
}

/** EN-2: an event feature names its event; a boolean one may. */
function eventSubtype(type: FeatureType, body: FeatureUpdate): string | null {
  const subtype = body.event_subtype || null
  if (type === 'event' && subtype === null)
    throw new ServiceError('value_invalid', 'event_subtype: needed by an event feature')
  return type === 'event' || type === 'boolean' ? subtype : null
}

async function normaliseTraits(
  tx: Sql,
  call: Call<unknown, unknown>,
  type: FeatureType,
  body: FeatureUpdate & { readonly name: string },
  former: FeatureRow | null,
  nowMs: number,
): Promise<Pick<FeatureMembers, 'trait_hierarchy' | 'usage_limit_trait_hierarchy'>> {
  const { services, key } = call
  const limit = former?.usage_limit_trait_hierarchy ?? null
  if (type !== 'trait' && type !== 'license')
    return { trait_hierarchy: null, usage_limit_trait_hierarchy: limit }
  const usage =
    body.trait_id == null
      ? (former?.trait_hierarchy ?? [traitNameOf(body.name)])
      : traitNamed(services, outlookOf(call), body.trait_id)
  const environmentIds = services.keys.environments(key.accountId).map(environment => environment.id)
  await ensureFeatureTraits(tx, services.traits, environmentIds, [usage], nowMs)
  const sold = type === 'license' && limit === null
  return {
    trait_hierarchy: usage,
    usage_limit_trait_hierarchy: sold
      ? await makeLimitTrait(tx, services, key.accountId, body.name, nowMs)
      : limit,
  }
}

/** Path of the company trait with this id in the environment, or in any environment for an account-wide call. */
function traitNamed({ keys, traits }: Services, outlook: Outlook, traitId: string): readonly string[] {
  const { accountId, environment } = outlook
  for (const { id } of environment ? [environment] : keys.environments(accountId)) {
    const trait = traits.byId(id, traitId)
    if (trait?.entityType === 'company') return trait.hierarchy
    if (trait) throw new ServiceError('value_invalid', 'trait_id: must be a company trait')
  }
  throw new ServiceError('not_found', 'trait_id: no such trait')
}

/** Create, take over or change the flag of a feature (EN-1: at most one). */
async function putFlag(
  tx: Sql,
  call: Call<unknown, unknown>,
  featureId: string,
  feature: FeatureMembers,
  body: FlagWithFeature,
  nowMs: number,
): Promise<void> {
  const { accountId } = call.key
  const change: FlagChange = {
    key: body.key ?? undefined,
    name: body.name ?? undefined,
    description: body.description ?? undefined,
    defaultValue: body.default_value ?? undefined,
    maintainerId: body.maintainer_account_member_id,
    featureId,
  }
  const [own] = await tx<FlagRow[]>`select * from flags where feature_id = ${featureId}`
  const named = body.id == null ? own : await findFlag(tx, accountId, body.id)
  if (body.id != null && !named) throw new ServiceError('not_found', 'flag.id: no such flag')
  if (named && named.feature_id !== null && named.feature_id !== featureId)
    throw new ServiceError('state_conflict', 'flag.id: the flag belongs to another feature')
  if (named) {
    await mayChangeFlag(tx, call, named)
    await updateFlag(tx, named, change, nowMs)
  } else
    await insertFlag(
      tx,
      accountId,
      {
        ...change,
        key: change.key ?? (await freeKey(tx, accountId, slugOf(feature.name))),
        name: change.name ?? feature.name,
        description: change.description ?? feature.description,
        defaultValue: change.defaultValue ?? false,
      },
      nowMs,
    )
}

/**
 * DELETE /features/{feature_id}, with its licence, plan entitlements, overrides and flag.
 *
 * errors  400 while companies have it by a version of their plan, or are to come to one, with the plans and companies;
 *         403 as for PUT.
 * source  EN-64, PB-12. The flag goes, too: it would answer as if the feature were still there.
 */
export const deleteFeature: Handler = async call => {
  const { services, key, params } = call
  const featureId = params.feature_id!
  const row = await findFeature(services.sql, key.accountId, featureId)
  if (!row) throw unknownFeature()
  await mayChangeFeature(services.sql, call, featureId)
  await services.projections.barrier('postgres')
  await requireUnused(services.sql, featureId)
  const gone = await readBeforeDelete(call, 'feature.deleted', () =>
    featureDetails(services.sql, outlookOf(call), [row]),
  )
  await deleteOverridesOf(services, key.accountId, featureId)
  await services.catalogs.change({ accountId: key.accountId, environmentId: null }, async tx => {
    await mayChangeFeature(tx, call, featureId)
    await requireUnused(tx, featureId)
    await deleteFlagsOf(tx, call, featureId)
    if (!(await deleteFeatureRow(tx, key.accountId, featureId))) throw unknownFeature()
    await announce(tx, call, 'feature.deleted', gone?.[0], featureId)
  })
  return { data: { deleted: true }, noted: { deleted: true, name: row.name } }
}

/** Throws 400 with the plans and companies that have the feature. */
async function requireUnused(sql: Sql, featureId: string): Promise<void> {
  const uses = await featureInUse(sql, featureId)
  if (uses !== null) throw new ServiceError('state_conflict', `Companies have the feature: ${uses}`)
}

/** Delete the flag of a feature, with its rules; webhooks hear of it. */
async function deleteFlagsOf(tx: Sql, call: Call<unknown, unknown>, featureId: string): Promise<void> {
  const rows = await tx<FlagRow[]>`select * from flags where feature_id = ${featureId}`
  for (const row of rows) {
    const detail = async () => (await flagDetails(tx, outlookOf(call), [row]))[0]
    await announce(tx, call, 'flag.deleted', detail, featureId)
  }
  await deleteFlagRows(tx, featureId)
}
