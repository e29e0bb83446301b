// Idempotency keys of writes that grant, sell, hold or change what is paid: one effect each, and the first answer again.
import { randomUUID } from 'node:crypto'
import type { Sql } from 'postgres'
import { ServiceError } from '../../errors.js'
import type { Shards } from '../shards/shards.js'
import { isInWindow } from './environment-window.js'

/** One request under a key. */
interface KeyedWrite {
  readonly environmentId: string
  readonly keyKind: 'secret' | 'publishable'
  /** 1 to 255 visible ASCII characters. */
  readonly key: string
  /** Hash of what was asked: the same for the same method, path, query and body. */
  readonly fingerprint: string
  /** The environment's present, epoch ms. */
  readonly nowMs: number
}

/** An answer as it is kept. */
export interface KeptAnswer {
  readonly status: number
  /** The whole body; null: it was too long, or was never made. */
  readonly body: string | null
  /** Headers of its own; null: none. */
  readonly headers: Readonly<Record<string, string>> | null
}

/** The right to run work under a key. */
export interface Claim {
  /** Changes carry it. */
  readonly id: string
  /** Set by the work once a change is durable: the key is not free any more, whatever the answer. */
  made: boolean
}

/** The result of the work under a key. */
export interface Worked<T> {
  readonly value: T
  /** null: nothing was made, and the key is free again. */
  readonly kept: KeptAnswer | null
}

/** The answer for a caller: the outcome of its own work, or an earlier answer. */
export type Outcome<T> = { readonly value: T } | { readonly replayed: KeptAnswer }

interface PaidWritesOptions {
  readonly shards: Pick<Shards, 'ask' | 'degraded'>
  readonly projections: { barrier(store: 'postgres'): Promise<void> }
  /** Keys and bytes of answers that one environment may have in the window. */
  readonly keysMax: number
  readonly bytesMax: number
  /** Other nodes use the same store. */
  readonly shared: boolean
}

interface Row {
  readonly claim: string
  readonly fingerprint: string
  readonly owner: string | null
  readonly status: number | null
  readonly body: string | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly stale: boolean
}

const windowMs = 86_400_000
/** Rows are kept a little longer than the window. */
const keptHours = 25
/** A process that runs a request says so at this interval; one that is silent for longer than `silentSeconds` is dead. */
export const aliveMs = 10_000
const silentSeconds = 45
/** A request of another node is waited for so long, and looked at so often. */
const patienceMs = 10_000
const lookEveryMs = 100
/** The keys of an environment are counted again after this. */
const countedMs = 10_000
/** Environments whose figures are remembered. */
const countsMax = 10_000

/**
 * The claims of keys, in Postgres.
 *
 * A claim is stored before its work. Changes of the work carry the claim: a change in Postgres in the same
 * transaction (`mark`), one of a company in its journal record. So a claim whose process was killed is resolved: when
 * everything journaled is in Postgres, its effect is there, or was never made.
 *
 * source  decision 37.
 */
export class PaidWrites {
  /** This process. */
  private readonly owner = randomUUID()
  /** Work that runs in this process, by its key. */
  private readonly running = new Map<string, { readonly fingerprint: string; readonly done: Promise<void> }>()
  private readonly claims = new Set<string>()
  private readonly counts = new Map<string, { atMs: number; keys: number; bytes: number }>()

  constructor(private readonly options: PaidWritesOptions) {}

