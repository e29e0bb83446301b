// The credit core against the specification's cases and rules: grants, burn order, plan grants, draws, the ledger.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { archive, arrearsCloseMs, nextDueMs } from '../../../src/core/credits/balance.js'
import { creditConfig, spendCap } from '../../../src/core/credits/config.js'
import { billingPeriodEnd, expiryOf, resetAfter } from '../../../src/core/credits/grant.js'
import { draftOf } from '../../../src/core/credits/ledger.js'
import { followPlan } from '../../../src/core/credits/plan-grant.js'
import { sharesOf } from '../../../src/core/credits/plan-window.js'
import { giveGrant } from '../../../src/core/credits/repayment.js'
import type {
  CreditConfig,
  CreditMessage,
  NewGrant,
  TopupConfig,
} from '../../../src/core/model/account-state.js'
import type { CreditDef } from '../../../src/core/model/definitions.js'
import { amountFromNumber, amountToNumber } from '../../../src/core/values/amount.js'
import { run, type Scenario } from '../credit-scenario.js'
import { configOf, creditId, dayMs, overdraftOf, planGrant, startMs, World } from '../credit-world.js'

const vectors = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/conformance-vectors.json', import.meta.url), 'utf8'),
)

const ms = (text: string | null): number | null => (text === null ? null : Date.parse(text))
const iso = (atMs: number | null): string | null =>
  atMs === null ? null : new Date(atMs).toISOString().replace('.000Z', 'Z')

t.test('credit scenarios of the conformance cases', async t => {
  for (const scenario of vectors.credit_scenarios as Scenario[]) {
    const expected = { steps: scenario.steps.map(step => step.expect), final: scenario.final }
    t.same(run(scenario), expected, scenario.id)
  }
})

t.test('reset times of the conformance cases (CR-40)', async t => {
  for (const { id, input, expected } of vectors.credit_reset_time) {
    const enrolledAtMs = Date.parse(input.enrolled_at)
    const anchorMs = ms(input.period_start) ?? enrolledAtMs
    const next = resetAfter(
      input.reset_cadence,
      input.reset_start,
      enrolledAtMs,
      anchorMs,
      Date.parse(input.now),
    )
    t.equal(iso(next), expected.next_reset, id)
  }
})

t.test('expiry dates of the conformance cases (CR-32)', async t => {
  for (const { id, input, expected } of vectors.credit_expiry) {
    const { subscription } = input
    const period =
      subscription === null
        ? null
        : {
            startMs: Date.parse(subscription.period_start),
            endMs: Date.parse(subscription.period_end),
            intervalMonths: subscription.interval_months,
          }
    const rule = {
      type: input.expiry_type,
      unit: input.expiry_unit ?? null,
      count: input.expiry_unit_count ?? null,
    }
    const end = expiryOf(rule, Date.parse(input.granted_at), period, ms(input.trial_end ?? null))
    t.equal(end === 'no_trial' ? end : iso(end), expected.expires_at, id)
  }
})

t.test('licence scaling of the conformance cases (CR-35)', async t => {
  for (const { id, input, expected } of vectors.credit_license_scaling) {
    const def = planGrant({
      scaling: input.scaling,
      creditAmount: input.credit_amount,
      companyCreditAmount: input.company_credit_amount,
    })
    const world = on(configOf())
    world.follow([{ def, licences: input.licenses }])
    const records = world.account.grants.length
    t.same({ total_granted: world.whole().total, grant_records: records }, expected, id)
  }
})

const topupOf = (changes: Partial<TopupConfig> = {}): TopupConfig => ({
  availability: 'automatic',
  amount: 500,
  thresholdCredits: 100,
  thresholdPercent: null,
  planGrantId: 'pcgr_1',
  expiry: { type: 'no_expiry', unit: null, count: null },
  atOnce: true,
  priced: true,
  ...changes,
})

t.test('automatic top-ups of the conformance cases (CR-55)', async t => {
  for (const { id, input, expected } of vectors.auto_topup) {
    const chosen = String(input.availability).startsWith('user_controlled')
    const config = configOf({
      topup: topupOf({
        availability: chosen ? 'user_controlled' : input.availability,
        amount: input.amount,
        thresholdCredits: input.threshold_credits,
        thresholdPercent: input.threshold_percent,
      }),
    })
    const world = on(config)
    if (chosen) world.settings(input.availability === 'user_controlled_enabled')
    const before = input.plan_grant_quantity || input.balance_after_draw + 1
    world.give({ reason: 'plan', q: before * 1e9, pg: 'pcgr_1' })
    world.use(amountFromNumber(before - input.balance_after_draw), null, null)
    const fires = world.account.grants.some(grant => grant.reason === 'billing_credit_auto_topup')
    t.same({ fires, balance_after: world.whole().remaining }, expected, id)
  }
})

/** A world with short words for what these tests do often; figures and amounts in whole credits. */
class Desk extends World {
  at(text: string): this {
    this.nowMs = Date.parse(text)
    this.bringUp()
    this.check()
    return this
  }

  /** A grant of any reason, as the service makes them. */
  give(g: NewGrant): number {
    const draft = draftOf(this.account)
    const seq = giveGrant(draft, g, this.nowMs)
    this.apply(draft.effects)
    return seq
  }

  grant(quantity: number, changes: Partial<Extract<CreditMessage, { type: 'credit_grant' }>> = {}) {
    const reply = this.ask({
      type: 'credit_grant',
      creditId,
      reason: 'free',
      quantity,
      count: 1,
      validFromMs: null,
      expiresAtMs: null,
      expiry: null,
      bundleId: null,
      ...changes,
    })
    this.check()
    return reply?.type === 'grants' ? reply.grants[0]! : null
  }

  spend(credits: number) {
    const decision = this.use(amountFromNumber(credits), null, null)
    this.check()
    return decision
  }

  settings(enabled: boolean, amount: number | null = null, thresholdCredits: number | null = null): void {
    this.ask({ type: 'credit_topup_settings', creditId, settings: { enabled, amount, thresholdCredits } })
  }

