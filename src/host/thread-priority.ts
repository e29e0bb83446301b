// Thread priorities: request threads before parser threads, projector threads and stores. Linux counts priorities by thread, within a
// session where it shares cores between sessions first.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { availableParallelism, setPriority } from 'node:os'
import { basename } from 'node:path'
import { setFlagsFromString } from 'node:v8'

/** Priority of projectors and stores below request threads: they keep at least a tenth of a core. */
export const afterRequests = 10
/** Priority of parser threads: a large body is a third of a second of work, which no check waits for. They keep a quarter of a core. */
export const afterChecks = 5

/**
 * On a machine with so few cores that the HTTP thread and a shard use them all, let V8 mark a heap on its own thread,
 * step by step: four helper threads would compete with requests, at the process's full priority.
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
 * Gives a process and its threads a core only when no other thread wants one (Linux's SCHED_IDLE), and undoes it.
 * Such a thread gives way at once; one with merely a lower priority ends its turn first, some milliseconds.
 */
export class IdlePriority {
  private constructor(private readonly shell: ChildProcess) {
    shell.on('error', () => {})
    shell.stdin!.on('error', () => {})
  }

  /** null where that cannot be done, or could not be taken back: it takes Linux, `chrt`, and CAP_SYS_NICE. */
  static open(chrt = '/usr/bin/chrt'): IdlePriority | null {
    if (process.platform !== 'linux' || !mayRaise() || !existsSync(chrt)) return null
    // one small shell for all: a fork of this process stops its threads while the kernel copies its page tables
    const script =
      'trap "" INT TERM; while read -r policy pid; do "$0" "$policy" -a -p 0 "$pid" > /dev/null 2>&1; done'
    return new IdlePriority(spawn('/bin/sh', ['-c', script, chrt], { stdio: ['pipe', 'ignore', 'ignore'] }))
  }

  /** Set or unset idle priority for all present threads of a process; it takes effect some milliseconds later. */
  set(pid: number, idle: boolean): void {
    this.shell.stdin!.write(`${idle ? '-i' : '-o'} ${pid}\n`)
  }

  /** Commands already sent are carried out first. */
  async close(): Promise<void> {
    if (this.shell.exitCode !== null || this.shell.signalCode !== null) return
    const ended = once(this.shell, 'exit')
    this.shell.stdin!.end()
    await ended
  }
}

/** CAP_SYS_NICE: without it a thread keeps its idle priority. */
const raising = 1n << 23n

function mayRaise(): boolean {
  try {
    const [, bits] = /^CapEff:\s*(\w+)/m.exec(readFileSync('/proc/self/status', 'utf8'))!
    return (BigInt(`0x${bits}`) & raising) !== 0n
  } catch {
    return false
  }
}

/** A refused change, or one of an ended process, is ignored: only waiting times depend on it. */
function allowed(change: () => void): void {
  try {
    change()
  } catch {}
}
