// The last record of each environment in the journal of this shard, so that a read waits for the rows of its own
// environment only (security 5).
import type { Sequence } from '../../../src/journal/journal.js'

export class LastRecords {
  private readonly last = new Map<string, Sequence>()

  /** before  the last record of an earlier start, which may be of any environment. */
  constructor(private readonly before: Sequence) {}

  note(environmentId: string, sequence: Sequence): void {
    this.last.set(environmentId, sequence)
  }

  /** The environment has no record after this. It may not be durable yet. */
  of(environmentId: string): Sequence {
    return this.last.get(environmentId) ?? this.before
  }

  forget(environmentId: string): void {
    this.last.delete(environmentId)
  }
}
