// Idempotency keys of events in Redis: one window per environment, whichever node receives the repeat. The
// owner of the event's shard claims a key before it decides. The script that writes the record makes the
// claim permanent. So a key is used up if and only if its event is in a journal, whichever node dies in
// between.
import type { HeldKey } from '../core/usage/batch.js'
import type { Sequence } from '../journal/journal.js'
import type { Mark, OwnedDisk } from './disk.js'
import { Fenced } from './fenced.js'
import { hashOf } from './old-keys.js'
import type { RedisClient } from './redis.js'

/** How long a key is kept after its first receipt (EV-26). */
const windowMs = 24 * 3_600_000
/** How long Redis keeps it: clocks of nodes differ, and receipts are compared exactly. */
const keptMs = windowMs + 3_600_000
const freeAgainMs = 100

/** An event with a key. */
export interface ClaimedEvent {
  readonly env: string
  /** Includes the mark of publishable keys where such a key sent the event. */
  readonly key: string
  readonly eventId: string
  readonly capturedAtMs: number
  readonly receivedAtMs: number
  readonly print: number
}

/** The first event with a key. */
export interface FirstEvent {
  readonly eventId: string
  readonly capturedAtMs: number
  readonly print: number
}

/** A key that is claimed for this event. */
export type Held = HeldKey

/**
 * Result of one claim: held, taken by an earlier event, or busy: another shard is processing an event with
 * this key. `unsure`: an earlier event may have it, and the store that knows does not answer.
 */
export type Claimed = { readonly held: Held } | { readonly first: FirstEvent } | 'busy' | 'unsure'

export class ShardClaims {
  private closed = false

  constructor(
    private readonly redis: RedisClient,
    private readonly shard: number,
    private readonly disk: OwnedDisk,
  ) {}

  /**
   * Claim keys. All names must differ.
   *
   * sealedMs  end of the filters of old keys that the names are not in (old-claims.ts), epoch ms.
   * returns   for each, or `unsealed`: keys have left Redis that only later filters know, and nothing is claimed.
   * errors    Fenced when another node owns the shard; those of the driver.
   */
  async claim(events: readonly ClaimedEvent[], sealedMs: number): Promise<readonly Claimed[] | 'unsealed'> {
    const { mark } = this.disk
    const keys = events.map(({ env, key }) => claimKey(this.redis, env, key))
    const given = events.flatMap((event, i) => [keys[i]!, payloadOf(event), event.receivedAtMs - windowMs])
    const epoch = mark.slice(0, mark.indexOf(':'))
    const ask = async (): Promise<readonly string[] | 'unsealed'> => {
      const answers = await this.redis.run<string[] | 'unsealed'>(
        'claim',
        this.shard,
        mark,
        keptMs,
        sealedMs,
        ...given,
      )
      if (answers === 'unsealed') return answers
      const firsts = answers.flatMap((answer, i) =>
        answer === '' || answer === 'busy' ? [] : [[keys[i]!, answer] as const],
      )
      await standing(this.redis, firsts)
      return answers
    }
    const answers = await ask().catch(error => {
      // Some keys may be claimed in spite of the error.
      if (!(error instanceof Fenced))
        void this.freeSoon(events.map((event, i) => this.held(keys[i]!, epoch, event)))
      throw error
    })
    if (answers === 'unsealed') return answers
    return answers.map((answer, i) => {
      if (answer === 'busy') return 'busy'
      if (answer !== '') return { first: firstOf(answer) }
      return { held: this.held(keys[i]!, epoch, events[i]!) }
    })
  }

  private held(key: string, epoch: string, event: ClaimedEvent): Held {
    const payload = payloadOf(event)
    return { key, claimed: `p${this.shard}:${epoch}|${payload}`, done: `d|${payload}` }
  }

  /** Make the claims permanent with the record of this sequence, which is appended in this tick. */
  write(held: readonly Held[], sequence: Sequence): void {
    this.disk.add(held.map((one): Mark => ({ sequence, ...one })))
  }

  /** Free these keys: their events were not kept, or were kept as failed. */
  free(held: readonly Held[]): void {
    if (held.length > 0) void this.freeSoon(held)
  }

  /**
   * Retries until Redis has done it, or the shard's epoch has ended. Other nodes take over claims of an ended
   * epoch.
   */
  private async freeSoon(held: readonly Held[]): Promise<void> {
    const { mark } = this.disk
    const pairs = held.flatMap(({ key, claimed, done }) => [key, claimed, key, done])
    while (this.disk.mark === mark && !this.closed)
      try {
        return void (await this.redis.run('free', ...pairs))
      } catch {
        await new Promise(resolve => setTimeout(resolve, freeAgainMs))
      }
  }

  close(): void {
    this.closed = true
  }
}

/** Whether an error means that another node owns the shard now. */
export const isFenced = (error: unknown): boolean =>
  error instanceof Fenced || (error instanceof Error && error.cause instanceof Fenced)

/** A permanent claim from before the cluster, as key and value. */
export function doneClaim(
  redis: RedisClient,
  packedHash: string,
  payload: Payload,
): readonly [string, string] {
  return [redis.key(`i:${packedHash}`), `d|${payloadOf(payload)}`]
}

export type Payload = Pick<ClaimedEvent, 'eventId' | 'capturedAtMs' | 'receivedAtMs' | 'print'>

/**
 * A repeat is acknowledged only when no fail-over can lose the first event: the owner of the first event may
 * still be waiting for the replicas.
 */
async function standing(redis: RedisClient, firsts: readonly (readonly [key: string, value: string])[]) {
  if (redis.address.replicas === 0 || firsts.length === 0) return
  await redis.write('touch')
  // Another Redis may have taken over between the two commands.
  const now = await Promise.all(firsts.map(([key]) => redis.get(key)))
  if (firsts.some(([, value], i) => now[i] !== value)) throw new Error('Redis failed over; try again')
}

export const claimKey = (redis: RedisClient, env: string, key: string): string =>
  keyOfHash(redis, hashOf(env, key))

/** The key in Redis of a name with this hash. */
export const keyOfHash = (redis: Pick<RedisClient, 'key'>, hash: Buffer): string =>
  redis.key(`i:${hash.toString('base64url')}`)

const payloadOf = ({ eventId, capturedAtMs, receivedAtMs, print }: Payload): string =>
  `${eventId}|${capturedAtMs}|${receivedAtMs}|${print}`

function firstOf(value: string): FirstEvent {
  const [, eventId, capturedAt, , print] = value.split('|')
  return { eventId: eventId!, capturedAtMs: Number(capturedAt), print: Number(print) }
}
