// Grants that renew (decision 30): beside what is left, each with an end of its own, exact at every instant.

import t from 'tap'
import { due, figures } from '../../../src/core/credits/balance.js'
import { decodeAccount, encodeAccount } from '../../../src/core/credits/ledger-json.js'
import { followPlan } from '../../../src/core/credits/plan-grant.js'
import type { BillingPeriod, CreditConfig } from '../../../src/core/model/account-state.js'
import { addMonthsClamped } from '../../../src/core/values/period.js'
import { randomOf } from '../../laws/credit-history.js'
import { seed } from '../../random.js'
import { configOf, creditId, dayMs, planGrant, startMs, World } from '../credit-world.js'

const nano = 1_000_000_000n
const renewing = (renewalPeriod: 'billing_period' | 'first_of_month', more: object = {}) => ({
  def: planGrant({ resetType: 'no_reset', renewalPeriod, expiryType: 'no_expiry', ...more }),
  planId: 'plan_1',
  versionId: 'plvr_1',
  licences: 0,
})

/** Take the plan now, in a world with this configuration. */
function onPlan(held: ReturnType<typeof renewing>, changes: Partial<CreditConfig> = {}): World {
  const world = new World(configOf(changes))
  world.apply(followPlan(world.account, world.config, [held], world.nowMs))
  return world
}

function at(world: World, nowMs: number): bigint {
  world.nowMs = nowMs
  world.bringUp()
  world.check()
  return world.figures().remaining / nano
}

t.test('decision 30 a plan grant renews beside what is left, and each has its own end', async t => {
  const world = onPlan(
    renewing('first_of_month', { expiryType: 'duration', expiryUnit: 'days', expiryUnitCount: 45 }),
  )
  const on = (month: number, day = 1, hour = 0) => Date.UTC(2026, month - 1, day, hour)
  t.equal(at(world, startMs), 50n, '31 January')
  world.draw(30n * nano)
  t.equal(at(world, on(2) - 1), 20n)
  t.equal(at(world, on(2)), 70n, 'nothing is reset or zeroed')
  t.equal(at(world, on(3)), 120n)
  t.equal(at(world, startMs + 45 * dayMs - 1), 120n)
  t.equal(at(world, startMs + 45 * dayMs), 100n, 'the first has ended with what was left of it')
  t.equal(at(world, on(3, 18)), 50n, 'the second')
  t.equal(world.account.enrolments[0]!.issuedAtMs, on(3))
})

t.test(
  'decision 30 boundaries of billing periods: of the subscription, else of months since the first grant',
  async t => {
    const alone = onPlan(renewing('billing_period'))
    t.equal(at(alone, Date.UTC(2026, 1, 28, 9) - 1), 50n)
    t.equal(at(alone, Date.UTC(2026, 1, 28, 9)), 100n, 'the 31st, clamped')
    t.equal(at(alone, Date.UTC(2026, 2, 31, 9)), 150n, 'and restored')

    const period = { startMs: Date.UTC(2026, 0, 15), endMs: Date.UTC(2026, 3, 15), intervalMonths: 3 }
    const quarterly = onPlan(renewing('billing_period'), { period })
    t.equal(at(quarterly, period.endMs - 1), 50n)
    t.equal(at(quarterly, period.endMs), 100n)
    t.equal(
      at(quarterly, Date.UTC(2026, 6, 15)),
      150n,
      'no renewal is told: the period goes on at its interval',
    )

    const joined = onPlan(renewing('billing_period'))
    const begins = { startMs: Date.UTC(2026, 1, 10), endMs: Date.UTC(2026, 2, 10), intervalMonths: 1 }
    at(joined, begins.startMs + dayMs)
    joined.config = { ...joined.config, period: begins }
    const held = renewing('billing_period')
    joined.apply(followPlan(joined.account, joined.config, [held], joined.nowMs))
    t.same(followPlan(joined.account, joined.config, [held], joined.nowMs), [], 'once')
    t.equal(at(joined, joined.nowMs), 100n, 'a period that began a day ago begins with its credits')
    t.equal(at(joined, begins.endMs - 1), 100n, 'the month that was foreseen is no boundary any more')
    t.equal(at(joined, begins.endMs), 150n)
  },
)

t.test('CR-39 leaving the plan ends all its renewals', async t => {
  const held = renewing('first_of_month')
  const world = onPlan(held)
  at(world, Date.UTC(2026, 2, 2))
  world.apply(followPlan(world.account, world.config, [], world.nowMs))
  t.equal(at(world, world.nowMs), 0n)
  world.apply(followPlan(world.account, world.config, [held], world.nowMs))
  t.equal(at(world, world.nowMs), 50n, 'decision 33: those of this window')
  t.equal(at(world, Date.UTC(2026, 3, 1)), 100n, 'again at the next boundary')
  world.apply(followPlan(world.account, world.config, [], world.nowMs))
  t.equal(at(world, Date.UTC(2026, 8, 1)), 0n)
})

