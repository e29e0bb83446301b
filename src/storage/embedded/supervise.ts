// Keeps a child process running: starts it, restarts it when it dies, stops it with us.
import type { ChildProcess } from 'node:child_process'
import type { Logger } from 'pino'
import { lowerProcess } from '../../host/thread-priority.js'

export type StoreLog = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

interface ChildSpec {
  /** Name in the log: 'Postgres', 'ClickHouse'. */
  readonly name: string
  /** Start a child; resolves when it serves. On rejection no process is left. */
  start(): Promise<ChildProcess>
  /** Stop signals, each with the wait in ms before the next; the last should be SIGKILL. */
  readonly stopSignals: readonly (readonly [NodeJS.Signals, number])[]
  readonly log: StoreLog
}

export interface Supervised {
  /** Pid of the serving child; null until a restart is complete. */
  readonly pid: number | null
  /** Lower the CPU priority of this child and its successors: 0 to 19. */
  lower(nice: number): void
  /** Stop the child; resolves when it has exited. May be called repeatedly. */
  stop(): Promise<void>
}

const firstDelayMs = 100
const longestDelayMs = 10_000
/** A child that served this long was healthy: its restart delay begins from the first step. */
const steadyMs = 30_000

/** Start a child and keep it running. Rejects when the first start fails. */
export async function supervise(spec: ChildSpec): Promise<Supervised> {
  let nice = 0
  const start = async () => {
    const child = await spec.start()
    if (nice > 0 && child.pid !== undefined) lowerProcess(child.pid, nice)
    return child
  }
  let child: ChildProcess | null = await start()
  let stopped: Promise<void> | null = null
  let wake: (() => void) | null = null
  // also after an uncaught error, so that the child does not outlive us
  const leaving = () => child?.kill(spec.stopSignals[0]?.[0])
  process.on('exit', leaving)

  const keeping = (async () => {
    let delayMs = firstDelayMs
    while (child !== null) {
      const since = Date.now()
      await exited(child)
      if (stopped !== null) return
      const { pid, exitCode: code, signalCode: signal } = child
      // a service manager may signal all processes of a service at once
      const told = code === 0 || signal === 'SIGTERM' || signal === 'SIGINT'
      if (told)
        spec.log.warn(
          { pid, code, signal },
          `${spec.name} was stopped by a signal from outside: it starts again`,
        )
      else spec.log.error({ pid, code, signal }, `${spec.name} died`)
      child = null
      if (Date.now() - since > steadyMs) delayMs = firstDelayMs
      while (child === null) {
        await new Promise<void>(resolve => {
          const timer = setTimeout(resolve, delayMs)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        if (stopped !== null) return
        delayMs = Math.min(delayMs * 2, longestDelayMs)
        child = await start().catch(error => {
          spec.log.error({ err: error, retry_ms: delayMs }, `${spec.name} did not start again`)
          return null
        })
      }
      spec.log.info({ pid: child.pid }, `${spec.name} serves again`)
      // a stop during the start waits for this moment
      if (stopped !== null) return
    }
  })()

  const stop = async () => {
    wake?.()
    if (child !== null) await end(child, spec.stopSignals)
    await keeping
    if (child !== null) await end(child, spec.stopSignals)
    process.off('exit', leaving)
  }
  return {
    get pid() {
      return child?.pid ?? null
    },
    lower(to) {
      nice = to
      if (child?.pid !== undefined) lowerProcess(child.pid, nice)
    },
    stop() {
      if (stopped !== null) return stopped
      // set before the first signal, so that the exit is not taken for a crash
      let begin = () => {}
      stopped = new Promise<void>(resolve => {
        begin = resolve
      }).then(stop)
      begin()
      return stopped
    },
  }
}

/** Resolves when the process has exited. */
function exited(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise(resolve => child.once('exit', () => resolve()))
}

/** Send the signals in turn until the child has exited. */
export async function end(child: ChildProcess, signals: ChildSpec['stopSignals']): Promise<void> {
  for (const [signal, graceMs] of signals) {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill(signal)
    let timer: NodeJS.Timeout | undefined
    const patience = new Promise<void>(resolve => {
      timer = setTimeout(resolve, graceMs)
    })
    await Promise.race([exited(child), patience])
    clearTimeout(timer)
  }
}
