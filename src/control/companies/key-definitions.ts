// Key names and trait values of all companies and users: lists and counts.
import type { EntityTraitValue } from '../../../schemas/companies.js'
import { entityTypes } from '../../../schemas/enums.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { list, oneOf, page, type QueryOf, query, required, string, text } from '../../kit/query.js'
import { keyDefinitionView } from '../entities/view.js'
import {
  countEntityRows,
  countKeyDefinitionRows,
  deleteKeyDefinitionRow,
  type KeyDefinitionFilter,
  listKeyDefinitions,
  listTraitValues,
} from './store.js'

const definitionShape = { entity_type: oneOf(entityTypes), ids: list, q: text(512), ...page } as const
export const keyDefinitionListQuery = query(definitionShape)
type KeyDefinitionListQuery = QueryOf<typeof definitionShape>

function filterOf({ environment, query }: Call<undefined, KeyDefinitionListQuery>): KeyDefinitionFilter {
  return { environmentId: environment.id, entityType: query.entity_type, ids: query.ids, q: query.q }
}

/** GET /entity-key-definitions. The first use of a key name creates its definition. */
export const listEntityKeyDefinitions: Handler<undefined, KeyDefinitionListQuery> = async call => {
  await call.services.projections.barrier('postgres')
  const rows = await listKeyDefinitions(call.services.sql, filterOf(call), call.query)
  return { data: rows.map(keyDefinitionView) }
}

/** GET /entity-key-definitions/count. */
export const countEntityKeyDefinitions: Handler<undefined, KeyDefinitionListQuery> = async call => {
  await call.services.projections.barrier('postgres')
  return { data: { count: await countKeyDefinitionRows(call.services.sql, filterOf(call)) } }
}

/**
 * DELETE /entity-key-definitions/{entity_key_definition_id}: 400 while an entity has a key of this name.
 *
 * source  decision.
 */
export const deleteEntityKeyDefinition: Handler = async ({ services, environment, params }) => {
  await services.projections.barrier('postgres')
  const { accountId, id: environmentId } = environment
  // as a change of definitions: what was read of them is kept until the next one
  await services.catalogs.change({ accountId, environmentId }, async tx => {
    const outcome = await deleteKeyDefinitionRow(tx, environmentId, params.entity_key_definition_id!)
    // thrown here, a refusal makes no new version of the catalog
    if (outcome === 'unknown') throw new ServiceError('not_found', 'Entity key definition not found')
    if (outcome === 'in_use')
      throw new ServiceError('state_conflict', 'The definition is in use: remove its keys first')
  })
  return { data: { deleted: true } }
}

const countShape = { definition_id: string, entity_type: oneOf(entityTypes), ...page } as const
export const entityCountQuery = query(countShape)
type EntityCountQuery = QueryOf<typeof countShape>

/** GET /entity-keys/count. */
export const countEntityKeys: Handler<undefined, EntityCountQuery> = call => count(call, 'entity_keys')

/** GET /entity-traits/count. */
export const countEntityTraits: Handler<undefined, EntityCountQuery> = call => count(call, 'entity_traits')

async function count(
  { services, environment, query }: Call<undefined, EntityCountQuery>,
  table: 'entity_keys' | 'entity_traits',
) {
  await services.projections.barrier('postgres')
  const filter = {
    environmentId: environment.id,
    definitionId: query.definition_id,
    entityType: query.entity_type,
  }
  return { data: { count: await countEntityRows(services.sql, table, filter) } }
}

const valueShape = { definition_id: required(string), q: text(512), ...page } as const
export const traitValueListQuery = query(valueShape)

/** GET /entity-trait-values: the distinct values of one trait, ascending. source: the order is a decision */
export const listEntityTraitValues: Handler<undefined, QueryOf<typeof valueShape>> = async call => {
  const { services, environment, query } = call
  const id = query.definition_id
  if (!services.traits.byId(environment.id, id))
    throw new ServiceError('not_found', 'Entity trait definition not found')
  await services.projections.barrier('postgres')
  const values = await listTraitValues(services.sql, id, query.q, query)
  return { data: values.map((value): EntityTraitValue => ({ definition_id: id, value })) }
}