  follow(
    held: readonly { def: ReturnType<typeof planGrant>; licences?: number; versionId?: string }[],
  ): void {
    const full = held.map(({ def, licences = 0, versionId = 'plvr_1' }) => ({
      def,
      licences,
      versionId,
      planId: 'plan_1',
    }))
    this.apply(followPlan(this.account, this.config, full, this.nowMs))
    this.check()
  }

  whole() {
    const { remaining, reserved, settled, total } = this.figures()
    return {
      remaining: amountToNumber(remaining),
      reserved: amountToNumber(reserved),
      settled: amountToNumber(settled),
      total: amountToNumber(total),
    }
  }

  get remaining(): number {
    return this.whole().remaining
  }

  /** Reasons and whole credits left, oldest first. */
  get left(): [string, number][] {
    return this.account.grants.map(grant => [grant.reason, amountToNumber(grant.remaining)])
  }

  /** Sums of ledger amounts by reason of zero-out. */
  get writtenOffFor(): Record<string, number> {
    const sums: Record<string, number> = {}
    for (const { zeroedOutReason, amount } of this.entries) {
      if (zeroedOutReason !== null)
        sums[zeroedOutReason] = (sums[zeroedOutReason] ?? 0) - amountToNumber(amount)
    }
    return sums
  }
}

function on(config: CreditConfig = configOf()): Desk {
  return new Desk(config)
}

t.test('CR-3, CR-10 what callers may grant', async t => {
  const world = on()
  for (const quantity of [0, -1, 1.5, Number.NaN]) {
    t.equal(world.grant(quantity), null)
    t.equal(world.lastRefusal, 'amount_invalid', `quantity ${quantity}`)
  }
  for (const reason of ['plan', 'rollover', 'billing_credit_auto_topup', 'postpaid_overdraft'] as const) {
    t.equal(world.grant(1, { reason }), null, `${reason} is the service's own`)
  }
  for (const reason of ['free', 'purchased', 'adjustment'] as const) t.ok(world.grant(1, { reason }), reason)
})

t.test('CR-4, CR-5 the figures: a hold moves remaining to reserved; a use moves neither total', async t => {
  const world = on()
  world.grant(100)
  world.acquire(amountFromNumber(30))
  t.same(world.whole(), { remaining: 70, reserved: 30, settled: 100, total: 100 })
  world.spend(20)
  t.same(world.whole(), { remaining: 50, reserved: 30, settled: 80, total: 100 })
})

t.test('CR-5, CR-12 an exhausted grant counts in the total until it ends or is zeroed', async t => {
  const world = on().at('2026-03-01T00:00:00Z')
  world.grant(10, { expiresAtMs: Date.parse('2026-03-10T00:00:00Z') })
  const endless = world.grant(10)!
  world.spend(20)
  t.same(world.account.grants, [], 'burning does not look at it again')
  t.equal(world.whole().total, 20)
  world.at('2026-03-10T00:00:00Z')
  t.equal(world.whole().total, 10)
  world.ask({ type: 'credit_zero_out', creditId, grantId: endless.id, reason: 'manual' })
  t.equal(world.whole().total, 0)
  world.ask({ type: 'credit_zero_out', creditId, grantId: endless.id, reason: 'manual' })
  t.equal(world.lastRefusal, 'grant_not_found', 'gone from memory; its row tells the rest')
})

t.test('CR-5 exhausted grants that have ended are forgotten', async t => {
  const world = on()
  for (let i = 0; i < 100; i++) {
    world.grant(1, { expiresAtMs: world.nowMs + 5 * dayMs })
    world.spend(1)
    world.nowMs += dayMs
    world.bringUp()
  }
  t.equal(world.account.spent.length, 5)
  t.equal(world.whole().total, 4)
})

t.test('CR-5 the total of many exhausted grants is kept when they are no longer kept one by one', async t => {
  const world = on()
  for (let i = 0; i < 200; i++) {
    world.grant(1)
    world.spend(1)
  }
  t.equal(world.whole().total, 200)
  t.equal(world.account.spent.length, 64)
})

t.test('CR-6 a ledger kept elsewhere: uses are recorded, grants do not move, holds are refused', async t => {
  const world = on(configOf({ ledgerAuthority: 'external_mirror' }))
  world.grant(10)
  const decision = world.use(amountFromNumber(4), null, null)
  t.equal(decision.applied, 'external')
  t.equal(world.remaining, 10)
  const entry = world.entries.at(-1)!
  t.match(entry, { type: 'usage', usageReason: 'track', grantId: null, amount: 0n, consumed: 4_000_000_000n })
  world.acquire(1n)
  t.equal(world.lastRefusal, 'credit_external')
  world.reserve('a', 1n)
  t.equal(world.lastRefusal, 'credit_external')
  world.ask({ type: 'credit_external_balance', creditId, remaining: 7_000_000_000n, total: 9_000_000_000n })
  t.same(world.whole(), { remaining: 7, reserved: 0, settled: 7, total: 9 })
})

t.test('CR-13 a purchase makes one grant per bundle bought', async t => {
  const world = on()
  world.grant(100, { reason: 'purchased', count: 3, bundleId: 'bcbn_1' })
  t.same(world.left, [
    ['purchased', 100],
    ['purchased', 100],
    ['purchased', 100],
  ])
  t.same(new Set(world.entries.map(entry => entry.grant?.bundleId)), new Set(['bcbn_1']))
  t.equal(world.grant(1, { count: 1001 }), null)
})

