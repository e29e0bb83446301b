// Trait definitions of all environments, in memory on the HTTP thread. A new trait does not wait for a store.
import type { Sql } from 'postgres'
import type { EntityType, TraitType } from '../../schemas/enums.js'
import type { TraitDef } from '../core/model/definitions.js'
import { derivedId } from '../core/values/id.js'
import { ServiceError } from '../errors.js'

/** Bound on names per environment and entity type, because callers create names by using them. */
const namesMax = 10_000
/** Names at which publishable keys add no more: decision. */
const publicNamesMax = 7_500

/** A trait definition with its path (CU-33). */
export interface TraitDefinition extends TraitDef {
  readonly hierarchy: readonly string[]
  /** Values written with publishable keys are trusted like a server's. */
  readonly publishableWrites: boolean
}

/** A row of trait_definitions. */
export interface TraitRow {
  readonly id: string
  readonly environment_id: string
  readonly entity_type: EntityType
  readonly name: string
  readonly hierarchy: readonly string[]
  readonly trait_type: TraitType
  readonly publishable_writes: boolean
  /** A feature names it; absent: as before. */
  readonly of_feature?: boolean
}

/**
 * Rows of definitions, with whether a feature names them. A feature's traits do not count against the bound on names:
 * features have one of their own, and a test environment must not use up the names that production's companies need
 * (security M4).
 */
export function traitRows(sql: Sql, environmentId: string | null): Promise<readonly TraitRow[]> {
  return sql<TraitRow[]>`
    select t.id, t.environment_id, t.entity_type, t.name, t.hierarchy, t.trait_type, t.publishable_writes,
      t.entity_type = 'company' and t.hierarchy in (
        select trait_hierarchy from features where trait_hierarchy is not null
        union all select usage_limit_trait_hierarchy from features where usage_limit_trait_hierarchy is not null
      ) as of_feature
    from trait_definitions t ${environmentId === null ? sql`` : sql`where t.environment_id = ${environmentId}`}
    order by t.created_at, t.id`
}

/** Id of a trait definition, derived from its names, so that every thread and every replay gets the same. */
export function traitId(environmentId: string, entityType: EntityType, name: string): string {
  return derivedId('trt_', environmentId, entityType, name)
}

interface Environment {
  readonly company: Map<string, TraitDefinition>
  readonly user: Map<string, TraitDefinition>
  readonly byId: Map<string, TraitDefinition>
  /** Ids of those that features name. */
  readonly ofFeatures: Set<string>
  /** Built on demand; null after a change. */
  list: readonly TraitDefinition[] | null
}

/**
 * The registry of trait definitions. A definition is added at its first use and stored when the projector has
 * written it. A type set by an administrator is stored first and then updated here, so the two differ only for that
 * moment.
 */
export class TraitRegistry {
  readonly #environments = new Map<string, Environment>()

  /** Load all definitions at start. The facts replayed afterwards add those that Postgres does not have yet. */
  async load(sql: Sql): Promise<void> {
    for (const row of await traitRows(sql, null)) this.define(row)
  }

  /** All definitions of an environment, in order of first use. The array is the same until one changes. */
  list(environmentId: string): readonly TraitDefinition[] {
    const environment = this.#environments.get(environmentId)
    if (!environment) return []
    environment.list ??= [...environment.byId.values()]
    return environment.list
  }

  find(environmentId: string, entityType: EntityType, name: string): TraitDefinition | null {
    return this.#environments.get(environmentId)?.[entityType].get(name) ?? null
  }

  byId(environmentId: string, id: string): TraitDefinition | null {
    return this.#environments.get(environmentId)?.byId.get(id) ?? null
  }

  /**
   * The definition with this name, created at first use. It is created in memory only: the effect `trait_introduced`
   * carries it to Postgres. Journal replay calls it too.
   *
   * returns  the definition, and `fresh` if this call created it.
   * isPublic  by a publishable key, which may use up three quarters of the names only (security M3).
   * errors   `value_invalid` when the environment has its maximum of names.
   * source   CU-30, CU-31; the bound: decision.
   */
  introduce(
    environmentId: string,
    entityType: EntityType,
    name: string,
    hierarchy: readonly string[],
    inferredType: TraitType,
    isPublic = false,
  ): { readonly trait: TraitDefinition; readonly fresh: boolean } {
    const environment = this.#environment(environmentId)
    const known = environment[entityType].get(name)
    if (known) return { trait: known, fresh: false }
    if (countOf(environment, entityType) >= (isPublic ? publicNamesMax : namesMax))
      throw new ServiceError(
        'value_invalid',
        `traits: an environment has at most ${namesMax} names of ${entityType} traits`,
      )
    const id = traitId(environmentId, entityType, name)
    const trait: TraitDefinition = {
      id,
      entityType,
      name,
      hierarchy,
      traitType: inferredType,
      publishableWrites: false,
    }
    this.#set(environment, trait)
    return { trait, fresh: true }
  }

  /** Whether the maximum of names of this entity type is reached. */
  isFull(environmentId: string, entityType: EntityType): boolean {
    const environment = this.#environments.get(environmentId)
    return environment !== undefined && countOf(environment, entityType) >= namesMax
  }

  /** Update from a row: a new definition or a changed type. */
  define(row: TraitRow): void {
    const environment = this.#environment(row.environment_id)
    const known = environment.byId.get(row.id)
    const { id, entity_type: entityType, name, hierarchy, trait_type: traitType } = row
    const publishableWrites = row.publishable_writes
    if (row.of_feature === true) environment.ofFeatures.add(id)
    else if (row.of_feature === false) environment.ofFeatures.delete(id)
    if (known?.traitType === traitType && known.publishableWrites === publishableWrites) return
    this.#set(environment, { id, entityType, name, hierarchy, traitType, publishableWrites })
  }

  remove(environmentId: string, id: string): void {
    const environment = this.#environments.get(environmentId)
    const trait = environment?.byId.get(id)
    if (!environment || !trait) return
    environment[trait.entityType].delete(trait.name)
    environment.byId.delete(id)
    environment.ofFeatures.delete(id)
    environment.list = null
  }

  forgetEnvironment(environmentId: string): void {
    this.#environments.delete(environmentId)
  }

  #environment(environmentId: string): Environment {
    let environment = this.#environments.get(environmentId)
    if (!environment) {
      environment = {
        company: new Map(),
        user: new Map(),
        byId: new Map(),
        ofFeatures: new Set(),
        list: null,
      }
      this.#environments.set(environmentId, environment)
    }
    return environment
  }

  #set(environment: Environment, trait: TraitDefinition): void {
    environment[trait.entityType].set(trait.name, trait)
    environment.byId.set(trait.id, trait)
    environment.list = null
  }
}

/** Names that count against the bound. Features name traits of companies only. */
function countOf(environment: Environment, entityType: EntityType): number {
  return environment[entityType].size - (entityType === 'company' ? environment.ofFeatures.size : 0)
}
