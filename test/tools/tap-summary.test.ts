// What a run of the tests says: each failure with its details, each skip with its reason, and the counts last.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { root } from '../house/source.js'

/** The lines the reporter prints for a TAP stream. */
function summary(tap: string, more: Readonly<Record<string, string>> = {}): readonly string[] {
  const env = { PATH: process.env.PATH ?? '', ...more }
  const told = spawnSync(process.execPath, [join(root, 'tools/tap-summary.mjs')], {
    input: tap,
    encoding: 'utf8',
    env,
  })
  t.equal(told.stderr, '')
  return told.stdout.trimEnd().split('\n')
}

t.test('assertions are counted, not files or groups', async t => {
  const lines = summary(`TAP version 14
# Subtest: a.test.js
    # Subtest: sums
        ok 1 - one
        ok 2 - two
        1..2
    ok 1 - sums # time=1ms
    ok 2 - three
    1..2
ok 1 - a.test.js # time=1500ms
1..1
`)
  t.same(lines, ['ok     a.test.js (1.5 s)', '3 passed, 0 failed'])
})

t.test('a failure is told with where it is and what differs', async t => {
  const lines = summary(`TAP version 14
# Subtest: a.test.js
    # Subtest: sums
        not ok 1 - adds up
          ---
          diff: |
            -3
            +2
          at:
            fileName: a.ts
            lineNumber: 7
          ...
        1..1
    not ok 1 - sums # time=1ms
    1..1
not ok 1 - a.test.js # time=10ms
1..1
`)
  t.ok(lines.includes('FAIL a.test.js > sums > adds up'))
  t.ok(lines.includes('at: a.ts:7'))
  t.ok(lines.includes('    -3'))
  t.equal(lines.at(-1), '0 passed, 1 failed')
})

t.test('a skip says why; without a reason it counts as failed, and so does what is left to do', async t => {
  const lines = summary(`TAP version 14
# Subtest: a.test.js
    ok 1 - over Redis # SKIP no Redis server is installed
    ok 2 - for no reason # SKIP
    not ok 3 - some day # todo
    ok 4 - fine
    1..4
ok 1 - a.test.js # time=1ms
1..1
`)
  t.ok(lines.includes('skipped: a.test.js > over Redis: no Redis server is installed'))
  t.ok(lines.includes('message: skipped without a reason'))
  t.equal(lines.at(-1), '1 passed, 2 failed')
})

t.test('a file that crashed counts once, though none of its assertions failed', async t => {
  const lines = summary(`TAP version 14
# Subtest: a.test.js
    ok 1 - before the crash
    1..1
not ok 1 - a.test.js # time=1ms
  ---
  signal: SIGSEGV
  ...
1..1
`)
  t.ok(lines.includes('signal: SIGSEGV'))
  t.equal(lines.at(-1), '1 passed, 1 failed')
})

t.test('a failure is told with its rule and with the command that repeats it', async t => {
  const failed = `TAP version 14
# Subtest: dist/test/core/a.test.js
    # Subtest: EN-91 and decision 26: a trial ends
        not ok 1 - as the plan says
        1..1
    not ok 1 - EN-91 and decision 26: a trial ends # time=1ms
    1..1
not ok 1 - dist/test/core/a.test.js # time=10ms
1..1
`
  const lines = summary(failed, { TOLLGATE_SEED: '17' })
  t.ok(lines.some(line => /^rule: EN-91 \S/.test(line)))
  t.ok(lines.some(line => /^rule: decision 26 \S/.test(line)))
  t.ok(lines.includes('repeat: TOLLGATE_SEED=17 npm test -- test/core/a.test.ts'))
  t.ok(
    summary(failed, { TAP_REPEAT: 'tools/wire-on 22' }).includes(
      'repeat: tools/wire-on 22 test/core/a.test.ts',
    ),
  )
})