t.test(
  'CR-22 adjustments and rollovers burn oldest first, also when the rest burns newest first',
  async t => {
    const world = on(configOf({ burnStrategy: 'last_in_first_out' }))
    for (const reason of ['rollover', 'adjustment', 'free'] as const) {
      for (const q of [1e9, 2e9]) world.give({ reason, q })
    }
    const reasonOf = new Map(world.entries.map(entry => [entry.grantId, entry.grant!.reason]))
    world.spend(9)
    t.same(
      world.entries.slice(6).map(entry => [reasonOf.get(entry.grantId!), amountToNumber(entry.consumed)]),
      [
        ['adjustment', 1],
        ['adjustment', 2],
        ['rollover', 1],
        ['rollover', 2],
        ['free', 2],
        ['free', 1],
      ],
    )
  },
)

t.test('CR-24 another strategy counts for later draws; open holds keep what they took', async t => {
  const world = on(configOf({ burnStrategy: 'first_in_first_out' }))
  const [old, young] = [world.give({ reason: 'free', q: 10e9 }), world.give({ reason: 'free', q: 10e9 })]
  world.acquire(amountFromNumber(5))
  world.config = configOf({ burnStrategy: 'last_in_first_out' })
  world.spend(3)
  world.commit(amountFromNumber(2))
  const of = (seq: number) => world.account.grants.find(grant => grant.seq === seq)!
  t.equal(of(old).held, 3_000_000_000n)
  t.equal(of(young).remaining, 7_000_000_000n)
})

t.test('decision 17: by expiry, a resetting plan grant burns last', async t => {
  const world = on(configOf({ burnStrategy: 'expiration_priority' })).at('2026-02-10T00:00:00Z')
  world.follow([{ def: planGrant({ resetCadence: 'daily' }) }])
  world.grant(10, { expiresAtMs: Date.parse('2030-01-01T00:00:00Z') })
  world.spend(15)
  t.same(world.left, [['plan', 45]])
})

t.test('CR-30, CR-31 a grant is worth something from valid_from up to, not at, expires_at', async t => {
  const world = on().at('2026-03-01T00:00:00Z')
  world.grant(5, {
    validFromMs: Date.parse('2026-03-02T00:00:00Z'),
    expiresAtMs: Date.parse('2026-03-03T00:00:00Z'),
  })
  for (const [at, worth] of [
    ['02T00:00:00.000Z', 5],
    ['01T23:59:59.999Z', 0],
    ['02T23:59:59.999Z', 5],
    ['03T00:00:00.000Z', 0],
  ] as const) {
    world.nowMs = Date.parse(`2026-03-${at}`)
    t.same(world.whole(), { remaining: worth, reserved: 0, settled: worth, total: worth }, at)
  }
  t.equal(nextDueMs(world.account, world.config), Date.parse('2026-03-03T00:00:00Z'), 'a timer can be set')
  world.bringUp()
  t.same(world.writtenOffFor, { expired: 5 }, 'CR-33 what is unspent is written off')
  t.equal(world.entries.at(-1)!.atMs, Date.parse('2026-03-03T00:00:00Z'), 'at the instant it ended')
})

t.test(
  'CR-32, CR-34 a grant that names no expiry has the credit’s; the end of a trial needs one',
  async t => {
    const credit: CreditDef = {
      id: creditId,
      name: 'Credits',
      burnStrategy: 'first_in_first_out',
      ledgerAuthority: 'service_authoritative',
      defaultExpiryUnit: 'days',
      defaultExpiryUnitCount: 30,
      defaultRolloverPolicy: 'none',
    }
    const world = on(creditConfig(credit, [], null, null, null, null))
    t.equal(world.grant(1)!.expiresAtMs, startMs + 30 * dayMs)
    t.equal(world.grant(1, { expiry: { type: 'no_expiry', unit: null, count: null } })!.expiresAtMs, null)
    t.equal(
      world.grant(1, { expiresAtMs: startMs + 1, expiry: { type: 'no_expiry', unit: null, count: null } })!
        .expiresAtMs,
      startMs + 1,
    )
    t.equal(world.grant(1, { expiry: { type: 'end_of_trial', unit: null, count: null } }), null)
    t.equal(world.lastRefusal, 'no_trial')
    t.equal(world.grant(1, { expiresAtMs: startMs }), null)
    t.equal(world.lastRefusal, 'expiry_invalid')
  },
)

t.test(
  'CR-32 a plan grant that would end with a trial ends with the billing period when there is none',
  async t => {
    const world = on()
    world.follow([
      { def: planGrant({ resetType: 'no_reset', resetCadence: null, expiryType: 'end_of_trial' }) },
    ])
    t.equal(iso(world.account.grants[0]!.expiresAtMs), '2026-02-01T00:00:00Z')
  },
)

t.test('CR-32 a period that has run out is carried on at its own interval', async t => {
  const startAt = Date.parse('2026-01-31T00:00:00Z')
  const period = { startMs: startAt, endMs: Date.parse('2026-02-28T00:00:00Z'), intervalMonths: 1 }
  const end = (granted: string, n: number, changes = {}) =>
    iso(billingPeriodEnd({ ...period, ...changes }, Date.parse(granted), n))!.slice(0, 10)
  t.equal(end('2026-02-27T23:59:59.999Z', 1), '2026-02-28')
  t.equal(end('2026-02-28T00:00:00Z', 1), '2026-03-31')
  t.equal(end('2027-04-15T00:00:00Z', 1), '2027-04-30')
  t.equal(end('2027-04-30T00:00:00Z', 2), '2027-06-30')
  t.equal(end('2025-12-01T00:00:00Z', 1), '2026-02-28', 'before it began it counts as the current')
  const odd = { endMs: Date.parse('2026-03-10T00:00:00Z') }
  t.equal(end('2026-03-15T00:00:00Z', 1, odd), '2026-04-10', 'an odd first end goes on from itself')
  const days = { endMs: startAt + 10 * dayMs, intervalMonths: 0 }
  t.equal(end('2026-02-10T00:00:00Z', 1, days), '2026-02-20', 'periods of days go on by their length')
  t.equal(end('2026-02-01T00:00:00Z', 2, days), '2026-02-20')
})

