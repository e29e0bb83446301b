// Long replies as bytes in memory that a shard and the HTTP thread share: rings that the shard writes into, and that the
// HTTP thread sends from. A text of 20 kB that crosses as a message is copied five times, and is garbage of both threads.
//
//   shard:  write ──▶ place in a ring ──(post)──▶ HTTP thread: view ─▶ socket ─▶ release
//               again ─▶ the same place ─┘
//
// A reply stays where it is until its ring comes round, so the same bytes may be sent again: those that will be are written
// into a ring of their own, which comes round seldom. Replies are released in the order of their posts, so a count says
// which of them were sent.
import { Buffer } from 'node:buffer'

/** Bytes of the ring for replies that are sent once; a power of two. A longer backlog crosses as texts. */
const onceBytes = 1 << 22
/** Bytes of the rings for replies that are sent again, powers of two: of all rings together, and of one at least. */
const againBytes = 1 << 25
const againBytesLeast = 1 << 22
/** Bytes in front of them: the number of replies that were sent, in a cache line of its own. */
const headBytes = 64
/** A ring is entered a part at a time: a reply is there until its part is entered again. */
const parts = 16
/** Longest reply: what is longer may not fit the socket at once, and the ring would be held up until it does. */
const bytesMax = 65_536
/** A character has three bytes at most, a pair of surrogates four. */
const characterBytes = 4
/** Positions of a ring count on without end, modulo this; those of the second ring follow. */
const positions = 2 ** 32

/** Both sides make their own over the same memory. */
export class ReplyRing {
  private readonly released: Int32Array
  private readonly rings: readonly [once: Ring, again: Ring]
  /** Replies named so far, and those of them that were sent. */
  private named = 0
  private sent = 0

  constructor(memory: SharedArrayBuffer) {
    this.released = new Int32Array(memory, 0, 1)
    const after = headBytes + onceBytes
    this.rings = [
      new Ring(Buffer.from(memory, headBytes, onceBytes)),
      new Ring(Buffer.from(memory, after, memory.byteLength - after)),
    ]
  }

  /** The memory of one of so many shards. */
  static make(shards = 1): SharedArrayBuffer {
    const share = Math.max(againBytesLeast, againBytes >> Math.ceil(Math.log2(shards)))
    return new SharedArrayBuffer(headBytes + onceBytes + share)
  }

  /**
   * The shard's side: write a text as UTF-8.
   *
   * stays    it will be sent again.
   * returns  its place and its bytes, until the next call; null: it is too long, or its ring has no room for it.
   */
  write(text: string, stays = false): Place | null {
    // the number in memory is of 32 bits
    this.sent += (Atomics.load(this.released, 0) - this.sent) | 0
    if (!this.rings[stays ? 1 : 0].write(text, this.sent, place)) return null
    if (stays) place.from += positions
    this.again(place)
    return place
  }

  /** The shard's side: a reply that is still there is sent once more. */
  again(place: Place): void {
    this.ringOf(place).name(place, ++this.named)
  }

  /** The shard's side: whether a reply that was written is still there. */
  isThere(place: Place): boolean {
    return this.ringOf(place).isThere(place)
  }

  /** The HTTP thread's side: a reply's bytes, until it is released. */
  view(place: Place): Uint8Array {
    return this.ringOf(place).view(place)
  }

  /** The HTTP thread's side: the next reply, in the order of their posts, was sent. */
  release(): void {
    Atomics.add(this.released, 0, 1)
  }

  private ringOf({ from }: Place): Ring {
    return this.rings[from < positions ? 0 : 1]
  }
}

/** Where a reply is. */
export interface Place {
  from: number
  length: number
}

const place: Place = { from: 0, length: 0 }

class Ring {
  private readonly partBytes: number
  /** Where the next reply begins. */
  private next = 0
  /** The part that was entered last, counted like positions. */
  private entered = 0
  /** By part: the number of the last reply named that lies in it. */
  private readonly lastNamed = new Float64Array(parts)

  constructor(private readonly bytes: Buffer) {
    this.partBytes = bytes.length / parts
  }

  /** Write a text, and its place into `into`; false: it is too long, or something lies there that was not sent yet. */
  write(text: string, sent: number, into: Place): boolean {
    const capacity = this.bytes.length
    const most = Math.min(text.length * 3, bytesMax)
    let from = this.next
    const at = from % capacity
    // never around the end: it begins anew
    if (at + most > capacity) from = (from + capacity - at) % positions
    if (text.length > most || !this.enter(from + most, sent)) return false
    const length = this.bytes.write(text, from % capacity, most)
    // what did not fit would be cut off
    if (most < text.length * 3 && length > most - characterBytes) return false
    this.next = from + length
    into.from = from
    into.length = length
    return true
  }

  name({ from, length }: Place, number: number): void {
    this.lastNamed[this.partAt(from) % parts] = number
    this.lastNamed[this.partAt(from + length) % parts] = number
  }

  isThere({ from }: Place): boolean {
    const behind = this.entered - this.partAt(from)
    return (behind < 0 ? behind + positions / this.partBytes : behind) < parts
  }

  view({ from, length }: Place): Uint8Array {
    const at = from % this.bytes.length
    return this.bytes.subarray(at, at + length)
  }

  /** Enter all parts up to that of a position; false where one has a reply that was not sent yet. */
  private enter(position: number, sent: number): boolean {
    for (const last = this.partAt(position); this.entered !== last; ) {
      const part = (this.entered + 1) % (positions / this.partBytes)
      if (this.lastNamed[part % parts]! > sent) return false
      this.entered = part
    }
    return true
  }

  private partAt(position: number): number {
    return Math.floor((position % positions) / this.partBytes)
  }
}
