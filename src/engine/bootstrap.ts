// The first start: one account, its two environments and the keys to begin with; every later start finds them.
import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { accountMemberPermissions, accountMemberRoles, apiKeyScopes } from '../../schemas/enums.js'
import { derivedId } from '../core/id.js'
import { newId } from './ids.js'
import { hashKey, lastFour, newKeyValue, pepperId } from './key-value.js'

export interface BootstrapConfig {
  readonly dataDir: string
  /** TOLLGATE_BOOTSTRAP_KEY. */
  readonly bootstrapKey: string | null
  /** TOLLGATE_PEPPER. */
  readonly pepper: string | null
  /** TOLLGATE_MEMBERS_FILE. */
  readonly membersFile: string | null
}

export interface Bootstrapped {
  readonly accountId: string
  readonly pepper: Buffer
  /** The bootstrap key's value when this start made it: to be printed, once. */
  readonly madeKey: string | null
}

/** How values of keys are stored. */
export interface Hashing {
  hash(value: string): Buffer
  /** Names the pepper of these hashes. */
  readonly pepperId: string
}

/** Any number: the lock under which starts of several processes take turns. */
const bootstrapLock = 7_084_155_001

/**
 * See that the account, its environments *Development* and *Production*, their publishable keys and the bootstrap key
 * exist, and that the members are those of the members file.
 *
 * config    a changed `bootstrapKey` replaces the value of the bootstrap key; the former one opens nothing any more.
 * returns   the account, the pepper of key hashes, and the bootstrap key's value if it was made now.
 * errors    a members file that cannot be read, with its name and the member at fault; what files and database throw.
 * source    decisions 13, 14; AL-2, AL-5; architecture.md, settings.
 *
 * May run any number of times and in several processes at once. Without a configured value the bootstrap key is not
 * made again after somebody deleted it, unless the account would have no admin key left.
 */
export async function bootstrap(sql: Sql, config: BootstrapConfig): Promise<Bootstrapped> {
  await mkdir(config.dataDir, { recursive: true })
  const pepper =
    config.pepper === null
      ? Buffer.from(await keep(join(config.dataDir, 'pepper'), () => randomBytes(32).toString('base64url')))
      : Buffer.from(config.pepper)
  const members = config.membersFile === null ? null : await readMembers(config.membersFile)
  return await sql.begin(async transaction => {
    const tx = transaction as unknown as Sql
    await tx`select pg_advisory_xact_lock(${bootstrapLock})`
    const hashing = { hash: (value: string) => hashKey(pepper, value), pepperId: pepperId(pepper) }
    const accountId = (await theAccount(tx)) ?? (await makeAccount(tx, hashing))
    const madeKey = await seeToKey(tx, accountId, pepper, config)
    if (members) await seeToMembers(tx, accountId, members)
    return { accountId, pepper, madeKey }
  })
}

async function theAccount(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`select id from accounts order by created_at, id limit 1`
  return row?.id ?? null
}

async function makeAccount(sql: Sql, hashing: Hashing): Promise<string> {
  const accountId = newId('acct_')
  const now = new Date()
  await sql`insert into accounts ${sql({ id: accountId, name: 'Default account', created_at: now, updated_at: now })}`
  await insertEnvironment(sql, hashing, {
    accountId,
    name: 'Development',
    type: 'development',
    nowMs: now.getTime(),
  })
  await insertEnvironment(sql, hashing, {
    accountId,
    name: 'Production',
    type: 'production',
    nowMs: now.getTime() + 1,
  })
  return accountId
}

/**
 * Write an environment and its publishable key (AL-5).
 *
 * returns  the environment's id.
 */
export async function insertEnvironment(
  sql: Sql,
  hashing: Hashing,
  wanted: {
    readonly accountId: string
    readonly name: string
    readonly type: 'development' | 'production' | 'staging'
    readonly nowMs: number
  },
): Promise<string> {
  const id = newId('env_')
  const now = new Date(wanted.nowMs)
  await sql`insert into environments ${sql({
    id,
    account_id: wanted.accountId,
    name: wanted.name,
    environment_type: wanted.type,
    created_at: now,
    updated_at: now,
  })}`
  await insertPublishableKey(sql, hashing, { ...wanted, environmentId: id })
  return id
}

/** Write the publishable key of an environment: scope capture alone (AL-2), its value readable (decision 13). */
export async function insertPublishableKey(
  sql: Sql,
  hashing: Hashing,
  wanted: {
    readonly accountId: string
    readonly environmentId: string
    readonly type: 'development' | 'production' | 'staging'
    readonly nowMs: number
  },
): Promise<string> {
  const id = newId('apik_')
  const value = newKeyValue('publishable', wanted.type)
  const now = new Date(wanted.nowMs)
  await sql`insert into api_keys ${sql({
    id,
    account_id: wanted.accountId,
    environment_id: wanted.environmentId,
    name: 'Publishable key',
    kind: 'publishable',
    scopes: sql.json(['capture']),
    secret_hash: hashing.hash(value),
    pepper_id: hashing.pepperId,
    last_four: lastFour(value),
    publishable_value: value,
    created_at: now,
    updated_at: now,
  })}`
  return id
}

