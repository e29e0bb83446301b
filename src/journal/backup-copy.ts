// A copy of a shard's journal at one sequence, for a backup, read while the shard writes on.
import { type JournalDisk, type JournalFile, nodeDisk } from './disk.js'
import { groupHeaderBytes, groupIsWhole, readGroupHeader } from './frame.js'
import { JournalCorrupt, type Sequence } from './journal.js'
import { isOfBefore, listSegments, segmentPath } from './segment.js'

/** One segment: the bytes of its whole groups, without padding. Its pieces must be read before the next segment. */
interface CopiedSegment {
  readonly first: Sequence
  readonly pieces: AsyncIterable<Buffer>
}

const chunkBytes = 4 << 20

/**
 * The segments of one shard, cut after record `upTo`, which is committed. A journal opened over them ends there.
 * Nothing may trim the journal meanwhile.
 *
 * errors   JournalCorrupt with file and offset: a checksum that is wrong, a gap, or an end before `upTo`.
 */
export async function* copySegments(
  directory: string,
  upTo: Sequence,
  disk: JournalDisk = nodeDisk,
): AsyncGenerator<CopiedSegment> {
  const all = await listSegments(disk, directory)
  const segments = all.filter((first, index) => index === 0 || first <= upTo)
  let next = segments[0] ?? 1
  for (const first of segments) {
    const path = segmentPath(directory, first)
    if (first !== next) throw new JournalCorrupt(path, 0, `record ${next} is missing`)
    const file = await disk.open(path, 'read')
    try {
      const groups = new Groups(file, path, first, upTo)
      yield { first, pieces: groups.read() }
      next = groups.next
    } finally {
      await file.close()
    }
  }
  if (next <= upTo) throw new JournalCorrupt(directory, 0, `the journal ends before record ${upTo}`)
}

/** The whole groups of one segment, each with its checksum looked at. */
class Groups {
  private offset = 0
  /** The record that comes next. */
  next: Sequence

  constructor(
    private readonly file: JournalFile,
    private readonly path: string,
    private readonly first: Sequence,
    private readonly upTo: Sequence,
  ) {
    this.next = first
  }

  async *read(): AsyncGenerator<Buffer> {
    for (let length = chunkBytes; this.next <= this.upTo; ) {
      const bytes = Buffer.allocUnsafeSlow(length)
      const filled = await this.file.read(bytes, length, this.offset)
      const { end, wants } = this.groups(bytes.subarray(0, filled))
      if (end > 0) yield bytes.subarray(0, end)
      this.offset += end
      if (end === 0 && wants <= length) {
        if (wants > 0) throw this.corrupt('a group is longer than its file')
        return
      }
      length = Math.max(chunkBytes, wants)
    }
  }

  /** Where the whole groups end, and how many bytes the one after them has; 0 when there is none. */
  private groups(bytes: Buffer): { end: number; wants: number } {
    let at = 0
    while (this.next <= this.upTo && at + groupHeaderBytes <= bytes.length) {
      const header = readGroupHeader(bytes, at)
      if (header === null || isOfBefore(header, this.first)) return { end: at, wants: 0 }
      const whole = groupHeaderBytes + header.bytes
      if (at + whole > bytes.length) return { end: at, wants: whole }
      const last = header.first + header.count - 1
      if (header.first !== this.next || last > this.upTo || !groupIsWhole(bytes, at, header))
        throw this.corrupt(`record ${this.next} is broken`, at)
      this.next = last + 1
      at += whole
    }
    return { end: at, wants: 0 }
  }

  private corrupt(what: string, at = 0): JournalCorrupt {
    return new JournalCorrupt(this.path, this.offset + at, what)
  }
}
