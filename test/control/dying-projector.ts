// A projectors' thread that dies twice, then projects the first hundred records into nothing.
import { once } from 'node:events'
import type { MessagePort } from 'node:worker_threads'
import { Positions } from '../../src/wire/positions.js'
import type { ProjectorOptions, ProjectorRequest } from '../../src/wire/projector-messages.js'

export default async function project(task: {
  readonly port: MessagePort
  readonly options: ProjectorOptions
}): Promise<void> {
  const positions = new Positions(task.options.positions)
  const starts = positions.get(0, 'checkpointed') + 1
  positions.set(0, 'checkpointed', starts)
  if (starts < 3) throw new Error('dies')
  task.port.on('message', (request: ProjectorRequest) => {
    if (request.type === 'stop') task.port.close()
    if (request.type !== 'want' || request.sequence > 100) return
    positions.set(0, request.store, request.sequence)
    task.port.postMessage({ type: 'moved', store: request.store, shard: request.shard })
  })
  await once(task.port, 'close')
}
