// Key values: generation, hashing, and an estimate of how hard they are to guess.
import { createHmac, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { EnvironmentType } from '../../schemas/enums.js'

const kindPrefix = { secret: 'sk', publishable: 'pk' } as const
const typePrefix = { production: 'prod', staging: 'stag', development: 'dev' } as const

const randomBytesPerValue = 32
const checksumLength = 6

/** A prefix, 256 random bits as 43 characters, and (since 0.2.0) six characters of checksum. */
const ownForm = /^(sk|pk)_(prod|stag|dev|acct)_([\w-]{43})([\w-]{6})?$/

/**
 * A new key value: its prefix, 256 random bits and a checksum. With the checksum scanners recognise values, and
 * typing errors are detected without a lookup.
 *
 * type     type of the key's environment; null: an account-wide key.
 * source   AL-2; the checksum: decision.
 */
export function newKeyValue(kind: 'secret' | 'publishable', type: EnvironmentType | null): string {
  const prefix = `${kindPrefix[kind]}_${type === null ? 'acct' : typePrefix[type]}_`
  const value = prefix + randomBytes(randomBytesPerValue).toString('base64url')
  return value + checksumOf(value)
}

/** CRC-32 of the rest of the value, big-endian, as base64url without padding. */
function checksumOf(value: string): string {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(crc32(value))
  return bytes.toString('base64url')
}

/** Whether a value has our format and, if it has a checksum, a correct one. */
export function mayBeOurs(value: string): boolean {
  const parts = ownForm.exec(value)
  if (parts === null) return false
  if (parts[4] === undefined) return true
  return value.endsWith(checksumOf(value.slice(0, -checksumLength)))
}

/**
 * The stored form of a key's value: HMAC-SHA-256 under the pepper.
 *
 * pepper   the server's secret; with another pepper no key is found.
 * source   AL-2.
 */
export function hashKey(pepper: Buffer, value: string): Buffer {
  return createHmac('sha256', pepper).update(value).digest()
}

/** An id of a pepper that does not reveal it. */
export function pepperId(pepper: Buffer): string {
  return createHmac('sha256', pepper).update('which pepper this is').digest('hex').slice(0, 16)
}

/** No part of a shorter value is shown. */
const shownFrom = 40

/** The last characters of a value for lists; null for a value so short that they would help to guess it. */
export function lastFour(value: string): string | null {
  return value.length < shownFrom ? null : value.slice(-4)
}

/** Estimated bits per letter of a word. */
const wordBitsPerLetter = 2
const bitsDrawn = 128
/** Bits that almost every random value of 128 bits keeps after deductions for apparent patterns. */
const bitsLeft = 112

/**
 * Whether a chosen value is as hard to guess as 128 random bits: long enough for its character classes, without much
 * repetition, counting or words.
 *
 * returns  true for `openssl rand -hex 32` and other generated values with some reserve.
 */
export function isHardToGuess(value: string): boolean {
  const random = value.replace(/^(sk|pk)_(prod|stag|dev|acct)_/, '')
  const isHex = /^[0-9a-f]+$/i.test(random)
  const isMixed = /[a-z]/.test(random) && /[A-Z]/.test(random) && /\d/.test(random)
  const perCharacter = isHex ? 4 : isMixed ? 5.9 : /\d/.test(random) ? 5.1 : 4.7
  if (random.length * perCharacter < bitsDrawn) return false
  const words = isHex ? /(?!)/g : isMixed ? /[a-z]{6,}|[A-Z]{6,}/g : /[a-z]{3,}|[A-Z]{3,}/g
  let bits = 0
  const rest = random.replace(words, word => {
    bits += word.length * wordBitsPerLetter
    return ''
  })
  const seen = new Set<string>()
  let step = Number.NaN
  for (let i = 0; i < rest.length; i++) {
    const before = step
    step = i === 0 ? Number.NaN : rest.charCodeAt(i) - rest.charCodeAt(i - 1)
    const last = rest.slice(Math.max(0, i - 2), i + 1)
    const follows = (step === before && Math.abs(step) <= 1) || (last.length === 3 && seen.has(last))
    seen.add(last)
    if (!follows) bits += perCharacter
  }
  return bits >= bitsLeft
}
