// Leases and reservations against the specification's cases and rules.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { creditOf, decideCredit } from '../../../src/core/credits/account.js'
import { nextDueMs } from '../../../src/core/credits/balance.js'
import { holdSize } from '../../../src/core/credits/hold.js'
import { emptyAccount, type HoldView } from '../../../src/core/model/account-state.js'
import type { Preflight } from '../../../src/core/model/requests.js'
import { amountFromNumber, amountToNumber } from '../../../src/core/values/amount.js'
import { configOf, creditId, hourMs, overdraftOf, World } from '../credit-world.js'

const vectors = JSON.parse(
  readFileSync(new URL('../../../../test/fixtures/conformance-vectors.json', import.meta.url), 'utf8'),
)

t.test('hold sizes of the conformance cases (CR-84)', async t => {
  for (const { id, input, expected } of vectors.hold_size) {
    const { entitlement, quantity } = input
    const preflight: Preflight | null =
      input.preflight === undefined
        ? null
        : {
            usage: input.preflight.usage ?? null,
            eventUsage:
              input.preflight.event_usage === undefined
                ? null
                : {
                    eventSubtype: input.preflight.event_usage.event_subtype,
                    quantity: input.preflight.event_usage.quantity,
                  },
            creditCost: input.preflight.credit_cost ?? null,
          }
    const size = holdSize(
      {
        creditId: entitlement.credit_id,
        consumptionRate: entitlement.consumption_rate,
        eventSubtype: entitlement.event_subtype,
      },
      quantity ?? null,
      preflight,
    )
    t.same({ credits_reserved: amountToNumber(size.credits), quantity_reserved: size.quantity }, expected, id)
  }
})

t.test(
  'CR-84 without a rate a unit costs 1, and 0 beside quantity rates; zero amounts are as if absent',
  async t => {
    const entitlement = { creditId, consumptionRate: null, eventSubtype: 'x' }
    t.equal(holdSize(entitlement, 3, null).credits, 3_000_000_000n)
    t.equal(holdSize({ ...entitlement, quantityRates: { input_tokens: 1 } }, 3, null).credits, 0n)
    const zeros = { usage: 0, eventUsage: { eventSubtype: 'x', quantity: 0 }, creditCost: null }
    t.equal(holdSize(entitlement, 0, zeros).quantity, 1)
    t.equal(
      holdSize(entitlement, null, { ...zeros, creditCost: { [creditId]: 0 } }).credits,
      0n,
      'FE-83 a cost of 0 is one',
    )
    t.equal(
      holdSize({ ...entitlement, creditId: 'toString' }, null, { ...zeros, creditCost: {} }).credits,
      1_000_000_000n,
    )
  },
)

/** A world of some credits whose holds are asked for in whole credits. */
class Desk extends World {
  constructor(credits: number, config = configOf()) {
    super(config)
    if (credits === 0) return
    const grant = {
      reason: 'free',
      quantity: credits,
      count: 1,
      validFromMs: null,
      expiresAtMs: null,
    } as const
    this.ask({ type: 'credit_grant', creditId, ...grant, expiry: null, bundleId: null })
  }

  lease(credits: number, expiresAtMs: number | null = null): HoldView | null {
    return this.hold({ type: 'credit_lease', creditId, amount: amountFromNumber(credits), expiresAtMs })
  }

  extend(leaseId: string, credits: number, key: string | null = null, expiresAtMs: number | null = null) {
    return this.hold({ type: 'credit_extend', leaseId, amount: amountFromNumber(credits), key, expiresAtMs })
  }

  reservation(
    credits: number,
    key: string | null = null,
    expiresAtMs: number | null = null,
  ): HoldView | null {
    const amount = amountFromNumber(credits)
    return this.hold({
      type: 'credit_reserve',
      creditId,
      amount,
      expiresAtMs,
      key,
      featureId: 'feat_1',
      userId: null,
    })
  }

