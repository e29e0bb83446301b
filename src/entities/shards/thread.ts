// A worker thread that runs one long task, and the way to it.
//
// Piscina gives a task to any idle thread, an actor needs the same thread each time: so a task has a pool of one
// thread to itself, and holds a port. Its promise ends when the thread dies.
import { MessageChannel, type MessagePort, receiveMessageOnPort } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Port } from '../../wire/port.js'

export interface Thread {
  readonly port: Port
  /** Resolves when the task ended by itself; rejects when it threw, or the thread died or could not start. */
  readonly ended: Promise<void>
  /** Takes messages that were sent and not yet received: the thread may have died since. */
  rest(): readonly unknown[]
  /** Let the task end, then the thread. */
  close(): Promise<void>
  /** End the thread now. */
  destroy(): Promise<void>
}

/** The entry file of a shard's thread: a bundle, as for every thread. It loads in a third of the time. */
export const shardFile = new URL('../../../served/shard.js', import.meta.url)

/** Pools whose threads have no task yet, by file. */
const prepared = new Map<string, Piscina[]>()

/**
 * Begin threads for tasks that will come: they load their file meanwhile.
 *
 * returns  ends those that no task has come for.
 */
export function prepareThreads(file: URL, count: number): () => Promise<void> {
  const pools = Array.from({ length: count }, () => newPool(file))
  prepared.set(file.href, pools)
  return async () => {
    await Promise.all(pools.splice(0).map(pool => pool.close()))
  }
}

function newPool(file: URL): Piscina {
  const pool = new Piscina({
    filename: file.href,
    minThreads: 1,
    maxThreads: 1,
    // by default an idle thread sleeps, its timers and sockets with it
    atomics: 'disabled',
    idleTimeout: Number.POSITIVE_INFINITY,
  })
  // A thread that cannot start, where no file handle is left, and has no task: without a listener this would end the process.
  pool.on('error', () => {})
  return pool
}

/**
 * Start the default export of a file in a thread of its own.
 *
 * task  makes the task's argument with its end of the port; everything in it is cloned.
 */
export type StartThread = (
  file: URL,
  task: (port: Port) => object,
  /** Further ports in the task, which go over with it. */
  ports?: readonly MessagePort[],
) => Thread

export const startThread: StartThread = (file, task, ports = []) => {
  const { port1, port2 } = new MessageChannel()
  let pool: Piscina | undefined
  const ended = new Promise<void>((resolve, reject) => {
    // an error that is thrown here, where the system has no thread left, rejects too
    const taken = prepared.get(file.href)?.pop() ?? newPool(file)
    pool = taken
    taken.on('error', reject)
    taken.run(task(port2), { transferList: [port2, ...ports] }).then(() => resolve(), reject)
    // a thread that dies before it is up loses its task without a word
    for (const thread of taken.threads) {
      thread.once('error', reject)
      thread.once('exit', code => reject(new Error(`the thread left with ${code}`)))
    }
  })
  const rest = () => {
    const messages: unknown[] = []
    for (let next = receiveMessageOnPort(port1); next; next = receiveMessageOnPort(port1))
      messages.push(next.message)
    return messages
  }
  return { port: port1, ended, rest, close: async () => pool?.close(), destroy: async () => pool?.destroy() }
}
