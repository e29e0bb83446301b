// Long benchmarks leave nothing behind: neither at their end nor at a signal.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const module = new URL('../../bench/interrupted.js', import.meta.url).href

/** A program that begins a process in a directory and tells its number; then it waits, or ends. */
function program(directory: string, waits: boolean): ChildProcess {
  const text = `
    import { spawn } from 'node:child_process'
    import { endedWithUs, inWork } from ${JSON.stringify(module)}
    await inWork(${JSON.stringify(directory)}, async () => {
      const child = endedWithUs(spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']))
      console.log(child.pid)
      if (${waits}) await new Promise(resolve => setTimeout(resolve, 1e9))
    }).catch(error => {
      console.error(error.message)
      process.exit(1)
    })`
  return spawn(process.execPath, ['--input-type=module', '-e', text])
}

const isThere = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', null] as const)
  t.test(`a long benchmark, ${signal ?? 'at its end'}: its processes and files are gone`, async t => {
    const directory = join(t.testdir(), 'work')
    const child = program(directory, signal !== null)
    const [line] = (await once(child.stdout!, 'data')) as [Buffer]
    const pid = Number(line.toString())
    if (signal !== null) {
      t.ok(isThere(pid) && existsSync(directory), 'it is at work')
      child.kill(signal)
    }
    const [code] = (await once(child, 'exit')) as [number]
    t.equal(code, signal === null ? 0 : 1)
    t.notOk(isThere(pid), 'its process')
    t.notOk(existsSync(directory), 'its directory')
  })