t.test('CR-32 dates do not move when the subscription does', async t => {
  const world = on()
  const rule = { type: 'end_of_billing_period', unit: null, count: null } as const
  const before = world.grant(1, { expiry: rule })!.expiresAtMs
  world.config = configOf({ period: { startMs, endMs: startMs + 90 * dayMs, intervalMonths: 3 } })
  world.at('2026-01-31T10:00:00Z')
  t.equal(world.account.grants[0]!.expiresAtMs, before)
})

const seats = planGrant({
  scaling: 'per_license',
  creditAmount: 1000,
  companyCreditAmount: 2000,
  licenseId: 'lice_1',
})

t.test('CR-36 a licence added brings its credits at once, one removed takes its grant away', async t => {
  const world = on()
  world.follow([{ def: seats, licences: 5 }])
  t.equal(world.remaining, 7000)
  world.at('2026-02-10T00:00:00Z').follow([{ def: seats, licences: 7 }])
  t.equal(world.remaining, 9000)
  world.spend(2500)
  world.follow([{ def: seats, licences: 4 }])
  t.same(world.writtenOffFor, { license_retired: 3000 })
  t.equal(world.remaining, 3500)
  world.at('2026-02-28T09:00:00Z')
  t.equal(world.remaining, 6000, 'and the next reset issues for those that are left')
  t.same(sharesOf(seats, 0), [{ quantity: 2000, licence: null }])
})

t.test('CR-37 another scaling takes back and issues anew', async t => {
  const world = on()
  world.follow([{ def: seats, licences: 2 }])
  world.spend(500)
  world.follow([{ def: planGrant({ ...seats, scaling: 'fixed' }), licences: 2 }])
  t.same(world.writtenOffFor, { plan_change: 3500 })
  t.equal(world.remaining, 500, 'decision 33: less what was drawn')
})

t.test('CR-39 leaving a plan takes its grants and rollovers, and nothing else', async t => {
  const world = on()
  const def = planGrant({ rolloverPercentage: 50 })
  world.follow([{ def }])
  world.grant(7, { reason: 'purchased' })
  world.at('2026-02-28T09:00:00Z')
  t.same(world.left, [
    ['purchased', 7],
    ['rollover', 25],
    ['plan', 50],
  ])
  world.follow([])
  world.check()
  t.same(world.left, [['purchased', 7]])
  t.same(world.writtenOffFor, { plan_period_reset: 50, plan_change: 75 })
  t.equal(nextDueMs(world.account, world.config), Number.POSITIVE_INFINITY, 'no reset follows')
})

t.test(
  'decision 33 the same version again issues what is left of it, and all of it at its next reset',
  async t => {
    const world = on()
    const held = { def: planGrant() }
    world.follow([held])
    world.follow([held])
    t.equal(world.remaining, 50, 'nothing more while on it')
    world.spend(20)
    world.at('2026-02-10T00:00:00Z').follow([])
    t.equal(world.remaining, 0)
    world.at('2026-02-12T00:00:00Z')
    world.follow([held])
    t.equal(world.remaining, 30)
    world.at('2026-02-28T09:00:00Z')
    t.equal(world.remaining, 50)
    world.follow([])
    world.at('2026-04-01T00:00:00Z').follow([held])
    t.equal(world.remaining, 50, 'after the period it is a new beginning')
  },
)

t.test('CR-39 a return at the very instant of the next reset is a new beginning', async t => {
  const world = on()
  world.follow([{ def: planGrant() }])
  world.follow([])
  world.at('2026-02-28T09:00:00Z').follow([{ def: planGrant() }])
  t.equal(world.remaining, 50)
})

t.test('N9 a detour over another plan does not bring the first one’s credits again', async t => {
  const world = on()
  const [first, second] = [planGrant(), planGrant({ id: 'pcgr_2', creditAmount: 5 })]
  for (const def of [first, second, first, second]) world.follow([{ def }])
  t.equal(world.remaining, 5)
  world.follow([{ def: first }])
  world.spend(40)
  for (const def of [second, first]) world.follow([{ def }])
  t.equal(world.remaining, 10, 'what is left of it')
  world.follow([{ def: second }])
  t.equal(world.remaining, 0)
  world.follow([{ def: first }])
  world.at('2026-02-28T09:00:00Z')
  t.equal(world.remaining, 50)
})

t.test('CR-39 plans left long ago are forgotten', async t => {
  const world = on()
  for (let i = 0; i < 12; i++) {
    world.follow([{ def: planGrant({ id: `pcgr_${i}` }) }])
    world.nowMs += 40 * dayMs
    world.bringUp()
  }
  t.ok(world.account.enrolments.length <= 3, `${world.account.enrolments.length} are remembered`)
})

t.test('CR-40 another cadence counts from the next reset of its own', async t => {
  const world = on()
  world.follow([{ def: planGrant() }])
  world.at('2026-02-10T00:00:00Z').spend(20)
  world.follow([{ def: planGrant({ resetCadence: 'weekly' }) }])
  t.equal(world.remaining, 30)
  t.equal(iso(nextDueMs(world.account, world.config)), '2026-02-14T09:00:00Z')
  world.follow([{ def: planGrant({ resetType: 'no_reset', resetCadence: null }) }])
  t.equal(nextDueMs(world.account, world.config), Number.POSITIVE_INFINITY)
})

t.test('CR-38 credits that are billed are issued like those that are included', async t => {
  const world = on()
  world.follow([{ def: planGrant({ billingMode: 'billed' }) }])
  t.equal(world.remaining, 50)
})

t.test('CR-39 another version is left and issued', async t => {
  const world = on()
  world.follow([{ def: planGrant() }])
  world.spend(20)
  world.follow([{ def: planGrant({ id: 'pcgr_2', creditAmount: 80 }), versionId: 'plvr_2' }])
  t.same(world.left, [['plan', 60]], 'decision 33: less what was drawn')
})

