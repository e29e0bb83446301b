// Claims in the records behind the floor of an epoch that is over.
import { encodeId } from '../core/values/id.js'
import type { JournalDisk } from '../journal/disk.js'
import { RecordFlag, type Sequence } from '../journal/journal.js'
import { FileJournalReader } from '../journal/reader.js'
import { FactReader } from '../journal/records/fact-reader.js'

/** A key, and the event that is recorded with it. */
export interface RecordedClaim {
  readonly env: string
  readonly key: string
  readonly eventId: string
}

/** Claims of records after `from`, up to and including `upTo`, in order. errors: JournalCorrupt; those of Redis. */
export type Tail = (from: Sequence, upTo: Sequence) => AsyncIterable<readonly RecordedClaim[]>

/** The claims in a journal. */
export const tailOf = (disk: JournalDisk, directory: string): Tail =>
  async function* (from, upTo) {
    const reader = new FileJournalReader({ directory, disk })
    const facts = new FactReader()
    try {
      for await (const chunk of reader.chunks(from, upTo)) {
        const some: RecordedClaim[] = []
        for (let i = 0; i < chunk.count; i++) {
          if ((chunk.flags(i) & RecordFlag.event) === 0) continue
          const claim = facts.claimed(chunk.bytes, chunk.factAt(i), chunk.factEnd(i))
          if (claim === null) continue
          const { environmentId: env, key, eventHigh, eventLow } = claim
          some.push({ env, key, eventId: encodeId('evt_', eventHigh, eventLow) })
        }
        yield some
      }
    } finally {
      await reader.close()
    }
  }
