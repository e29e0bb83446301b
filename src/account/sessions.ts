// Sessions of the console: who is signed in, kept in Postgres by hash, and in memory while they are used.
import { randomBytes } from 'node:crypto'
import type { Sql } from 'postgres'
import { type ConsoleRole, type RoleMap, roleEverywhere, roleIn } from '../core/console-role.js'
import { newId } from './ids.js'
import type { KeyAsker, KeyRecord, Keys } from './key-types.js'
import { type MemberAccess, memberAccess } from './member-access.js'
import { SharedLooks } from './shared-looks.js'

/** A session ends after this long without a request. */
const sessionMs = 12 * 3_600_000
/** A session in memory is read again after this long, so that a sign-out on another node holds here too. */
const trustedMs = 3_000
/** While Postgres does not answer, a session that was read so lately holds: System can still be read. */
const trustedAwayMs = 600_000
/** Its end is moved at most once in this long. */
const movedEveryMs = 300_000
const sessionsMax = 10_000
/** Sessions of one member or key. */
const sessionsEachMax = 100
/** The form of a cookie's value. */
const form = /^s_[\w-]{43}$/

/** A person or key that is signed in. */
export interface SignedIn {
  readonly id: string
  readonly accountId: string
  /** The key that was pasted, and the hash of the pasted value; null for a member. */
  readonly keyId: string | null
  readonly keyHash: Buffer | null
  readonly member: MemberAccess | null
  readonly expiresAtMs: number
  /** Records for requests, by role and environment; LastAdmission compares them by identity. */
  readonly records: Map<string, KeyRecord>
}

interface Entry {
  readonly session: SignedIn
  readonly readAtMs: number
}

interface SessionRow {
  readonly id: string
  readonly account_id: string
  readonly member_id: string | null
  readonly api_key_id: string | null
  readonly api_key_hash: Uint8Array | null
  readonly expires_at: Date
  readonly name: string | null
  readonly email: string | null
  readonly role: string | null
  readonly console_roles: RoleMap | null
}

/** Sessions of the console. Every function rejects with the store's error while Postgres is down, but `find` of a session read lately. */
export class Sessions {
  private readonly entries = new Map<string, Entry>()
  private readonly looks = new SharedLooks<SignedIn | null>()
  /** Grows with each sign-out and change of a member: what is read meanwhile may be what was before. */
  private changes = 0

  constructor(
    private readonly options: {
      readonly sql: Sql
      readonly keys: Keys
      /** Epoch ms. */
      readonly wallMs: () => number
    },
  ) {}

  /**
   * Begin a session.
   *
   * who      a member, or the key that was pasted and its value. The oldest sessions beyond `sessionsEachMax` end.
   * returns  the cookie's value: 256 random bits, stored as a hash only.
   */
  async begin(
    who: { accountId: string; memberId: string } | { key: KeyRecord; secret: string },
  ): Promise<string> {
    const { sql, keys, wallMs } = this.options
    const value = `s_${randomBytes(32).toString('base64url')}`
    const nowMs = wallMs()
    const byKey = 'key' in who
    const row = {
      hash: keys.hash(value),
      id: newId('sess_'),
      account_id: byKey ? who.key.accountId : who.accountId,
      member_id: byKey ? null : who.memberId,
      api_key_id: byKey ? who.key.id : null,
      api_key_hash: byKey ? keys.hash(who.secret) : null,
      created_at: new Date(nowMs),
      expires_at: new Date(nowMs + sessionMs),
    }
    await sql`insert into console_sessions ${sql(row)}`
    await sql`
      delete from console_sessions where hash in (
        select hash from console_sessions
        where ${byKey ? sql`api_key_id = ${row.api_key_id}` : sql`member_id = ${row.member_id}`}
        order by expires_at desc offset ${sessionsEachMax})`
    if (!byKey)
      await sql`update account_members set signed_in_at = ${new Date(nowMs)} where id = ${who.memberId}`
    return value
  }

  /** End a session. Returns whether there was one; an unknown one is no error. */
  async end(value: string): Promise<boolean> {
    if (!form.test(value)) return false
    const hash = this.options.keys.hash(value)
    const forget = () => {
      this.changes++
      this.entries.delete(hash.toString('hex'))
    }
    forget()
    const { count } = await this.options.sql`delete from console_sessions where hash = ${hash}`
    // a request in between has read it again
    forget()
    return count > 0
  }

  /** A member was changed: their sessions are read again before their next request. */
  forgetMember(memberId: string): void {
    this.changes++
    for (const [name, { session }] of this.entries)
      if (session.member?.id === memberId) this.entries.delete(name)
  }

  /** Remove sessions, links and tokens that are over. */
  async sweep(): Promise<void> {
    const { sql, wallMs } = this.options
    const now = new Date(wallMs())
    await sql`delete from console_sessions where expires_at <= ${now}`
    await sql`delete from console_links where expires_at <= ${now}`
    await sql`delete from temporary_access_tokens where expires_at <= ${now}`
  }