t.test('CR-40 a grant issued once ends by its own rule and is not issued again', async t => {
  const world = on()
  const rule = {
    resetType: 'no_reset',
    resetCadence: null,
    expiryType: 'duration',
    expiryUnit: 'days',
    expiryUnitCount: 10,
  } as const
  world.follow([{ def: planGrant(rule) }])
  t.equal(world.remaining, 50)
  world.at('2026-02-10T08:59:59.999Z')
  t.equal(world.remaining, 50)
  world.at('2026-02-10T09:00:00Z')
  t.equal(world.remaining, 0)
  world.at('2027-02-10T09:00:00Z')
  t.equal(world.remaining, 0)
})

t.test('CR-40 monthly resets fall on the last day of a short month and come back', async t => {
  const world = on()
  world.follow([{ def: planGrant() }])
  const resets = []
  for (let i = 0; i < 4; i++) {
    world.nowMs = nextDueMs(world.account, world.config)
    world.bringUp()
    resets.push(iso(world.nowMs)!.slice(0, 16))
  }
  t.same(resets, ['2026-02-28T09:00', '2026-03-31T09:00', '2026-04-30T09:00', '2026-05-31T09:00'])
})

t.test('CR-40 resets follow a subscription whose period starts elsewhere, not one that renews', async t => {
  const period = { startMs, endMs: Date.parse('2026-02-28T09:00:00Z'), intervalMonths: 1 }
  const world = on(configOf({ period }))
  world.follow([{ def: planGrant() }])
  world.at('2026-02-28T09:00:00Z')
  const renewed = { startMs: world.nowMs, endMs: Date.parse('2026-03-31T09:00:00Z'), intervalMonths: 1 }
  world.config = configOf({ period: renewed })
  world.follow([{ def: planGrant() }])
  t.equal(iso(nextDueMs(world.account, world.config)), '2026-03-31T09:00:00Z')
  world.at('2026-03-10T12:00:00Z').spend(20)
  const moved = { startMs: world.nowMs, endMs: Date.parse('2026-04-10T12:00:00Z'), intervalMonths: 1 }
  world.config = configOf({ period: moved })
  world.follow([{ def: planGrant() }])
  world.bringUp()
  // 20 were drawn, 50 × 10.1 / 31 days had elapsed: 16 whole credits
  t.equal(world.remaining, 46, 'decision 33: less what was drawn beyond the elapsed share')
  t.equal(iso(nextDueMs(world.account, world.config)), '2026-04-10T12:00:00Z')
})

t.test('CR-41, CR-42 what rolls over ends at the next reset and never rolls again', async t => {
  const world = on()
  world.follow([{ def: planGrant({ rolloverPercentage: 25 }) }])
  world.spend(17)
  world.at('2026-02-28T09:00:00Z')
  t.same(world.left, [
    ['rollover', 8],
    ['plan', 50],
  ])
  t.equal(world.remaining, 58)
  const rolled = world.entries.find(entry => entry.grant?.reason === 'rollover')!
  t.equal(rolled.grant!.sourceGrantId, world.entries[0]!.grantId)
  t.equal(iso(rolled.grant!.expiresAtMs), '2026-03-31T09:00:00Z')
  world.spend(5)
  world.at('2026-03-31T09:00:00Z')
  t.same(world.left, [
    ['rollover', 12],
    ['plan', 50],
  ])
  t.same(world.writtenOffFor, { plan_period_reset: 83, expired: 3 })
})

t.test('CR-41 all of a reset has the boundary as its time, in the order of the rule', async t => {
  const world = on()
  world.follow([{ def: planGrant({ rolloverPercentage: 100 }) }])
  world.at('2026-02-28T09:00:00Z')
  const before = world.entries.length
  world.at('2026-04-02T00:00:00Z')
  const entries = world.entries.slice(before)
  t.same(
    entries.map(entry => entry.zeroedOutReason ?? entry.grant?.reason),
    ['expired', 'plan_period_reset', 'rollover', 'plan'],
  )
  t.same(new Set(entries.map(entry => iso(entry.atMs))), new Set(['2026-03-31T09:00:00Z']))
})

t.test(
  'CR-41 a rollover ends with the reset, also when the subscription brought the reset forward',
  async t => {
    const world = on()
    world.follow([{ def: planGrant({ rolloverPercentage: 100 }) }])
    world.at('2026-02-28T09:00:00Z').at('2026-03-10T00:00:00Z')
    t.same(world.left, [
      ['rollover', 50],
      ['plan', 50],
    ])
    const endMs = Date.parse('2026-04-10T00:00:00Z')
    world.config = configOf({ period: { startMs: world.nowMs, endMs, intervalMonths: 1 } })
    world.follow([{ def: planGrant({ rolloverPercentage: 100 }) }])
    world.bringUp()
    t.same(world.left, [
      ['rollover', 50],
      ['plan', 50],
    ])
    t.same(world.writtenOffFor, { plan_period_reset: 100, expired: 50 })
  },
)

t.test('CR-42 daily and weekly grants have no rollover', async t => {
  const world = on()
  world.follow([{ def: planGrant({ resetCadence: 'daily', rolloverPercentage: 100 }) }])
  world.at('2026-02-01T09:00:00Z')
  t.same(world.left, [['plan', 50]])
})

t.test('CR-43 what a hold has taken is not part of the unused', async t => {
  const world = on()
  world.follow([{ def: planGrant({ rolloverPercentage: 100 }) }])
  world.at('2026-02-28T08:59:00Z')
  world.acquire(amountFromNumber(20))
  world.at('2026-02-28T09:00:00Z')
  t.same(world.whole(), { remaining: 80, reserved: 20, settled: 100, total: 80 })
  world.release()
  t.equal(world.remaining, 80, 'CR-78 what comes back to the old grant is written off')
  t.same(world.writtenOffFor, { plan_period_reset: 50 })
})

