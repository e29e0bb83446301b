// Claims of idempotency keys where old keys have left Redis. A key is looked for in the filters of past hours first; a hit
// is confirmed in ClickHouse, and what is not there is claimed in Redis.
//
// No key falls between both: the script that deletes a span's keys from Redis first notes where the span ends, and the script
// that claims a key refuses filters that end before that. They are brought up to date then, and asked again.
import type { Claimed, ClaimedEvent, FirstEvent, ShardClaims } from './claims.js'
import { nameOf, type OldKeys, type SealedSpan } from './old-keys.js'

/** How long a key is kept after its first receipt (EV-26). */
const windowMs = 24 * 3_600_000
/** How long the filters may take to be brought up to date, and how often that is looked at. */
const behindMs = 3_000
const lookMs = 100

/** An event whose key may be in a span. */
export interface Suspect {
  readonly span: SealedSpan
  readonly env: string
  readonly key: string
}

/** A stored first event. */
export interface StoredFirst extends FirstEvent {
  readonly receivedAtMs: number
}

/**
 * Finds the first event with a key among the events of a span, the one received last; null where none has it.
 *
 * errors  those of ClickHouse.
 */
export type FindFirst = (suspect: Suspect) => Promise<StoredFirst | null>

/** The claims of a shard in Redis, with the end of the filters that were asked before. */
type ClaimsInRedis = Pick<ShardClaims, 'begin' | 'claim' | 'write' | 'free' | 'needed'>

export class OldClaims {
  constructor(
    private readonly claims: ClaimsInRedis,
    private readonly keys: OldKeys,
    private readonly find: FindFirst,
    /** Asks for the newest filters; they come by `keys.replace`. */
    private readonly behind: () => void,
  ) {}

  /**
   * Claim keys. All names must differ.
   *
   * returns  for each: held, taken by an earlier event, busy, or `unsure`: a filter has it, and ClickHouse does not answer.
   * errors   those of the claims in Redis; Error when the filters are not brought up to date.
   */
  async claim(events: readonly ClaimedEvent[]): Promise<readonly Claimed[]> {
    for (const untilMs = performance.now() + behindMs; ; ) {
      const { untilMs: sealedMs } = this.keys
      const fates = this.look(events)
      const firsts = fates === null ? null : await Promise.all(fates)
      const open = firsts === null ? events : events.filter((_, i) => firsts[i] === null)
      const claimed = open.length === 0 ? [] : await this.claims.claim(open, sealedMs)
      if (claimed !== 'unsealed') {
        if (firsts === null) return claimed
        let next = 0
        return firsts.map(first => first ?? claimed[next++]!)
      }
      if (performance.now() >= untilMs) throw new Error('the filters of old idempotency keys are out of date')
      if (this.keys.untilMs === sealedMs) {
        this.behind()
        await this.keys.changed(lookMs)
      }
    }
  }

  readonly begin: ClaimsInRedis['begin'] = committed => this.claims.begin(committed)

  readonly write: ClaimsInRedis['write'] = (held, sequence) => this.claims.write(held, sequence)

  readonly free: ClaimsInRedis['free'] = held => this.claims.free(held)

  get needed(): number {
    return this.claims.needed
  }

  /** The fates of events that old keys decide, null for the others; null when there is nothing to wait for. */
  private look(events: readonly ClaimedEvent[]): readonly (Promise<Claimed | null> | null)[] | null {
    if (this.keys.spans.length === 0) return null
    let fates: (Promise<Claimed | null> | null)[] | null = null
    for (const [i, event] of events.entries()) {
      const spans = this.keys.spansOf(
        event.name ?? nameOf(event.env, event.key),
        event.receivedAtMs - windowMs,
      )
      if (spans.length === 0) continue
      fates ??= events.map(() => null)
      fates[i] = this.confirmed(event, spans)
    }
    return fates
  }

  /** source: EV-25, EV-26 */
  private async confirmed(event: ClaimedEvent, spans: readonly SealedSpan[]): Promise<Claimed | null> {
    const { env, key } = event
    try {
      const found = await Promise.all(spans.map(span => this.find({ span, env, key })))
      const last = found.reduce((a, b) =>
        a === null || (b !== null && b.receivedAtMs > a.receivedAtMs) ? b : a,
      )
      if (last === null || last.receivedAtMs <= event.receivedAtMs - windowMs) return null
      const { eventId, capturedAtMs, print } = last
      return { first: { eventId, capturedAtMs, print } }
    } catch {
      return 'unsure'
    }
  }
}
