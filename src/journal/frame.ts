// Bytes of the journal: a group's header, and the records in it.
//
//   group  | magic 4 | bytes 4 | first sequence 8 | records 4 | crc32 4 | record | record | …
//   record | length 4 | flags 1 | month 2 | row length 4 | row | fact |
//          | length 4 | flags 1 | month 2 | row length 4 | ledger length 4 | row | ledger | fact |  with RecordFlag.rows
//
// All little endian; `bytes` and `length` count what follows their own header field group, `length` what
// follows itself. The checksum covers the header before it and every byte of the records.
import zlib from 'node:zlib'
import { dataViewOf } from '../bytes/data-view.js'
import {
  type FramedRecords,
  type JournalRecord,
  type NewRecord,
  RecordFlag,
  type Sequence,
} from './journal.js'

/** 0xFF and 0xFE never occur in UTF-8: no caller's text can look like the start of a group. */
export const groupMagic = 0xfe47_54ff
export const groupHeaderBytes = 24
const checkedHeaderBytes = 20
export const recordHeaderBytes = 11
/** Bytes of the length of ledger rows, where there are any. */
export const ledgerHeaderBytes = 4

/** A group's header as read; its checksum is not yet checked. */
export interface GroupHeader {
  /** Bytes of the records. */
  readonly bytes: number
  readonly first: Sequence
  readonly count: number
  readonly crc: number
}

/** Records gathering for one write. Reused: `begin` empties it. */
export class Group {
  #bytes = Buffer.allocUnsafeSlow(256 << 10)
  #view = dataViewOf(this.#bytes)
  #length = groupHeaderBytes
  #count = 0
  first: Sequence = 1

  get count(): number {
    return this.#count
  }

  /** Bytes so far, header included; 0 when empty. */
  get byteLength(): number {
    return this.#count === 0 ? 0 : this.#length
  }

