// One end of the way between two threads, as both sides use it: a MessagePort, or a simulated one.
import type { MessagePort } from 'node:worker_threads'

export type Port = Pick<MessagePort, 'postMessage' | 'on' | 'close'>

/** Resolves when either end was closed. */
export function closed(port: Port): Promise<void> {
  return new Promise(resolve => {
    port.on('close', () => resolve())
  })
}

/** A message to a shard: a port over which an extra front asks. */
export interface AskerPort {
  readonly asker: MessagePort
}
