// Output of a test run: each failure with its details, each skip with its reason, and the counts last.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { root } from '../house/source.js'
import { temporaryDirectory } from '../stores.js'

const tap = import.meta.resolve('tap')

/** The lines that a run of one test file prints, its folder left out. */
const told = (text: string, more: Readonly<Record<string, string>> = {}): Promise<readonly string[]> =>
  toldOf({ 'a.test.js': text }, more)

/** The same of several files, one after the other. */
async function toldOf(
  files: Readonly<Record<string, string>>,
  more: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const folder = join(await temporaryDirectory(t), 'test')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}')
  const paths = Object.entries(files).map(([name, text]) => {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `import t from ${JSON.stringify(tap)}\n${text}`)
    return path
  })
  const run = spawnSync(process.execPath, [join(root, 'tools/run-tests.mjs'), ...paths], {
    encoding: 'utf8',
    // places are told from here where that is shorter
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', FORCE_COLOR: '0', TEST_JOBS: '1', ...more },
  })
  return run.stdout.replaceAll(`${folder}/`, '').trimEnd().split('\n')
}

t.test('assertions are counted, not files or groups', async t => {
  const lines = await told(`
    t.test('sums', async t => { t.ok(true, 'one'); t.ok(true, 'two') })
    t.ok(true, 'three')
  `)
  t.match(lines[0], /^ok {5}a\.test\.js \(\d+\.\d s\)$/)
  t.equal(lines[1], '3 passed, 0 failed')
})

t.test('a failure is printed with its place and the difference', async t => {
  const lines = await told(`t.test('sums', async t => { t.equal(3, 2, 'adds up') })`)
  t.ok(lines.includes('FAIL a.test.js > sums > adds up'))
  t.ok(lines.includes('at: a.test.js:2'))
  t.ok(lines.includes('    -2'))
  t.equal(lines.at(-1), '0 passed, 1 failed')
})

t.test('a skip says why; without a reason it counts as failed, and so does what is left to do', async t => {
  const lines = await told(`
    t.test('over Redis', { skip: 'no Redis server is installed' }, () => {})
    t.test('for no reason', { 'skip': true }, () => {})
    t.test('some day', { 'todo': true }, () => {})
    t.ok(true, 'fine')
  `)
  t.ok(lines.includes('skipped: a.test.js > over Redis: no Redis server is installed'))
  t.ok(lines.includes('message: skipped without a reason'))
  t.ok(lines.includes('message: left to do'))
  t.equal(lines.at(-1), '1 passed, 2 failed')
})

t.test('a file that ends badly counts once, though none of its assertions failed', async t => {
  const killed = await told(
    `t.ok(true, 'before'); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 50)`,
  )
  t.ok(killed.includes('signal: SIGKILL'))
  t.equal(killed.at(-1), '1 passed, 1 failed')
  const threw = await told(`t.ok(true, 'before'); throw new Error('not caught')`)
  t.equal(threw.at(-1), '1 passed, 1 failed')
  const left = await told(`t.ok(true, 'before'); process.on('exit', () => { process.exitCode = 3 })`)
  t.equal(left.at(-1), '1 passed, 1 failed')
  const broken = await told('this is no program')
  t.equal(broken.at(-1), '0 passed, 1 failed')
  const empty = await told('')
  t.ok(empty.includes('message: it asserts nothing'))
  t.equal(empty.at(-1), '0 passed, 1 failed')
})

t.test(
  'an error that nothing catches fails its file with its message, alone and in a shared process',
  async t => {
    const throws = `t.test('goes on', async t => {
    t.ok(true, 'before')
    await new Promise(resolve => { setImmediate(() => { setImmediate(resolve); throw new Error('thrown late') }) })
  })`
    const lines = await toldOf({ 'a.test.js': throws, 'b.test.js': `t.ok(true, 'runs')` })
    t.ok(lines.some(line => line.includes('thrown late')))
    t.ok(lines.some(line => /^FAILED a\.test\.js/.test(line)))
    t.match(lines.at(-1), /^2 passed, [1-9]\d* failed$/)
    const rejected = throws
      .replace('throw new Error', 'void Promise.reject')
      .replace("('thrown late')", "(new Error('thrown late'))")
    t.match((await toldOf({ 'a.test.js': rejected })).at(-1), /^1 passed, [1-9]\d* failed$/)
    t.match((await toldOf({ 'faults/a.test.js': throws })).at(-1), /^1 passed, [1-9]\d* failed$/)
  },
)

t.test('a file whose time is over fails, and the run goes on', async t => {
  const lines = await told(`
    t.setTimeout(300)
    t.test('never ends', t => { setInterval(() => {}, 1_000) })
  `)
  t.ok(lines.some(line => line.includes('timeout!')))
  t.match(lines.at(-1), /^0 passed, [1-9]\d* failed$/)
})

t.test('a failure is printed with its rule and with the command that repeats it', async t => {
  const failing = `t.test('EN-91 and decision 26: a trial ends', async t => { t.fail('as the plan says') })`
  const lines = await told(failing, { TOLLGATE_SEED: '17' })
  t.ok(lines.some(line => /^rule: EN-91 \S/.test(line)))
  t.ok(lines.some(line => /^rule: decision 26 \S/.test(line)))
  t.ok(lines.some(line => /^repeat: TOLLGATE_SEED=17 npm test -- .*a\.test\.ts$/.test(line)))
  const elsewhere = await told(failing, { TEST_REPEAT: 'tools/wire-on 22' })
  t.ok(elsewhere.some(line => /^repeat: tools\/wire-on 22 .*a\.test\.ts$/.test(line)))
})

t.test('files share a process, each with teardowns of its own', async t => {
  const told = `t.teardown(() => { globalThis.torn = (globalThis.torn ?? 0) + 1 })
    t.test('here', async t => { t.equal(globalThis.torn ?? 0, WANTED, 'torn down before') })`
  const lines = await toldOf({
    'a.test.js': told.replace('WANTED', '0'),
    'b.test.js': told.replace('WANTED', '1'),
    'faults/c.test.js': told.replace('WANTED', '0'),
  })
  t.equal(lines.at(-1), '3 passed, 0 failed', 'one that is alone begins anew')
})

t.test('files after one that fails or crashes run in a new process', async t => {
  const lines = await toldOf({
    'a.test.js': `t.test('leaves', async t => { globalThis.left = true; t.fail('as said') })`,
    'b.test.js': `t.notOk(globalThis.left, 'nothing is left'); t.ok(true); t.test('ends', () => process.exit(0))`,
    'c.test.js': `t.ok(true, 'runs')`,
  })
  const at = (text: string) => lines.findIndex(line => line.startsWith(text))
  t.ok(at('FAIL a.test.js > leaves > as said') >= 0)
  t.ok(at('FAILED a.test.js') > at('FAIL a.test.js'))
  t.ok(at('FAILED b.test.js') > at('FAIL b.test.js'))
  t.ok(at('ok     c.test.js') > at('FAILED b.test.js'))
  t.match(lines.at(-1), /^3 passed, [2-9] failed$/)
})
