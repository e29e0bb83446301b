// The thread of subscribers, asked from another.
import { Worker } from 'node:worker_threads'
import type { SubscriberTask } from './subscribers.js'

/** Subscribers of one server, in a thread of their own. */
export class Subscribers {
  private readonly worker: Worker
  private readonly waiting = new Map<number, (told: { result?: unknown; error?: string }) => void>()
  private asked = 0

  constructor(port: number) {
    this.worker = new Worker(new URL('./subscribers.js', import.meta.url), { workerData: { port } })
    this.worker.on('message', ({ id, ...told }) => this.waiting.get(id)!(told))
  }

  async ask<T = void>(task: SubscriberTask): Promise<T> {
    const id = this.asked++
    this.worker.postMessage({ id, task })
    const { result, error } = await new Promise<{ result?: unknown; error?: string }>(resolve =>
      this.waiting.set(id, resolve),
    )
    if (error !== undefined) throw new Error(error)
    return result as T
  }

  end(): Promise<number> {
    return this.worker.terminate()
  }
}