t.test('CR-44 missed resets are made up one by one, each at its boundary', async t => {
  const world = on()
  world.follow([{ def: planGrant({ rolloverPercentage: 50 }) }])
  world.spend(30)
  world.at('2026-05-01T00:00:00Z')
  t.same(world.left, [
    ['rollover', 25],
    ['plan', 50],
  ])
  const rollovers = world.entries.filter(entry => entry.grant?.reason === 'rollover')
  t.same(
    rollovers.map(entry => [iso(entry.atMs)!.slice(0, 10), amountToNumber(entry.amount)]),
    [
      ['2026-02-28', 10],
      ['2026-03-31', 25],
      ['2026-04-30', 25],
    ],
  )
})

t.test('CR-45 a zero-out is idempotent and names its reason', async t => {
  const world = on()
  const grant = world.grant(10)!
  world.acquire(amountFromNumber(4))
  for (let i = 0; i < 2; i++) {
    const reply = world.ask({ type: 'credit_zero_out', creditId, grantId: grant.id, reason: 'reconciled' })
    t.match(reply, { grants: [{ remaining: 0n, closed: 'reconciled' }] })
  }
  t.same(world.writtenOffFor, { reconciled: 6 })
  world.check()
})

t.test('CR-46 the end of a company takes everything back', async t => {
  const world = on(configOf({ overdraft: overdraftOf(null) }))
  world.follow([{ def: planGrant() }])
  world.grant(10)
  world.acquire(amountFromNumber(55))
  world.reserve('a', amountFromNumber(5))
  world.apply(archive(world.account, world.nowMs))
  world.check()
  t.same(world.whole(), { remaining: 0, reserved: 0, settled: 0, total: 0 })
  t.same(world.writtenOffFor, { customer_archived: 60 })
  t.equal(nextDueMs(world.account, world.config), Number.POSITIVE_INFINITY)
})

t.test('CR-49, CR-50 a draw without credits is recorded as uncovered and never becomes debt', async t => {
  const world = on()
  world.grant(10)
  const decision = world.spend(15)
  t.match(decision, { applied: 'grants', consumed: 10_000_000_000n, uncovered: 5_000_000_000n })
  t.equal(world.entries.at(-1)!.uncovered, 5_000_000_000n, 'its entry tells it')
  world.grant(100)
  t.equal(world.remaining, 100)
})

t.test('CR-52 a draw past the floor stops at it', async t => {
  const world = on(configOf({ overdraft: overdraftOf(amountFromNumber(20)) }))
  world.grant(10)
  t.equal(world.spend(25).uncovered, 0n)
  t.equal(world.remaining, -15)
  t.match(world.spend(10), { overdrawn: 5_000_000_000n, uncovered: 5_000_000_000n })
  t.equal(world.remaining, -20)
  world.acquire(1n)
  t.equal(world.lastRefusal, 'insufficient_credits')
})

t.test('CR-53 of the grants, plan grants alone do not repay', async t => {
  const world = on(configOf({ overdraft: overdraftOf(null) }))
  world.spend(30)
  world.follow([{ def: planGrant() }])
  t.same(world.left, [['plan', 50]])
  t.equal(world.remaining, 20)
  world.grant(20, { reason: 'adjustment' })
  t.same(world.left, [['plan', 50]], 'swallowed by the debt')
  t.same(
    world.entries
      .filter(entry => entry.type === 'transfer')
      .map(entry => [entry.transferReason, amountToNumber(entry.amount)]),
    [
      ['overdraft_recovery', -20],
      ['overdraft_recovery', 20],
    ],
  )
  t.equal(world.grant(15)!.remaining, 5_000_000_000n)
})

t.test('CR-53 a grant that is valid later repays when it is', async t => {
  const world = on(configOf({ overdraft: overdraftOf(null) })).at('2026-02-01T00:00:00Z')
  world.spend(30)
  world.grant(50, { validFromMs: Date.parse('2026-02-05T00:00:00Z') })
  t.equal(world.remaining, -30)
  world.config = configOf()
  world.at('2026-02-05T00:00:00Z')
  t.same(world.left, [['free', 20]])
})

t.test('CR-53 a grant that has been valid before the debt began does not repay it', async t => {
  const world = on(configOf({ overdraft: overdraftOf(null) })).at('2026-02-01T00:00:00Z')
  world.grant(50, { validFromMs: Date.parse('2026-02-05T00:00:00Z') })
  world.at('2026-02-06T00:00:00Z')
  world.acquire(amountFromNumber(50))
  world.spend(30)
  world.release()
  world.bringUp()
  t.same(world.left, [['free', 50]])
  t.equal(world.remaining, 20)
})

t.test('CR-53 what is held past zero is not owed: it is not repaid, and comes back', async t => {
  const world = on(configOf({ overdraft: overdraftOf(amountFromNumber(50)) }))
  world.grant(10)
  world.acquire(amountFromNumber(40))
  world.grant(5)
  t.same(
    world.left,
    [
      ['free', 0],
      ['free', 5],
    ],
    'nothing is owed yet',
  )
  world.commit(amountFromNumber(12))
  world.grant(1)
  t.same(world.left, [['free', 5]], 'the two used past zero are owed; one is repaid')
  world.release()
  t.equal(world.remaining, 4)
  world.check()
})

t.test('CR-53 when the arrears window closes the debt is paid by a settlement of its size', async t => {
  const period = { startMs, endMs: Date.parse('2026-02-28T09:00:00Z'), intervalMonths: 1 }
  const world = on(configOf({ overdraft: overdraftOf(null), period })).at('2026-02-10T00:00:00Z')
  world.spend(30)
  world.at('2026-02-28T08:59:59.999Z')
  t.equal(world.remaining, -30)
  world.at('2026-02-28T09:00:00Z')
  t.equal(world.remaining, 0)
  const made = world.entries.filter(entry => entry.grant?.reason === 'postpaid_settlement')
  t.same(
    made.map(entry => [amountToNumber(entry.amount), iso(entry.atMs)]),
    [[30, '2026-02-28T09:00:00Z']],
  )
  t.same(new Set(world.entries.map(entry => entry.transferReason)), new Set([null, 'postpaid_paid']))
  world.spend(1)
  world.at('2026-03-31T09:00:00Z')
  t.equal(world.remaining, 0, 'and again the next time')
})

