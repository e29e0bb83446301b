// Decision 33 over sequences: plans, versions, seats, add-ons, draws, restarts of the period and time in any order leave
// what is due now less what was drawn in the window, and the ledger agrees.
import t from 'tap'
import { followPlan, type HeldPlanGrant } from '../../src/core/credits/plan-grant.js'
import type { BillingPeriod } from '../../src/core/model/account-state.js'
import type { PlanCreditGrantDef } from '../../src/core/model/definitions.js'
import { addMonthsClamped } from '../../src/core/values/period.js'
import { configOf, dayMs, must, planGrant, World } from '../core/credit-world.js'
import { Random, seed, times } from '../random.js'

const nano = 1_000_000_000n

/** Plans of a company: a base plan by number and version, seats, and perhaps an add-on. */
interface Holding {
  readonly plan: number
  readonly version: number
  readonly seats: number
  readonly addOn: boolean
}

const amounts = [1000, 100, 0, 400]

function defsOf({ plan, version, addOn }: Holding): { def: PlanCreditGrantDef; planId: string }[] {
  const perSeat = plan === 3
  const base = planGrant({
    id: `pcgr_${plan}_${version}`,
    creditAmount: perSeat ? 100 : amounts[plan]!,
    ...(perSeat && { scaling: 'per_license', companyCreditAmount: 50, licenseId: 'lice_1' }),
  })
  const own = plan === 2 ? [] : [{ def: base, planId: `plan_${plan}` }]
  return addOn ? [...own, { def: planGrant({ id: 'pcgr_add', creditAmount: 70 }), planId: 'plan_add' }] : own
}

function dueOf(holding: Holding): bigint {
  const base = holding.plan === 3 ? 50 + 100 * holding.seats : amounts[holding.plan]!
  return BigInt(base + (holding.addOn ? 70 : 0)) * nano
}

/** One subscription's windows as numbers. */
class Model {
  drawn = 0n
  largest = 0n
  /** Carried into the window inside the lease. */
  heldBefore = 0n
  constructor(
    public startMs: number,
    public endMs: number,
    public holding: Holding,
  ) {
    this.largest = dueOf(holding)
  }

  get left(): bigint {
    const left = dueOf(this.holding) - this.drawn
    return left > 0n ? left : 0n
  }

  /** Something is always held: a window begins with the first grant in it. */
  hold(holding: Holding): void {
    this.holding = holding.plan === 2 ? { ...holding, addOn: true } : holding
    if (dueOf(this.holding) > this.largest) this.largest = dueOf(this.holding)
  }

  /** The window ends; before its time, what was drawn beyond its share goes on. held: inside the lease. */
  next(atMs: number, endMs: number, held = 0n): void {
    const share =
      (dueOf(this.holding) * BigInt(atMs - this.startMs)) / BigInt(this.endMs - this.startMs) / nano
    const over = this.drawn - share * nano
    this.drawn = atMs < this.endMs && over > 0n ? over : 0n
    this.heldBefore = held < this.drawn ? held : this.drawn
    this.startMs = atMs
    this.endMs = endMs
    this.largest = 0n
    for (const one of [this.drawn, dueOf(this.holding)]) if (one > this.largest) this.largest = one
  }
}

