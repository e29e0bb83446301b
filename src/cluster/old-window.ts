// The window of idempotency keys older than some hours, on one node: filters from Postgres in memory, and, on the node that
// does what is done once, sealing (src/redis/sealing.ts).
//
//   every record is in ClickHouse ─▶ filters are kept in Postgres ─▶ every node has them ─▶ keys are deleted from Redis
//
// A sealer that dies leaves a span in one of these states; the next one goes on from there.
import { bytesOf, keysOf, OldKeys, type SealedSpan, type SealedSpans } from '../redis/old-keys.js'
import type { SpanRow } from '../redis/sealed-keys.js'
import type { SealStep } from '../redis/sealing.js'

const hourMs = 3_600_000
/** Older receipts are not sealed: their keys are free, or soon will be (EV-26). */
const windowMs = 24 * hourMs

/** Where filters are kept. */
interface SealedStore {
  /** All spans, oldest first. */
  rows(): Promise<readonly SpanRow[]>
  read(row: SpanRow): Promise<SealedSpan>
  /** Remove spans that are out of the window by any clock, but not the last one. */
  prune(): Promise<void>
}

interface OldWindowOptions {
  readonly store: SealedStore
  /** Takes a step of sealing. It may be interrupted and taken again. */
  readonly run: (step: SealStep) => Promise<unknown>
  /** Keys received so lately stay in Redis, ms. */
  readonly keptMs: number
  /** Bytes of filters, at most: with more, keys stay in Redis. */
  readonly bytesMax: number
  /** Has the threads of shards know the filters. */
  readonly hand: (spans: SealedSpans) => void
}

/** Keys that left Redis, for operators. */
export interface OldWindowFigures {
  readonly keys: number
  readonly bytes: number
  /** Keys received before are not in Redis, but for late ones; epoch ms, null: nothing was sealed. */
  readonly untilMs: number | null
}

/** Steps of sealing that other nodes take part in. */
export interface Sealing {
  /** Whether this node does what is done once. */
  isHere(): boolean
  /** Resolves when everything committed so far is in ClickHouse. */
  projected(): Promise<void>
  /** Resolves when every other node has the filters. */
  told(): Promise<void>
}

export class OldWindow {
  private readonly keys = new OldKeys()
  private loading: Promise<void> = Promise.resolve()
  /** Why keys stay in Redis longer than they should, in words; null: they do not. */
  lack: string | null = null

  constructor(private readonly options: OldWindowOptions) {}

  /** Read the filters of spans that were sealed since. Every thread is told before it resolves. */
  load(): Promise<void> {
    this.loading = this.loading.catch(() => {}).then(() => this.read())
    return this.loading
  }

  get figures(): OldWindowFigures {
    const { spans } = this.keys
    return {
      keys: keysOf(spans),
      bytes: bytesOf(spans),
      untilMs: spans.length === 0 ? null : spans.at(-1)!.toMs,
    }
  }

  /**
   * Take the next steps of sealing, if they are this node's. Steps that fail are taken again by the next call.
   *
   * nowMs  the wall clock.
   */
  async turn(sealing: Sealing, nowMs: number): Promise<void> {
    if (!sealing.isHere()) {
      this.lack = null
      return
    }
    const { store, run, keptMs } = this.options
    await store.prune()
    await this.forgetAll(sealing)
    const rows = await store.rows()
    const next = nextSpan(rows, nowMs, keptMs)
    this.lack = next === null ? null : this.lackOf(rows.at(-1)?.toMs ?? nowMs, nowMs)
    if (next === null || this.isFull) return
    await sealing.projected()
    await run({ seal: next })
    await this.forgetAll(sealing)
  }

  private get isFull(): boolean {
    return this.figures.bytes >= this.options.bytesMax
  }

  private lackOf(sealedToMs: number, nowMs: number): string | null {
    if (this.isFull)
      return 'old idempotency keys stay in Redis: TOLLGATE_IDEMPOTENCY_BYTES holds no more filters'
    // one hour late is the next turn's work
    const isLate = nowMs - sealedToMs > this.options.keptMs + 2 * hourMs
    return isLate ? 'old idempotency keys stay in Redis until ClickHouse has their events' : null
  }

  /** Delete the keys of sealed spans from Redis once every node has their filters. */
  private async forgetAll(sealing: Sealing): Promise<void> {
    const { store, run } = this.options
    const left = (await store.rows()).filter(({ isForgotten }) => !isForgotten)
    if (left.length === 0) return
    await this.load()
    await sealing.told()
    for (const { toMs } of left) {
      const span = this.keys.spans.find(one => one.toMs === toMs)
      if (span !== undefined) await run({ forget: span })
    }
  }

  private async read(): Promise<void> {
    const { store, hand } = this.options
    const rows = await store.rows()
    const had = new Map(this.keys.spans.map(span => [span.toMs, span]))
    const spans = []
    for (const row of rows) {
      const known = had.get(row.toMs)
      spans.push(known?.fromMs === row.fromMs ? known : await store.read(row))
    }
    const now = { untilMs: rows.at(-1)?.toMs ?? 0, spans }
    const isNew = spans.length !== had.size || spans.some(span => had.get(span.toMs) !== span)
    this.keys.replace(now)
    if (isNew) hand(now)
  }
}

/**
 * The span that is sealed next: from the last one on, up to the last whole hour that is old enough, or part of an hour where
 * keys stay for less than one. null: none.
 */
export function nextSpan(
  rows: readonly Pick<SpanRow, 'toMs'>[],
  nowMs: number,
  keptMs: number,
): { readonly fromMs: number; readonly toMs: number } | null {
  const unitMs = Math.min(hourMs, keptMs)
  const toMs = Math.floor((nowMs - keptMs) / unitMs) * unitMs
  const oldestMs = Math.ceil((nowMs - windowMs) / unitMs) * unitMs
  const fromMs = Math.max(oldestMs, rows.at(-1)?.toMs ?? 0)
  return fromMs < toMs ? { fromMs, toMs } : null
}