t.test('CR-53 where arrears windows close', async t => {
  const period = { startMs, endMs: Date.parse('2027-01-31T09:00:00Z'), intervalMonths: 12 }
  const since = Date.parse('2026-02-10T00:00:00Z')
  const close = (
    arrearsCadence: 'end_of_billing_period' | 'monthly' | 'quarterly',
    arrearsAnchor: 'billing_period_start' | 'month_end',
    with_: typeof period | null = period,
  ) =>
    iso(
      arrearsCloseMs(
        configOf({ period: with_, overdraft: { limit: null, arrearsCadence, arrearsAnchor } }),
        since,
      ),
    )
  t.equal(close('end_of_billing_period', 'billing_period_start'), '2027-01-31T09:00:00Z')
  t.equal(close('monthly', 'billing_period_start'), '2026-02-28T09:00:00Z')
  t.equal(close('monthly', 'month_end'), '2026-03-01T00:00:00Z')
  t.equal(close('quarterly', 'billing_period_start'), '2026-04-30T09:00:00Z')
  t.equal(close('quarterly', 'month_end'), '2026-04-01T00:00:00Z')
  t.equal(close('end_of_billing_period', 'billing_period_start', null), '2026-03-01T00:00:00Z')
})

t.test('CR-53 a debt from before the present period is settled at its start', async t => {
  const world = on(configOf({ overdraft: overdraftOf(null) })).at('2026-02-10T00:00:00Z')
  world.spend(30)
  const period = {
    startMs: Date.parse('2026-02-20T00:00:00Z'),
    endMs: Date.parse('2026-03-20T00:00:00Z'),
    intervalMonths: 1,
  }
  world.config = configOf({ overdraft: overdraftOf(null), period })
  world.at('2026-02-20T00:00:00Z')
  t.equal(world.remaining, 0)
})

t.test('CR-54 leaving a plan with overdraft keeps the debt until its window closes', async t => {
  const world = on(configOf({ overdraft: overdraftOf(null) }))
  world.at('2026-12-20T00:00:00Z')
  world.spend(30)
  world.config = configOf()
  world.at('2026-12-31T23:59:59.999Z')
  t.equal(world.remaining, -30)
  world.at('2027-01-01T00:00:00Z')
  t.equal(world.remaining, 0)
  t.equal(world.entries.at(-1)!.transferReason, 'postpaid_paid')
})

t.test('CR-54 leaving a plan with overdraft keeps the debt until it is forgiven', async t => {
  const world = on(configOf({ overdraft: overdraftOf(null) }))
  world.spend(30)
  world.config = configOf()
  t.equal(world.remaining, -30)
  world.give({ reason: 'plan', q: 100e9, pg: 'pcgr_1' })
  t.equal(world.spend(90).uncovered, 20_000_000_000n, 'a check that goes by remaining and a draw agree')
  t.equal(world.remaining, 0)
  world.ask({ type: 'credit_forgive', creditId })
  world.check()
  t.equal(world.remaining, 30)
  t.equal(world.entries.at(-1)!.transferReason, 'postpaid_forgiven')
})

t.test('CR-55 the company’s own values where it may choose', async t => {
  const world = on(configOf({ topup: topupOf({ availability: 'user_controlled' }) }))
  world.grant(60)
  world.spend(1)
  t.equal(world.remaining, 59, 'not before it chose')
  world.settings(true, 7, 10)
  world.spend(1)
  t.equal(world.remaining, 58)
  world.spend(48)
  t.equal(world.remaining, 17)
})

t.test('CR-55 holds do not count in the balance that is compared', async t => {
  const world = on(configOf({ topup: topupOf({ amount: 30, thresholdCredits: 10 }) }))
  world.grant(100)
  world.acquire(amountFromNumber(85))
  world.spend(5)
  t.same(world.whole().remaining, 40)
})

t.test('CR-55, CR-57 one top-up per event, and it repays an overdraft first', async t => {
  const world = on(configOf({ topup: topupOf({ amount: 5 }), overdraft: overdraftOf(null) }))
  world.grant(101)
  world.spend(110)
  t.equal(world.remaining, -4)
  t.equal(world.entries.filter(entry => entry.grant?.reason === 'billing_credit_auto_topup').length, 1)
})

t.test('CR-56 with payments: one in flight, failures counted, success grants', async t => {
  const world = on(configOf({ topup: topupOf({ atOnce: false }) }))
  world.grant(50)
  const pay = (paid: boolean): void =>
    void world.ask({ type: 'credit_topup_result', creditId, paid, final: false })
  world.spend(1)
  world.spend(1)
  t.equal(world.effects.filter(effect => effect.t === 'credit_topup').length, 1, 'simultaneous uses buy once')
  for (let i = 1; i <= 6; i++) {
    pay(false)
    t.match(world.account.topup, { pending: false, failures: Math.min(i, 5) })
    world.spend(1)
  }
  pay(true)
  t.equal(world.remaining, 542)
  t.match(world.account.topup, { pending: false, failures: 0 })
  pay(true)
  t.equal(world.remaining, 542, 'a result nobody waits for is nothing')
})

t.test(
  'CR-56 a credit that has lost its price: every attempt fails for good, told until it is too often',
  async t => {
    const world = on(configOf({ topup: topupOf({ priced: false }) }))
    world.grant(50)
    for (let i = 1; i <= 7; i++) {
      world.spend(1)
      t.match(world.account.topup, { pending: false, failures: Math.min(i, 5) })
    }
    t.equal(world.remaining, 43, 'a failed top-up changes nothing')
    t.same(
      world.effects.flatMap(effect => (effect.t === 'credit_topup' ? [effect.hard] : [])),
      ['no_price', 'no_price', 'no_price', 'no_price', 'no_price'],
    )
    world.config = configOf({ topup: topupOf() })
    world.spend(1)
    t.equal(world.remaining, 542, 'tried again at the next draw')
    t.match(world.account.topup, { pending: false, failures: 0 })
  },
)

