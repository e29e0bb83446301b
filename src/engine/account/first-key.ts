// The first key of an installation: the bootstrap key, whose value is a setting or made at the first start.
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { apiKeyScopes } from '../../../schemas/enums.js'
import { ConfigError } from '../../config.js'
import { newId } from '../ids.js'
import { hashKey, isHardToGuess, lastFour, newKeyValue } from './key-value.js'
import { keep, replace } from './secret-file.js'

/** What became of it at a start. */
export interface FirstKey {
  /** Its value when this start made it. */
  readonly made: string | null
  /** Its value is the setting's. */
  readonly fromSetting: boolean
  /** For the audit log: what was done, null when nothing. */
  readonly done: 'made' | 'replaced' | null
  readonly notes: readonly string[]
}

interface Asked {
  readonly accountId: string
  /** The account was made in this transaction. */
  readonly isNew: boolean
  readonly peppers: {
    hash(value: string): Buffer
    readonly pepperId: string
    readonly former: Buffer | null
  }
  readonly config: { readonly dataDir: string; readonly bootstrapKey: string | null }
}

interface Row {
  readonly id: string
  readonly secret_hash: Uint8Array
  readonly created_at: Date
}

/** The first key is for making others: from this age on a start asks for it to be replaced. */
const dayMs = 86_400_000

/**
 * See to the bootstrap key.
 *
 *   a setting with a value that was never there   becomes the key's value, whether it is there or not
 *   a setting with a value that was there before  changes nothing: who deleted or rolled the key meant it
 *   no setting, and there never was such a key    one is made, and kept in `bootstrap-key`
 *   no setting, and there was one                 nothing, also when it was deleted
 *
 * errors  ConfigError for a new value that is easy to guess.
 * source  decision 14; security 13, D20: decision
 */
export async function seeToFirstKey(tx: Sql, asked: Asked): Promise<FirstKey> {
  const { accountId, config } = asked
  const [had] = await tx<Row[]>`
    select id, secret_hash, created_at from api_keys where account_id = ${accountId} and bootstrap`
  const key =
    config.bootstrapKey === null
      ? await withoutSetting(tx, asked, had ?? null)
      : await fromSetting(tx, asked, had ?? null, config.bootstrapKey)
  const notes = [...key.notes]
  if (had !== undefined && Date.now() - had.created_at.getTime() > dayMs)
    notes.push('The first key, which may do everything, is still there: make other keys and delete it')
  if (!(await hasAdminKey(tx, accountId)))
    notes.push('No admin key is left: set TOLLGATE_BOOTSTRAP_KEY to a value it never had')
  return { ...key, notes }
}

const nothing = { made: null, fromSetting: false, done: null, notes: [] } as const

async function withoutSetting(tx: Sql, asked: Asked, had: Row | null): Promise<FirstKey> {
  const { accountId, isNew, config } = asked
  if (had !== null || (await everHadOne(tx, accountId)) || (await hasAdminKey(tx, accountId))) return nothing
  const path = join(config.dataDir, 'bootstrap-key')
  let made: string | null = newKeyValue('secret', 'development')
  if (isNew) {
    // what is in the file was made by a first start that did not come to its end
    const kept = await keep(path, () => made!)
    if (kept !== made) made = null
    await insertKey(tx, asked, kept)
  } else {
    await replace(path, made)
    await insertKey(tx, asked, made)
  }
  return { ...nothing, made, done: 'made' }
}

async function fromSetting(tx: Sql, asked: Asked, had: Row | null, value: string): Promise<FirstKey> {
  const { accountId, peppers } = asked
  const hash = peppers.hash(value)
  const isWeak = !isHardToGuess(value)
  const former = peppers.former === null ? hash : hashKey(peppers.former, value)
  const known = await tx`
    select 1 from bootstrap_values where account_id = ${accountId} and secret_hash in (${hash}, ${former})`
  if (known.length > 0) {
    await remember(tx, accountId, hash)
    if (had !== null && former.equals(had.secret_hash)) await setValue(tx, asked, had.id, value)
    const inForce = had !== null && (hash.equals(had.secret_hash) || former.equals(had.secret_hash))
    const notes = inForce
      ? isWeak
        ? ['TOLLGATE_BOOTSTRAP_KEY is easy to guess: give it another value']
        : []
      : [
          'TOLLGATE_BOOTSTRAP_KEY was deleted or replaced and opens nothing: unset it, or give it another value',
        ]
    return { ...nothing, fromSetting: inForce, notes }
  }
  if (isWeak)
    throw new ConfigError(
      'TOLLGATE_BOOTSTRAP_KEY: expected a value that is as hard to guess as 128 random bits, as ' +
        '`openssl rand -hex 32` prints one',
    )
  if (had === null) await insertKey(tx, asked, value)
  else {
    await setValue(tx, asked, had.id, value)
    await remember(tx, accountId, hash)
  }
  return { ...nothing, fromSetting: true, done: had === null ? 'made' : 'replaced' }
}

async function everHadOne(tx: Sql, accountId: string): Promise<boolean> {
  const rows = await tx`select 1 from bootstrap_values where account_id = ${accountId} limit 1`
  return rows.length > 0
}

async function remember(tx: Sql, accountId: string, hash: Buffer): Promise<void> {
  await tx`
    insert into bootstrap_values (secret_hash, account_id, created_at) values (${hash}, ${accountId}, now())
    on conflict do nothing`
}

async function hasAdminKey(tx: Sql, accountId: string): Promise<boolean> {
  const rows = await tx`
    select 1 from api_keys where account_id = ${accountId} and scopes ? 'admin' and not disabled
      and (expires_at is null or expires_at > now()) limit 1`
  return rows.length > 0
}

async function setValue(tx: Sql, { peppers }: Asked, id: string, value: string): Promise<void> {
  await tx`
    update api_keys set ${tx({
      secret_hash: peppers.hash(value),
      last_four: lastFour(value),
      pepper_id: peppers.pepperId,
      previous_hash: null,
      previous_until: null,
      updated_at: new Date(),
    })} where id = ${id}`
}

/** Bound to Development, or to what comes nearest when that was renamed or deleted. */
async function insertKey(tx: Sql, { accountId, peppers }: Asked, value: string): Promise<void> {
  const now = new Date()
  const hash = peppers.hash(value)
  const [environment] = await tx<{ id: string }[]>`
    select id from environments where account_id = ${accountId}
    order by environment_type = 'development' desc, environment_type = 'production', created_at, id limit 1`
  await tx`insert into api_keys ${tx({
    id: newId('apik_'),
    account_id: accountId,
    environment_id: environment!.id,
    name: 'Bootstrap key',
    description: 'Made at the first start; may do everything',
    kind: 'secret',
    scopes: tx.json([...apiKeyScopes]),
    secret_hash: hash,
    last_four: lastFour(value),
    pepper_id: peppers.pepperId,
    bootstrap: true,
    created_at: now,
    updated_at: now,
  })}`
  await remember(tx, accountId, hash)
}
