// Shards whose part in a request shows in its trace: the wait from request to reply, and within it the journal's
// group write that made it durable. The shard reports the write before it replies.

import type { ShardNotice } from '../../core/company/shard-request.js'
import { monotonicMs } from '../../host/monotonic.js'
import type { Tracing, Work } from '../../tracing.js'
import type { Outgoing } from '../../wire/message-codec.js'
import { type Shard, Shards, type Waiting } from './shards.js'

/** Groups remembered per shard; a reply follows its group at once. */
const groupsMax = 256

type Group = Extract<ShardNotice, { readonly notice: 'group' }>

export function tracedShards(tracing: Tracing): typeof Shards {
  const groups = new Map<number, Group[]>()

  return class extends Shards {
    protected override noticed(notice: ShardNotice, shard: number): void {
      if (notice.notice !== 'group') return super.noticed(notice, shard)
      const known = groups.get(shard) ?? []
      groups.set(shard, known)
      known.push(notice)
      if (known.length > groupsMax) known.shift()
    }

    protected override enter(shard: Shard, request: Outgoing, waiting: Waiting, single = false): void {
      const trace = tracing.current
      if (trace === undefined) return super.enter(shard, request, waiting, single)
      const fromMs = monotonicMs()
      const asked = nameOf(request)
      const add = (failed: boolean, parts?: readonly Work[]): void => {
        const attributes = { 'tollgate.shard': shard.index, 'tollgate.message': asked }
        trace.add({ name: 'shard', fromMs, toMs: monotonicMs(), attributes, failed }, parts)
      }
      const traced: Waiting = {
        resolve(answered) {
          add(false, journaled(groups.get(shard.index), answered.sequence, fromMs))
          waiting.resolve(answered)
        },
        reject(error) {
          add(true)
          waiting.reject(error)
        },
      }
      super.enter(shard, request, traced, single)
    }
  }
}

function nameOf(request: Outgoing): string {
  if ('control' in request) return request.control.type
  if ('question' in request) return 'plan_outlooks'
  return 'm' in request ? request.m.type : 'events'
}

/** The group a reply waited for; none when its records were durable before the request. */
function journaled(groups: readonly Group[] | undefined, sequence: number, sinceMs: number): readonly Work[] {
  const group = groups?.findLast(({ first, last }) => first <= sequence && sequence <= last)
  if (group === undefined || group.toMs < sinceMs) return []
  const { first, last, fromMs, toMs } = group
  const attributes = { 'tollgate.records': last - first + 1, 'tollgate.first_sequence': first }
  return [{ name: 'journal write', fromMs, toMs, attributes, failed: false }]
}
