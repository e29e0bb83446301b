// Who gets a core first when there are too few: whoever answers a request before whoever carries what was answered into
// the stores. Linux counts priorities by thread, within a session where it shares cores between sessions first.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
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

/**
 * Gives a process and its threads a core only when nobody else wants one (Linux's SCHED_IDLE), and takes that back. Who
 * stands by so gives way at once; who merely has a lower priority ends its turn first, some milliseconds.
 */
export class IdlePriority {
  private constructor(private readonly shell: ChildProcess) {
    shell.on('error', () => {})
    shell.stdin!.on('error', () => {})
  }

  /** null where that cannot be done, or could not be taken back: it takes Linux, `chrt`, and CAP_SYS_NICE. */
  static open(chrt = '/usr/bin/chrt'): IdlePriority | null {
    if (process.platform !== 'linux' || !mayRaise() || !existsSync(chrt)) return null
    // one small shell for all: a fork of this process stops its threads while its pages are told of
    const script =
      'trap "" INT TERM; while read -r policy pid; do "$0" "$policy" -a -p 0 "$pid" > /dev/null 2>&1; done'
    return new IdlePriority(spawn('/bin/sh', ['-c', script, chrt], { stdio: ['pipe', 'ignore', 'ignore'] }))
  }

  /** Have all threads that a process has now stand by, or not any more. Some milliseconds later it is so. */
  set(pid: number, standsBy: boolean): void {
    this.shell.stdin!.write(`${standsBy ? '-i' : '-o'} ${pid}\n`)
  }

  /** What was asked for is done first. */
  async close(): Promise<void> {
    if (this.shell.exitCode !== null || this.shell.signalCode !== null) return
    const ended = once(this.shell, 'exit')
    this.shell.stdin!.end()
    await ended
  }
}

/** CAP_SYS_NICE: without it a thread that stands by stays so. */
const raising = 1n << 23n

function mayRaise(): boolean {
  try {
    const [, bits] = /^CapEff:\s*(\w+)/m.exec(readFileSync('/proc/self/status', 'utf8'))!
    return (BigInt(`0x${bits}`) & raising) !== 0n
  } catch {
    return false
  }
}

/** What is refused, or gone, is left as it is: nothing depends on it but who waits for whom. */
function allowed(change: () => void): void {
  try {
    change()
  } catch {}
}
