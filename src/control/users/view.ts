// Builds the wire form of a user from its actor's state and the stored data beside it.
import type { Company } from '../../../schemas/companies.js'
import type { UserDetail } from '../../../schemas/users.js'
import type { TraitRegistry } from '../../catalog/traits.js'
import type { UserSnapshot } from '../../core/model/descriptions.js'
import {
  type Definitions,
  keyViews,
  membershipView,
  traitDetails,
  traitMap,
  userBrief,
} from '../entities/view.js'

/** Data that the views of users need beside the states. */
export interface Surroundings {
  readonly registry: TraitRegistry
  readonly definitions: Definitions
  /** The companies that exist, by id. */
  readonly companies: ReadonlyMap<string, Company>
}

/**
 * A user in full; memberships oldest first, without those of deleted companies (CU-50).
 *
 * seenAtMs  a later last-seen time that the user's actor does not have yet, epoch ms, or null (CU-45).
 */
export function userDetail(
  state: UserSnapshot,
  seenAtMs: number | null,
  { registry, definitions, companies }: Surroundings,
): UserDetail {
  return {
    ...userBrief(state, seenAtMs),
    keys: keyViews('user', state, definitions),
    entity_traits: traitDetails('user', state, definitions, registry),
    traits: traitMap('user', state, registry),
    company_memberships: state.memberships.flatMap(([companyId, joinedAtMs]) => {
      const company = companies.get(companyId)
      return company ? [membershipView(state.id, companyId, joinedAtMs, company)] : []
    }),
  }
}