  hold(message: Parameters<World['ask']>[0]): HoldView | null {
    this.lastRefusal = null
    const reply = this.ask(message)
    this.check()
    return reply?.type === 'hold' ? reply.hold : null
  }

  after(msLater: number): this {
    this.nowMs += msLater
    this.bringUp()
    this.check()
    return this
  }

  get whole(): [remaining: number, reserved: number, settled: number] {
    const { remaining, reserved, settled } = this.figures()
    return [amountToNumber(remaining), amountToNumber(reserved), amountToNumber(settled)]
  }
}

const minuteMs = 60_000

t.test('CR-70 a lease lives five minutes by default and at most an hour', async t => {
  const world = new Desk(100)
  const { nowMs } = world
  for (const wrong of [nowMs, nowMs - 1, nowMs + hourMs + 1]) {
    t.equal(world.lease(10, wrong), null)
    t.equal(world.lastRefusal, 'expiry_invalid')
  }
  t.equal(world.lease(10)!.expiresAtMs, nowMs + 5 * minuteMs)
  t.equal(new Desk(100).lease(10, nowMs + hourMs)!.expiresAtMs, nowMs + hourMs)
})

t.test(
  'CR-70 the open lease is given back unchanged, whatever is asked; nothing or less than nothing is refused',
  async t => {
    const world = new Desk(100)
    const first = world.lease(40)!
    world.nowMs += 1000
    t.same(world.lease(90), first)
    t.same(world.whole, [60, 40, 100])
    for (const wrong of [0, -1]) {
      t.equal(new Desk(100).lease(wrong), null)
    }
    t.equal(world.lease(0), null)
    t.equal(world.lastRefusal, 'amount_invalid')
  },
)

t.test(
  'CR-71, CR-74 commits grow the tracked amount by their full cost; the excess is uncovered',
  async t => {
    const world = new Desk(50)
    const lease = world.lease(30)!
    t.match(world.use(20_000_000_000n, lease.id, null), { applied: 'lease', uncovered: 0n })
    t.match(world.use(25_000_000_000n, lease.id, null), {
      consumed: 10_000_000_000n,
      uncovered: 15_000_000_000n,
    })
    t.match(world.use(1_000_000_000n, lease.id, null), {
      applied: 'lease',
      consumed: 0n,
      uncovered: 1_000_000_000n,
    })
    t.same(world.whole, [20, 0, 20])
    const released = world.hold({ type: 'credit_release', leaseId: lease.id })!
    t.equal(released.tracked, 46_000_000_000n)
    t.same(world.whole, [20, 0, 20])
  },
)

t.test('CR-73 extend: the available credits, a new end, once per key', async t => {
  const world = new Desk(50)
  const lease = world.lease(30)!
  world.nowMs += minuteMs
  t.match(world.extend(lease.id, 5, 'k1'), { granted: 35_000_000_000n, expiresAtMs: lease.expiresAtMs })
  t.match(world.extend(lease.id, 5, 'k1'), { granted: 35_000_000_000n })
  const later = world.nowMs + hourMs
  t.match(world.extend(lease.id, 40, 'k2', later), { granted: 50_000_000_000n, expiresAtMs: later })
  t.match(world.extend(lease.id, 40), { granted: 50_000_000_000n }, 'nothing to add is not an error')
  t.equal(world.extend(lease.id, 1, null, later + 1), null)
  t.equal(world.lastRefusal, 'expiry_invalid')
  t.equal(world.extend(lease.id, -1), null)
  t.equal(world.lastRefusal, 'amount_invalid')
  world.hold({ type: 'credit_release', leaseId: lease.id })
  t.equal(world.extend(lease.id, 1), null)
  t.equal(world.lastRefusal, 'lease_closed')
  t.match(
    world.extend(lease.id, 40, 'k2'),
    { granted: 50_000_000_000n, releasedAtMs: world.nowMs },
    'a repeat is answered still',
  )
  t.equal(world.extend('crlse_none', 1), null)
  t.equal(world.lastRefusal, 'lease_not_found')
})