/** The bootstrap key as configured, as found in its file, or made; null when it is there already. */
async function seeToKey(
  sql: Sql,
  accountId: string,
  pepper: Buffer,
  config: BootstrapConfig,
): Promise<string | null> {
  const path = join(config.dataDir, 'bootstrap-key')
  const [had] = await sql<{ id: string; secret_hash: Uint8Array }[]>`
    select id, secret_hash from api_keys where account_id = ${accountId} and bootstrap`
  if (config.bootstrapKey === null && (had || (await hasAdminKey(sql, accountId)))) return null

  let made: string | null = null
  const value =
    config.bootstrapKey ??
    (await keep(path, () => {
      made = newKeyValue('secret', 'development')
      return made
    }))
  if (config.bootstrapKey !== null) await replace(path, value)
  const hash = hashKey(pepper, value)
  const now = new Date()
  if (!had) await insertBootstrapKey(sql, accountId, hash, now)
  else if (!hash.equals(had.secret_hash))
    await sql`update api_keys set secret_hash = ${hash}, updated_at = ${now} where id = ${had.id}`
  return made === value ? made : null
}

async function hasAdminKey(sql: Sql, accountId: string): Promise<boolean> {
  const rows = await sql`select 1 from api_keys where account_id = ${accountId} and scopes ? 'admin' limit 1`
  return rows.length > 0
}

/** Bound to Development, or to what comes nearest when that was renamed or deleted. */
async function insertBootstrapKey(sql: Sql, accountId: string, hash: Buffer, now: Date): Promise<void> {
  const [environment] = await sql<{ id: string }[]>`
    select id from environments where account_id = ${accountId}
    order by environment_type = 'development' desc, environment_type = 'production', created_at, id limit 1`
  await sql`insert into api_keys ${sql({
    id: newId('apik_'),
    account_id: accountId,
    environment_id: environment!.id,
    name: 'Bootstrap key',
    description: 'Made at the first start; may do everything',
    kind: 'secret',
    scopes: sql.json([...apiKeyScopes]),
    secret_hash: hash,
    bootstrap: true,
    created_at: now,
    updated_at: now,
  })}`
}

interface MemberEntry {
  readonly id?: string
  readonly email?: string | null
  readonly name?: string | null
  readonly first_name?: string | null
  readonly last_name?: string | null
  readonly image_url?: string | null
  readonly role?: string | null
  readonly permissions?: Readonly<Record<string, readonly string[]>>
}

/** The members file: a JSON list of members as GET /account-members shows them; `email` or `id` tells them apart. */
async function readMembers(path: string): Promise<readonly MemberEntry[]> {
  const parsed: unknown = JSON.parse(await readFile(path, 'utf8'))
  if (!Array.isArray(parsed)) throw new Error(`${path}: not a list of members`)
  parsed.forEach((member: unknown, index) => {
    const fault = memberFault(member)
    if (fault) throw new Error(`${path}: member ${index}: ${fault}`)
  })
  return parsed as readonly MemberEntry[]
}

const memberTexts = ['id', 'email', 'name', 'first_name', 'last_name', 'image_url'] as const

function memberFault(member: unknown): string | null {
  if (typeof member !== 'object' || member === null) return 'not an object'
  const entry = member as Record<string, unknown>
  for (const name of memberTexts)
    if (entry[name] !== undefined && entry[name] !== null && typeof entry[name] !== 'string')
      return `${name}: not a text`
  if (!entry.email && !entry.id) return 'email or id is needed'
  if (entry.role && !accountMemberRoles.some(role => role === entry.role))
    return `role: one of ${accountMemberRoles}`
  if (entry.permissions === undefined) return null
  if (typeof entry.permissions !== 'object' || entry.permissions === null) return 'permissions: not an object'
  for (const [where, list] of Object.entries(entry.permissions)) {
    const known =
      Array.isArray(list) && list.every(item => accountMemberPermissions.some(name => name === item))
    if (!known) return `permissions.${where}: not a list of permissions`
  }
  return null
}

/** The account's members become those of the file: others go, and what named them as maintainer names nobody. */
async function seeToMembers(sql: Sql, accountId: string, members: readonly MemberEntry[]): Promise<void> {
  const now = new Date()
  const ids: string[] = []
  for (const member of members) {
    const id = member.id ?? derivedId('acme_', accountId, member.email ?? '')
    const row = {
      id,
      account_id: accountId,
      email: member.email ?? null,
      name: member.name ?? null,
      first_name: member.first_name ?? null,
      last_name: member.last_name ?? null,
      image_url: member.image_url ?? null,
      role: member.role ?? 'member',
      permissions: sql.json(member.permissions ?? {}),
      created_at: now,
      updated_at: now,
    }
    await sql`
      insert into account_members ${sql(row)}
      on conflict (id) do update set email = excluded.email, name = excluded.name, first_name = excluded.first_name,
        last_name = excluded.last_name, image_url = excluded.image_url, role = excluded.role,
        permissions = excluded.permissions, updated_at = excluded.updated_at
      where (account_members.email, account_members.name, account_members.first_name, account_members.last_name,
        account_members.image_url, account_members.role, account_members.permissions)
        is distinct from (excluded.email, excluded.name, excluded.first_name, excluded.last_name,
        excluded.image_url, excluded.role, excluded.permissions)`
    ids.push(id)
  }
  await sql`
    delete from account_members where account_id = ${accountId}
      and id not in (select jsonb_array_elements_text(${sql.json(ids)}))`
}

/** The text of a file that only its owner may read; made, whole or not at all, when it does not exist. */
async function keep(path: string, make: () => string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const draft = await draftOf(path, make())
  try {
    await link(draft, path)
  } catch (error) {
    // Another process was first: its text counts.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft, { force: true })
  }
  return (await readFile(path, 'utf8')).trim()
}

async function replace(path: string, text: string): Promise<void> {
  await rename(await draftOf(path, text), path)
}

async function draftOf(path: string, text: string): Promise<string> {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  await writeFile(draft, `${text}\n`, { mode: 0o600, flag: 'wx' })
  return draft
}