  /**
   * Run work under a key, once.
   *
   * repeats  work that was done before does nothing anew, and gives its answer: it runs again where the first answer
   *         was lost.
   * work    its changes carry the claim; it resolves when they are durable.
   * errors  idempotency_reused (409) for a key of another request; overloaded (503) while an equal request runs on
   *         another node for too long, while a shard that may hold its effect restarts, and when the environment has
   *         no room for another key; errors of `work`.
   */
  async run<T>(
    sql: Sql,
    write: KeyedWrite,
    repeats: boolean,
    work: (claim: Claim) => Promise<Worked<T>>,
  ): Promise<Outcome<T>> {
    const name = `${write.environmentId} ${write.keyKind} ${write.key}`
    for (let other = this.running.get(name); other !== undefined; other = this.running.get(name)) {
      if (other.fingerprint !== write.fingerprint) throw reused()
      await other.done
    }
    let done = (): void => {}
    this.running.set(name, {
      fingerprint: write.fingerprint,
      done: new Promise(resolve => {
        done = resolve
      }),
    })
    try {
      const claimed = await this.claimed(sql, write, repeats)
      if ('replayed' in claimed) return claimed
      return await this.worked(sql, write, { id: claimed.claim, made: false }, work)
    } finally {
      this.running.delete(name)
      done()
    }
  }

  /** Note that a change is made under a claim, in the transaction of the change. */
  async mark(tx: Sql, claim: string): Promise<void> {
    await tx`insert into paid_effects (claim) values (${claim}) on conflict do nothing`
  }

  /** Say that the requests which run here are alive. */
  async alive(sql: Sql): Promise<void> {
    if (!this.options.shared || this.claims.size === 0) return
    await sql`update paid_writes set owned_at = now() where claim = any(${[...this.claims]}::text[])`
  }

  /** Remove keys older than the window. */
  async prune(sql: Sql): Promise<void> {
    await sql`
      delete from paid_writes
      where made_at <= now() - ${`${keptHours} hours`}::interval and not ${isInWindow(sql)}`
    await sql`
      delete from paid_effects
      where made_at <= now() - ${`${2 * keptHours} hours`}::interval
        and not exists (select from paid_writes where paid_writes.claim = paid_effects.claim)`
  }

  private async worked<T>(
    sql: Sql,
    write: KeyedWrite,
    claim: Claim,
    work: (claim: Claim) => Promise<Worked<T>>,
  ): Promise<Outcome<T>> {
    const { id } = claim
    this.claims.add(id)
    try {
      const { value, kept } = await work(claim)
      // an answer that cannot be stored is given all the same: its effect is found when the request is repeated
      if (kept === null) await this.free(sql, id)
      else await this.keep(sql, write, id, kept).catch(() => this.disown(sql, id))
      return { value }
    } catch (error) {
      const refused = error instanceof ServiceError && error.status < 500
      if (refused && !claim.made) await this.free(sql, id)
      else await this.disown(sql, id)
      throw error
    } finally {
      this.claims.delete(id)
    }
  }

  /** The claim of a request that is to run now, or the answer that it has. */
  private async claimed(
    sql: Sql,
    write: KeyedWrite,
    repeats: boolean,
  ): Promise<{ readonly claim: string } | { readonly replayed: KeptAnswer }> {
    const untilMs = performance.now() + patienceMs
    for (;;) {
      const row = (await this.find(sql, write)) ?? (await this.insert(sql, write))
      if (row === 'taken') continue
      if ('made' in row) return { claim: row.made }
      if (row.fingerprint !== write.fingerprint) throw reused()
      const { status, body, headers } = row
      if (status !== null) return { replayed: { status, body, headers } }
      if (row.owner === null || !this.options.shared || row.owner === this.owner || row.stale) {
        const resolved = await this.resolved(sql, row, repeats)
        if (resolved !== null) return resolved
      } else if (performance.now() > untilMs)
        throw new ServiceError(
          'overloaded',
          'A request with this idempotency key is still running; try again',
        )
      await new Promise(resolve => setTimeout(resolve, lookEveryMs))
    }
  }

  private async find(sql: Sql, { environmentId, keyKind, key, nowMs }: KeyedWrite): Promise<Row | undefined> {
    const [row] = await sql<Row[]>`
      select claim, fingerprint, owner, status, body, headers,
        owned_at < now() - ${`${silentSeconds} seconds`}::interval as stale
      from paid_writes
      where environment_id = ${environmentId} and key_kind = ${keyKind} and key = ${key}
        and used_at > ${new Date(nowMs - windowMs)}`
    return row
  }

