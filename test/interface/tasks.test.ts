// The pages of docs/tasks, run as they stand on one Tollgate: each task in at most five calls.
import { spawnSync } from 'node:child_process'
import { readdirSync, symlinkSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
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
const pages = readdirSync(join(root, 'docs', 'tasks')).filter(name => name !== 'README.md')
const callsMax = 5

t.test('the list of tasks has each page', async t => {
  const list = read('docs/tasks/README.md')
  for (const page of pages) t.ok(list.includes(`](${page})`), page)
})

t.test('pages', { skip }, async t => {
  const directory = await temporaryDirectory(t)
  const data = join(directory, 'data')
  const server = await Process.start(data, { TOLLGATE_BOOTSTRAP_KEY: '' })
  t.teardown(() => server.child.kill('SIGKILL'))
  for (const page of pages) {
    const text = read(`docs/tasks/${page}`)
    // worked by hand, without commands: a test of its own holds it
    if (!text.includes('\n## The calls\n')) continue
    await t.test(page, async t => {
      const task = text.slice(text.indexOf('\n## The calls\n'))
      const calls = task.match(/^(?:\w+=\$\()?(?:ask|npx tollgate) /gm)?.length ?? 0
      t.ok(calls >= 1 && calls <= callsMax, `${calls} calls`)
      const own = join(directory, page.replace('.md', ''))
      await mkdir(own)
      symlinkSync(data, join(own, 'data'))
      await runPage(t, text, own, server.client.url)
    })
  }
  t.equal(await server.end('SIGTERM'), 0)
})
