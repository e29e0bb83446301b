// Trait definitions of every environment, in memory on the HTTP thread: the first sight of a trait waits for no store.
import type { Sql } from 'postgres'
import type { EntityType, TraitType } from '../../schemas/enums.js'
import type { TraitDef } from '../core/catalog.js'
import { derivedId } from '../core/id.js'
import { ServiceError } from '../errors.js'

/** Names per environment and entity type. Callers make names by using them, so their number needs a bound. */
const namesMax = 10_000

/** A trait definition with its path (CU-33). */
export interface TraitDefinition extends TraitDef {
  readonly hierarchy: readonly string[]
  /** Values that publishable keys write are believed like a server's. */
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
}

/** Id of a trait definition: worked out from its names, so that every thread and every replay makes the same. */
export function traitId(environmentId: string, entityType: EntityType, name: string): string {
  return derivedId('trt_', environmentId, entityType, name)
}

interface Environment {
  readonly company: Map<string, TraitDefinition>
  readonly user: Map<string, TraitDefinition>
  readonly byId: Map<string, TraitDefinition>
  /** Made when asked for, dropped when a definition changes. */
  list: readonly TraitDefinition[] | null
}

/**
 * The registry. A definition is here from its first sight, and in Postgres once the projector wrote it; a type set by
 * an administrator is written first and then told to the registry, so the two never disagree for longer than that.
 */
export class TraitRegistry {
  readonly #environments = new Map<string, Environment>()

  /** Read every definition, at start; the facts replayed after it introduce what Postgres does not show yet. */
  async load(sql: Sql): Promise<void> {
    const rows = await sql<TraitRow[]>`
      select id, environment_id, entity_type, name, hierarchy, trait_type, publishable_writes
      from trait_definitions order by created_at, id`
    for (const row of rows) this.define(row)
  }

  /** All of an environment, in the order they were first seen. The same array until one changes. */
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
   * The definition of this name, made at first sight. In memory only: the effect `trait_introduced` carries it to
   * Postgres. Also called for the introductions met while the journal is replayed.
   *
   * returns  the definition, and `fresh` when this call made it.
   * errors   `value_invalid` when the environment has its full number of names.
   * source   CU-30, CU-31; the bound: decision.
   */
  introduce(
    environmentId: string,
    entityType: EntityType,
    name: string,
    hierarchy: readonly string[],
    inferredType: TraitType,
  ): { readonly trait: TraitDefinition; readonly fresh: boolean } {
    const environment = this.#environment(environmentId)
    const known = environment[entityType].get(name)
    if (known) return { trait: known, fresh: false }
    if (environment[entityType].size >= namesMax)
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

  /** Whether no further name of this entity type fits. */
  isFull(environmentId: string, entityType: EntityType): boolean {
    return (this.#environments.get(environmentId)?.[entityType].size ?? 0) >= namesMax
  }

  /** A definition as Postgres has it: new, or its type changed. */
  define(row: TraitRow): void {
    const environment = this.#environment(row.environment_id)
    const known = environment.byId.get(row.id)
    const { id, entity_type: entityType, name, hierarchy, trait_type: traitType } = row
    const publishableWrites = row.publishable_writes
    if (known?.traitType === traitType && known.publishableWrites === publishableWrites) return
    this.#set(environment, { id, entityType, name, hierarchy, traitType, publishableWrites })
  }

  remove(environmentId: string, id: string): void {
    const environment = this.#environments.get(environmentId)
    const trait = environment?.byId.get(id)
    if (!environment || !trait) return
    environment[trait.entityType].delete(trait.name)
    environment.byId.delete(id)
    environment.list = null
  }

  forgetEnvironment(environmentId: string): void {
    this.#environments.delete(environmentId)
  }

  #environment(environmentId: string): Environment {
    let environment = this.#environments.get(environmentId)
    if (!environment) {
      environment = { company: new Map(), user: new Map(), byId: new Map(), list: null }
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
