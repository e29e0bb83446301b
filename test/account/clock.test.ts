import type { Sql } from 'postgres'
import t from 'tap'
import { ServiceClock, testClockTarget } from '../../src/account/clock.js'

const hour = 3_600_000
const wallMs = Date.UTC(2026, 0, 1)

// A store that takes every write, or fails it.
function store(fails = () => false): Sql {
  return (async () => {
    if (fails()) throw new Error('away')
    return []
  }) as unknown as Sql
}

t.test(
  'decision 11 a wish comes to a clock that ticks or stands still, never before the present',
  async t => {
    const instant = (atMs: number, frozen = false) => testClockTarget({ atMs, frozen }, wallMs, wallMs)
    const offset = (offsetMs: number, frozen = false) => testClockTarget({ offsetMs, frozen }, wallMs, wallMs)
    t.same(instant(wallMs + hour), { kind: 'ticking', offsetMs: hour })
    t.same(instant(wallMs + hour, true), { kind: 'frozen', atMs: wallMs + hour })
    t.same(offset(hour), { kind: 'ticking', offsetMs: hour })
    t.same(offset(hour, true), { kind: 'frozen', atMs: wallMs + hour })
    t.same(instant(wallMs), { kind: 'ticking', offsetMs: 0 }, 'the present itself is not earlier')
    t.equal(instant(wallMs - 1), 'earlier')
    t.equal(offset(-1), 'earlier')
    t.equal(
      testClockTarget({ offsetMs: hour, frozen: false }, wallMs + 2 * hour, wallMs),
      'earlier',
      'of a test clock too',
    )
    t.equal(instant(Date.UTC(9999, 0, 1)), 'too_late')
    t.equal(offset(Number.NaN), 'too_late')
  },
)

t.test('the wall clock never goes backwards', async t => {
  let source = wallMs
  const clock = new ServiceClock({ sql: store(), source: () => source })
  t.equal(clock.wall(), wallMs)
  source -= hour
  t.equal(clock.wall(), wallMs)
  t.equal(clock.now('env_1'), wallMs)
  source += 2 * hour
  t.equal(clock.wall(), wallMs + hour)
})

t.test('decision 10 a test clock shifts one environment and DELETE puts it back', async t => {
  let source = wallMs
  const clock = new ServiceClock({ sql: store(), source: () => source })
  const jumps: string[] = []
  clock.onJump(id => jumps.push(id))
  const stored = clock.setTestClock('env_1', { kind: 'ticking', offsetMs: hour })
  t.equal(clock.now('env_1'), wallMs + hour, 'in force before it is stored')
  await stored
  t.equal(clock.now('env_2'), wallMs)
  source += 5
  t.equal(clock.now('env_1'), wallMs + hour + 5, 'goes on ticking')
  await clock.setTestClock('env_1', { kind: 'frozen', atMs: wallMs + 2 * hour })
  source += 5
  t.equal(clock.now('env_1'), wallMs + 2 * hour, 'stands still')
  await clock.setTestClock('env_1', null)
  t.equal(clock.now('env_1'), wallMs + 10)
  t.same(jumps, ['env_1', 'env_1', 'env_1'])
})

t.test('a test clock that could not be stored is not in force', async t => {
  let fails = false
  const clock = new ServiceClock({ sql: store(() => fails), source: () => wallMs })
  await clock.setTestClock('env_1', { kind: 'ticking', offsetMs: hour })
  fails = true
  await t.rejects(clock.setTestClock('env_1', { kind: 'ticking', offsetMs: 2 * hour }), /away/)
  t.equal(clock.now('env_1'), wallMs + hour)
})
