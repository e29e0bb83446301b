// Applies a document: the kinds in the order in which they refer to each other, one transaction for each kind and for each
// plan (CA-6). A failure leaves what was applied before it; the same document then goes on from there.
import { isDeepStrictEqual } from 'node:util'
import type { Sql } from 'postgres'
import type * as file from '../../../schemas/catalog.js'
import type { PlanVersionRow } from '../../catalog/plans.js'
import { ServiceError } from '../../errors.js'
import type { Call } from '../../kit/call.js'
import { mayChangePlan } from '../account/definitions-in-use.js'
import { deleteBundle } from '../credits/bundles.js'
import { deleteCredit } from '../credits/handlers.js'
import { changeEnvironment } from '../environments/handlers.js'
import { deleteFeature } from '../features/handlers.js'
import { deleteFlag } from '../flags/handlers.js'
import { soon } from '../migrations/run.js'
import { putModelPrices } from '../model-prices/handlers.js'
import { ensureDraft, insertPlan, lockPlan } from '../plan-versions/version-rows.js'
import { accountScope, announcePlan, deletePlan, deleteVersion, listPlaceOf } from '../plans/handlers.js'
import { publish } from '../plans/publish.js'
import { deleteTraitDefinition } from '../traits/handlers.js'
import { listAgainWith } from '../traits/store.js'
import {
  applyBundle,
  applyCredit,
  applyFeature,
  applyFlag,
  applyGroup,
  applyRules,
  applyTrait,
  type Step,
} from './apply-parts.js'
import { writeDraft } from './apply-version.js'
import { type CompareOptions, type ObjectChange, objectsOf, type Section } from './compare.js'
import { derived, inside, strictly } from './inner-call.js'
import { type Definitions, readDefinitions } from './read.js'
import { Resolver } from './resolve.js'

/**
 * Apply the changes that `compare` found.
 *
 * world    the definitions that they were compared with.
 * wanted   the document in canonical form.
 * errors   those of the operations that do the same one by one, with the object in front.
 */
export async function applyChanges(
  request: Call<unknown, unknown>,
  world: Definitions,
  wanted: file.Catalog,
  changes: readonly ObjectChange[],
  options: CompareOptions,
): Promise<void> {
  const applying = new Applying(strictly(request), world, changes, options)
  try {
    await applying.traits()
    await applying.each('features', applyFeature)
    await applying.each('flags', applyFlag)
    await applying.each('credits', applyCredit)
    await applying.plans(wanted)
    await applying.each('bundles', applyBundle)
    await applying.each('flags', applyRules, 'rules of flags')
    await applying.each('plan_group', applyGroup)
    await applying.account(wanted)
    if (options.prune) await applying.prune()
  } catch (error) {
    throw withDone(error, applying.done)
  }
}

/** Names in a message about what was applied. */
const namesMax = 200

/** A failure says what was applied before it (CA-6). */
function withDone(error: unknown, done: ReadonlyMap<string, readonly string[]>): unknown {
  if (!(error instanceof ServiceError)) return error
  const parts = [...done].map(([what, names]) => {
    const more = names.length > namesMax ? `, and ${names.length - namesMax} more` : ''
    return `${what}: ${names.slice(0, namesMax).join(', ')}${more}`
  })
  const before = parts.length === 0 ? 'Nothing was applied' : `Applied before it: ${parts.join('; ')}`
  const message = `${error.message}. ${before}. The same document, applied again, goes on from there.`
  return new ServiceError(error.code, message, { cause: error })
}

class Applying {
  /** Names of objects whose transaction is committed, by kind. */
  readonly done = new Map<string, string[]>()

  constructor(
    private readonly call: Call<unknown, unknown>,
    private world: Definitions,
    private readonly changes: readonly ObjectChange[],
    private readonly options: CompareOptions,
  ) {}

  private of(section: Section): readonly ObjectChange[] {
    return this.changes.filter(
      one => one.section === section && (one.action === 'make' || one.action === 'change'),
    )
  }

  private note(what: string, ...names: readonly string[]): void {
    const before = this.done.get(what)
    if (before) before.push(...names)
    else this.done.set(what, [...names])
  }

