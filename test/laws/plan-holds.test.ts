// Decision 33 with holds: a hold that is open over changes of plans and periods, and gives all back, leaves what there would be if
// it had given it back before them, whatever other windows go on beside.
import t from 'tap'
import { followPlan, type HeldPlanGrant } from '../../src/core/credits/plan-grant.js'
import type { BillingPeriod } from '../../src/core/model/account-state.js'
import type { PlanCreditGrantDef } from '../../src/core/model/definitions.js'
import { addMonthsClamped } from '../../src/core/values/period.js'
import { configOf, dayMs, must, planGrant, World } from '../core/credit-world.js'
import { Random, seed, times } from '../random.js'

const nano = 1_000_000_000n

const periodOf = (startMs: number): BillingPeriod => ({
  startMs,
  endMs: addMonthsClamped(startMs, 1),
  intervalMonths: 1,
  anchorMs: startMs,
})

/** The plan credits of a company, and how they change. */
class Life {
  readonly world: World
  private held: readonly HeldPlanGrant[] = []

  constructor(startMs: number) {
    this.world = new World(configOf({ period: periodOf(startMs) }))
    this.world.nowMs = startMs
  }

  hold(...defs: readonly PlanCreditGrantDef[]): void {
    this.held = defs.map(def => ({ def, planId: `plan_${def.id}`, versionId: 'v', licences: 0 }))
    this.follow()
  }

  /** The subscription begins anew. */
  restart(): void {
    this.world.config = configOf({ period: periodOf(this.world.nowMs) })
    this.follow()
  }

  pass(ms: number): void {
    this.world.nowMs += ms
    this.world.bringUp()
    this.follow()
  }

  private follow(): void {
    const { world } = this
    world.apply(followPlan(world.account, world.config, this.held, world.nowMs))
    world.bringUp()
    world.apply(followPlan(world.account, world.config, this.held, world.nowMs))
    world.check()
  }

  get left(): bigint {
    return this.world.figures().remaining
  }
}

const startMs = Date.UTC(2026, 0, 31, 9)
const monthly = planGrant({ id: 'pcgr_month', creditAmount: 100 })
const weekly = planGrant({ id: 'pcgr_week', creditAmount: 70, resetCadence: 'weekly' })

const other = planGrant({ id: 'pcgr_other', creditAmount: 100 })
const changes: Readonly<Record<string, (life: Life, beside: readonly PlanCreditGrantDef[]) => void>> = {
  'the period begins anew': life => life.restart(),
  'another plan': (life, beside) => life.hold(other, ...beside),
}

for (const [what, change] of Object.entries(changes))
  for (const beside of [
    [],
    [weekly],
    [weekly, { ...weekly, id: 'pcgr_day', resetCadence: 'daily' as const }],
  ])
    t.test(
      `decision 33 ${what}: what a hold gives back comes back, ${beside.length} windows beside`,
      async t => {
        const life = new Life(startMs)
        life.hold(monthly, ...beside)
        life.pass(3 * dayMs)
        const before = life.left
        life.world.acquire(90n * nano)
        life.world.nowMs += 1
        change(life, beside)
        t.ok(life.left < before, 'while it is held')
        life.world.release()
        life.world.check()
        t.equal(life.left, before)
      },
    )

/** Two lives with the same changes: in one the hold ends before them, in the other after them. */
function history(random: Random): void {
  const cadences = ['daily', 'weekly', 'monthly', 'quarterly', 'yearly'] as const
  const versions = (id: string) => {
    const resetCadence = random.pick(cadences)
    return [1, 2].map(n =>
      planGrant({ id: `pcgr_${id}_${n}`, creditAmount: 20 + random.below(200), resetCadence }),
    )
  }
  const plans = [versions('base'), versions('add'), versions('more')].slice(0, 1 + random.below(3))
  const choice = () => plans.map(all => all[random.below(2)]!)
  const first = choice()
  const steps = Array.from({ length: random.below(4) }, () => ({
    days: random.below(9),
    part: BigInt(random.below(100)),
    holds: random.chance(0.3) ? choice() : null,
  }))
  const part = BigInt(1 + random.below(100))
  // what does not fit into another window that ends sooner stays with its own, and that depends on what is held
  const changes = Array.from({ length: 1 + random.below(2) }, () =>
    plans.length < 2 && random.chance(0.5) ? choice() : null,
  )
  const [before, after] = [true, false].map(isBefore => {
    const life = new Life(startMs)
    const { world } = life
    life.hold(...first)
    for (const step of steps) {
      life.pass(step.days * dayMs + 1_000)
      if (step.holds) life.hold(...step.holds)
      const cost = (life.left * step.part) / 100n
      if (cost > 0n) world.draw(cost)
    }
    const amount = (life.left * part) / 100n
    if (amount > 0n) world.acquire(amount)
    if (isBefore && amount > 0n) world.release()
    for (const change of changes) {
      life.pass(1_000)
      if (change) life.hold(...change)
      else life.restart()
    }
    if (!isBefore && amount > 0n) world.release()
    world.check()
    return life.left
  })
  must(before === after, `${before} are left where it ended before the changes, ${after} after them`)
}

t.test('decision 33 it does not matter whether a hold gives back before or after a change', async t => {
  for (let run = 0; run < times(1000); run++) {
    try {
      history(new Random(seed + run))
    } catch (error) {
      t.fail(`seed ${seed + run}: ${(error as Error).message}`)
      return
    }
  }
  t.pass('every pair of histories agrees')
})
