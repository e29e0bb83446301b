// Reports of the groups that a shard's journal writes: their sizes and times for metrics, and each of them at once
// where requests are traced.

import type { ShardNotice } from '../../../src/core/company/shard-request.js'
import { monotonicMs } from '../../../src/host/monotonic.js'
import type { Sequence } from '../../../src/journal/journal.js'

/** Groups written since they were last asked for. */
export type Groups = (readonly [records: number, seconds: number])[]

/** Groups remembered between two reports; further ones are not measured. */
const groupsMax = 2_000

export function noteGroup(groups: Groups, records: number, seconds: number): void {
  if (groups.length < groupsMax) groups.push([records, seconds])
}

/** `before`: the last sequence that was durable already; `seconds`: how long the write took. */
export function groupWritten(before: Sequence, records: number, seconds: number): ShardNotice {
  const toMs = monotonicMs()
  return { notice: 'group', first: before + 1, last: before + records, fromMs: toMs - seconds * 1_000, toMs }
}
