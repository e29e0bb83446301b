// Pool of preallocated segment files. Writing over existing bytes changes no file size and no block map, so a write
// is durable after one disk operation (measured beside other disk work: in half the time or less). Old segments are
// recycled; without any, a file is filled with zeros in good time.
import type { JournalDisk, JournalFile } from './disk.js'
import { listSpares, sparePath } from './segment.js'

/** Zeros per write: other disk work waits for no more than these. */
const pieceBytes = 1 << 20
/** As many wait at most: 2 GiB of segments of the usual size; never more than lay there as segments lately. */
const keptMax = 32
const empty = Buffer.alloc(0)

/** One that is being written, and how far. */
interface Draft {
  readonly path: string
  readonly file: JournalFile
  length: number
}

/** The spares of one journal. None outlives its process. */
export class SegmentPool {
  readonly #disk: JournalDisk
  readonly #directory: string
  readonly #bytes: number
  readonly #ready: string[] = []
  #number = 0
  #draft: Draft | null = null
  #writing: Promise<void> | null = null
  /** Bytes that the draft is to have by now. */
  #wanted = 0
  /** Set until the next segment begins: a full disk is tried once. */
  #failed = false
  /** Segments begun since the last trim, and how many spares are worth their room after it. */
  #begun = 0
  #worth = 0

  /** size of a preallocated file; 0: none. */
  constructor(disk: JournalDisk, directory: string, bytes: number) {
    this.#disk = disk
    this.#directory = directory
    this.#bytes = bytes
  }

  /** Remove what a process before this one has left. */
  static async clear(disk: JournalDisk, directory: string): Promise<void> {
    for (const path of await listSpares(disk, directory)) await disk.remove(path)
  }

  /** One for a segment that begins now; its name is to be changed. */
  take(): string | undefined {
    this.#begun++
    this.#failed = false
    return this.#ready.pop()
  }

  /**
   * Preallocate this share of a file, unless one is ready: small steps keep the disk free for writes. A failure does
   * no harm: the next segment grows then.
   */
  prepare(share: number): void {
    if (this.#bytes === 0 || this.#failed || this.#ready.length > 0) return
    this.#wanted = Math.min(1, share) * this.#bytes
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null
    })
  }

  /** Recycle or remove the file of a segment that no reader needs any more. */
  async put(path: string): Promise<void> {
    if (this.#bytes === 0 || this.#ready.length >= this.#worth) return this.#disk.remove(path)
    const spare = this.#name()
    await this.#disk.rename(path, spare)
    this.#ready.push(spare)
  }

  /** Resize the pool: as many files as segments began since the last call; later ever fewer. */
  async weigh(): Promise<void> {
    this.#worth = Math.min(keptMax, Math.max(this.#begun, this.#worth >> 1))
    this.#begun = 0
    while (this.#ready.length > this.#worth) await this.#disk.remove(this.#ready.pop()!)
  }

  /** Give all their room back. */
  async drop(): Promise<void> {
    this.#wanted = 0
    await this.#writing
    if (this.#draft !== null) await this.#discard(this.#draft)
    while (this.#ready.length > 0) await this.#disk.remove(this.#ready.pop()!)
  }

  #name(): string {
    return sparePath(this.#directory, ++this.#number)
  }

  async #write(): Promise<void> {
    try {
      this.#draft ??= await this.#begin()
      const { path, file } = this.#draft
      while (this.#draft.length < this.#wanted) {
        const more = Math.min(pieceBytes, this.#bytes - this.#draft.length)
        await file.write(empty, this.#draft.length, more)
        this.#draft.length += more
      }
      if (this.#draft.length < this.#bytes) return
      this.#draft = null
      this.#ready.push(path)
      await file.close()
    } catch {
      this.#failed = true
      if (this.#draft !== null) await this.#discard(this.#draft).catch(() => {})
    }
  }

  async #begin(): Promise<Draft> {
    const path = this.#name()
    return { path, file: await this.#disk.open(path, 'new'), length: 0 }
  }

  async #discard({ path, file }: Draft): Promise<void> {
    this.#draft = null
    await file.close().catch(() => {})
    await this.#disk.remove(path)
  }
}
