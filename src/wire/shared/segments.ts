// The memory of a table that grows: segments of one size, cut from chunks of shared memory. A chunk is made by the thread
// that writes. It is handed to the others before a segment of it is used, and they take it when they first meet one.

/** Segments of the largest chunk. */
const perChunkMax = 64

/** Segments of a chunk. The first chunks are small, so that a table with few entries is small too. */
const segmentsOf = (chunk: number): number => Math.min(perChunkMax, 2 ** chunk)

/** The chunk of a segment, and the first segment of that chunk. */
function chunkOf(segment: number): { readonly chunk: number; readonly first: number } {
  let first = 0
  for (let chunk = 0; ; chunk++) {
    const next = first + segmentsOf(chunk)
    if (segment < next) return { chunk, first }
    first = next
  }
}

/** The chunks of a thread that writes, or of one that reads what another writes. */
export interface Chunks {
  /** Chunks there are so far, in their order. */
  readonly made: SharedArrayBuffer[]
  /**
   * The next chunk: the writer makes it and hands it on; a reader takes the one it was handed, which is there before any
   * segment of it is named.
   */
  next(bytes: number): SharedArrayBuffer
}

/** Chunks of the thread that writes. `hand`: gives each to the other threads at once, before it is used. */
export function ownChunks(hand: (chunk: SharedArrayBuffer) => void = () => {}): Chunks {
  return {
    made: [],
    next: bytes => {
      const chunk = new SharedArrayBuffer(bytes)
      hand(chunk)
      return chunk
    },
  }
}

/** Chunks that another thread makes. `take`: the next one that was handed to this thread, or null where none was. */
export function handedChunks(made: SharedArrayBuffer[], take: () => SharedArrayBuffer | null): Chunks {
  return {
    made,
    next: () => {
      const chunk = take()
      if (chunk === null) throw new Error('a segment is used before its memory was handed to this thread')
      return chunk
    },
  }
}

/** Segments by their numbers, from 0. */
export class Segments {
  private readonly views: Int32Array[] = []

  /** words: of one segment. */
  constructor(
    private readonly words: number,
    private readonly chunks: Chunks,
  ) {}

  /** A segment; its memory is made, or taken, where it is not known yet. */
  at(number: number): Int32Array {
    return this.views[number] ?? this.open(number)
  }

  private open(number: number): Int32Array {
    const { made } = this.chunks
    const { chunk } = chunkOf(number)
    while (made.length <= chunk) made.push(this.chunks.next(4 * this.words * segmentsOf(made.length)))
    for (let next = this.views.length; next <= number; next++) {
      const { chunk: of, first } = chunkOf(next)
      this.views.push(new Int32Array(made[of]!, 4 * this.words * (next - first), this.words))
    }
    return this.views[number]!
  }
}
