// One end of the way between two threads, as both sides use it: a MessagePort, or a simulated one.
import type { MessagePort } from 'node:worker_threads'

export type Port = Pick<MessagePort, 'postMessage' | 'on' | 'close'>

/** Resolves when either end was closed. */
export function closed(port: Port): Promise<void> {
  return new Promise(resolve => {
    port.on('close', () => resolve())
  })
}

/** A message to a shard: a port over which an extra front asks, and lodges rows of events. */
export interface AskerPort {
  readonly asker: MessagePort
  /** Number of the front; no other ever has it. */
  readonly front: number
}

/** A message to a shard: nothing of a front's packet is taken, or, where it is null, nothing more of the front. */
export interface LodgingOver {
  readonly over: number
  readonly packet: number | null
}