t.test('CR-75 a second release changes nothing and returns how it ended', async t => {
  const world = new Desk(50)
  const lease = world.lease(30)!
  const once = world.hold({ type: 'credit_release', leaseId: lease.id })
  world.nowMs += 1000
  t.same(world.hold({ type: 'credit_release', leaseId: lease.id }), once)
  t.same(world.whole, [50, 0, 50])
})

t.test('CR-76 at its end, to the millisecond, a lease gives back what is unspent', async t => {
  const world = new Desk(100)
  const lease = world.lease(60)!
  world.use(25_000_000_000n, lease.id, null)
  world.nowMs = lease.expiresAtMs - 1
  t.same(world.whole, [40, 35, 75])
  world.nowMs += 1
  t.same(world.whole, [75, 0, 75], 'before any sweep')
  t.equal(nextDueMs(world.account, world.config), lease.expiresAtMs)
  world.after(minuteMs)
  t.equal(world.entries.at(-1)!.atMs, lease.expiresAtMs)
  t.equal(world.entries.at(-1)!.usageReason, 'lease_release')
})

t.test(
  'CR-77 a commit on a lease that is over, unknown or another credit’s draws on the grants, once',
  async t => {
    const world = new Desk(100)
    const lease = world.lease(60)!
    world.after(hourMs)
    t.match(world.use(25_000_000_000n, lease.id, null), { applied: 'grants', consumed: 25_000_000_000n })
    t.match(world.use(5_000_000_000n, 'crlse_other', null), { applied: 'grants' })
    t.same(world.whole, [70, 0, 70])
  },
)

t.test('CR-78 slices are used up in the order they were taken and go back where they came from', async t => {
  const world = new Desk(0)
  for (const quantity of [30, 100]) {
    const grant = { reason: 'free', quantity, count: 1, validFromMs: null, expiresAtMs: null } as const
    world.ask({ type: 'credit_grant', creditId, ...grant, expiry: null, bundleId: null })
  }
  const lease = world.lease(80)!
  world.use(35_000_000_000n, lease.id, null)
  world.hold({ type: 'credit_release', leaseId: lease.id })
  t.same(
    world.account.grants.map(grant => amountToNumber(grant.remaining)),
    [95],
  )
})

t.test('CR-80 a reservation is all or nothing and lives a minute by default', async t => {
  const world = new Desk(100)
  t.equal(world.reservation(100.000000001), null)
  t.equal(world.lastRefusal, 'insufficient_credits')
  const held = world.reservation(100)!
  t.equal(held.expiresAtMs, world.nowMs + minuteMs)
  t.same(world.whole, [0, 100, 100])
  t.equal(world.reservation(1, null, world.nowMs + hourMs + 1), null)
  t.equal(world.lastRefusal, 'expiry_invalid')
})

t.test('CR-80 its key gives the first reservation, open or over, and no other', async t => {
  const world = new Desk(100)
  const first = world.reservation(40, 'key')!
  t.same(world.reservation(40, 'key'), first)
  t.equal(world.reservation(41, 'key'), null)
  t.equal(world.lastRefusal, 'idempotency_reused')
  world.use(40_000_000_000n, null, first.id)
  t.match(world.reservation(40, 'key'), { id: first.id, tracked: 40_000_000_000n })
  t.same(world.whole, [60, 0, 60])
})

t.test('CR-80 a key used for another credit of the company is used', async t => {
  const world = new Desk(100)
  const hold = world.reservation(40, 'key')!
  const accounts = new Map([[creditId, world.account]])
  const context = { companyId: 'comp_test', accounts, configOf: () => world.config }
  const other = { type: 'credit_reserve', creditId: 'bcrd_other', amount: 40_000_000_000n } as const
  const rest = { expiresAtMs: null, featureId: null, userId: null } as const
  const ask = (key: string | null) => decideCredit(context, { ...other, ...rest, key }, world.nowMs)
  t.match(ask('key'), { refused: 'idempotency_reused' })
  t.match(ask('another'), { refused: 'insufficient_credits' })
  t.match(ask(null), { refused: 'insufficient_credits' })
  world.hold({ type: 'credit_reservation_release', reservationId: hold.id })
  t.match(ask('key'), { refused: 'idempotency_reused' }, 'also when it is over')
})