function history(random: Random): void {
  const periodOf = (fromMs: number): BillingPeriod => ({
    startMs: fromMs,
    endMs: addMonthsClamped(fromMs, 1),
    intervalMonths: 1,
    anchorMs: fromMs,
  })
  // any day, the last ones of a month often: F1
  const startMs = Date.UTC(
    2026,
    random.below(12),
    random.chance(0.5) ? 28 + random.below(4) : 1 + random.below(28),
    9,
  )
  let anchorMs = startMs
  const world = new World(configOf({ period: periodOf(anchorMs) }))
  world.nowMs = startMs
  let month = 0
  const model = new Model(startMs, addMonthsClamped(anchorMs, 1), {
    plan: 0,
    version: 1,
    seats: 1,
    addOn: false,
  })
  const follow = (): void => {
    const { seats, version } = model.holding
    const held: HeldPlanGrant[] = defsOf(model.holding).map(({ def, planId }) => ({
      def,
      planId,
      versionId: `plvr_${planId}_${version}`,
      licences: def.scaling === 'per_license' ? seats : 0,
    }))
    world.apply(followPlan(world.account, world.config, held, world.nowMs))
    world.bringUp()
    world.apply(followPlan(world.account, world.config, held, world.nowMs))
  }
  /** Credits that the lease would give back to this window: of a window before only those carried in (CR-43). */
  const comesBack = (): bigint => {
    let sum = 0n
    let before = 0n
    for (const { seq, left } of world.account.lease?.slices ?? []) {
      const grant = world.account.grants.find(one => one.seq === seq)!
      if (grant.createdAtMs >= model.startMs) sum += left
      else before += left
    }
    return sum + (before < model.heldBefore ? before : model.heldBefore)
  }
  /** The lease ends before much time goes by: by hand, or by itself after five minutes. */
  const end = (): void => {
    if (world.account.lease === null) return
    const back = comesBack()
    if (random.chance(0.5) || world.nowMs + 300_000 >= model.endMs) world.release()
    else {
      world.nowMs += 300_000
      world.bringUp()
    }
    model.drawn -= back
  }
  const agree = (step: string): void => {
    const { remaining } = world.figures()
    must(remaining === model.left, `${step}: ${remaining} are left, ${model.left} are allowed`)
    must(model.drawn + remaining <= model.largest + model.drawn, step)
    must(model.drawn + remaining <= model.largest, `${step}: no more than the largest due`)
    world.check()
  }
  follow()
  agree('begin')
  for (let i = 0; i < 40; i++) {
    const kind = random.below(9)
    const { holding } = model
    if (kind === 0) model.hold({ ...holding, plan: random.below(4) })
    else if (kind === 1) model.hold({ ...holding, version: holding.version + 1 })
    else if (kind === 2) model.hold({ ...holding, seats: random.below(5) })
    else if (kind === 3) model.hold({ ...holding, addOn: !holding.addOn })
    else if (kind === 4) {
      const cost =
        BigInt(random.below(random.chance(0.2) ? 1_200 : 150)) * nano + BigInt(random.below(3)) * (nano / 2n)
      const before = world.figures().remaining
      if (cost > 0n) world.draw(cost)
      model.drawn += before - world.figures().remaining
    } else if (kind === 5) {
      const days = random.below(20)
      if (days > 0) end()
      world.nowMs += days * dayMs + random.below(1_000)
      while (world.nowMs >= model.endMs) model.next(model.endMs, addMonthsClamped(anchorMs, ++month + 1))
      world.config = configOf({
        period: { ...periodOf(anchorMs), startMs: model.startMs, endMs: model.endMs },
      })
      world.bringUp()
    } else if (kind === 7) {
      // a lease or a reservation counts as drawn while it is open, whatever changes meanwhile
      const before = world.figures().remaining
      const amount = (before * BigInt(1 + random.below(100))) / 100n
      if (amount > 0n && world.account.lease === null) {
        world.acquire(amount)
        model.drawn += before - world.figures().remaining
      }
    } else if (kind === 8) {
      const lease = world.account.lease
      if (lease !== null) {
        const whole = lease.slices.reduce((sum, { left }) => sum + left, 0n)
        const cost = random.chance(0.5) ? 0n : (whole * BigInt(random.below(120))) / 100n
        if (cost > 0n) world.commit(cost)
        const back = comesBack()
        world.release()
        model.drawn -= back
      }
    } else {
      // the subscription begins anew
      const hours = random.below(24)
      if (hours > 0) end()
      world.nowMs += 1 + hours * 3_600_000 + random.below(1_000)
      while (world.nowMs >= model.endMs) model.next(model.endMs, addMonthsClamped(anchorMs, ++month + 1))
      world.bringUp()
      anchorMs = world.nowMs
      month = 0
      model.next(anchorMs, addMonthsClamped(anchorMs, 1), comesBack())
      world.config = configOf({ period: periodOf(anchorMs) })
    }
    follow()
    agree(`step ${i}, kind ${kind}, ${JSON.stringify(model.holding)}`)
  }
}