  begin(first: Sequence): void {
    this.first = first
    this.#count = 0
    this.#length = groupHeaderBytes
    // One enormous group must not keep its memory for ever.
    if (this.#bytes.length > 16 << 20) this.#use(Buffer.allocUnsafeSlow(256 << 10))
  }

  add({ flags, month, row, ledger = '', fact }: NewRecord): void {
    const start = this.#length
    const withLedger = ledger !== ''
    const rowAt = start + recordHeaderBytes + (withLedger ? ledgerHeaderBytes : 0)
    // Three bytes per UTF-16 unit is the most UTF-8 needs, so no length has to be measured first.
    this.#reserve(rowAt + 3 * (row.length + fact.length) + ledger.length)
    const bytes = this.#bytes
    const tailAt = rowAt + this.#put(row, rowAt)
    const factAt = tailAt + (withLedger ? bytes.write(ledger, tailAt, 'latin1') : 0)
    const end = factAt + this.#put(fact, factAt)
    writeRecordHeader(
      this.#view,
      start,
      end,
      tailAt - rowAt,
      withLedger ? flags | RecordFlag.rows : flags,
      month,
    )
    if (withLedger) bytes.writeUInt32LE(ledger.length, start + recordHeaderBytes)
    this.#length = end
    this.#count++
  }

  /** Records that lie ready, one after the other. */
  addFramed({ bytes, from, to, count }: FramedRecords): void {
    this.#reserve(this.#length + to - from)
    this.#length += bytes.copy(this.#bytes, this.#length, from, to)
    this.#count += count
  }

  /** The finished bytes; valid until `begin`. */
  seal(): Buffer {
    const bytes = this.#bytes
    bytes.writeUInt32LE(groupMagic, 0)
    bytes.writeUInt32LE(this.#length - groupHeaderBytes, 4)
    bytes.writeUInt32LE(this.first % 2 ** 32, 8)
    bytes.writeUInt32LE(Math.floor(this.first / 2 ** 32), 12)
    bytes.writeUInt32LE(this.#count, 16)
    const crc = zlib.crc32(bytes.subarray(0, checkedHeaderBytes))
    bytes.writeUInt32LE(zlib.crc32(bytes.subarray(groupHeaderBytes, this.#length), crc), 20)
    return bytes.subarray(0, this.#length)
  }

  /** Returns the bytes it takes. There is room. */
  #put(part: string | Uint8Array, at: number): number {
    if (typeof part === 'string') return part === '' ? 0 : this.#bytes.write(part, at)
    this.#bytes.set(part, at)
    return part.length
  }

  #reserve(needed: number): void {
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2))
    this.#bytes.copy(larger, 0, 0, this.#length)
    this.#use(larger)
  }

  #use(bytes: Buffer<ArrayBuffer>): void {
    this.#bytes = bytes
    this.#view = dataViewOf(bytes)
  }
}

/** Write the header of the record in [start, end), except the length of ledger rows. */
export function writeRecordHeader(
  view: DataView,
  start: number,
  end: number,
  rowLength: number,
  flags: number,
  month: number,
): void {
  view.setUint32(start, end - start - 4, true)
  view.setUint8(start + 4, flags)
  view.setUint16(start + 5, month, true)
  view.setUint32(start + 7, rowLength, true)
}

/** The header at `at`, or null when there is no magic there. Needs groupHeaderBytes bytes. */
export function readGroupHeader(bytes: Buffer, at: number): GroupHeader | null {
  if (bytes.readUInt32LE(at) !== groupMagic) return null
  return {
    bytes: bytes.readUInt32LE(at + 4),
    first: bytes.readUInt32LE(at + 8) + bytes.readUInt32LE(at + 12) * 2 ** 32,
    count: bytes.readUInt32LE(at + 16),
    crc: bytes.readUInt32LE(at + 20),
  }
}

/** Whether the group at `at` is whole, by its checksum. Needs all its bytes. */
export function groupIsWhole(bytes: Buffer, at: number, header: GroupHeader): boolean {
  const crc = zlib.crc32(bytes.subarray(at, at + checkedHeaderBytes))
  const body = at + groupHeaderBytes
  return zlib.crc32(bytes.subarray(body, body + header.bytes), crc) === header.crc
}

/**
 * Records of consecutive sequences, decoded lazily from the bytes read. Reused by its reader: valid until the next
 * chunk is read.
 */
export class Chunk {
  #bytes: Buffer = Buffer.alloc(0)
  #view = dataViewOf(this.#bytes)
  #starts = new Uint32Array(1_024)
  #count = 0
  #first: Sequence = 0

  /** The buffer of all offsets. */
  get bytes(): Buffer {
    return this.#bytes
  }

  get count(): number {
    return this.#count
  }

  begin(bytes: Buffer): void {
    this.#bytes = bytes
    this.#view = dataViewOf(bytes)
    this.#count = 0
  }

  /** Add the records of a checked group with a sequence in (from, upTo]; it follows the group added before it. */
  add(at: number, header: GroupHeader, from: Sequence, upTo: Sequence): void {
    const view = this.#view
    let cursor = at + groupHeaderBytes
    const last = Math.min(upTo, header.first + header.count - 1)
    for (let sequence = header.first; sequence <= last; sequence++) {
      if (sequence > from) {
        if (this.#count === 0) this.#first = sequence
        if (this.#count === this.#starts.length) this.#grow()
        this.#starts[this.#count++] = cursor
      }
      cursor += 4 + view.getUint32(cursor, true)
    }
  }

  sequence(index: number): Sequence {
    return this.#first + index
  }

  /** RecordFlag bits. */
  flags(index: number): number {
    return this.#bytes[this.#starts[index]! + 4]!
  }

  /** As `monthOf` of the row's time. */
  month(index: number): number {
    return this.#view.getUint16(this.#starts[index]! + 5, true)
  }

  /** Where the row begins; it ends where the rows of the ledger begin. */
  rowAt(index: number): number {
    const start = this.#starts[index]!
    return start + recordHeaderBytes + (this.#bytes[start + 4]! & RecordFlag.rows ? ledgerHeaderBytes : 0)
  }

  /** Where the rows of the ledger begin; they end where the fact begins. */
  ledgerAt(index: number): number {
    return this.rowAt(index) + this.#view.getUint32(this.#starts[index]! + 7, true)
  }

  factAt(index: number): number {
    const start = this.#starts[index]!
    const ledgerAt = this.ledgerAt(index)
    if ((this.#bytes[start + 4]! & RecordFlag.rows) === 0) return ledgerAt
    return ledgerAt + this.#view.getUint32(start + recordHeaderBytes, true)
  }

  factEnd(index: number): number {
    const start = this.#starts[index]!
    return start + 4 + this.#view.getUint32(start, true)
  }

  /** One record by itself; it points into the bytes. */
  record(index: number): JournalRecord {
    const bytes = this.#bytes
    const ledgerAt = this.ledgerAt(index)
    const factAt = this.factAt(index)
    return {
      sequence: this.sequence(index),
      flags: this.flags(index),
      month: this.month(index),
      row: bytes.subarray(this.rowAt(index), ledgerAt),
      ledger: factAt === ledgerAt ? nothing : bytes.subarray(ledgerAt, factAt),
      fact: bytes.subarray(factAt, this.factEnd(index)),
    }
  }

  #grow(): void {
    const larger = new Uint32Array(this.#starts.length * 2)
    larger.set(this.#starts)
    this.#starts = larger
  }
}

const nothing = Buffer.alloc(0)
