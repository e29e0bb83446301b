// Random identifiers and key values, for everything that is not decided in the core.
import { randomFillSync } from 'node:crypto'
import { encodeId } from '../core/values/id.js'

// Asking the system for randomness costs more than an id, so it is drawn for 512 ids at a time.
const pool = Buffer.allocUnsafeSlow(4096)
const words = new Uint32Array(pool.buffer)
let next = words.length
let fill: (pool: Buffer) => unknown = randomFillSync

/** Draw ids from another source of bytes from now on: a simulation takes them from its seed. */
export function drawIdsFrom(source: (pool: Buffer) => unknown): void {
  fill = source
  next = words.length
}

/**
 * A new identifier.
 *
 * prefix   with its underscore, e.g. `flag_`.
 * returns  prefix and 11 characters that carry 64 random bits.
 * source   interface document, identifiers.
 */
export function newId(prefix: string): string {
  nextRandom()
  return encodeId(prefix, random.high, random.low)
}

/** The 64 bits that `draw` drew last. */
export const random = { high: 0, low: 0 }

/** Draw the 64 bits of a new identifier. */
export function nextRandom(): void {
  if (next === words.length) {
    fill(pool)
    next = 0
  }
  random.high = words[next]!
  random.low = words[next + 1]!
  next += 2
}

/** Return the last identifier, which was not used: the next call yields it again. */
export function returnRandom(): void {
  next -= 2
}
