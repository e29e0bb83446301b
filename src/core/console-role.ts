// Roles of people in the console: what each may do, and which one counts for a request.

import { type ConsoleRole, consoleRoles } from '../../schemas/enums.js'

export type { ConsoleRole } from '../../schemas/enums.js'

/** Roles by environment id; `*` holds for every environment without one of its own. */
export type RoleMap = Readonly<Record<string, ConsoleRole>>

export const isConsoleRole = (value: unknown): value is ConsoleRole =>
  consoleRoles.some(role => role === value)

/** The role in an environment; null: none. */
export function roleIn(roles: RoleMap, environmentId: string): ConsoleRole | null {
  return roles[environmentId] ?? roles['*'] ?? null
}

/**
 * The role for what belongs to the whole account, as features, flags and plans do: the least one of all environments, because
 * the change is seen in each.
 *
 * environmentIds  of the account.
 * returns         null when some environment gives none.
 */
export function roleEverywhere(roles: RoleMap, environmentIds: readonly string[]): ConsoleRole | null {
  if (environmentIds.length === 0) return roles['*'] ?? null
  let least: ConsoleRole | null = 'admin'
  for (const id of environmentIds) {
    const role = roleIn(roles, id)
    if (role === null) return null
    if (rank(role) < rank(least)) least = role
  }
  return least
}

/** Whether a role that holds in every environment may change what belongs to the whole account. */
export function changesAccount(everywhere: ConsoleRole | null): boolean {
  return everywhere === 'editor' || everywhere === 'admin'
}

/** Why a person may not change what belongs to the whole account. */
export const accountFault =
  'this belongs to the whole account: it needs the role editor or admin in every environment'

/** The higher of two roles. */
export function higher(one: ConsoleRole | null, other: ConsoleRole | null): ConsoleRole | null {
  if (one === null || other === null) return one ?? other
  return rank(one) >= rank(other) ? one : other
}

/** The list goes from the least to the most. */
const rank = (role: ConsoleRole): number => consoleRoles.indexOf(role)
