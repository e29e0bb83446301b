// The window of old idempotency keys of a simulation: the product's filters, sealing and confirmation, over a simulated
// ClickHouse and Postgres.
import { OldWindow } from '../../../src/cluster/old-window.js'
import type { FindFirst } from '../../../src/redis/old-claims.js'
import { hashOf, OldKeys, type SealedSpan } from '../../../src/redis/old-keys.js'
import type { SpanRow } from '../../../src/redis/sealed-keys.js'
import { buildSpan, forgetSpan, type SealStep } from '../../../src/redis/sealing.js'
import type { RedisSlots } from '../../../src/redis/slots.js'
import { packedClaimBytes } from '../../../src/wire/packed-claim.js'
import type { Life, World } from '../simulation/world.js'

/** A first event as ClickHouse has it. */
export interface StoredEvent {
  readonly env: string
  readonly key: string
  readonly eventId: string
  readonly receivedAtMs: number
}

/** Keys received so lately stay in Redis: half a second stands for the hours of the product. */
export const keptMs = 500
/** Rows of one page, and keys of one part: few, so that there are several. */
const pageRows = 3
const partMax = 4

/** Claims as ClickHouse packs them (event_claims.sql). */
export function packed(rows: readonly StoredEvent[]): Buffer {
  const bytes = Buffer.alloc(rows.length * packedClaimBytes)
  for (const [i, { env, key, eventId, receivedAtMs }] of rows.entries()) {
    const at = i * packedClaimBytes
    hashOf(env, key).copy(bytes, at)
    bytes.write(eventId, at + 17, 'latin1')
    bytes.writeBigInt64LE(BigInt(receivedAtMs), at + packedClaimBytes - 8)
  }
  return bytes
}

/** Claims received from an instant on, oldest first, in pages. Each page is read as of its time. */
export async function* pagesOf(
  rows: () => readonly StoredEvent[],
  fromMs: number,
  perPage = pageRows,
): AsyncGenerator<Buffer> {
  const order = (a: StoredEvent, b: StoredEvent) =>
    a.receivedAtMs - b.receivedAtMs || (a.eventId < b.eventId ? -1 : 1)
  let last: StoredEvent = { env: '', key: '', eventId: '', receivedAtMs: fromMs }
  for (;;) {
    const next = rows().filter(row => order(row, last) > 0)
    const page = next.sort(order).slice(0, perPage)
    yield packed(page)
    if (page.length < perPage) return
    last = page.at(-1)!
  }
}

/** Rows of ClickHouse and filters in Postgres, which all nodes share. */
export class SimulatedStores {
  private readonly rows = new Map<string, StoredEvent>()
  private readonly spans: (SealedSpan & { forgotten: boolean })[] = []
  /** ClickHouse does not answer. */
  isAway = false
  /** Keys that left Redis. */
  gone = 0

  constructor(private readonly world: World) {}

  /** Whether an event is refused after its key was claimed (EV-28). */
  refuses(): boolean {
    return this.world.random.chance(0.1)
  }

  /** Events that are committed reach ClickHouse at some time. */
  project(events: readonly StoredEvent[]): void {
    const { world } = this
    for (const event of events)
      if (!this.rows.has(event.eventId))
        world.after(world.delay(150, 3_000), world.nature, () => this.rows.set(event.eventId, event))
  }

  readonly find: FindFirst = async ({ span, env, key }) => {
    await this.asked()
    let last: StoredEvent | null = null
    for (const row of this.rows.values())
      if (
        row.env === env &&
        row.key === key &&
        row.receivedAtMs >= span.fromMs &&
        row.receivedAtMs < span.toMs
      )
        if (last === null || row.receivedAtMs > last.receivedAtMs) last = row
    return last && { ...last, capturedAtMs: 1, print: 7 }
  }

  /** The window of one node. */
  window(life: Life, slots: RedisSlots): { readonly window: OldWindow; readonly keys: OldKeys } {
    const { world, spans } = this
    // threads of shards hear of filters a little later
    const keys = new OldKeys()
    const window = new OldWindow({
      store: {
        rows: async () => {
          await world.pause(world.delay(2, 100))
          return spans.map(
            ({ fromMs, toMs, forgotten }): SpanRow => ({
              fromMs,
              toMs,
              isForgotten: forgotten,
            }),
          )
        },
        read: async ({ toMs }) => {
          await world.pause(world.delay(2, 100))
          return spans.find(span => span.toMs === toMs)!
        },
        prune: async () => {},
      },
      run: step => this.step(step, slots),
      keptMs,
      bytesMax: Number.POSITIVE_INFINITY,
      hand: now => void world.after(world.delay(2, 100), life, () => keys.replace(now)),
    })
    return { window, keys }
  }

  private async step(step: SealStep, slots: RedisSlots): Promise<void> {
    const { world, spans } = this
    const pages = async function* (this: SimulatedStores, fromMs: number): AsyncGenerator<Buffer> {
      for await (const page of pagesOf(() => [...this.rows.values()], fromMs)) {
        await this.asked()
        yield page
      }
    }
    if ('seal' in step) {
      const { fromMs, toMs } = step.seal
      const built = await buildSpan(pages.call(this, fromMs), fromMs, toMs, { partMax })
      await world.pause(world.delay(5, 200))
      if (spans.some(span => span.fromMs === fromMs)) return
      spans.push({ ...built, forgotten: false })
      return
    }
    this.gone += await forgetSpan(pages.call(this, step.forget.fromMs), step.forget, slots)
    await world.pause(world.delay(5, 200))
    spans.find(({ toMs }) => toMs === step.forget.toMs)!.forgotten = true
  }

  private async asked(): Promise<void> {
    await this.world.pause(this.world.delay(3, 200))
    if (this.isAway) throw new Error('ClickHouse is away')
  }
}
