// Who gets a core first when there are too few: whoever answers a request before whoever carries what was answered into
// the stores. Linux counts priorities by thread, and, where it groups sessions, by the session of a process.
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { basename } from 'node:path'

/** How far whoever fills the stores stands behind whoever answers requests: a tenth of a core is theirs at least. */
export const afterRequests = 10

/**
 * Have the calling thread yield to others of this process. Does nothing where threads have no priority of their own.
 *
 * nice  0 (as others) to 19 (last).
 */
export function lowerThread(nice: number): void {
  if (process.platform !== 'linux') return
  allowed(() => setPriority(Number(basename(readlinkSync('/proc/thread-self'))), nice))
}

/** Have a process with a session of its own, with all its threads, yield to others. Does nothing where it may not. */
export function lowerProcess(pid: number, nice: number): void {
  if (process.platform !== 'linux') return allowed(() => setPriority(pid, nice))
  allowed(() => writeFileSync(`/proc/${pid}/autogroup`, String(nice)))
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
