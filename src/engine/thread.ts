// A worker thread that runs one long task, and the way to it.
//
// Piscina gives a task to any idle thread, an actor needs the same thread each time: so a task has a pool of one
// thread to itself, and holds a port. Its promise tells when the thread died.
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Port } from '../journal/port.js'

export interface Thread {
  readonly port: Port
  /** Resolves when the task ended by itself; rejects when it threw, or the thread died. */
  readonly ended: Promise<void>
  /** Takes what it has said and nobody has heard yet: it may have died since. */
  rest(): readonly unknown[]
  /** Let the task end, then the thread. */
  close(): Promise<void>
  /** End the thread now. */
  destroy(): Promise<void>
}

/**
 * Start the default export of a file in a thread of its own.
 *
 * task  what it is given, made with its end of the port; everything in it is cloned.
 */
export type StartThread = (file: URL, task: (port: Port) => object) => Thread

export const startThread: StartThread = (file, task) => {
  const { port1, port2 } = new MessageChannel()
  const pool = new Piscina({
    filename: file.href,
    minThreads: 1,
    maxThreads: 1,
    // by default an idle thread sleeps, its timers and sockets with it
    atomics: 'disabled',
    idleTimeout: Number.POSITIVE_INFINITY,
  })
  const ended = new Promise<void>((resolve, reject) => {
    pool.run(task(port2), { transferList: [port2] }).then(() => resolve(), reject)
    // a thread that dies before it is up loses its task without a word
    for (const thread of pool.threads)
      thread.once('exit', code => reject(new Error(`the thread left with ${code}`)))
  })
  const rest = () => {
    const messages: unknown[] = []
    for (let next = receiveMessageOnPort(port1); next; next = receiveMessageOnPort(port1))
      messages.push(next.message)
    return messages
  }
  return { port: port1, ended, rest, close: () => pool.close(), destroy: () => pool.destroy() }
}
