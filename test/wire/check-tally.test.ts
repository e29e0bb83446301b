// Counts of flag checks: every check is in one row of its company, minute and outcome, whatever order they came in.
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { compileCatalog } from '../../src/core/catalog.js'
import type { SeenUsers } from '../../src/core/model/message.js'
import type { Outcome } from '../../src/core/rules/rule.js'
import { minuteMs } from '../../src/core/values/period.js'
import { CheckTally, countsDueMs } from '../../src/wire/check-tally.js'
import { FlagChecks } from '../../workers/shard/checks/checks.js'
import { catalogData, flag } from '../core/make.js'
import { Random } from '../random.js'

let made = 0
const outcome = (flag: string, value: boolean, reason = 'r'): Outcome => ({
  of: {},
  flag,
  flagId: `flag_${flag}`,
  value,
  reason,
  ruleId: null,
  json: JSON.stringify({ flag, value, reason }),
  // few, so that hashes of lists collide
  serial: ++made % 4,
})

const keyOf = (row: Record<string, unknown>) =>
  [row.environment_id, row.company_id, row.flag_key, row.minute, row.value, row.reason].join(' ')

function taken(tally: CheckTally, atOnce: number): Map<string, number> {
  const sums = new Map<string, number>()
  while (!tally.isEmpty)
    for (const text of tally.take(atOnce)) {
      const row = JSON.parse(text)
      sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0) + row.checks)
    }
  return sums
}

t.test('FE-101 sums of single checks and of checks of all flags are those of a plain count', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  for (let round = 0; round < 15; round++) {
    const tally = new CheckTally()
    const plain = new Map<string, number>()
    const flags = Array.from({ length: 1 + random.below(60) }, (_, i) => `f${i}`)
    for (let step = 0; step < 400; step++) {
      const env = random.pick(['env_a', 'env_b'])
      const company = random.pick(['', 'comp_1', 'comp_2', 'comp_3'])
      const atMs = random.below(3) * minuteMs + random.below(minuteMs)
      const note = (one: ReturnType<typeof outcome>) => {
        const minute = Math.floor(atMs / minuteMs) * 60
        const key = keyOf({
          environment_id: env,
          company_id: company,
          flag_key: one.flag,
          minute,
          value: one.value,
          reason: one.reason,
        })
        plain.set(key, (plain.get(key) ?? 0) + 1)
      }
      if (random.chance(0.5)) {
        const one = outcome(random.pick(flags), random.chance(0.5), random.pick(['r', 'a "quoted" one']))
        tally.add(env, company, one, atMs)
        note(one)
      } else {
        const all = flags.map(flag => outcome(flag, random.chance(0.9)))
        tally.addAll(env, company, all, atMs)
        for (const one of all) note(one)
      }
    }
    t.strictSame(taken(tally, 1 + random.below(200)), plain)
  }
})

t.test('a table that is full counts on what it has', async t => {
  const tally = new CheckTally()
  const one = outcome('f', true)
  for (let company = 0; company < 200_000; company++) tally.add('env', `comp_${company}`, one, 0)
  t.ok(tally.isFull)
  for (let i = 0; i < 5; i++) tally.add('env', 'comp_0', one, 0)
  const sums = taken(tally, 10_000)
  t.equal(sums.size, (1 << 17) * 0.75)
  t.equal(sums.get('env comp_0 f 0 true r'), 6)
})

t.test('a shard’s counts are reported when it ends', async t => {
  const checks = new FlagChecks('run')
  const told: unknown[] = []
  checks.report(0, true, one => told.push(one))
  t.same(told, [], 'nothing gathered')
})

t.test('FE-101 many counts are reported once a minute, few every ten seconds', async t => {
  for (const [companies, dueMs] of [
    [100, 10_000],
    [200, 60_000],
  ] as const) {
    const tally = new CheckTally()
    const all = Array.from({ length: 50 }, (_, i) => outcome(`f${i}`, true))
    for (let i = 0; i < companies; i++) for (const _ of [1, 2]) tally.addAll('env_a', `comp_${i}`, all, 0)
    t.equal(tally.rowCount, companies * 50)
    t.equal(countsDueMs(tally), dueMs)
  }
})

t.test(
  'FE-103 times of many users are reported in parts, each once, and all of them when the shard ends',
  async t => {
    const flags = [flag('f', { defaultValue: true })]
    const catalog = compileCatalog(catalogData({ environmentId: 'env_a', flags }))
    const seen = (checks: FlagChecks, from: number, to: number) => {
      for (let i = from; i < to; i++) {
        const context = {
          companyGiven: false,
          userGiven: true,
          asked: '{}',
          userId: `user_${i}`,
          userTraits: null,
        }
        checks.one(catalog, null, { type: 'check', timed: false, flagKey: 'f', context, preflight: null }, i)
      }
    }
    for (const all of [false, true]) {
      const checks = new FlagChecks('run')
      const parts: (readonly SeenUsers[])[] = []
      const report = () => checks.report(0, all, ({ users }) => parts.push(users))
      const told = () =>
        parts
          .flat()
          .flatMap(({ environmentId, ids, atMs }) => ids.map((id, i) => `${environmentId} ${id} ${atMs[i]}`))
      seen(checks, 0, 2_500)
      report()
      if (!all) {
        t.equal(told().length, 1_000, 'the rest follows in later turns')
        seen(checks, 2_500, 2_510)
        while (told().length < 2_500) await nextTurn()
        report()
      } else t.equal(told().length, 2_500, 'the rest does not wait')
      while (told().length < (all ? 2_500 : 2_510)) await nextTurn()
      t.ok(parts.every(users => users.reduce((sum, { ids }) => sum + ids.length, 0) <= 1_000))
      t.same(new Set(told()), new Set(Array.from(told(), (_, i) => `env_a user_${i} ${i}`)), 'each once')
    }
  },
)
