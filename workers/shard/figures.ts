// A shard's own figures, for metrics.
import { getHeapStatistics } from 'node:v8'
import type { ShardFigures } from '../../src/core/company/shard-request.js'
import type { Journal } from '../../src/journal/journal.js'
import type { Actors } from './actors.js'
import type { WholeAnswers } from './checks/whole-answers.js'
import type { PlainUses } from './events/uses.js'
import type { Groups } from './records/group.js'

/** Groups are reported once. Nothing here opens a file, as `process.memoryUsage` does: it failed where no handle was left. */
export function figuresOf(shard: {
  readonly actors: Pick<Actors, 'size' | 'dirty'>
  readonly journal: Pick<Journal, 'pendingBytes'>
  readonly plainUses: Pick<PlainUses, 'eventNames'>
  readonly coldLoads: number
  readonly wholes: Pick<WholeAnswers, 'given'>
  readonly groups: Groups
}): ShardFigures {
  return {
    actors: shard.actors.size,
    dirty: shard.actors.dirty.size,
    heapBytes: getHeapStatistics().used_heap_size,
    journalPendingBytes: shard.journal.pendingBytes,
    coldLoads: shard.coldLoads,
    wholesAgain: shard.wholes.given,
    ...shard.plainUses.eventNames.figures(),
    groups: shard.groups.splice(0),
  }
}