  private async again(): Promise<void> {
    this.world = await readDefinitions(this.call.services.sql, listPlaceOf(this.call))
  }

  /** All objects of a section in one transaction. */
  async each(
    section: Section,
    apply: (step: Step, change: ObjectChange) => Promise<unknown>,
    what: string = section,
  ): Promise<void> {
    const changes = this.of(section)
    if (changes.length === 0) return
    const { call, world } = this
    const names = new Resolver(world)
    await call.services.catalogs.change(accountScope(call), async tx => {
      for (const change of changes)
        await naming(change, () => apply({ tx, call: inside(call, tx, {}), world, names }, change))
    })
    this.note(what, ...changes.map(({ ref }) => ref))
    await this.again()
  }

  async traits(): Promise<void> {
    const retyped: string[] = []
    await this.each('traits', async (step, change) => {
      const id = await applyTrait(step, change)
      if (id !== null) retyped.push(id)
    })
    for (const id of retyped) await listAgainWith(this.call.services.sql, id)
  }

  /** One transaction for each plan; migrations start afterwards. */
  async plans(wanted: file.Catalog): Promise<void> {
    const started: string[] = []
    const asked = objectsOf(wanted, 'plans')
    try {
      for (const change of this.of('plans')) {
        const own = asked.get(change.ref) as file.CatalogPlan
        started.push(...(await naming(change, () => this.plan(change, own.draft ?? null))))
        this.note('plans', change.ref)
      }
      if (this.of('plans').length > 0) await this.again()
    } finally {
      // migrations of the plans published so far start even when a later plan fails
      await soon(this.call, ...started)
    }
  }

  /** `ownDraft`: the draft that the document itself has. Returns migrations to start. */
  private async plan(
    change: ObjectChange,
    ownDraft: file.CatalogPlanVersion | null,
  ): Promise<readonly string[]> {
    const { call, options } = this
    const to = change.to as file.CatalogPlan
    const from = change.from as file.CatalogPlan | null
    const { clock } = call.services
    const known = this.world.plans.rowOf(change.ref)
    const names = new Resolver(this.world)
    return call.services.catalogs.change(accountScope(call), async tx => {
      const plan = known
        ? await lockPlan(tx, listPlaceOf(call), known.id)
        : await insertPlan(tx, newPlan(call, to), clock.wall())
      const inner = inside(call, tx, {})
      const place = { tx, call: inner, names, plan }
      const edit = async (version: file.CatalogPlanVersion): Promise<PlanVersionRow> =>
        writeDraft(place, await ensureDraft(tx, plan, call.environment.id, clock.wall()), version, to.name)
      const version = to.external_resource_version ?? null
      if (version !== plan.external_resource_version) {
        await mayChangePlan(tx, inner, plan.id)
        await tx`update plans set external_resource_version = ${version} where id = ${plan.id}`
      }
      const isNew = to.published != null && !isDeepStrictEqual(from?.published, to.published)
      const isPublished = isNew && change.publishes === true
      const migrations = isPublished ? await this.publish(tx, await edit(to.published!)) : []
      // a draft that waited for this very publish is done
      const waited = ownDraft === null && isDeepStrictEqual(to.draft, to.published)
      const rest = isPublished && waited ? null : (to.draft ?? null)
      const draft = isNew && !isPublished ? (ownDraft ?? to.published!) : rest
      if (draft === null) {
        if (!isPublished && from?.draft != null && options.prune) await this.discard(tx, plan.id)
      } else if (isPublished || !isDeepStrictEqual(from?.draft, draft)) await edit(draft)
      if (!known) await announcePlan(tx, inner, 'plan.created', plan.id)
      else if (!isPublished) await announcePlan(tx, inner, 'plan.updated', plan.id)
      return migrations
    })
  }

  /** Publish a draft inside the transaction; returns migrations to start. */
  private async publish(tx: Sql, draft: PlanVersionRow): Promise<readonly string[]> {
    const { call, options } = this
    const body = { migration_strategy: options.publish ?? ('leave' as const), excluded_company_ids: [] }
    const inner = inside(call, tx, { params: { plan_version_id: draft.id } })
    const { migrationId, calledOff } = await publish(tx, inner, body, false)
    return [...(migrationId === null ? [] : [migrationId]), ...calledOff]
  }

