// What a shard tells of a group that its journal has just written, where requests are traced.
import type { ShardNotice } from '../../src/core/message.js'
import type { Sequence } from '../../src/journal/journal.js'
import { monotonicMs } from '../../src/monotonic.js'

/** `before`: the last sequence that was durable already; `seconds`: how long the write took. */
export function groupWritten(before: Sequence, records: number, seconds: number): ShardNotice {
  const toMs = monotonicMs()
  return { notice: 'group', first: before + 1, last: before + records, fromMs: toMs - seconds * 1_000, toMs }
}
