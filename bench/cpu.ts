// CPU time of a service by thread and of its stores, their memory, and the CPU time that the machine had to give, as Linux
// counts them.
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { afterRequests } from '../src/host/thread-priority.js'

/** CPU time so far, µs, by part. */
export type CpuTimes = ReadonlyMap<string, number>

const tickUs = 10_000
/** Fields of a `stat` file are counted from here: its second may hold blanks. */
const afterName = 3

/**
 * CPU time so far of a service: of its HTTP thread, its parsers and its projector (the threads of lower priority), every
 * other thread by its number, both stores; of children of this process that ended, which are the senders.
 *
 * pid  the service's; its stores are its children.
 */
export function cpuTimes(pid: number): CpuTimes {
  const used = new Map<string, number>()
  const add = (part: string, us: number) => used.set(part, (used.get(part) ?? 0) + us)
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const [ran] = text(`/proc/${pid}/task/${thread}/schedstat`).split(' ')
    const nice = Number(stat(`/proc/${pid}/task/${thread}/stat`, 19))
    const part =
      Number(thread) === pid
        ? 'HTTP'
        : nice >= afterRequests
          ? 'projector'
          : nice > 0
            ? 'parser'
            : `thread ${thread}`
    add(part, Number(ran) / 1_000)
  }
  for (const [child, name] of descendants(pid)) add(name, withEnded(child))
  add('client', ticks(process.pid, 16) + ticks(process.pid, 17))
  return used
}

/** CPU time so far of a process and of those that it started and that live, µs. */
export function processUs(pid: number): number {
  const all = [pid, ...[...descendants(pid)].map(([child]) => child)]
  return all.reduce((sum, one) => sum + withEnded(one), 0)
}

/** CPU time of a process and of its children that ended: a server that ends a connection's process must not lose its time. */
const withEnded = (pid: number): number => [14, 15, 16, 17].reduce((sum, field) => sum + ticks(pid, field), 0)

/** Memory of a service and of its stores, MiB; a page that processes share counts once. */
export function memoryOf(pid: number): ReadonlyMap<string, number> {
  const held = new Map<string, number>()
  for (const [one, name] of [[pid, 'the service'] as const, ...descendants(pid)]) {
    const [, kibibytes = 0] = /^Pss:\s+(\d+)/m.exec(text(`/proc/${one}/smaps_rollup`)) ?? []
    held.set(name, (held.get(name) ?? 0) + Math.round(Number(kibibytes) / 1_024))
  }
  return held
}

/** Resident memory of a process itself, MiB. */
export function residentMiB(pid: number): number {
  const [, kibibytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kibibytes) / 1_024)
}

/** Time at which a core had nothing to do, so far, µs, of all cores together. */
export function idleUs(): number {
  const [, , , , idle = 0, waiting = 0] = text('/proc/stat').split('\n')[0]!.split(/ +/).map(Number)
  return (idle + waiting) * tickUs
}

/** Cores there are. */
export const cores = availableParallelism()

/**
 * CPU time between two readings; the busiest of the service's unnamed threads counts as its shard, the rest as
 * others.
 */
export function usedBetween(before: CpuTimes, after: CpuTimes): Map<string, number> {
  const used = new Map([...after].map(([part, us]) => [part, us - (before.get(part) ?? 0)]))
  const threads = [...used].filter(([part]) => part.startsWith('thread ')).sort(([, a], [, b]) => b - a)
  for (const [part] of threads) used.delete(part)
  used.set('shard', threads[0]?.[1] ?? 0)
  used.set(
    'other threads',
    threads.slice(1).reduce((sum, [, us]) => sum + us, 0),
  )
  return used
}

function* descendants(pid: number): Generator<readonly [pid: number, name: string]> {
  for (const thread of threadsOf(pid))
    for (const child of text(`/proc/${pid}/task/${thread}/children`).trim().split(' ').filter(Boolean)) {
      const command = text(`/proc/${child}/cmdline`)
      const store = /bridge/.test(command) ? 'ClickHouse' : 'Postgres'
      if (command === '') continue
      yield [Number(child), store]
      yield* descendants(Number(child))
    }
}

/** None where it is gone meanwhile. */
function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

function ticks(pid: number, field: number): number {
  return Number(stat(`/proc/${pid}/stat`, field)) * tickUs
}

/** A field of a `stat` file as its manual numbers them. */
function stat(file: string, field: number): string {
  const line = text(file)
  return line.slice(line.lastIndexOf(')') + 2).split(' ')[field - afterName] ?? '0'
}

/** '' where it is gone meanwhile. */
function text(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
