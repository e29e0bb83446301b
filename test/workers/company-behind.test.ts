// A shard whose journal is behind: what comes is refused at once instead of piling up (decision 5).
import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import type { ShardNotice } from '../../src/core/company/shard-request.js'
import { encodeId } from '../../src/core/values/id.js'
import { decodeReplies, Encoder, type Packet } from '../../src/wire/message-codec.js'
import { Positions } from '../../src/wire/positions.js'
import { noRecords } from '../../src/wire/record-budget.js'
import { Changes } from '../../src/wire/version-counters.js'
import shard from '../../workers/shard/shard.js'
import { acceptedEvent } from '../accepted-event.js'
import { temporaryDirectory } from '../stores.js'

const environmentId = 'env_behind'

/** An event that names nobody: its environment keeps it, so no store is asked. */
function request(n: number) {
  const event = acceptedEvent({ id: encodeId('evt_', 0, n), capturedAtMs: 1_000, receivedAtMs: 1_000 })
  const item = {
    k: 'e',
    id: environmentId,
    env: environmentId,
    fresh: true,
    m: { type: 'event', event },
  } as const
  const packing = new Encoder()
  packing.add(n, { at: 1_000, events: [item] })
  return packing.take()
}

t.test('writes are refused while more waits for the disk than the bound, and taken again after', async t => {
  const { port1, port2 } = new MessageChannel()
  const positions = Positions.make(1)
  const running = shard({
    port: port2,
    options: {
      index: 0,
      count: 1,
      journalDir: await temporaryDirectory(t),
      segmentBytes: 1 << 20,
      pendingBytesMax: 0,
      generation: 'g1',
      postgres: { url: 'postgres://127.0.0.1:1/none' },
      positions: positions.memory,
      changes: Changes.make(1).memory,
      checkpointMs: 3_600_000,
      actorsMax: 1_000,
      records: noRecords,
    },
    again: false,
    heard: 0,
    catalogs: [],
    ring: null,
  })
  const replies: (readonly [n: number, how: string, reason?: string])[] = []
  port1.on('message', (message: Packet | ShardNotice) => {
    if (Array.isArray(message))
      decodeReplies(message as unknown as Packet, {
        answered: n => replies.push([n, 'answered']),
        cacheable: n => replies.push([n, 'answered']),
        refused: (n, reason) => replies.push([n, 'refused', reason]),
        failed: (n, reason) => replies.push([n, 'failed', reason]),
      })
  })
  await once(port1, 'message')
  const told = async (count: number): Promise<void> => {
    while (replies.length < count) await new Promise(resolve => setTimeout(resolve, 5))
  }
  // both are met in one turn: the first is on its way to the disk when the second is looked at
  port1.postMessage(request(1))
  port1.postMessage(request(2))
  await told(2)
  t.strictSame(
    replies,
    [
      [2, 'failed', 'overloaded'],
      [1, 'answered'],
    ],
    'the second is refused before the first is durable',
  )
  t.equal(positions.get(0, 'committed'), 1, 'nothing of it was written')
  port1.postMessage(request(3))
  await told(3)
  t.strictSame(replies[2], [3, 'answered'])
  t.equal(positions.get(0, 'committed'), 2)
  port1.close()
  await running
})
