// Rows of trait definitions, for all handlers that create or show them.
import type { Sql } from 'postgres'
import type { EntityType, TraitType } from '../../../schemas/enums.js'
import type { EntityTraitDefinition } from '../../../schemas/traits.js'
import { type TraitRegistry, type TraitRow, traitId } from '../../catalog/traits.js'
import { among } from '../../kit/sql.js'
import { isoTime } from '../../kit/time.js'

/** A row of trait_definitions, including columns that are only shown. */
export interface TraitDefinitionRow extends TraitRow {
  readonly display_name: string
  readonly created_at: Date
  readonly updated_at: Date
}

export function traitView(row: TraitDefinitionRow): EntityTraitDefinition {
  return {
    id: row.id,
    display_name: row.display_name || row.name,
    entity_type: row.entity_type,
    hierarchy: row.hierarchy,
    trait_type: row.trait_type,
    ...(row.publishable_writes && { publishable_writes: true }),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

/** Definitions by id, in wire form. */
export async function traitViews(
  sql: Sql,
  ids: readonly string[],
): Promise<Map<string, EntityTraitDefinition>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<TraitDefinitionRow[]>`select * from trait_definitions where id in ${among(sql, ids)}`
  return new Map(rows.map(row => [row.id, traitView(row)]))
}

/**
 * Insert a definition unless it exists. A name that was seen but is not in Postgres yet keeps its type (CU-31).
 *
 * returns  its id.
 */
export async function ensureTrait(
  sql: Sql,
  traits: TraitRegistry,
  wanted: {
    readonly environmentId: string
    readonly entityType: EntityType
    readonly hierarchy: readonly string[]
    readonly traitType: TraitType
    readonly displayName?: string
    readonly nowMs: number
  },
): Promise<string> {
  const { environmentId, entityType, hierarchy } = wanted
  const name = hierarchy.join('.')
  const id = traitId(environmentId, entityType, name)
  const seen = traits.find(environmentId, entityType, name)
  const now = new Date(wanted.nowMs)
  await sql`
    insert into trait_definitions ${sql({
      id,
      environment_id: environmentId,
      entity_type: entityType,
      name,
      hierarchy: sql.json([...(seen?.hierarchy ?? hierarchy)]),
      trait_type: seen?.traitType ?? wanted.traitType,
      display_name: wanted.displayName ?? '',
      created_at: now,
      updated_at: now,
    })} on conflict do nothing`
  return id
}

/** Store definitions that were only seen so far, so that references to them can be shown. Unknown ids are ignored. */
export async function ensureTraitsInPostgres(
  sql: Sql,
  traits: TraitRegistry,
  environmentId: string,
  ids: readonly string[],
  nowMs: number,
): Promise<void> {
  if (ids.length === 0) return
  const rows = await sql<{ id: string }[]>`select id from trait_definitions where id in ${among(sql, ids)}`
  const written = new Set(rows.map(row => row.id))
  for (const id of new Set(ids)) {
    const trait = written.has(id) ? null : traits.byId(environmentId, id)
    if (trait) await ensureTrait(sql, traits, { environmentId, ...trait, nowMs })
  }
}

/**
 * Create the company traits that features name in these environments: features are account-wide, traits are not
 * (EN-2).
 */
export async function ensureFeatureTraits(
  sql: Sql,
  traits: TraitRegistry,
  environmentIds: readonly string[],
  hierarchies: readonly (readonly string[])[],
  nowMs: number,
): Promise<void> {
  for (const environmentId of environmentIds)
    for (const hierarchy of hierarchies)
      await ensureTrait(sql, traits, {
        environmentId,
        entityType: 'company',
        hierarchy,
        traitType: 'number',
        nowMs,
      })
}
