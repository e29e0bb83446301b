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
// a page that is worked by hand, without commands, has a test of its own
const run = pages.filter(page => read(`docs/tasks/${page}`).includes('```sh\n'))
const callsMax = 5

t.test('the list of tasks has each page', async t => {
  const list = read('docs/tasks/README.md')
  for (const page of pages) t.ok(list.includes(`](${page})`), page)
})

// denied.md (EX-1, EX-2, EX-6, EX-7) and budgets.md (BU-2, BU-3, BU-7) use the same names: each has a Tollgate of its own
const alone = ['denied.md', 'budgets.md']
for (const group of [run.filter(page => !alone.includes(page)), ...alone.map(page => [page])])
  t.test(group.join(', '), { skip }, async t => {
    const directory = await temporaryDirectory(t)
    const data = join(directory, 'data')
    const server = await Process.start(data, { TOLLGATE_BOOTSTRAP_KEY: '' })
    t.teardown(() => server.child.kill('SIGKILL'))
    for (const page of group)
      await t.test(page, async t => {
        const text = read(`docs/tasks/${page}`)
        const calls = callsOf(text)
        if (calls !== null) t.ok(calls >= 1 && calls <= callsMax, `${calls} calls`)
        const own = join(directory, page.replace('.md', ''))
        await mkdir(own)
        symlinkSync(data, join(own, 'data'))
        await runPage(t, text, own, server.client.url)
      })
    t.equal(await server.end('SIGTERM'), 0)
  })

/** The calls of the task, beside those that make the scene; null where each call has a heading of its own. */
function callsOf(text: string): number | null {
  const at = text.indexOf('\n## The calls\n')
  return at < 0 ? null : (text.slice(at).match(/^(?:\w+=\$\()?(?:ask|npx tollgate) /gm)?.length ?? 0)
}
