// The demonstration of several nodes runs to its end, and leaves nothing behind.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { temporaryDirectory } from '../stores.js'
import { skipped } from './nodes.js'

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

t.test('without a Redis the message names the missing program', async t => {
  const { code, told } = await run(await temporaryDirectory(t), '/nowhere')
  t.equal(code, 1)
  t.match(told, /redis-server is not in the PATH/)
})
