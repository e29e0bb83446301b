// A member's name and roles, as the console uses them.
import { isConsoleRole, type RoleMap } from '../core/console-role.js'

export interface MemberAccess {
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly roles: RoleMap
}

/** The columns of account_members that decide it. */
export interface AccessRow {
  readonly id: string
  readonly name: string | null
  readonly email: string | null
  readonly role: string | null
  readonly console_roles: Readonly<Record<string, unknown>> | null
}

/** Without roles of its own a member of the file is an admin or a viewer, by its role there (source: decision). */
export function memberAccess({ id, name, email, role, console_roles }: AccessRow): MemberAccess {
  const own = Object.entries(console_roles ?? {}).filter(([, value]) => isConsoleRole(value))
  const roles: RoleMap =
    own.length > 0 ? (Object.fromEntries(own) as RoleMap) : { '*': role === 'admin' ? 'admin' : 'viewer' }
  return { id, name: name || email || id, email, roles }
}
