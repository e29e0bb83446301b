// Starts holder.ts.
import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { startOf } from '../../../src/storage/process.js'

export interface Held {
  readonly process: ChildProcess
  /** The pid of the store's child; for a lock, of the holder itself. */
  readonly pid: number
  readonly address: unknown
}

/** Resolves when the other process holds what it was told to; rejects with its words when it could not. */
export async function hold(
  t: Test,
  what: 'postgres' | 'clickhouse' | 'lock',
  directory: string,
  as: { uid?: number; gid?: number } = {},
): Promise<Held> {
  const holder = fork(fileURLToPath(new URL('./holder.js', import.meta.url)), [what, directory], {
    ...as,
    cwd: '/',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.teardown(() => holder.kill('SIGKILL'))
  const told = await new Promise<{ held?: { pid: number; address: unknown }; failure?: string }>(
    (resolve, reject) => {
      holder.once('message', message => resolve(message as object))
      holder.once('exit', code => reject(new Error(`the holder left with ${code}`)))
    },
  )
  if (told.held === undefined) throw new Error(told.failure)
  return { process: holder, ...told.held }
}

/** End a process without a chance to tidy up, and wait until it is gone. */
export async function killHard(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL')
  await gone(pid)
}

/** Resolves when there is no such process. */
export async function gone(pid: number): Promise<void> {
  while (startOf(pid) !== null) await pause(10)
}

export const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

/** Try until it succeeds; the last failure is thrown when the time is up. */
export async function eventually<T>(work: () => Promise<T>, ms = 60_000): Promise<T> {
  for (const until = Date.now() + ms; ; ) {
    try {
      return await work()
    } catch (error) {
      if (Date.now() > until) throw error
      await pause(20)
    }
  }
}
