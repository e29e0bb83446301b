// The list of tests that `npm test` leaves to `npm run test:all`, docs/long-tests.md, is true; and so is what a run of it
// takes.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { filesUnder, read, root } from './source.js'

const list = 'docs/long-tests.md'
const rows = [...read(list).matchAll(/^\| `([^`]+)` \| (.*) \| `([^`]+)` \|$/gm)].map(
  ([, file, reason, instead]) => ({ file: file!, reason: reason!.trim(), instead: instead! }),
)
const listed = rows.map(({ file }) => file)
const files = filesUnder(['test'], '.test.ts')

t.test('each row names a test file, once, with its reason and a file that runs in its place', async t => {
  const tableRows = read(list)
    .split('\n')
    .filter(line => line.startsWith('| `'))
  t.ok(rows.length > 0)
  t.equal(rows.length, tableRows.length, 'every row has its three columns')
  t.same(
    listed.filter(file => !files.includes(file)),
    [],
    'files that do not exist',
  )
  t.equal(new Set(listed).size, listed.length, 'each once')
  t.ok(
    rows.every(({ reason }) => reason.length > 0),
    'each with its reason',
  )
  t.same(
    rows.filter(({ instead }) => !files.includes(instead) || listed.includes(instead)),
    [],
    'rows whose subject npm test does not run',
  )
})

t.test('a run takes all files but these, with --all every one, and those that are named', async t => {
  const taken = (...words: readonly string[]) => {
    const run = spawnSync(process.execPath, [join(root, 'tools/test'), '--list', ...words], {
      encoding: 'utf8',
      cwd: root,
    })
    return run.stdout.trimEnd().split('\n').sort()
  }
  t.same(
    taken(),
    files.filter(file => !listed.includes(file)),
  )
  t.same(taken('--all'), files)
  t.same(
    taken('--with', listed[0]!),
    files.filter(file => file === listed[0] || !listed.includes(file)),
  )
  t.same(taken(listed[0]!), [listed[0]])
  const quick = taken('--without-stores')
  t.ok(quick.length > 50 && quick.every(file => files.includes(file) && !listed.includes(file)))
})

t.test('`npm test` runs before a merge, and everything by the command that the page names', async t => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  t.match(scripts, { test: 'tools/test', 'test:all': 'tools/test --all' })
  const merge = read('.ci/run')
  t.match(merge, /^tools\/wire-on --suite /m)
  const named = [...merge.matchAll(/^ {2}(test\/\S+\.test\.ts)/gm)].map(([, file]) => file!)
  t.ok(named.length > 0)
  t.same(
    named.filter(file => !listed.includes(file)),
    [],
    'files that npm test runs anyway',
  )
  t.match(
    read('tools/wire-on'),
    /if \(suite\) await run\('npm test', process\.execPath, \['--with', \.\.\.named\]/,
  )
})