  private async discard(tx: Sql, planId: string): Promise<void> {
    const { call } = this
    const [draft] = await tx<{ id: string }[]>`
      select id from plan_versions
      where plan_id = ${planId} and environment_id = ${call.environment.id} and status = 'draft'`
    if (draft) await deleteVersion(inside(call, tx, { params: { plan_version_id: draft.id } }))
  }

  /** Parts of the account or the environment itself: prices of models, limits of publishable keys. */
  async account(wanted: file.Catalog): Promise<void> {
    const { call, options, world } = this
    const prices = this.changes.filter(one => one.section === 'model_prices')
    if (prices.some(one => one.action !== 'keep')) {
      const listed = new Map((wanted.model_prices ?? []).map(one => [keyOf(one), one]))
      const kept = world.modelPrices
        .map(row => ({ ...row, effective_at: row.effective_at.toISOString() }))
        .filter(row => !options.prune && !listed.has(keyOf(row)))
      await putModelPrices(derived(call, { body: [...listed.values(), ...kept] }))
      this.note('model_prices', 'all')
    }
    for (const change of this.of('publishable_limits')) {
      const params = { environment_id: call.environment.id }
      const body = { publishable_limits: change.to as NonNullable<file.Catalog['publishable_limits']> }
      await naming(change, async () => changeEnvironment(derived(call, { params, body })))
    }
  }

  /** Removes objects that the document lacks, in the order in which nothing names it any more. */
  async prune(): Promise<void> {
    const { call, world } = this
    const archive = async (
      section: Section,
      idOf: (ref: string) => string | undefined,
      remove: (id: string) => unknown,
    ): Promise<void> => {
      for (const change of this.changes) {
        if (change.section !== section || change.action !== 'archive') continue
        const id = idOf(change.ref)
        if (id === undefined) continue
        await naming(change, async () => remove(id))
        this.note(`archived ${section}`, change.ref)
      }
    }
    await archive(
      'flags',
      ref => world.flagRows.find(row => row.key === ref)?.id,
      id => deleteFlag(derived(call, { params: { flag_id: id } })),
    )
    await archive(
      'bundles',
      ref => world.bundles.rowOf(ref)?.id,
      id => deleteBundle(derived(call, { params: { bundle_id: id } })),
    )
    await archive(
      'plans',
      ref => world.plans.rowOf(ref)?.id,
      id => deletePlan(derived(call, { params: { plan_id: id } })),
    )
    await archive(
      'credits',
      ref => world.credits.rowOf(ref)?.id,
      id => deleteCredit(derived(call, { params: { credit_id: id } })),
    )
    await archive(
      'features',
      ref => world.features.rowOf(ref)?.id,
      id => deleteFeature(derived(call, { params: { feature_id: id } })),
    )
    await archive(
      'traits',
      ref => new Resolver(world).trait(ref),
      id => deleteTraitDefinition(derived(call, { params: { entity_trait_definition_id: id } })),
    )
  }
}

function keyOf(one: {
  readonly provider: string
  readonly model: string
  readonly currency: string
  readonly effective_at: string
}) {
  return `${one.provider} ${one.model} ${one.currency} ${Date.parse(one.effective_at)}`
}

function newPlan(call: Call<unknown, unknown>, to: file.CatalogPlan): Parameters<typeof insertPlan>[1] {
  const version = to.published ?? to.draft
  return {
    accountId: call.key.accountId,
    planType: to.plan_type,
    name: to.name,
    description: version?.description ?? '',
    icon: version?.icon ?? 'gray',
    ...(to.external_resource_id != null && {
      link: {
        provider: to.provider ?? 'native',
        resourceId: to.external_resource_id,
        version: to.external_resource_version ?? null,
      },
    }),
  }
}

/** Errors say which object was being applied. */
async function naming<T>(change: ObjectChange, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    throw new ServiceError(error.code, `${change.section}[${change.ref}]: ${error.message}`, { cause: error })
  }
}
