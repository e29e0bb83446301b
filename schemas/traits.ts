// Trait definitions: name, entity type, and the type that values compare as.
import typia, { type tags } from 'typia'
import type { EntityType, TraitType } from './enums.js'

/** Body of POST /entity-trait-definitions: returns the definition of this path, created if absent. */
export interface TraitDefinitionCreate {
  entity_type: EntityType
  trait_type: TraitType
  hierarchy: (string & tags.MinLength<1> & tags.MaxLength<255>)[] & tags.MinItems<1> & tags.MaxItems<100>
  display_name?: (string & tags.MaxLength<255>) | null | undefined
}

export const parseTraitDefinitionCreate = typia.json.createValidateParse<TraitDefinitionCreate>()

/**
 * Body of PUT /entity-trait-definitions/{entity_trait_definition_id}; an absent or null display name is unchanged.
 */
export interface TraitDefinitionUpdate {
  trait_type?: TraitType | undefined
  display_name?: (string & tags.MaxLength<255>) | null | undefined
  /** Whether rules, limits and entitlements use values written with publishable keys. */
  publishable_writes?: boolean | null | undefined
}

export const parseTraitDefinitionUpdate = typia.json.createValidateParse<TraitDefinitionUpdate>()

export interface EntityTraitDefinition {
  id: string
  display_name: string
  entity_type: EntityType
  /** The parts of a nested name. */
  hierarchy: readonly string[]
  trait_type: TraitType
  /** Present only if true. */
  publishable_writes?: boolean
  created_at: string
  updated_at: string
}

/** Uses of a trait definition. */
export interface EntityTraitDefinitionUsage {
  checkout_field_config_count: number
  company_override_count: number
  feature_count: number
  plan_entitlement_count: number
  plan_trait_count: number
  rule_condition_count: number
}
