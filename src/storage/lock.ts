// Locks the data directory, so that only one Tollgate uses it.
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError } from '../config.js'
import { bootId, startOf } from './process.js'

/** A lock. It ends when released or when the process ends in any way. */
interface DataDirLock {
  /** The locked directory, absolute, without links. */
  readonly directory: string
  release(): void
}

const attempts = 5
const held = new Set<string>()

/**
 * Lock a data directory for this process; creates the directory if absent.
 *
 * Each contender writes its own claim file and then looks for others, so the later of two always sees the earlier,
 * and never do both continue. If two start at the same instant, both step back and retry a moment later. A claim
 * whose process has ended is removed by any contender; it needs no owner to be released.
 *
 * errors   ConfigError naming the directory and the pid of the holder. Claims are compared by pid, so two
 *          containers that share one volume do not see each other here; the engine's own file lock stops the second.
 */
export async function lockDataDir(dir: string): Promise<DataDirLock> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const directory = await realpath(dir)
  const own = lockName(process.pid, startOf(process.pid) ?? 'unknown')
  let holder = held.has(directory) ? process.pid : null
  for (let attempt = 0; holder === null && attempt < attempts; attempt++) {
    writeFileSync(join(directory, own), `Tollgate, process ${process.pid}\n`, { mode: 0o600 })
    holder = otherHolder(directory, own)
    if (holder === null) {
      held.add(directory)
      return { directory, release: () => release(directory, own) }
    }
    rmSync(join(directory, own), { force: true })
    if (attempt === attempts - 1) break
    await sleep(20 + Math.random() * 100)
    holder = null
  }
  throw new ConfigError(
    `The data directory ${directory} is in use by another Tollgate (process ${holder}). ` +
      'Stop that one first, or give this one a TOLLGATE_DATA_DIR of its own.',
  )
}

/** Pid of the Tollgate that uses a directory, or null. Changes nothing. */
export function holderOf(directory: string): number | null {
  return livingHolder(directory, '', () => {})
}

function release(directory: string, own: string): void {
  rmSync(join(directory, own), { force: true })
  held.delete(directory)
}

const lockName = (pid: number, start: string): string =>
  `tollgate-${pid}-${start.replace(/\W+/g, '_')}-${bootId().slice(0, 8)}.lock`

/** Pid of another living claim, or null. Removes claims of ended processes. */
const otherHolder = (directory: string, own: string): number | null =>
  livingHolder(directory, own, name => rmSync(join(directory, name), { force: true }))

function livingHolder(directory: string, own: string, dead: (name: string) => void): number | null {
  for (const name of readdirSync(directory)) {
    const pid = Number(/^tollgate-(\d+)-.*\.lock$/.exec(name)?.[1] ?? 0)
    if (pid === 0 || name === own) continue
    const start = startOf(pid)
    if (start !== null && name === lockName(pid, start)) return pid
    dead(name)
  }
  return null
}
