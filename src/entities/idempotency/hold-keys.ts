// Idempotency keys of reservations and of lease extensions: which company owns each, within its environment, for a
// day. The company knows which reservation its key made; this table keeps other companies from using the key.
import type { Sql } from 'postgres'
import { ServiceError } from '../../errors.js'
import { Dedupe } from './dedupe.js'
import { isInWindow } from './environment-window.js'

export type HoldKeyKind = 'extension' | 'reservation'

/** A key that holds something; when it was used, epoch ms. */
export interface UsedKey {
  readonly environmentId: string
  readonly kind: HoldKeyKind
  readonly key: string
  readonly companyId: string
  readonly usedMs: number
}

const rowsAtOnce = 10_000
/** Rows are kept a little longer than the window, so that none is missed that still counts. */
const keptHours = 25
/** Leases and reservations that are over are listed for so long. source: decision */
const heldDays = 30

/** Result of work with a key. */
export interface Held<T> {
  readonly value: T
  /** False: nothing was held by it, and the key is free again. */
  readonly made: boolean
}

interface Cohort {
  running: number
  made: boolean
  /** The key had no owner before. */
  readonly fresh: boolean
}

/**
 * Keys are claimed before a message leaves and given back when nothing was held by them. One that was used is found
 * again after a restart: it rides in the journal's record of the hold.
 *
 * source  CR-73, CR-80; the window: as EV-26.
 */
export class HoldKeys {
  private readonly claims: Dedupe
  private readonly cohorts = new Map<string, Cohort>()
  /** Several nodes only: finds the owner of a key that is unknown here; claims it if it has none. */
  shared:
    | ((environmentId: string, name: string, companyId: string, nowMs: number) => Promise<string>)
    | null = null

  constructor(keysMax: number) {
    this.claims = new Dedupe(keysMax)
  }

  /**
   * Run the work that a key guards.
   *
   * key     null: nothing is claimed.
   * work    its argument says whether the key already has a durable hold: then it must not hold anew.
   * errors  idempotency_reused (409) for a key of another company; overloaded (503) when no other key fits; errors of
   *         `work`.
   */
  async with<T>(
    environmentId: string,
    kind: HoldKeyKind,
    key: string | null,
    companyId: string,
    nowMs: number,
    work: (used: boolean) => Promise<Held<T>>,
  ): Promise<T> {
    if (key === null) return (await work(false)).value
    const name = nameOf(kind, key)
    if (this.claims.isFull(environmentId, name) && !this.claims.find(environmentId, name, nowMs))
      throw new ServiceError('overloaded', 'No other idempotency key is remembered now')
    const owner = ownerOf(companyId)
    const claim = { eventId: owner, capturedAtMs: nowMs }
    const first = this.claims.claim(environmentId, name, claim, nowMs)
    if (first !== null && first.eventId !== owner) throw new ServiceError('idempotency_reused')
    const id = `${environmentId} ${name}`
    const cohort = this.cohorts.get(id) ?? { running: 0, made: false, fresh: first === null }
    this.cohorts.set(id, cohort)
    cohort.running++
    try {
      if (
        cohort.fresh &&
        this.shared !== null &&
        (await this.shared(environmentId, name, companyId, nowMs)) !== companyId
      )
        throw new ServiceError('idempotency_reused')
      const { value, made } = await work(!cohort.fresh || cohort.made)
      cohort.made ||= made
      return value
    } finally {
      cohort.running--
      if (cohort.running === 0) {
        this.cohorts.delete(id)
        if (cohort.fresh && !cohort.made) this.claims.release(environmentId, name, owner)
      }
    }
  }

  /** Divide the room for keys among so many environments. */
  divide(environments: number): void {
    this.claims.divide(environments)
  }

  /** Read the keys that count, at start. */
  async load(sql: Sql): Promise<void> {
    const rows = sql<
      { environment_id: string; kind: HoldKeyKind; key: string; company_id: string; used_at: Date }[]
    >`
      select environment_id, kind, key, company_id, used_at from hold_keys
      where made_at > now() - ${`${keptHours} hours`}::interval or ${isInWindow(sql)}`.cursor(rowsAtOnce)
    for await (const some of rows)
      for (const { environment_id, kind, key, company_id, used_at } of some)
        this.know({
          environmentId: environment_id,
          kind,
          key,
          companyId: company_id,
          usedMs: used_at.getTime(),
        })
  }

  /** One key that was used, at start, in any order. */
  know({ environmentId, kind, key, companyId, usedMs }: UsedKey): void {
    this.claims.load(environmentId, nameOf(kind, key), ownerOf(companyId), usedMs, usedMs)
  }

  /** Remove keys outside of the window from memory, some segments per call. As `Dedupe.sweep`. */
  sweep(nowMs: number, segments: number, presents: ReadonlyMap<string, number>): void {
    this.claims.sweep(nowMs, segments, presents)
  }

  /** Remove keys older than the window from Postgres, and holds that ended over a month ago. */
  async prune(sql: Sql): Promise<void> {
    await sql`
      delete from credit_holds
      where made_at <= now() - ${`${heldDays} days`}::interval and (released_at is not null or expires_at <= now())`
    await sql`
      delete from hold_keys where made_at <= now() - ${`${keptHours} hours`}::interval and not ${isInWindow(sql)}`
  }
}

const nameOf = (kind: HoldKeyKind, key: string): string => `${kind} ${key}`

/** A company's id where the window keeps an event's: both are a prefix and the same letters. */
const ownerOf = (companyId: string): string => companyId.replace(/^comp_/, 'evt_')
