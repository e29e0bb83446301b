// The parts that companies and users share on the wire: keys, traits, memberships, brief views.
import type { Sql } from 'postgres'
import type {
  Company,
  CompanyMembershipDetail,
  EntityKeyDefinition,
  EntityKeyDetail,
  EntityTraitDetail,
  TraitMap,
} from '../../../schemas/companies.js'
import type { EntityType } from '../../../schemas/enums.js'
import type { EntityTraitDefinition } from '../../../schemas/traits.js'
import type { User } from '../../../schemas/users.js'
import { type TraitRegistry, traitId } from '../../catalog/traits.js'
import type { CatalogData } from '../../core/model/definitions.js'
import type { EntitySnapshot } from '../../core/model/descriptions.js'
import type { EntityBrief } from '../../core/model/entity-state.js'
import { derivedId } from '../../core/values/id.js'
import { traitJson } from '../../core/values/trait-value.js'
import type { Services } from '../../kit/services.js'
import { among } from '../../kit/sql.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { traitViews } from '../traits/rows.js'

/** Id of a key's row. */
const keyId = (entityId: string, name: string): string => derivedId('eky_', entityId, name)
/** Id of a trait's row. */
const entityTraitId = (entityId: string, name: string): string => derivedId('etrt_', entityId, name)
const membershipId = (userId: string, companyId: string): string => derivedId('cmem_', userId, companyId)
const keyDefinitionId = (environmentId: string, entityType: EntityType, name: string): string =>
  derivedId('ekey_', environmentId, entityType, name)

/** A row of key_definitions. */
export interface KeyDefinitionRow {
  readonly id: string
  readonly entity_type: EntityType
  readonly key: string
  readonly created_at: Date
  readonly updated_at: Date
}

