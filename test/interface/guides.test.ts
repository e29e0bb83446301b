// The guides, run as they stand: each on a Tollgate of its own, with what its commands print.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Process } from '../harness.js'
import { read, root } from '../house/source.js'
import { temporaryDirectory } from '../stores.js'
import { runPage } from './documented-blocks.js'

t.setTimeout(600_000)

const missing = ['bash', 'curl', 'sed', 'grep'].filter(
  name => spawnSync(name, ['--version']).error !== undefined,
)
const skip = missing.length > 0 && `not installed: ${missing.join(', ')}`
const pages = readdirSync(join(root, 'docs', 'guides')).filter(name => name !== 'README.md')

t.test('the list of guides has each of them', async t => {
  const list = read('docs/guides/README.md')
  for (const page of pages) t.ok(list.includes(`](${page})`), page)
  t.ok(pages.length >= 9)
})

for (const page of pages)
  t.test(page, { skip }, async t => {
    const directory = await temporaryDirectory(t)
    const server = await Process.start(join(directory, 'data'), {
      TOLLGATE_BOOTSTRAP_KEY: '',
      TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true',
    })
    t.teardown(() => server.child.kill('SIGKILL'))
    await runPage(t, read(`docs/guides/${page}`), directory, server.client.url)
    t.equal(await server.end('SIGTERM'), 0)
  })