t.test(
  'CR-73, CR-80 a key known as used holds nothing anew, also where the company has forgotten it',
  async t => {
    const world = new Desk(100)
    const lease = world.lease(30)!
    const ask = (message: object) =>
      world.hold({ amount: 1_000_000_000n, expiresAtMs: null, ...message } as never)
    t.match(ask({ type: 'credit_extend', leaseId: lease.id, key: 'gone', used: true }), {
      granted: lease.granted,
    })
    const reserve = { type: 'credit_reserve', creditId, key: 'gone', featureId: null, userId: null }
    t.equal(ask({ ...reserve, used: true }), null)
    t.equal(world.lastRefusal, 'idempotency_over')
    t.same(world.whole, [70, 30, 100])
    t.match(ask({ type: 'credit_extend', leaseId: lease.id, key: 'k1' }), { granted: 31_000_000_000n })
    world.hold({ type: 'credit_release', leaseId: lease.id })
    const next = world.lease(30)!
    t.equal(ask({ type: 'credit_extend', leaseId: next.id, key: 'k1' }), null, 'over all extends')
    t.equal(world.lastRefusal, 'idempotency_reused')
  },
)

t.test('a hold is found by its id among the credits of a company', async t => {
  const world = new Desk(100)
  const [lease, hold] = [world.lease(10)!, world.reservation(10)!]
  const accounts = new Map([
    ['bcrd_other', emptyAccount('comp_test', 'bcrd_other')],
    [creditId, world.account],
  ])
  t.equal(creditOf(accounts, { type: 'credit_release', leaseId: lease.id }), creditId)
  t.equal(creditOf(accounts, { type: 'credit_reservation_release', reservationId: hold.id }), creditId)
  t.equal(creditOf(accounts, { type: 'credit_release', leaseId: 'crlse_none' }), null)
})

t.test('CR-81 the settling event takes from the hold, returns the rest, draws the excess', async t => {
  const world = new Desk(100)
  const low = world.reservation(40)!
  t.match(world.use(25_000_000_000n, null, low.id), { applied: 'reservation', returned: 15_000_000_000n })
  t.same(world.whole, [75, 0, 75])
  const high = world.reservation(40)!
  t.match(world.use(55_000_000_000n, null, high.id), {
    consumed: 55_000_000_000n,
    uncovered: 0n,
    returned: 0n,
  })
  t.same(world.whole, [20, 0, 20])
  t.equal([...world.account.closed].at(-1)!.tracked, 55_000_000_000n, 'settled_amount is the full cost')
  t.match(
    world.use(5_000_000_000n, null, high.id),
    { applied: 'grants' },
    'CR-82 a second settle draws directly',
  )
})

t.test('CR-81, CR-52 the excess of a settlement goes past zero where a draw would', async t => {
  const world = new Desk(10, configOf({ overdraft: overdraftOf(amountFromNumber(20)) }))
  const hold = world.reservation(10)!
  t.match(world.use(35_000_000_000n, null, hold.id), {
    overdrawn: 20_000_000_000n,
    uncovered: 5_000_000_000n,
  })
  t.same(world.whole, [-20, 0, -20])
  world.check()
})

t.test('EV-10 settling at zero returns the whole hold', async t => {
  const world = new Desk(100)
  const hold = world.reservation(40)!
  t.match(world.use(0n, null, hold.id), { applied: 'reservation', consumed: 0n, returned: 40_000_000_000n })
  t.same(world.whole, [100, 0, 100])
  t.match(world.use(0n, null, null), { applied: 'nothing', effects: [] })
})

