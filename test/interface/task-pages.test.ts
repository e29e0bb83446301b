// Pages of docs/tasks, run as they stand: denied.md (EX-1, EX-2, EX-6, EX-7) and budgets.md (BU-2, BU-3, BU-7).
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { Process } from '../harness.js'
import { read } from '../house/source.js'
import { temporaryDirectory } from '../stores.js'
import { runPage } from './documented-blocks.js'

t.setTimeout(600_000)

const missing = ['bash', 'curl', 'sed', 'grep'].filter(
  name => spawnSync(name, ['--version']).error !== undefined,
)
const skip = missing.length > 0 && `not installed: ${missing.join(', ')}`

for (const page of ['denied.md', 'budgets.md'])
  t.test(page, { skip }, async t => {
    const directory = await temporaryDirectory(t)
    const server = await Process.start(join(directory, 'data'), { TOLLGATE_BOOTSTRAP_KEY: '' })
    t.teardown(() => server.child.kill('SIGKILL'))
    await runPage(t, read(`docs/tasks/${page}`), directory, server.client.url)
    t.equal(await server.end('SIGTERM'), 0)
  })
