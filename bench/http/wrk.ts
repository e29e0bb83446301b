// The load generator: sends as fast as it gets answers, and hardly uses a core.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { endedWithUs } from '../interrupted.js'

const run = promisify(execFile)

export interface Load {
  readonly port: number
  /** '' where the script names it. */
  readonly path: string
  readonly script: string
  readonly connections: number
  readonly seconds: number
  /** Environment of the script. */
  readonly env?: Readonly<Record<string, string>>
  /** Whether requests may be refused; else the load throws. */
  readonly mayRefuse?: boolean
  /** Ends the load before its time. */
  readonly until?: AbortSignal
  /** Receives a function by which the load stands still, and goes on. */
  readonly held?: (hold: (still: boolean) => void) => void
}

/** Result of a run. */
export interface Answered {
  readonly requests: number
  /** Requests among them that were refused, and connections that failed. */
  readonly refused: number
  /** How long it really took. */
  readonly seconds: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/** The load generator is there. */
export async function assertWrk(): Promise<void> {
  try {
    await run('wrk', ['-v'])
  } catch (error) {
    // wrk -v prints its version and leaves with 1.
    if ((error as { code?: unknown }).code !== 'ENOENT') return
    throw new Error('This benchmark needs wrk: install it first (Debian: apt-get install wrk)')
  }
}

/** Put load on a port from one thread. Throws where anything was refused, or nothing answered. */
export async function putLoad({
  port,
  path,
  script,
  connections,
  seconds,
  env = {},
  mayRefuse = false,
  until,
  held,
}: Load): Promise<Answered> {
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '--timeout', '20s', '-s', script]
  const running = run('wrk', [...args, `http://127.0.0.1:${port}${path}`], {
    env: { ...process.env, ...env },
  })
  endedWithUs(running.child)
  // it stops at this signal, and prints its report
  until?.addEventListener('abort', () => running.child.kill('SIGINT'))
  held?.(still => void running.child.kill(still ? 'SIGSTOP' : 'SIGCONT'))
  const { stdout } = await running
  const refused = /Non-2xx or 3xx responses: (\d+)|Socket errors: (.*)/.exec(stdout)
  if (refused !== null && !mayRefuse) throw new Error(`${path} on port ${port}: ${refused[0]}`)
  const [, requests, took] = /(\d+) requests in ([\d.]+)s/.exec(stdout) ?? []
  if (requests === '0') throw new Error(`${path} on port ${port}: no answer within ${seconds} s`)
  return {
    requests: Number(requests),
    refused: refusedIn(stdout),
    seconds: Number(took),
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]),
    p50Ms: latencyMs(stdout, '50%'),
    p99Ms: latencyMs(stdout, '99%'),
  }
}

function refusedIn(report: string): number {
  const counts = [...report.matchAll(/(?:Non-2xx or 3xx responses:|connect|read|write|timeout) (\d+)/g)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

function latencyMs(report: string, percentile: string): number {
  const found = new RegExp(`${percentile}\\s+([\\d.]+)(us|ms|s)`).exec(report)
  if (found === null) throw new Error(`No ${percentile} latency in the report of wrk`)
  const [, value, unit] = found
  return Math.round(Number(value) * (unit === 'us' ? 1 : unit === 'ms' ? 1_000 : 1_000_000)) / 1_000
}