t.test('CR-82 unsettled at its end everything returns', async t => {
  const world = new Desk(100)
  const hold = world.reservation(40)!
  world.after(minuteMs)
  t.same(world.whole, [100, 0, 100])
  t.match(world.hold({ type: 'credit_reservation_release', reservationId: hold.id }), {
    releasedAtMs: hold.expiresAtMs,
  })
  t.equal(world.hold({ type: 'credit_reservation_release', reservationId: 'crlse_none' }), null)
  t.equal(world.lastRefusal, 'reservation_not_found')
})

t.test('CR-83 with both, the lease is used and the reservation stays', async t => {
  const world = new Desk(100)
  const [lease, hold] = [world.lease(50)!, world.reservation(30)!]
  t.equal(world.use(10_000_000_000n, lease.id, hold.id).applied, 'lease')
  t.same(world.whole, [20, 70, 90])
})

t.test('CR-77, CR-83 with both, a lease that is over leaves the reservation alone too', async t => {
  const world = new Desk(100)
  const hold = world.reservation(30)!
  t.equal(world.use(10_000_000_000n, 'crlse_gone', hold.id).applied, 'grants')
  t.same(world.whole, [60, 30, 90])
})

t.test('EV-50 a refund passes holds over', async t => {
  const world = new Desk(100)
  const hold = world.reservation(40)!
  t.equal(world.use(-5_000_000_000n, null, hold.id).applied, 'refund')
  t.same(world.whole, [65, 40, 105])
})

t.test('CR-52, CR-80 overdraft room counts for a hold', async t => {
  const world = new Desk(10, configOf({ overdraft: overdraftOf(amountFromNumber(20)) }))
  t.ok(world.reservation(25))
  t.same(world.whole, [-15, 25, 10])
  t.equal(world.reservation(6), null)
  t.equal(world.lease(10)!.granted, 5_000_000_000n)
})

t.test('a spend cap refuses what is above it, and no event', async t => {
  const world = new Desk(100, configOf({ maxPerDraw: amountFromNumber(20) }))
  t.equal(world.reservation(20.5), null)
  t.equal(world.lastRefusal, 'spend_cap')
  t.equal(world.lease(21), null)
  t.equal(world.lastRefusal, 'spend_cap')
  const lease = world.lease(20)!
  t.equal(world.extend(lease.id, 21), null)
  t.equal(world.lastRefusal, 'spend_cap')
  t.equal(world.use(50_000_000_000n, null, null).uncovered, 0n)
})

t.test('CR-91 entries of holds name the hold, and what it is for', async t => {
  const world = new Desk(100)
  const amount = amountFromNumber(30)
  const names = { featureId: 'feat_1', userId: 'user_1' }
  const hold = world.hold({
    type: 'credit_reserve',
    creditId,
    amount,
    expiresAtMs: null,
    key: null,
    ...names,
  })!
  const holdId = hold.id
  t.match(world.entries.at(-1), {
    usageReason: 'reservation_hold',
    holdId,
    ...names,
    amount: -30_000_000_000n,
    consumed: 0n,
  })
  world.use(20_000_000_000n, null, hold.id)
  const [used, back] = world.entries.slice(-2)
  t.match(used, { usageReason: 'track', holdId, amount: 0n, consumed: 20_000_000_000n, left: null })
  t.match(back, { usageReason: 'reservation_release', holdId, amount: 10_000_000_000n, consumed: 0n })
})

t.test('holds that are over are forgotten after a while, or when there are many', async t => {
  const world = new Desk(100)
  for (let i = 0; i < 300; i++) {
    const hold = world.reservation(1, `key${i}`)!
    world.hold({ type: 'credit_reservation_release', reservationId: hold.id })
  }
  t.equal(world.account.closed.length, 256)
  world.after(25 * hourMs)
  world.hold({ type: 'credit_release', leaseId: world.lease(1)!.id })
  t.equal(world.account.closed.length, 1)
})
