// Features and licences.
import typia, { type tags } from 'typia'
import type { BillingProviderType, FeatureEventSource, FeatureLifecyclePhase, FeatureType } from './enums.js'
import type { PreviewObject } from './envelope.js'
import type { EventSummary } from './events.js'
import type { FlagDetail, FlagWithFeature } from './flags.js'
import type { AccountMember } from './members.js'
import type { BillingProduct } from './prices.js'
import type { EntityTraitDefinition } from './traits.js'

/** Optional members of a feature. Absent: unchanged; null: cleared. */
interface FeatureOptions {
  /** The flag to create, or (with `id`) to take over and change. */
  flag?: FlagWithFeature | null | undefined
  event_source?: FeatureEventSource | null | undefined
  event_subtype?: (string & tags.MaxLength<255>) | null | undefined
  icon?: (string & tags.MaxLength<255>) | null | undefined
  lifecycle_phase?: FeatureLifecyclePhase | null | undefined
  maintainer_account_member_id?: string | null | undefined
  plural_name?: (string & tags.MaxLength<255>) | null | undefined
  singular_name?: (string & tags.MaxLength<255>) | null | undefined
  trait_id?: string | null | undefined
}

/** A new feature of a known type. */
export interface FeatureCreate extends FeatureOptions {
  feature_type: FeatureType
  name: string & tags.MinLength<1> & tags.MaxLength<512>
  description?: (string & tags.MaxLength<1024>) | null | undefined
}

/** Body of POST /features. */
export interface FeatureCreateRequestBody extends Omit<FeatureCreate, 'feature_type'> {
  /** Default: event with `event_subtype`, trait with `trait_id`, else boolean. */
  feature_type?: FeatureType | null | undefined
}

export const parseFeatureCreate = typia.json.createValidateParse<FeatureCreateRequestBody>()

/** Body of POST /features/billing-linked. Provider and resource identify the feature. */
export interface BillingLinkedFeatureCreate extends FeatureCreate {
  billing_provider: BillingProviderType
  external_resource_id: string & tags.MinLength<1> & tags.MaxLength<255>
}

export const parseBillingLinkedFeatureCreate = typia.json.createValidateParse<BillingLinkedFeatureCreate>()

/** Body of PUT /features/{feature_id}. Another `feature_type`: 400 (EN-1). */
export interface FeatureUpdate extends FeatureOptions {
  feature_type?: FeatureType | null | undefined
  name?: (string & tags.MinLength<1> & tags.MaxLength<512>) | null | undefined
  description?: (string & tags.MaxLength<1024>) | null | undefined
}

export const parseFeatureUpdate = typia.json.createValidateParse<FeatureUpdate>()

export interface Feature {
  id: string
  name: string
  description: string
  icon: string
  feature_type: FeatureType
  event_source: FeatureEventSource
  event_subtype: string | null
  license_id: string | null
  lifecycle_phase: FeatureLifecyclePhase | null
  maintainer_account_member_id: string | null
  plural_name: string | null
  singular_name: string | null
  /** Id of the trait that holds the usage, in the request's environment; null: none. */
  trait_id: string | null
  /** Id of the trait that holds the quantity bought in advance. */
  usage_limit_trait_id: string | null
  created_at: string
  updated_at: string
}

export interface FeatureDetail extends Feature {
  /** Never sent: features are sold through plans. */
  billing_product?: BillingProduct
  flags: FlagDetail[]
  /** Plans whose published version grants the feature. */
  plans: PreviewObject[]
  billing_linked_resource?: {
    billing_provider: BillingProviderType
    external_resource_id: string
    originator: BillingProviderType
  }
  /** Present for features with an event, with counts of the request's environment. */
  event_summary?: EventSummary
  maintainer?: AccountMember
  trait?: EntityTraitDefinition
}

export interface License {
  id: string
  name: string
  created_at: string
  updated_at: string
}
