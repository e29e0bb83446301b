// Long benchmarks end cleanly: at their end, at an error and at a signal their processes are ended, their files removed.
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const children = new Set<ChildProcess>()
let isEnding = false

/** A process that is ended with the benchmark. One that is started while the benchmark ends is ended at once. */
export function endedWithUs<T extends ChildProcess>(child: T): T {
  children.add(child)
  child.once('exit', () => children.delete(child))
  child.once('error', () => children.delete(child))
  if (isEnding) child.kill('SIGTERM')
  return child
}

/**
 * Run work over a directory of its own.
 *
 * errors  that of the work; one that names the signal which stopped it.
 */
export async function inWork(directory: string, work: () => Promise<void>): Promise<void> {
  mkdirSync(directory, { recursive: true })
  let stopped: (signal: NodeJS.Signals) => void = () => {}
  const stop = new Promise<never>((_, reject) => {
    stopped = signal => reject(new Error(`Stopped by ${signal}; processes are ended and files removed`))
  })
  for (const signal of signals) process.on(signal, stopped)
  try {
    await Promise.race([work(), stop])
  } finally {
    await endChildren()
    rmSync(directory, { recursive: true, force: true })
    for (const signal of signals) process.off(signal, stopped)
  }
}

/** End what still runs; the service first writes what it has. */
async function endChildren(): Promise<void> {
  isEnding = true
  while (children.size > 0)
    await Promise.all(
      [...children].map(
        child =>
          new Promise<void>(resolve => {
            child.once('exit', () => resolve())
            child.once('error', () => resolve())
            child.kill('SIGTERM')
            // one that stands still ends only when it goes on
            child.kill('SIGCONT')
          }),
      ),
    )
  isEnding = false
}
