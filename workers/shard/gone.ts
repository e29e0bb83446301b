// Requests for an environment that was deleted while they were on their way: they fail, and the thread goes on. Others wait
// for the same shard.
import type { ShardRequest } from '../../src/core/company/shard-request.js'
import type { Replies } from '../../src/wire/message-codec.js'

/** The shard has no catalog of an environment: it is deleted (AL-13). */
export class EnvironmentGone extends Error {}

/** The shard, as far as a request needs it. */
interface Handling {
  handle(request: ShardRequest): void
  readonly keys: { forgo(request: ShardRequest): void }
  readonly reads: Pick<Replies, 'failed'>
}

/** Handle a request; one for a deleted environment fails. Records made of it before belong to nobody. */
export function handleUnlessGone(shard: Handling, request: ShardRequest): void {
  try {
    shard.handle(request)
  } catch (error) {
    if (!(error instanceof EnvironmentGone)) throw error
    shard.keys.forgo(request)
    shard.reads.failed(request.n, 'not_found', 'Environment not found')
  }
}