t.test(
  'decision 30 new terms count from the next boundary; a renewal that is taken away gives no more',
  async t => {
    const world = onPlan(renewing('first_of_month'))
    world.apply(
      followPlan(world.account, world.config, [renewing('first_of_month', { creditAmount: 7 })], world.nowMs),
    )
    t.equal(at(world, Date.UTC(2026, 1, 1)), 57n)
    const once = renewing('first_of_month', { creditAmount: 7, renewalPeriod: null })
    world.apply(followPlan(world.account, world.config, [once], world.nowMs))
    t.equal(at(world, Date.UTC(2026, 6, 1)), 57n)
    world.apply(
      followPlan(world.account, world.config, [renewing('first_of_month', { creditAmount: 7 })], world.nowMs),
    )
    t.equal(at(world, world.nowMs), 57n, 'what was missed meanwhile is not made up')
    t.equal(at(world, Date.UTC(2026, 7, 1)), 64n)
  },
)

t.test('decision 30 grants by hand renew until one of theirs is zeroed out', async t => {
  const world = new World(configOf())
  const asked = {
    type: 'credit_grant',
    creditId,
    reason: 'purchased',
    quantity: 10,
    count: 2,
    validFromMs: null,
    expiresAtMs: null,
    expiry: { type: 'duration', unit: 'billing_periods', count: 2 },
    bundleId: null,
    renewal: 'first_of_month',
  } as const
  const reply = world.ask(asked)
  if (reply?.type !== 'grants') throw new Error('no grants')
  t.equal(reply.grants.length, 2)
  t.equal(at(world, Date.UTC(2026, 1, 1)), 40n)
  t.equal(at(world, Date.UTC(2026, 2, 1)), 60n)
  t.equal(at(world, Date.UTC(2026, 2, 31, 9)), 40n, 'two months after the first')
  const snapshot = JSON.stringify(encodeAccount(world.account))
  t.same(encodeAccount(decodeAccount(JSON.parse(snapshot))), JSON.parse(snapshot), 'kept in snapshots')
  world.ask({ type: 'credit_zero_out', creditId, grantId: reply.grants[0]!.id, reason: 'manual' })
  t.same(world.account.renewals, [], 'an end, though that one was over already')
  t.equal(at(world, Date.UTC(2026, 3, 1) - 1), 40n)
  t.equal(at(world, Date.UTC(2026, 3, 1)), 20n, 'no more are given')
})

t.test('decision 30 at any instant there is what a plain count of boundaries says', async t => {
  t.comment(`seed ${seed}`)
  const random = randomOf(seed)
  for (let round = 0; round < 300; round++) {
    const kind = random(2) === 0 ? 'billing_period' : 'first_of_month'
    const months = [1, 3, 12][random(3)]!
    const beganMs = startMs - random(40) * dayMs
    const period: BillingPeriod | null =
      random(2) === 0
        ? null
        : { startMs: beganMs, endMs: addMonthsClamped(beganMs, months), intervalMonths: months }
    const days = random(3) === 0 ? null : 1 + random(90)
    const lasts =
      days === null
        ? { expiryType: 'no_expiry' }
        : { expiryType: 'duration', expiryUnit: 'days', expiryUnitCount: days }
    const world = onPlan(renewing(kind, lasts), { period })
    const nowMs = startMs + random(400) * dayMs + random(dayMs)
    const given = [startMs]
    for (let i = 1; ; i++) {
      const next =
        kind === 'first_of_month'
          ? Date.UTC(2026, i, 1)
          : period === null
            ? addMonthsClamped(startMs, i)
            : addMonthsClamped(beganMs, i * months)
      if (next > nowMs) break
      if (next > startMs) given.push(next)
    }
    const expected = given.filter(one => days === null || nowMs < one + days * dayMs).length * 50
    const read = figures(world.account, world.config, nowMs).remaining
    if (read !== BigInt(expected) * nano) return t.fail(`round ${round}: ${read / nano}, not ${expected}`)
    const jumped = due(world.account, world.config, nowMs).filter(({ t }) => t === 'credit_grant').length
    while (world.nowMs < nowMs) {
      world.nowMs = Math.min(nowMs, world.nowMs + (1 + random(50)) * dayMs)
      world.bringUp()
      world.check()
    }
    const swept = world.effects.filter(effect => effect.t === 'credit_grant').length - 1
    if (swept !== jumped || swept !== given.length - 1)
      return t.fail(`round ${round}: swept often ${swept}, at once ${jumped}, boundaries ${given.length - 1}`)
    if (at(world, nowMs) !== BigInt(expected)) return t.fail(`round ${round}: swept otherwise`)
  }
})
