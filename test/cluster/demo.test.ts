// The demonstration of several nodes runs to its end, and leaves nothing behind.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { temporaryDirectory } from '../stores.js'
import { skipped, until } from './nodes.js'

const program = fileURLToPath(new URL('../../bench/demo-cluster.js', import.meta.url))

/** Run the program with this search path. */
async function run(directory: string, PATH = process.env.PATH) {
  const child = spawn(process.execPath, [program], { env: { ...process.env, PATH, TMPDIR: directory } })
  let told = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', chunk => {
      told += chunk
    })
  const code = await new Promise(resolve => child.on('close', resolve))
  return { code, told }
}

t.test('npm run demo:cluster', { skip: skipped }, async t => {
  const directory = await temporaryDirectory(t)
  const { code, told } = await run(directory)
  t.equal(code, 0, told)
  t.match(told, /node-2 is killed .*\nAll companies are served again after [\d.]+ s\.\n/)
  t.match(told, /\n\d+ events were acknowledged; each is counted once\.\n$/)
  t.same(readdirSync(directory), [], 'nothing is left')
})

/** Processes whose command line names a directory. */
const left = (directory: string): readonly string[] =>
  execFileSync('ps', ['-axo', 'pid=,args='], { encoding: 'utf8', maxBuffer: 1 << 26 })
    .split('\n')
    .filter(line => line.includes(directory))

/** Resolves when a demonstration has printed this. */
const says = (child: ChildProcess, wanted: RegExp): Promise<void> =>
  new Promise(resolve => {
    let told = ''
    child.stdout!.on('data', chunk => {
      told += chunk
      if (wanted.test(told)) resolve()
    })
  })

t.test('an interrupted demonstration leaves no process and no file', { skip: skipped }, async t => {
  const parent =
    "const { spawn } = require('node:child_process'); spawn(process.execPath, [process.argv[1]], { stdio: 'inherit' })"
  const ways: readonly (readonly [
    how: string,
    when: RegExp,
    signal: NodeJS.Signals,
    args: readonly string[],
  ])[] = [
    ['interrupted while its stores start', /Starting Postgres/, 'SIGINT', [program]],
    ['ended while its nodes start', /node-1 listens/, 'SIGTERM', [program]],
    ['killed', /node-2 listens/, 'SIGKILL', [program]],
    ['its parent killed', /node-1 listens/, 'SIGKILL', ['-e', parent, program]],
  ]
  for (const [how, when, signal, args] of ways)
    await t.test(how, async t => {
      const directory = await temporaryDirectory(t)
      const stdio = ['ignore', 'pipe', 'ignore'] as const
      const child = spawn(process.execPath, args, {
        env: { ...process.env, TMPDIR: directory },
        stdio: [...stdio],
      })
      const exited = new Promise(resolve => child.on('exit', resolve))
      await says(child, when)
      t.ok(left(directory).length > 0, 'it runs')
      child.kill(signal)
      await exited
      await until(
        () => left(directory).length === 0 && readdirSync(directory).length === 0,
        () => `all is gone: ${left(directory).join('; ')} ${readdirSync(directory)}`,
      )
    })
})

t.test('without a Redis the message names the missing program', async t => {
  const { code, told } = await run(await temporaryDirectory(t), '/nowhere')
  t.equal(code, 1)
  t.match(told, /redis-server is not in the PATH/)
})
