// When this process last saw that it owns the database (holder.ts), in memory that its threads share. A process that hung may
// have been replaced: until it has looked again, it acknowledges nothing.
import { setTimeout as sleep } from 'node:timers/promises'

/** Length of a lease: no other process takes a database whose owner renewed it within this time. */
export const leaseMs = 5_000

/** The owner of a database as its connections and threads know it; plain data, so that it can be sent to threads. */
export interface Ownership {
  /** Changes with each owner; writes prove it. */
  readonly epoch: number
  readonly looked: SharedArrayBuffer
}

const tickMs = 10
const againMs = 10

/** A moment in ticks, by a clock that stands still while a machine sleeps and by one that does not. Both wrap. */
export interface Moment {
  readonly steady: number
  readonly wall: number
}

export function moment(): Moment {
  const [seconds, nanoseconds] = process.hrtime()
  return {
    steady: Math.floor((seconds * 1_000 + nanoseconds / 1e6) / tickMs) | 0,
    wall: Math.floor(Date.now() / tickMs) | 0,
  }
}

export const newLook = (): SharedArrayBuffer => new SharedArrayBuffer(8)

/** Note that the process looked, and was not replaced as far as Postgres answers. `began`: before it asked. */
export function noteLook(looked: SharedArrayBuffer, began: Moment): void {
  const cells = new Int32Array(looked)
  Atomics.store(cells, 0, began.steady)
  Atomics.store(cells, 1, began.wall)
}

/**
 * Make a function that says whether the process may acknowledge.
 *
 * owner    absent: there is no lease, and no such function.
 * returns  null: it may; else a promise that resolves when the process has looked again.
 */
export function acknowledging(owner: Ownership | undefined): (() => Promise<void> | null) | undefined {
  if (owner === undefined) return undefined
  const cells = new Int32Array(owner.looked)
  const isRecent = () => {
    const { steady, wall } = moment()
    const most = leaseMs / tickMs
    return ((steady - Atomics.load(cells, 0)) | 0) < most && ((wall - Atomics.load(cells, 1)) | 0) < most
  }
  const again = async () => {
    while (!isRecent()) await sleep(againMs)
  }
  return () => (isRecent() ? null : again())
}