t.test('CR-60…63 refunds go into one grant, whose end moves with each', async t => {
  const world = on().at('2026-03-01T00:00:00Z')
  world.use(-10_000_000_000n, 'crlse_any', null)
  world.at('2026-06-01T00:00:00Z').use(-5_000_000_000n, null, null)
  t.same(world.left, [['adjustment', 15]])
  t.equal(iso(world.account.grants[0]!.expiresAtMs), '2027-06-01T00:00:00Z')
  t.match(world.entries.at(-1), {
    type: 'usage',
    usageReason: 'track',
    amount: 5_000_000_000n,
    consumed: -5_000_000_000n,
  })
  world.spend(15)
  world.use(-1_000_000_000n, null, null)
  t.same(world.left, [['adjustment', 1]], 'it grows again after it was used up')
  t.equal(world.account.grants[0]!.quantity, 16_000_000_000n)
  world.at('2028-01-01T00:00:00Z').use(-2_000_000_000n, null, null)
  t.same(world.left, [['adjustment', 2]], 'CR-61 after it expired there is a new one')
  world.check()
})

t.test('CR-62 a refund repays what is owed past zero', async t => {
  const world = on(configOf({ overdraft: overdraftOf(null) }))
  world.spend(10)
  world.use(-4_000_000_000n, null, null)
  t.equal(world.remaining, -6)
  t.equal(world.entries.at(-1)!.transferReason, 'overdraft_recovery')
  world.check()
})

t.test('CR-86…91 entries have the movement, its owner and its reason', async t => {
  const world = on().at('2026-03-01T00:00:00Z')
  world.grant(4)
  world.grant(6)
  const names = { featureId: 'feat_1', eventId: 'evnt_1', userId: 'user_1' }
  const atMs = Date.parse('2026-02-20T00:00:00Z')
  world.useAs({ cost: 5_000_000_000n, leaseId: null, reservationId: null, ...names, atMs })
  const [first, second] = world.entries.slice(-2)
  t.match(first, {
    ...names,
    type: 'usage',
    usageReason: 'track',
    amount: -4_000_000_000n,
    consumed: 4_000_000_000n,
    left: 0n,
    atMs,
  })
  t.match(second, { ...names, amount: -1_000_000_000n, consumed: 1_000_000_000n, left: 5_000_000_000n, atMs })
  t.equal(second!.seq, first!.seq + 1)
  t.not(first!.grantId, second!.grantId)
})

t.test('CR-93 a late event draws from the grants as they are now', async t => {
  const world = on().at('2026-03-01T00:00:00Z')
  world.grant(10, { expiresAtMs: Date.parse('2026-03-05T00:00:00Z') })
  world.at('2026-03-06T00:00:00Z')
  world.grant(3)
  const use = {
    cost: 5_000_000_000n,
    leaseId: null,
    reservationId: null,
    featureId: null,
    eventId: null,
    userId: null,
  }
  const decision = world.useAs({ ...use, atMs: Date.parse('2026-03-04T00:00:00Z') })
  t.match(decision, { consumed: 3_000_000_000n, uncovered: 2_000_000_000n })
})

t.test('CR-96 a company without the credit has nothing to draw', async t => {
  const world = on()
  t.match(world.spend(5), { applied: 'grants', consumed: 0n, uncovered: 5_000_000_000n })
  t.same(world.entries, [])
})

t.test('an unknown credit is not found', async t => {
  const world = on()
  world.known = false
  t.equal(world.grant(1), null)
  t.equal(world.lastRefusal, 'not_found')
})

t.test(
  'the configuration of a credit: the widest overdraft and the first top-up of its plan grants',
  async t => {
    const credit: CreditDef = {
      id: creditId,
      name: 'Credits',
      burnStrategy: 'first_in_first_out',
      ledgerAuthority: 'service_authoritative',
      defaultExpiryUnit: 'days',
      defaultExpiryUnitCount: null,
      defaultRolloverPolicy: 'none',
    }
    const of = (...grants: ReturnType<typeof planGrant>[]) =>
      creditConfig(credit, grants, null, null, null, null)
    t.equal(of(planGrant()).overdraft, null)
    const limited = planGrant({ postpaidEnabled: true, overdraftLimit: '12.5', arrearsCadence: 'monthly' })
    t.match(of(planGrant(), limited).overdraft, { limit: 12_500_000_000n, arrearsCadence: 'monthly' })
    t.equal(
      of(limited, planGrant({ postpaidEnabled: true, overdraftLimit: '20' })).overdraft!.limit,
      20_000_000_000n,
    )
    t.equal(of(limited, planGrant({ postpaidEnabled: true })).overdraft!.limit, null)
    const topup = planGrant({ id: 'pcgr_9', autoTopupAvailability: 'automatic', autoTopupAmount: 5 })
    t.match(of(planGrant(), topup).topup, { planGrantId: 'pcgr_9', amount: 5, expiry: { type: 'no_expiry' } })
    t.equal(of(planGrant({ autoTopupAvailability: 'automatic' })).topup, null)
  },
)

t.test('spend caps: the smallest that names the company or the user', async t => {
  const policy = (companyId: string | null, userId: string | null, maxPerDraw: string) => ({
    id: 'cspl_1',
    creditId,
    companyId,
    userId,
    maxPerDraw,
  })
  const policies = [policy('comp_1', null, '10'), policy(null, 'user_1', '2.5'), policy('comp_2', null, '1')]
  t.equal(spendCap(policies, creditId, 'comp_1', null), 10_000_000_000n)
  t.equal(spendCap(policies, creditId, 'comp_1', 'user_1'), 2_500_000_000n)
  t.equal(spendCap(policies, creditId, 'comp_3', null), null)
  t.equal(spendCap(policies, 'bcrd_other', 'comp_1', 'user_1'), null)
})
