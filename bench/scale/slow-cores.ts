// Slow cores: each thread of a process gets an eighth of a core for itself, by a cgroup of its own. So a machine with two
// cores shows how a program scales over more of them than it has.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const quotaUs = 1_250
const periodUs = 10_000
/** A slow core's part of a whole one. */
export const slowPart = quotaUs / periodUs
/** Threads that a process starts later get their core by then. */
const lookMs = 500

/** How cgroups bound the CPU time of threads on this machine. */
interface Way {
  /** Where groups of threads are made. */
  readonly root: string
  readonly version: 1 | 2
}

const isUnified = (root: string): boolean => existsSync(join(root, 'cgroup.controllers'))

/** The way, or the reason why there is none. */
export function slowCores(): Way | { readonly reason: string } {
  if (process.platform !== 'linux') return { reason: 'only Linux bounds the CPU time of threads' }
  if (process.getuid?.() !== 0) return { reason: 'only root may make cgroups' }
  const separate = '/sys/fs/cgroup/cpu'
  if (existsSync(join(separate, 'cpu.cfs_quota_us')) || existsSync(join(separate, 'tasks')))
    return { root: separate, version: 1 }
  const unified = '/sys/fs/cgroup'
  if (!isUnified(unified)) return { reason: 'no cgroup file system with a cpu controller is mounted' }
  const offered = readFileSync(join(unified, 'cgroup.controllers'), 'utf8').split(/\s+/)
  return offered.includes('cpu')
    ? { root: unified, version: 2 }
    : { reason: 'the cgroups of this machine have no cpu controller' }
}

/** A process whose threads have a slow core each, until `free`. */
export class Confined {
  private readonly group: string
  private readonly threads = new Set<string>()
  private readonly timer: NodeJS.Timeout

  /** errors  Error of the file system where a group cannot be made. */
  constructor(
    private readonly way: Way,
    private readonly pid: number,
  ) {
    this.group = join(way.root, `tollgate-bench-${pid}`)
    if (way.version === 2) write(way.root, 'cgroup.subtree_control', '+cpu')
    mkdirSync(this.group)
    if (way.version === 2) write(this.group, 'cgroup.procs', String(pid))
    this.confine()
    this.timer = setInterval(() => this.confine(), lookMs)
  }

  /** The process runs freely again, or has ended: its groups are removed. */
  free(): void {
    clearInterval(this.timer)
    for (const thread of this.threads) {
      const group = join(this.group, thread)
      try {
        if (this.way.version === 1) write(this.way.root, 'tasks', thread)
        else write(this.group, 'cgroup.threads', thread)
      } catch {} // it has ended
      rmdirSync(group)
    }
    if (this.way.version === 2)
      try {
        write(this.way.root, 'cgroup.procs', String(this.pid))
      } catch {} // it has ended
    rmdirSync(this.group)
  }

  private confine(): void {
    for (const thread of threadsOf(this.pid)) {
      if (this.threads.has(thread)) continue
      const group = join(this.group, thread)
      mkdirSync(group)
      this.threads.add(thread)
      if (this.way.version === 1) {
        write(group, 'cpu.cfs_period_us', String(periodUs))
        write(group, 'cpu.cfs_quota_us', String(quotaUs))
      } else {
        write(group, 'cgroup.type', 'threaded')
        write(this.group, 'cgroup.subtree_control', '+cpu')
        write(group, 'cpu.max', `${quotaUs} ${periodUs}`)
      }
      try {
        write(group, this.way.version === 1 ? 'tasks' : 'cgroup.threads', thread)
      } catch {} // it has ended meanwhile
    }
  }
}

function threadsOf(pid: number): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

const write = (group: string, file: string, value: string): void => writeFileSync(join(group, file), value)
