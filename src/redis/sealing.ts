// Sealing a span of idempotency keys, in two steps that may each be interrupted and repeated: filters are built from the keys
// in ClickHouse and kept; then, when every node has them, the keys are deleted from Redis.
//
// A key leaves Redis only if its row is in ClickHouse and its filter has it. A key that reached ClickHouse later stays in
// Redis for its 24 hours.
import { packedClaimBytes, unpackClaim } from '../wire/packed-claim.js'
import { buildParts, hashBytes, holds, type SealedSpan } from './old-keys.js'
import type { RedisSlots } from './slots.js'

/** Keys deleted by one script: Redis does nothing else meanwhile, for about half a ms. */
const forgottenAtOnce = 250
/** Keys of one span, about: a span with more ends earlier. Bounds the memory of sealing to some 32 bytes for each. */
const spanKeysMax = 8_000_000

/** A step of sealing: receipts from and before an instant, epoch ms, or a sealed span whose keys leave Redis. */
export type SealStep =
  | { readonly seal: { readonly fromMs: number; readonly toMs: number } }
  | { readonly forget: SealedSpan }

/** Packed claims (packed-claim.ts) received from an instant on, oldest first, in pages. */
type ClaimPages = AsyncIterable<Buffer>

/**
 * Build the filters of a span.
 *
 * pages    claims received from `fromMs` on.
 * keysMax  with more keys the span ends before `toMs`.
 * partMax  keys of one part, about.
 */
export async function buildSpan(
  pages: ClaimPages,
  fromMs: number,
  toMs: number,
  { keysMax = spanKeysMax, partMax }: { readonly keysMax?: number; readonly partMax?: number } = {},
): Promise<SealedSpan> {
  let words = new Uint32Array(1 << 16)
  let count = 0
  let lastMs = fromMs
  for await (const page of pages) {
    for (let at = 0; at < page.length; at += packedClaimBytes) {
      const { receivedAtMs } = unpackClaim(page, at)
      const isFull = count >= keysMax && receivedAtMs > lastMs
      if (receivedAtMs >= toMs || isFull) {
        const endMs = Math.min(receivedAtMs, toMs)
        return { fromMs, toMs: endMs, parts: await buildParts(words, count, partMax) }
      }
      if (2 * count >= words.length) {
        const more = new Uint32Array(2 * words.length)
        more.set(words)
        words = more
      }
      words[2 * count] = page.readUInt32BE(at)
      words[2 * count + 1] = page.readUInt32BE(at + 4)
      count++
      lastMs = receivedAtMs
    }
  }
  return { fromMs, toMs, parts: await buildParts(words, count, partMax) }
}

/**
 * Delete the keys of a span from Redis that their first events still hold. Every node must have the span's filters.
 *
 * pages    claims received from the span's start on.
 * returns  how many were deleted.
 */
export async function forgetSpan(pages: ClaimPages, span: SealedSpan, slots: RedisSlots): Promise<number> {
  let gone = 0
  let some: { readonly name: string; readonly eventId: string }[] = []
  const forget = async (): Promise<void> => {
    for (const [redis, held] of slots.bySlot(some, ({ name }) => slots.slotOf(name))) {
      const pairs = held.flatMap(({ name, eventId }) => [redis.key(`i:${name}`), eventId])
      gone += await redis.run<number>('forget', span.toMs, ...pairs)
    }
    some = []
  }
  for await (const page of pages)
    for (let at = 0; at < page.length; at += packedClaimBytes) {
      const { eventId, receivedAtMs } = unpackClaim(page, at)
      if (receivedAtMs >= span.toMs) {
        await forget()
        return gone
      }
      // it may have come to ClickHouse since the filters were built
      if (!holds(span, page.readUInt32BE(at), page.readUInt32BE(at + 4))) continue
      some.push({ name: page.subarray(at, at + hashBytes).toString('base64url'), eventId })
      if (some.length >= forgottenAtOnce * slots.all.length) await forget()
    }
  await forget()
  return gone
}
