// The README's first steps, run as they stand there: they answer what it says they answer, in four calls.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { embedded, Process } from '../harness.js'
import { read } from '../house/source.js'
import { temporaryDirectory } from '../stores.js'
import { runPage } from './documented-blocks.js'

const missing = ['bash', 'curl', 'sed'].filter(name => spawnSync(name, ['--version']).error !== undefined)
const skip = missing.length > 0 && `not installed: ${missing.join(', ')}`

t.test('S2 a plan on a company in five minutes', { skip }, async t => {
  const [section] = /\n## A plan on a company.*?(?=\n## )/s.exec(read('README.md'))!
  t.equal(section.match(/^# \d\. /gm)?.length, 4, 'four calls')
  const directory = await temporaryDirectory(t)
  const server = await Process.start(join(directory, 'data'), { ...embedded, TOLLGATE_BOOTSTRAP_KEY: '' })
  t.teardown(() => server.child.kill('SIGKILL'))
  await runPage(t, section, directory, server.client.url)
  t.equal(await server.end('SIGTERM'), 0)
})
