// A claim of an idempotency key as ClickHouse gives it (event_claims.sql): fixed fields, one claim after another.
import { idLetters } from '../core/values/id.js'

/** The prefix of event ids. */
export const eventPrefix = 'evt_'

/** Bytes of the name's hash that a claim keeps. */
export const hashBytes = 10
/** Offset of the environment's code, 4 bytes. */
export const codeAt = hashBytes
/** Offset of the byte that says whether a publishable key sent it. */
export const markAt = codeAt + 4
/** Offset of the fingerprint, 16 bits, lowest byte first. */
export const printAt = markAt + 1
/** Offset of the event's id, as text. */
export const idAt = printAt + 2
const idBytes = eventPrefix.length + idLetters
/** Offset of captured_at, epoch ms in 64 bits, lowest byte first. */
export const capturedAt = idAt + idBytes
/** Offset of received_at, as captured_at. */
export const receivedAt = capturedAt + 8
/** Length of one claim. */
export const packedClaimBytes = receivedAt + 8

/** The fields of a claim that can be read back; its name is only there as a hash. */
export interface PackedClaim {
  readonly eventId: string
  readonly capturedAtMs: number
  readonly receivedAtMs: number
  readonly print?: number
}

/** Decode the claim that begins at offset `at`. */
export function unpackClaim(bytes: Buffer, at: number): PackedClaim {
  return {
    eventId: bytes.toString('latin1', at + idAt, at + idAt + idBytes),
    capturedAtMs: longIn(bytes, at + capturedAt),
    receivedAtMs: longIn(bytes, at + receivedAt),
    print: bytes.readUInt16LE(at + printAt),
  }
}

/** A signed 64-bit number that is a safe integer, from its lowest byte up. */
export const longIn = (bytes: Uint8Array, at: number): number =>
  (((bytes[at + 3]! << 24) | (bytes[at + 2]! << 16) | (bytes[at + 1]! << 8) | bytes[at]!) >>> 0) +
  ((bytes[at + 7]! << 24) | (bytes[at + 6]! << 16) | (bytes[at + 5]! << 8) | bytes[at + 4]!) * 0x1_0000_0000