export function keyDefinitionView(row: KeyDefinitionRow): EntityKeyDefinition {
  return {
    id: row.id,
    entity_type: row.entity_type,
    key: row.key,
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

/** Definitions of the keys and traits of some entities, by id. Very new ones may be missing. */
export interface Definitions {
  readonly keys: ReadonlyMap<string, EntityKeyDefinition>
  readonly traits: ReadonlyMap<string, EntityTraitDefinition>
}

/** Load the definitions that the views of these entities need. All are of the catalog's environment. */
export async function definitionsOf(
  { sql, reads }: Pick<Services, 'sql' | 'reads'>,
  catalog: CatalogData,
  kind: EntityType,
  entities: readonly EntitySnapshot[],
): Promise<Definitions> {
  const keyIds = new Set<string>()
  const traitIds = new Set<string>()
  for (const { environmentId, keys, traits } of entities) {
    for (const [name] of keys) keyIds.add(keyDefinitionId(environmentId, kind, name))
    for (const [name] of traits) traitIds.add(traitId(environmentId, kind, name))
  }
  const [keys, traits] = await Promise.all([
    reads.ofCatalog(catalog, 'key definitions', [...keyIds], ids => keyDefinitions(sql, ids)),
    reads.ofCatalog(catalog, 'trait definitions', [...traitIds], ids => traitViews(sql, ids)),
  ])
  return { keys, traits }
}

/** Whether the stored definitions of all keys and traits of an entity were found. */
export function areKnown(kind: EntityType, entity: EntitySnapshot, { keys, traits }: Definitions): boolean {
  const { environmentId } = entity
  return (
    entity.keys.every(([name]) => keys.has(keyDefinitionId(environmentId, kind, name))) &&
    shownTraits(entity).every(([name]) => traits.has(traitId(environmentId, kind, name)))
  )
}

async function keyDefinitions(
  sql: Sql,
  ids: readonly string[],
): Promise<ReadonlyMap<string, EntityKeyDefinition>> {
  const rows = await sql<KeyDefinitionRow[]>`select * from key_definitions where id in ${among(sql, ids)}`
  return new Map(rows.map(row => [row.id, keyDefinitionView(row)]))
}

/** Keys in the order they were added. Without a stored definition the key's own time is shown. */
export function keyViews(
  kind: EntityType,
  entity: EntitySnapshot,
  definitions: Definitions,
): EntityKeyDetail[] {
  return entity.keys.map(([name, value, createdAtMs, updatedAtMs]) => {
    const id = keyDefinitionId(entity.environmentId, kind, name)
    const created_at = isoTime(createdAtMs)
    const seen: EntityKeyDefinition = {
      id,
      entity_type: kind,
      key: name,
      created_at,
      updated_at: created_at,
    }
    return {
      id: keyId(entity.id, name),
      definition_id: id,
      definition: definitions.keys.get(id) ?? seen,
      entity_id: entity.id,
      entity_type: kind,
      environment_id: entity.environmentId,
      key: name,
      value,
      created_at,
      updated_at: isoTime(updatedAtMs),
    }
  })
}

/** The entity's traits. A trait from a publishable key is shown only if no other source set it. */
function shownTraits({ traits, clientTraits }: EntitySnapshot): EntitySnapshot['traits'] {
  if (clientTraits === undefined) return traits
  const known = new Set(traits.map(([name]) => name))
  return [...traits, ...clientTraits.filter(([name]) => !known.has(name))]
}

/** Traits in the order they were first set. Without a stored definition the trait's own time is shown. */
export function traitDetails(
  kind: EntityType,
  entity: EntitySnapshot,
  definitions: Definitions,
  registry: TraitRegistry,
): EntityTraitDetail[] {
  return shownTraits(entity).map(([name, value, createdAtMs, updatedAtMs]) => {
    const known = registry.find(entity.environmentId, kind, name)
    const definition_id = traitId(entity.environmentId, kind, name)
    const created_at = isoTime(createdAtMs)
    const seen: EntityTraitDefinition = {
      id: definition_id,
      display_name: name,
      entity_type: kind,
      hierarchy: known?.hierarchy ?? [name],
      trait_type: known?.traitType ?? 'string',
      created_at,
      updated_at: created_at,
    }
    return {
      id: entityTraitId(entity.id, name),
      definition_id,
      definition: definitions.traits.get(definition_id) ?? seen,
      environment_id: entity.environmentId,
      value,
      created_at,
      updated_at: isoTime(updatedAtMs),
    }
  })
}

/** Trait name to value, typed by the definition. source: CU-32 */
export function traitMap(kind: EntityType, entity: EntitySnapshot, registry: TraitRegistry): TraitMap {
  // fromEntries defines own members, so "__proto__" is an ordinary name
  return Object.fromEntries(
    shownTraits(entity).map(([name, text]) => [
      name,
      traitJson(text, registry.find(entity.environmentId, kind, name)?.traitType ?? 'string'),
    ]),
  )
}

export function companyBrief(company: EntityBrief): Company {
  return { ...common(company), last_seen_at: isoTimeOrNull(company.lastSeenAtMs), logo_url: null }
}

/** `seenAtMs`: a later last-seen time that the user's actor does not have yet (CU-45). */
export function userBrief(user: EntityBrief, seenAtMs: number | null): User {
  return { ...common(user), last_seen_at: isoTimeOrNull(later(user.lastSeenAtMs, seenAtMs)) }
}

function common(entity: EntityBrief) {
  return {
    id: entity.id,
    environment_id: entity.environmentId,
    name: entity.name,
    created_at: isoTime(entity.createdAtMs),
    updated_at: isoTime(entity.updatedAtMs),
  }
}

function later(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.max(a, b)
}

/** `company` null: deleted, or not needed by the caller. */
export function membershipView(
  userId: string,
  companyId: string,
  joinedAtMs: number,
  company: Company | null,
): CompanyMembershipDetail {
  return {
    id: membershipId(userId, companyId),
    company_id: companyId,
    user_id: userId,
    ...(company && { company }),
    created_at: isoTime(joinedAtMs),
    updated_at: isoTime(joinedAtMs),
  }
}