  /**
   * The session of a cookie, or null. A use moves its end. Rejects as the class says, unless the session was read lately.
   *
   * asker  a cookie that is not in memory is not looked up for a caller with too many unknown keys (security 1).
   */
  find(value: string, asker?: KeyAsker): SignedIn | null | Promise<SignedIn | null> {
    const { keys, wallMs } = this.options
    if (!form.test(value)) return null
    const hash = keys.hash(value)
    const name = hash.toString('hex')
    const entry = this.entries.get(name)
    const nowMs = wallMs()
    const read = () => this.looks.look(name, () => this.read(hash, wallMs()))
    if (entry === undefined) return asker?.mayAsk() === false ? null : read()
    const ageMs = nowMs - entry.readAtMs
    if (ageMs <= trustedMs) return this.usable(entry, nowMs)
    return read().catch(error => {
      // a session that ended meanwhile is not in memory any more
      if (ageMs > trustedAwayMs || !this.entries.has(name)) throw error
      return this.usable(entry, nowMs)
    })
  }

  private async read(hash: Buffer, nowMs: number): Promise<SignedIn | null> {
    const { sql } = this.options
    const name = hash.toString('hex')
    const { changes } = this
    const [row] = await sql<SessionRow[]>`
      select s.id, s.account_id, s.member_id, s.api_key_id, s.api_key_hash, s.expires_at, m.name, m.email, m.role, m.console_roles
      from console_sessions s left join account_members m on m.id = s.member_id
      where s.hash = ${hash} and s.expires_at > ${new Date(nowMs)} and not coalesce(m.disabled, false)`
    if (row === undefined) {
      this.entries.delete(name)
      return null
    }
    let expiresAtMs = row.expires_at.getTime()
    if (expiresAtMs - nowMs < sessionMs - movedEveryMs) {
      expiresAtMs = nowMs + sessionMs
      await sql`update console_sessions set expires_at = ${new Date(expiresAtMs)} where hash = ${hash}`
    }
    const member = row.member_id === null ? null : memberAccess({ ...row, id: row.member_id })
    const known = this.entries.get(name)?.session
    // the same rights keep the same records
    const isSame = known !== undefined && JSON.stringify(known.member) === JSON.stringify(member)
    const session: SignedIn = {
      id: row.id,
      accountId: row.account_id,
      keyId: row.api_key_id,
      keyHash: row.api_key_hash && Buffer.from(row.api_key_hash),
      member,
      expiresAtMs,
      records: isSame ? known.records : new Map(),
    }
    const entry: Entry = { session, readAtMs: nowMs }
    this.entries.delete(name)
    if (this.changes !== changes) return this.usable(entry, nowMs)
    if (this.entries.size >= sessionsMax) this.entries.delete(this.entries.keys().next().value!)
    this.entries.set(name, entry)
    return this.usable(entry, nowMs)
  }

  private usable({ session }: Entry, nowMs: number): SignedIn | null {
    if (session.expiresAtMs <= nowMs) return null
    // a key that was deleted ends its sessions, and a value that was replaced ends those that it began
    return session.keyId !== null && this.valueOf(session) === null ? null : session
  }

  private valueOf({ keyId, keyHash }: SignedIn): KeyRecord | null {
    return keyId === null || keyHash === null ? null : this.options.keys.ofValue(keyId, keyHash)
  }

  /**
   * The key that the session was begun with, without the right to send events, under the conditions of the value that was
   * pasted; null: it is no value of the key any more.
   */
  keyOf(signedIn: SignedIn): KeyRecord | null {
    const key = this.valueOf(signedIn)
    if (key === null) return null
    let record = this.ofKeys.get(key)
    if (record === undefined) {
      record = { ...key, scopes: key.scopes.filter(scope => scope !== 'capture') }
      this.ofKeys.set(key, record)
    }
    return record
  }

  private readonly ofKeys = new WeakMap<KeyRecord, KeyRecord>()

  /**
   * The role that counts for a request; null: none. One that names no environment has the role of the environment to which
   * `recordOf` binds it.
   *
   * ofAccount  it changes something of the whole account.
   */
  roleFor(
    member: MemberAccess,
    accountId: string,
    environmentId: string,
    ofAccount: boolean,
  ): ConsoleRole | null {
    if (ofAccount) {
      const ids = this.options.keys.environments(accountId).map(({ id }) => id)
      return roleEverywhere(member.roles, ids)
    }
    const id = environmentId || this.firstOf(accountId, member)
    return id === null ? null : roleIn(member.roles, id)
  }

  /**
   * A member's rights in the form of a key, for admission, limits and the audit log.
   *
   * environmentId  '' for none.
   */
  recordOf(signedIn: SignedIn, member: MemberAccess, role: ConsoleRole, environmentId: string): KeyRecord {
    const everywhere = member.roles['*'] !== undefined && Object.keys(member.roles).length === 1
    const bound = everywhere ? null : environmentId || this.firstOf(signedIn.accountId, member)
    const name = `${role} ${bound ?? '*'}`
    const known = signedIn.records.get(name)
    if (known !== undefined) return known
    const record: KeyRecord = {
      id: member.id,
      accountId: signedIn.accountId,
      name: member.name,
      description: null,
      kind: 'secret',
      scopes: scopesOf[role],
      readonly: role === 'viewer',
      environmentId: bound,
      rateLimitPercent: null,
      actor: { type: 'app_user', id: member.id, name: member.name, roles: member.roles },
    }
    signedIn.records.set(name, record)
    return record
  }

  private firstOf(accountId: string, { roles }: MemberAccess): string | null {
    const one = this.options.keys.environments(accountId).find(({ id }) => roleIn(roles, id) !== null)
    return one?.id ?? null
  }
}

const scopesOf = {
  viewer: ['read', 'check'],
  support: ['read', 'check', 'write'],
  editor: ['read', 'check', 'write'],
  admin: ['read', 'check', 'write', 'admin'],
} as const satisfies Record<ConsoleRole, KeyRecord['scopes']>
