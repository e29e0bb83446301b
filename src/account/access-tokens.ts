// Short-lived tokens that read one company, for components on a page of that company. Kept in Postgres by hash.
import { randomBytes } from 'node:crypto'
import type { Sql } from 'postgres'
import { roleIn } from '../core/console-role.js'
import { keyFault } from './conditions.js'
import { newId } from './ids.js'
import type { KeyAsker, KeyRecord, Keys } from './key-types.js'
import { type AccessRow, memberAccess } from './member-access.js'
import { SharedLooks } from './shared-looks.js'

/** How long a token may be good for. */
export const tokenSeconds = { least: 60, usual: 900, most: 86_400 } as const
const prefix = 'tat_'
const form = /^tat_[\w-]{43}$/
const keyPrefix = 'apik_'
/** A token of a key is looked up again after this long, one of a member each time. */
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
  /** Null: no member of the account has made it, or it is disabled or gone. */
  readonly member: AccessRow | null
}

/** A token in memory. */
interface Known {
  readonly record: KeyRecord
  /** The key or member that made it. */
  readonly makerId: string | null
  /** 0: to be looked up again. */
  readonly readAtMs: number
  readonly untilMs: number
}

/** Tokens of companies. Functions reject with the store's error while Postgres is down. */
export class AccessTokens {
  private readonly known = new Map<string, Known>()
  private readonly looks = new SharedLooks<TokenRow | undefined>()

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
   * The token's rights in the form of a key, or null: it is unknown or over, or its maker may make none any more. That is a key
   * that is deleted, disabled or expired, or a member that is gone, disabled or no admin of the environment. The addresses
   * of a key do not count: the token is for a page's readers.
   *
   * asker   a value that is not in memory is not looked up for a caller with too many unknown keys (security 1).
   * source  security L3
   */
  async find(value: string, asker?: KeyAsker): Promise<KeyRecord | null> {
    const { keys, wallMs } = this.options
    const hash = keys.hash(value)
    const name = hash.toString('hex')
    const nowMs = wallMs()
    const known = this.known.get(name)
    if (known !== undefined && nowMs < known.untilMs && nowMs - known.readAtMs < trustedMs)
      return this.standsFor(known.makerId, nowMs) ? known.record : null
    if (known === undefined && (!form.test(value) || asker?.mayAsk() === false)) return null
    const row = await this.looks.look(name, () => this.read(hash))
    this.known.delete(name)
    if (row === undefined) return null
    if (this.known.size >= tokensMax) this.known.delete(this.known.keys().next().value!)
    const record = known?.record ?? recordOf(row)
    const makerId = row.api_key_id
    const byMember = makerId !== null && !makerId.startsWith(keyPrefix)
    const readAtMs = byMember ? 0 : nowMs
    this.known.set(name, { record, makerId, readAtMs, untilMs: row.expires_at.getTime() })
    return (byMember ? ofAdmin(row) : this.standsFor(makerId, nowMs)) ? record : null
  }

  private async read(hash: Buffer): Promise<TokenRow | undefined> {
    const { sql, wallMs } = this.options
    const [row] = await sql<TokenRow[]>`
      select t.id, t.account_id, t.environment_id, t.company_id, t.api_key_id, t.expires_at, to_jsonb(m) as member
      from temporary_access_tokens t
      left join account_members m on m.id = t.api_key_id and m.account_id = t.account_id and not m.disabled
      where t.hash = ${hash} and t.expires_at > ${new Date(wallMs())}`
    return row
  }

  /** Whether the key that made a token still stands for it; null: it is not known. */
  private standsFor(keyId: string | null, nowMs: number): boolean {
    if (keyId === null) return true
    const maker = this.options.keys.byId(keyId)
    if (maker === null) return false
    const { conditions } = maker
    return conditions == null || keyFault({ ...conditions, addresses: null }, nowMs, () => '') === null
  }
}

/** Whether the member that made a token is an admin of its environment, as it was when it made it. */
function ofAdmin({ member, environment_id: environmentId }: TokenRow): boolean {
  return member !== null && roleIn(memberAccess(member).roles, environmentId) === 'admin'
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
