// The first start creates the account, two environments and the first keys. Every later start finds them.
import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { rowOfEvent, writeRows } from './audit/row.js'
import { type FirstKey, seeToFirstKey } from './first-key.js'
import { newId } from './ids.js'
import { hashKey, lastFour, newKeyValue, pepperId } from './key-value.js'
import { readMembers, seeToMembers } from './members-file.js'
import { backupKeyFile, keep } from './secret-file.js'

export interface BootstrapConfig {
  readonly dataDir: string
  /** TOLLGATE_BOOTSTRAP_KEY. */
  readonly bootstrapKey: string | null
  /** TOLLGATE_PEPPER. */
  readonly pepper: string | null
  /** TOLLGATE_PEPPER_PREVIOUS. */
  readonly pepperPrevious?: string | null
  /** TOLLGATE_BACKUP_KEY. */
  readonly backupKey?: string | null
  /** TOLLGATE_MEMBERS_FILE. */
  readonly membersFile: string | null
}

export interface Bootstrapped {
  readonly accountId: string
  readonly pepper: Buffer
  /** Second pepper to try for values unknown under `pepper`. */
  readonly formerPepper: Buffer | null
  /** The bootstrap key's value if this start created it, to be printed once. */
  readonly madeKey: string | null
  /** Notes for the operator, one sentence each. */
  readonly notes: readonly string[]
}

/** How key values are hashed. */
interface Hashing {
  hash(value: string): Buffer
  /** Identifies the pepper of these hashes. */
  readonly pepperId: string
}

/** File that a restore leaves in the data directory, for the audit log. */
export const restoredFile = 'restored'

/** Advisory lock that serialises starts of several processes. An arbitrary number. */
const bootstrapLock = 7_084_155_001

/**
 * Ensure that the account, its environments *Development* and *Production*, their publishable keys and the
 * bootstrap key exist, that hashes use the current pepper, and that the members equal those of the members file.
 * Idempotent; safe in several processes at once.
 *
 * config    a new `bootstrapKey` becomes the value of the bootstrap key.
 * returns   the account, the pepper, and the bootstrap key's value if it was created now.
 * errors    ConfigError for a new `bootstrapKey` that is easy to guess, and for an invalid members file, with its
 *           name and the invalid member; errors of files and the database.
 * source    decisions 13, 14; AL-2, AL-5; for the bootstrap key see first-key.ts.
 */
export async function bootstrap(sql: Sql, config: BootstrapConfig): Promise<Bootstrapped> {
  await mkdir(config.dataDir, { recursive: true })
  const pepper =
    config.pepper === null
      ? Buffer.from(await keep(join(config.dataDir, 'pepper'), () => randomBytes(32).toString('base64url')))
      : Buffer.from(config.pepper)
  if (config.pepper === null && (config.backupKey ?? null) === null)
    await keep(join(config.dataDir, backupKeyFile), () => randomBytes(32).toString('base64url'))
  const given = config.pepperPrevious ?? null
  const former = given === null || pepper.equals(Buffer.from(given)) ? null : Buffer.from(given)
  const members = config.membersFile === null ? null : await readMembers(config.membersFile)
  const restored = await readFile(join(config.dataDir, restoredFile), 'utf8').catch(() => null)
  const { first, ...bootstrapped } = await sql.begin(async transaction => {
    const tx = transaction as unknown as Sql
    await tx`select pg_advisory_xact_lock(${bootstrapLock})`
    const hashing = { hash: (value: string) => hashKey(pepper, value), pepperId: pepperId(pepper) }
    const found = await theAccount(tx)
    const accountId = found ?? (await makeAccount(tx, hashing))
    const peppers = { pepper, former, ...hashing }
    const record = (what: string, resourceType: string, detail: object = {}) =>
      recordStart(tx, accountId, what, resourceType, detail)
    if (restored !== null) await record('restore', 'backup', { backup: restored })
    const pepperNotes = await seeToPepper(tx, peppers, () => record('pepper/changed', 'pepper'))
    const key = await seeToFirstKey(tx, { accountId, isNew: found === null, peppers, config })
    if (key.done !== null) await record(`first-key/${key.done}`, 'api_key')
    if (members) {
      await seeToMembers(tx, accountId, members)
      const sum = createHash('sha256').update(JSON.stringify(members)).digest('hex')
      if (await isOther(tx, 'members_file', sum))
        await record('members-file/changed', 'account_member', { sha256: sum })
    }
    return {
      accountId,
      pepper,
      formerPepper: former,
      madeKey: key.made,
      notes: [...pepperNotes, ...key.notes],
      first: key,
    }
  })
  await removeFileOf(first, config.dataDir)
  await rm(join(config.dataDir, restoredFile), { force: true })
  return bootstrapped
}

/** Remove the key's file when its value comes from a setting or was replaced. */
async function removeFileOf(key: FirstKey, dataDir: string): Promise<void> {
  if (key.fromSetting) await rm(join(dataDir, 'bootstrap-key'), { force: true })
}

/** Record the operator's actions on the installation in the audit log. */
async function recordStart(
  tx: Sql,
  accountId: string,
  what: string,
  resourceType: string,
  detail: object,
): Promise<void> {
  const event = { kind: 'system', accountId, what, resourceType, detail } as const
  await writeRows(tx, [rowOfEvent(event, Date.now())], true)
}

/** Store a value of the installation. Returns whether it differs from the last one, or is the first. */
async function isOther(tx: Sql, name: string, value: string): Promise<boolean> {
  const rows = await tx`
    insert into installation (name, value, updated_at) values (${name}, ${value}, now())
    on conflict (name) do update set value = excluded.value, updated_at = excluded.updated_at
      where installation.value <> excluded.value
    returning name`
  return rows.length > 0
}

interface Peppers extends Hashing {
  readonly pepper: Buffer
  readonly former: Buffer | null
}

/**
 * Detect a changed pepper, and rehash what can be rehashed without callers: publishable keys.
 *
 * returns  notes for the operator.
 */
async function seeToPepper(
  tx: Sql,
  { former, hash, pepperId: id }: Peppers,
  changed: () => Promise<void>,
): Promise<readonly string[]> {
  const [last] = await tx<{ value: string }[]>`select value from installation where name = 'pepper'`
  if (last === undefined) await tx`update api_keys set pepper_id = ${id} where pepper_id is null`
  if ((await isOther(tx, 'pepper', id)) && last !== undefined) await changed()
  if (former === null)
    return last === undefined || last.value === id
      ? []
      : ['TOLLGATE_PEPPER is another than before: no key made under the former one is known']
  const open = await tx<{ id: string; publishable_value: string; secret_hash: Uint8Array }[]>`
    select id, publishable_value, secret_hash from api_keys
    where kind = 'publishable' and pepper_id is distinct from ${id}`
  for (const row of open)
    if (hashKey(former, row.publishable_value).equals(row.secret_hash))
      await tx`
        update api_keys set secret_hash = ${hash(row.publishable_value)}, pepper_id = ${id} where id = ${row.id}`
  const [left] = await tx<{ count: number }[]>`
    select count(*)::int as count from api_keys where pepper_id is distinct from ${id}`
  return left!.count === 0
    ? ['No key needs TOLLGATE_PEPPER_PREVIOUS any more: unset it']
    : [`${left!.count} keys were not used since the pepper was changed, and need TOLLGATE_PEPPER_PREVIOUS`]
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
 * Insert an environment and its publishable key (AL-5).
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

/** Insert the publishable key of an environment: only scope capture (AL-2), value readable (decision 13). */
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
