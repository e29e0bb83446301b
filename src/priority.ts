// Who gets a core first when there are too few: whoever answers a request before whoever carries what was answered into
// the stores. Linux counts priorities by thread, within a session where it shares cores between sessions first.
import { readdirSync, readlinkSync } from 'node:fs'
import { availableParallelism, setPriority } from 'node:os'
import { basename } from 'node:path'
import { setFlagsFromString } from 'node:v8'

/** How far whoever fills the stores stands behind whoever answers requests: a tenth of a core is theirs at least. */
export const afterRequests = 10

/**
 * On a machine with so few cores that the HTTP thread and a shard take them all, have V8 mark a heap on the thread whose
 * it is, step by step: four helpers that mark beside it would stand before requests, with the whole process's priority.
 */
export function markInPlace(): void {
  if (availableParallelism() <= 2) setFlagsFromString('--no-concurrent-marking')
}

/**
 * Have the calling thread yield to others of this process. Does nothing where threads have no priority of their own.
 *
 * nice  0 (as others) to 19 (last).
 */
export function lowerThread(nice: number): void {
  if (process.platform !== 'linux') return
  allowed(() => setPriority(Number(basename(readlinkSync('/proc/thread-self'))), nice))
}

/** Have a process of our session, with all its threads, yield to others. Does nothing where it may not. */
export function lowerProcess(pid: number, nice: number): void {
  if (process.platform !== 'linux') return allowed(() => setPriority(pid, nice))
  allowed(() => {
    for (const thread of readdirSync(`/proc/${pid}/task`)) allowed(() => setPriority(Number(thread), nice))
  })
}

/** What is refused, or gone, is left as it is: nothing depends on it but who waits for whom. */
function allowed(change: () => void): void {
  try {
    change()
  } catch {}
}
