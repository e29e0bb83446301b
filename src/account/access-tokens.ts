// Short-lived tokens that read one company, for components on a page of that company. Kept in Postgres by hash.
import { randomBytes } from 'node:crypto'
import type { Sql } from 'postgres'
import { keyFault } from './conditions.js'
import { newId } from './ids.js'
import type { KeyAsker, KeyRecord, Keys } from './key-types.js'

/** How long a token may be good for. */
export const tokenSeconds = { least: 60, usual: 900, most: 86_400 } as const
const prefix = 'tat_'
const form = /^tat_[\w-]{43}$/
const keyPrefix = 'apik_'
/** A token in memory is looked up again after this long. */
const trustedMs = 5_000
const tokensMax = 10_000

/** Whether a value has the form of a token. */
export const isAccessToken = (value: string): boolean => value.startsWith(prefix)

interface TokenRow {
  readonly id: string
  readonly account_id: string
  readonly environment_id: string
  readonly company_id: string
  readonly api_key_id: string | null
  readonly expires_at: Date
}

/** A token in memory. */
interface Known {
  readonly record: KeyRecord
  /** The key or member that made it. */
  readonly makerId: string | null
  readonly readAtMs: number
  readonly untilMs: number
}

/** Tokens of companies. Functions reject with the store's error while Postgres is down. */
export class AccessTokens {
  private readonly known = new Map<string, Known>()

  constructor(
    private readonly options: { readonly sql: Sql; readonly keys: Keys; readonly wallMs: () => number },
  ) {}

  /** Make a token. Its value is shown once. */
  async make(
    of: {
      readonly accountId: string
      readonly environmentId: string
      readonly companyId: string
      readonly keyId: string
    },
    seconds: number,
  ): Promise<{
    readonly id: string
    readonly value: string
    readonly createdAtMs: number
    readonly expiresAtMs: number
  }> {
    const { sql, keys, wallMs } = this.options
    const value = `${prefix}${randomBytes(32).toString('base64url')}`
    const id = newId('tat_')
    const createdAtMs = wallMs()
    const expiresAtMs = createdAtMs + seconds * 1_000
    await sql`insert into temporary_access_tokens ${sql({
      hash: keys.hash(value),
      id,
      account_id: of.accountId,
      environment_id: of.environmentId,
      company_id: of.companyId,
      api_key_id: of.keyId,
      created_at: new Date(createdAtMs),
      expires_at: new Date(expiresAtMs),
    })}`
    return { id, value, createdAtMs, expiresAtMs }
  }

  /**
   * The token's rights in the form of a key, or null: it is unknown or over, or the key that made it is deleted, disabled or
   * expired. The addresses of that key do not count: the token is for a page's readers.
   *
   * asker   a value that is not in memory is not looked up for a caller with too many unknown keys (security 1).
   * source  security L3
   */
  async find(value: string, asker?: KeyAsker): Promise<KeyRecord | null> {
    const { sql, keys, wallMs } = this.options
    const hash = keys.hash(value)
    const name = hash.toString('hex')
    const nowMs = wallMs()
    const known = this.known.get(name)
    if (known !== undefined && nowMs < known.untilMs && nowMs - known.readAtMs < trustedMs)
      return this.isGood(known.makerId, nowMs) ? known.record : null
    if (known === undefined && (!form.test(value) || asker?.mayAsk() === false)) return null
    this.known.delete(name)
    const [row] = await sql<TokenRow[]>`
      select id, account_id, environment_id, company_id, api_key_id, expires_at from temporary_access_tokens
      where hash = ${hash} and expires_at > ${new Date(nowMs)}`
    if (row === undefined) return null
    if (this.known.size >= tokensMax) this.known.delete(this.known.keys().next().value!)
    const record = known?.record ?? recordOf(row)
    const makerId = row.api_key_id
    this.known.set(name, { record, makerId, readAtMs: nowMs, untilMs: row.expires_at.getTime() })
    return this.isGood(makerId, nowMs) ? record : null
  }

  /** Whether the maker of a token still stands for it. Members make some, too. */
  private isGood(makerId: string | null, nowMs: number): boolean {
    if (makerId === null || !makerId.startsWith(keyPrefix)) return true
    const maker = this.options.keys.byId(makerId)
    if (maker === null) return false
    const { conditions } = maker
    return conditions == null || keyFault({ ...conditions, addresses: null }, nowMs, () => '') === null
  }
}

function recordOf(row: TokenRow): KeyRecord {
  return {
    id: row.id,
    accountId: row.account_id,
    name: `Token of ${row.company_id}`,
    description: null,
    kind: 'secret',
    scopes: [],
    readonly: true,
    environmentId: row.environment_id,
    rateLimitPercent: null,
    actor: { type: 'temporary_access_token', id: row.id, name: row.company_id, roles: {} },
    companyId: row.company_id,
  }
}
