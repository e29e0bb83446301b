// What the system says about a process: who it is, and whether it still is who we think.
import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * The instant a process started, in the system's own spelling, or null when there is no such process.
 * A pid is given out again; a pid with its start is not, until the next boot.
 */
export function startOf(pid: number): string | null {
  if (process.platform !== 'linux') return processStatus(pid, 'lstart')
  try {
    // Fields are counted after the command's closing bracket: a command may hold blanks and brackets.
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  } catch {
    return null
  }
}

/** Names the running of the system: after a boot, pids and their starts may come again. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return 'boot'
  }
}

/**
 * Whether `pid` is a Postgres server working in `directory` (absolute, links resolved). False also when the
 * process may not be looked at: what cannot be proved to be ours is not ours to signal.
 */
export function isPostmasterOf(pid: number, directory: string): boolean {
  if (process.platform !== 'linux') {
    const command = processStatus(pid, 'command') ?? ''
    return /\bpostgres\b/.test(command) && command.includes(directory)
  }
  try {
    const program = basename(readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, ''))
    return program === 'postgres' && readlinkSync(`/proc/${pid}/cwd`) === directory
  } catch {
    return false
  }
}

function processStatus(pid: number, column: string): string | null {
  try {
    const told = execFileSync('ps', ['-p', String(pid), '-o', `${column}=`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return told.trim() || null
  } catch {
    return null
  }
}
