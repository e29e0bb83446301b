// Idempotency keys of events: 24 hours, per environment, from the first receipt (EV-25…29).
// The key rides in its event's journal record, so "seen" and "counted" cannot disagree; this window is the
// memory of it, claimed before an event leaves and given back when its record was not made durable.

/** How long a key is remembered from its first receipt; at exactly this age it is free again (EV-26). */
export const windowMs = 24 * 3_600_000

/** The first event with a key. */
export interface Claim {
  readonly eventId: string
  readonly capturedAtMs: number
  readonly receivedAtMs: number
  /** While the first event is under way: resolves when it is durable, rejects when it was lost. */
  settled: Promise<void> | null
}

/**
 * The window. Keys are kept in the order of first receipt, so that what is too old is found at the front.
 * Holds: at most `keysMax` keys; a full window refuses new keys rather than forgetting old ones.
 */
export class Dedupe {
  private readonly claims = new Map<string, Claim>()

  constructor(private readonly keysMax: number) {}

  /** Keys remembered now. */
  get size(): number {
    return this.claims.size
  }

  /** Whether another key fits. */
  get full(): boolean {
    return this.claims.size >= this.keysMax
  }

  /**
   * Claim a key for an event, or find the event that has it.
   *
   * nowMs    server receipt of this event, epoch ms.
   * returns  null when the key is now this event's; else the claim of the first one.
   * source   EV-25, EV-26, EV-27.
   */
  claim(
    environmentId: string,
    key: string,
    event: {
      readonly eventId: string
      readonly capturedAtMs: number
      readonly settled: Promise<void> | null
    },
    nowMs: number,
  ): Claim | null {
    this.sweep(nowMs)
    const name = `${environmentId}\0${key}`
    const first = this.claims.get(name)
    if (first && nowMs - first.receivedAtMs < windowMs) return first
    this.claims.delete(name) // so that the new claim goes to the back
    this.claims.set(name, { ...event, receivedAtMs: nowMs })
    return null
  }

  /** Whether this event holds the key and is known to be durable. */
  isConfirmed(environmentId: string, key: string, eventId: string): boolean {
    const claim = this.claims.get(`${environmentId}\0${key}`)
    return claim?.eventId === eventId && claim.settled === null
  }

  /** The event is durable. */
  confirm(environmentId: string, key: string): void {
    const claim = this.claims.get(`${environmentId}\0${key}`)
    if (claim) claim.settled = null
  }

  /** The event was not made durable: its key is free. */
  release(environmentId: string, key: string, eventId: string): void {
    const name = `${environmentId}\0${key}`
    if (this.claims.get(name)?.eventId === eventId) this.claims.delete(name)
  }

  /** One claim as storage knows it, at start; in the order of receipt. */
  load(
    environmentId: string,
    key: string,
    eventId: string,
    capturedAtMs: number,
    receivedAtMs: number,
  ): void {
    const name = `${environmentId}\0${key}`
    if (!this.claims.has(name)) this.claims.set(name, { eventId, capturedAtMs, receivedAtMs, settled: null })
  }

  /** Drop what is older than the window, from the front. */
  sweep(nowMs: number): void {
    for (const [name, claim] of this.claims) {
      if (nowMs - claim.receivedAtMs < windowMs) return
      this.claims.delete(name)
    }
  }
}
