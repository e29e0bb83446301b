// Trait definitions of an environment. The first use or POST creates one; only PUT changes its type (CU-30, CU-31).
import type { Sql } from 'postgres'
import { entityTypes, type TraitType, traitTypes } from '../../../schemas/enums.js'
import type {
  EntityTraitDefinitionUsage,
  TraitDefinitionCreate,
  TraitDefinitionUpdate,
} from '../../../schemas/traits.js'
import { traitId } from '../../catalog/traits.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { list, listOf, oneOf, page, type QueryOf, query, text } from '../../kit/query.js'
import { whole } from '../../kit/unchanged.js'
import { ensureTrait, ensureTraitsInPostgres, type TraitDefinitionRow, traitView } from './rows.js'
import {
  countTraitRows,
  deleteTraitRow,
  findTraitRow,
  listAgainWith,
  listTraitRows,
  type TraitFilter,
  traitUses,
  updateTraitRow,
} from './store.js'

const nameLengthMax = 255

const listShape = {
  entity_type: oneOf(entityTypes),
  ids: list,
  q: text(512),
  trait_type: oneOf(traitTypes),
  trait_types: listOf(traitTypes),
  ...page,
} as const
export const traitListQuery = query(listShape)
type TraitListQuery = QueryOf<typeof listShape>

function filterOf({ environment, query }: Call<undefined, TraitListQuery>): TraitFilter {
  return {
    environmentId: environment.id,
    entityType: query.entity_type,
    ids: query.ids,
    q: query.q,
    traitTypes: query.trait_types ?? (query.trait_type ? [query.trait_type] : undefined),
  }
}

function unknownTrait(): ServiceError {
  return new ServiceError('not_found', 'Trait definition not found')
}

/** GET /entity-trait-definitions. */
export const listTraitDefinitions: Handler<undefined, TraitListQuery> = async call => {
  const rows = await listTraitRows(call.services.sql, filterOf(call), call.query)
  return { data: rows.map(traitView) }
}

/** GET /entity-trait-definitions/count. */
export const countTraitDefinitions: Handler<undefined, TraitListQuery> = async call => ({
  data: { count: await countTraitRows(call.services.sql, filterOf(call)) },
})

// The definition in the path. One that was seen but not stored yet is stored first.
async function named(sql: Sql, call: Call<unknown, unknown>): Promise<TraitDefinitionRow> {
  const { environment, services, nowMs } = call
  const id = call.params.entity_trait_definition_id!
  await ensureTraitsInPostgres(sql, services.traits, environment.id, [id], nowMs)
  const row = await findTraitRow(sql, environment.id, id)
  if (!row) throw unknownTrait()
  return row
}

/** GET /entity-trait-definitions/{entity_trait_definition_id}. */
export const getTraitDefinition: Handler = async call => ({
  data: traitView(await named(call.services.sql, call)),
})

/**
 * POST /entity-trait-definitions: the definition of this path, created if absent.
 *
 * source  interface document; an existing one keeps its type (CU-31).
 */
export const getOrCreateTraitDefinition: Handler<TraitDefinitionCreate> = async call => {
  const { services, environment, body, nowMs } = call
  const name = body.hierarchy.join('.')
  if (name.length > nameLengthMax)
    throw new ServiceError('value_invalid', `hierarchy: longer than ${nameLengthMax} characters`)
  const present = await findTraitRow(
    services.sql,
    environment.id,
    traitId(environment.id, body.entity_type, name),
  )
  if (present) return { data: traitView(present) }
  const row = await services.catalogs.change(
    { accountId: environment.accountId, environmentId: environment.id },
    async tx => {
      const id = await ensureTrait(tx, services.traits, {
        environmentId: environment.id,
        entityType: body.entity_type,
        hierarchy: body.hierarchy,
        traitType: body.trait_type,
        displayName: body.display_name ?? '',
        nowMs,
      })
      return findTraitRow(tx, environment.id, id)
    },
  )
  return { data: traitView(row!) }
}

/** PUT /entity-trait-definitions/{entity_trait_definition_id}: values compare by the new type from the answer on. */
export const updateTraitDefinition: Handler<TraitDefinitionUpdate> = async call => {
  const { services, environment, body, nowMs } = call
  let before: TraitType | null = null
  const row = await services.catalogs.change(
    { accountId: environment.accountId, environmentId: environment.id },
    async tx => {
      const { id, trait_type, display_name } = await named(tx, call)
      before = trait_type
      const said = whole(body, { trait_type, display_name })
      const change = {
        traitType: said.trait_type,
        displayName: said.display_name ?? display_name,
        publishableWrites: body.publishable_writes ?? undefined,
      }
      return updateTraitRow(tx, id, change, nowMs)
    },
  )
  // lists search string traits only
  if (before !== row.trait_type) await listAgainWith(services.sql, row.id)
  return { data: traitView(row) }
}

/**
 * DELETE /entity-trait-definitions/{entity_trait_definition_id}. Entities keep their values of the trait; the next
 * write of the name creates a new definition.
 *
 * errors  400 while a feature, rule, plan entitlement or override uses it: decision.
 */
export const deleteTraitDefinition: Handler = async call => {
  const { services, environment } = call
  let gone: TraitDefinitionRow | null = null
  try {
    await services.catalogs.change(
      { accountId: environment.accountId, environmentId: environment.id },
      async tx => {
        const row = await named(tx, call)
        const inUse = Object.entries(await usageOf(tx, call, row)).find(([, count]) => count > 0)
        if (inUse) throw new ServiceError('state_conflict', `The trait is in use: ${inUse[0]} ${inUse[1]}`)
        await deleteTraitRow(tx, row.id)
        // the catalog published after the commit reads traits from the registry
        gone = row
        services.traits.remove(environment.id, row.id)
      },
    )
  } catch (error) {
    if (gone && (await findTraitRow(services.sql, environment.id, (gone as TraitDefinitionRow).id)))
      services.traits.define(gone)
    throw error
  }
  return { data: { deleted: true } }
}

/** GET /entity-trait-definitions/{entity_trait_definition_id}/usage. */
export const getTraitDefinitionUsage: Handler = async call => {
  const { sql } = call.services
  return { data: await usageOf(sql, call, await named(sql, call)) }
}

async function usageOf(
  sql: Sql,
  { services, environment }: Call<unknown, unknown>,
  trait: TraitDefinitionRow,
): Promise<EntityTraitDefinitionUsage> {
  const uses = await traitUses(sql, environment.accountId, trait)
  const [fields] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from plan_groups g, jsonb_array_elements(g.settings -> 'custom_checkout_fields') as field
    where g.environment_id = ${environment.id} and field ->> 'definition_id' = ${trait.id}`
  const granted = services.catalogs
    .get(environment.id)
    .plans.flatMap(plan => plan.versions)
    .flatMap(version => version.entitlements)
  return {
    checkout_field_config_count: fields!.count,
    company_override_count: uses.overrides,
    feature_count: uses.features,
    plan_entitlement_count: granted.filter(entitlement => entitlement.valueTraitId === trait.id).length,
    plan_trait_count: 0,
    rule_condition_count: uses.conditions,
  }
}
