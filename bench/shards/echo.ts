// The far side of crossing.bench.ts: answers every check of a post, the way a shard does, without deciding anything.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { ShardRequest } from '../../src/core/company/shard-request.js'
import { type Packet, Replies, unpack } from '../../src/wire/message-codec.js'

const { reply, packed } = workerData as { readonly reply: string; readonly packed: boolean }
const port = parentPort as unknown as MessagePort

port.on('message', (post: Packet | readonly ShardRequest[]) => {
  if (packed) {
    const replies = new Replies()
    unpack(post as Packet, ({ n }) => replies.answered(n, reply, 0))
    port.postMessage(replies.take())
  } else
    port.postMessage(
      (post as readonly ShardRequest[]).map(({ n }) => ({ n, outcome: 0, reply, sequence: 0 })),
    )
})
