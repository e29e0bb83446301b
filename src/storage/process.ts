// Identifies processes: start times, the current boot, and whether a process is our Postgres.
import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { basename } from 'node:path'

/**
 * Start time of a process in the system's own format, or null when it does not exist. Pids are reused; a pid together
 * with its start time is unique until the next boot.
 */
export function startOf(pid: number): string | null {
  if (process.platform !== 'linux') return processStatus(pid, 'lstart')
  try {
    // fields are counted after the closing bracket, because a command name may contain spaces and brackets
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  } catch {
    return null
  }
}

/** Whether a process exists and is stopped (SIGSTOP), as Linux tells. */
export function isStopped(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return /^[Tt]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}

/** Identifies the current boot: after another boot, pids and start times may repeat. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return 'boot'
  }
}

/**
 * Whether `pid` is a Postgres server working in `directory` (absolute, without links). False also when the process
 * may not be inspected: only a process proved to be ours may be signalled.
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