  /** A new claim, or 'taken' when another request made one meanwhile. */
  private async insert(sql: Sql, write: KeyedWrite): Promise<{ readonly made: string } | 'taken'> {
    const { environmentId, keyKind, key, fingerprint, nowMs } = write
    await this.requireRoom(sql, environmentId)
    const claim = randomUUID()
    const usedAt = new Date(nowMs)
    const rows = await sql`
      insert into paid_writes (claim, environment_id, key_kind, key, fingerprint, owner, used_at)
      values (${claim}, ${environmentId}, ${keyKind}, ${key}, ${fingerprint}, ${this.owner}, ${usedAt})
      on conflict (environment_id, key_kind, key) do update set
        claim = excluded.claim, fingerprint = excluded.fingerprint, owner = excluded.owner, owned_at = now(),
        status = null, body = null, headers = null, used_at = excluded.used_at, made_at = now()
      where paid_writes.used_at <= ${new Date(nowMs - windowMs)}
      returning claim`
    return rows.length === 0 ? 'taken' : { made: claim }
  }

  /**
   * The fate of a claim that nobody works on: its effect is durable, or it runs again here. null: another node took
   * it meanwhile.
   */
  private async resolved(
    sql: Sql,
    { claim, owner }: Row,
    repeats: boolean,
  ): Promise<{ readonly claim: string } | { readonly replayed: KeptAnswer } | null> {
    const { shards, projections } = this.options
    const rows = await sql`
      update paid_writes set owner = ${this.owner}, owned_at = now()
      where claim = ${claim} and status is null and owner is not distinct from ${owner} returning claim`
    if (rows.length === 0) return null
    try {
      if (shards.degraded.length > 0)
        throw new ServiceError(
          'overloaded',
          'What became of the request with this idempotency key is not known yet',
        )
      await projections.barrier('postgres')
      const [effect] = await sql`select 1 from paid_effects where claim = ${claim}`
      if (!effect || repeats) return { claim }
      await sql`update paid_writes set status = ${takenStatus} where claim = ${claim}`
      return { replayed: { status: takenStatus, body: null, headers: null } }
    } catch (error) {
      await this.disown(sql, claim)
      throw error
    }
  }

  private async keep(
    sql: Sql,
    write: KeyedWrite,
    claim: string,
    { status, body, headers }: KeptAnswer,
  ): Promise<void> {
    const own = headers && JSON.stringify(headers)
    await sql`
      update paid_writes set status = ${status}, body = ${body}, headers = ${own}::text::jsonb where claim = ${claim}`
    const count = this.counts.get(write.environmentId)
    if (count) count.bytes += body?.length ?? 0
  }

  /** Nothing was made under the claim. */
  private async free(sql: Sql, claim: string): Promise<void> {
    await sql`delete from paid_writes where claim = ${claim} and status is null`.catch(() => {})
  }

  /** The fate of the claim is to be looked up. */
  private async disown(sql: Sql, claim: string): Promise<void> {
    await sql`update paid_writes set owner = null where claim = ${claim} and status is null`.catch(() => {})
  }

  /** Counted now and then, and by what was added here since. */
  private async requireRoom(sql: Sql, environmentId: string): Promise<void> {
    const { keysMax, bytesMax } = this.options
    let count = this.counts.get(environmentId)
    if (count === undefined || performance.now() - count.atMs > countedMs) {
      const [row] = await sql<{ keys: string; bytes: string }[]>`
        select count(*) as keys, coalesce(sum(length(body)), 0) as bytes from paid_writes
        where environment_id = ${environmentId}`
      count = { atMs: performance.now(), keys: Number(row!.keys), bytes: Number(row!.bytes) }
      if (this.counts.size >= countsMax) this.counts.clear()
      this.counts.set(environmentId, count)
    }
    if (count.keys >= keysMax || count.bytes >= bytesMax)
      throw new ServiceError('overloaded', 'The environment has no room for another idempotency key')
    count.keys++
  }
}

/** The status of an answer that was never made though the change is durable (decision 32). */
const takenStatus = 202

function reused(): ServiceError {
  return new ServiceError('idempotency_reused')
}
