// Long replies as bytes in memory that a shard and the HTTP thread share: a ring that the shard writes into, and that the
// HTTP thread sends from. A text of 20 kB that crosses as a message is copied five times, and is garbage of both threads.
//
//   shard:  write ──▶ place in the ring ──(post)──▶ HTTP thread: view ─▶ socket ─▶ release
//
// Places are given back in the order in which they were taken, because replies are read in the order of their posts.
import { Buffer } from 'node:buffer'

/** Bytes of replies that are written and not yet sent, at most; a power of two. A longer backlog crosses as texts. */
const capacity = 1 << 22
/** Bytes in front of them: the place up to which replies were sent, in a cache line of its own. */
const headBytes = 64
/** Longest reply: what is longer may not fit the socket at once, and the ring would be held up until it does. */
const bytesMax = 65_536
/** A character has three bytes at most, a pair of surrogates four. */
const characterBytes = 4

/** Both sides make their own over the same memory. */
export class ReplyRing {
  private readonly released: Int32Array
  private readonly bytes: Buffer
  /** Where the next reply begins: counts on without end, modulo 2³². */
  private next = 0

  constructor(memory: SharedArrayBuffer) {
    this.released = new Int32Array(memory, 0, 1)
    this.bytes = Buffer.from(memory, headBytes, capacity)
  }

  static make(): SharedArrayBuffer {
    return new SharedArrayBuffer(headBytes + capacity)
  }

  /**
   * The shard's side: write a text as UTF-8.
   *
   * returns  its place and its bytes, until the next call; null: it is too long, or the ring has no room for it.
   */
  write(text: string): Place | null {
    const most = Math.min(text.length * 3, bytesMax)
    let from = this.next
    const at = from & (capacity - 1)
    // never around the end: it begins anew
    if (at + most > capacity) from = (from + capacity - at) | 0
    const taken = (from - Atomics.load(this.released, 0)) | 0
    if (text.length > most || taken + most > capacity) return null
    const length = this.bytes.write(text, from & (capacity - 1), most)
    // what did not fit would be cut off
    if (most < text.length * 3 && length > most - characterBytes) return null
    this.next = (from + length) | 0
    place.from = from
    place.length = length
    return place
  }

  /** The HTTP thread's side: a reply's bytes, until it is released. */
  view({ from, length }: Place): Uint8Array {
    const at = from & (capacity - 1)
    return this.bytes.subarray(at, at + length)
  }

  /** The HTTP thread's side: this reply was sent, and so were all before it. */
  release({ from, length }: Place): void {
    Atomics.store(this.released, 0, (from + length) | 0)
  }
}

/** Where a reply is in the ring. */
export interface Place {
  from: number
  length: number
}

const place: Place = { from: 0, length: 0 }