t.test('decision 33 N9 what is left is what is due less what was drawn, over any sequence', async t => {
  for (let run = 0; run < times(400); run++) {
    const random = new Random(seed + run)
    try {
      history(random)
    } catch (error) {
      t.fail(`seed ${seed + run}: ${(error as Error).message}`)
      return
    }
  }
  t.pass('every history agrees')
})

/** Plans whose grants reset at different times, as one company holds one after the other. */
const paced = (['daily', 'weekly', 'monthly', 'yearly'] as const).map((resetCadence, i) =>
  planGrant({ id: `pcgr_${resetCadence}`, creditAmount: [10, 40, 100, 1_200][i]!, resetCadence }),
)

/** Changes between such plans on one anchor, with draws of all there is, and returns within a window often. */
function pacedHistory(random: Random): void {
  const beganMs = Date.UTC(2026, random.below(12), 1 + random.below(31), 9)
  const periodAt = (atMs: number): BillingPeriod => {
    let month = 0
    while (addMonthsClamped(beganMs, month + 1) <= atMs) month++
    return {
      startMs: addMonthsClamped(beganMs, month),
      endMs: addMonthsClamped(beganMs, month + 1),
      intervalMonths: 1,
      anchorMs: beganMs,
    }
  }
  const world = new World(configOf({ period: periodAt(beganMs) }))
  world.nowMs = beganMs
  let drawn = 0n
  for (let step = 0; step < 60; step++) {
    const def = random.pick(paced)
    const held = { def, planId: `plan_${def.id}`, versionId: 'plvr_1', licences: 0 }
    world.apply(followPlan(world.account, world.config, [held], world.nowMs))
    const { remaining } = world.figures()
    const cost = random.chance(0.7) ? remaining : (remaining * BigInt(random.below(100))) / 100n
    if (cost > 0n) world.draw(cost)
    drawn += remaining - world.figures().remaining
    // a lease that is open over some of the changes; all of it comes back
    if (world.account.lease === null && random.chance(0.3)) {
      const rest = world.figures().remaining
      if (rest > 0n) world.acquire((rest * BigInt(1 + random.below(100))) / 100n)
    } else if (world.account.lease !== null && random.chance(0.5)) world.release()
    world.check()
    world.nowMs += random.pick([0, 1_000, 1_000, dayMs, random.below(40) * dayMs])
    world.config = configOf({ period: periodAt(world.nowMs) })
    world.bringUp()
  }
  const windows = new Set(
    world.effects.flatMap(effect =>
      effect.t === 'credit_enrol' && effect.e.leftUntilMs === null
        ? [`${effect.e.planGrantId} ${effect.e.endMs ?? effect.e.nextResetMs}`]
        : [],
    ),
  )
  const due = [...windows].reduce(
    (sum, name) => sum + paced.find(({ id }) => name.startsWith(`${id} `))!.creditAmount,
    0,
  )
  must(drawn <= BigInt(due) * nano, `${drawn} were drawn of ${due} due in ${windows.size} windows`)
}

t.test(
  'decision 33 N9 a window is given once, however often plans with other resets come between',
  async t => {
    for (let run = 0; run < times(300); run++) {
      const random = new Random(seed + run)
      try {
        pacedHistory(random)
      } catch (error) {
        t.fail(`seed ${seed + run}: ${(error as Error).message}`)
        return
      }
    }
    t.pass('no window is given twice')
  },
)
