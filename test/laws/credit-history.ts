// Random histories of one credit account.

import { archive, due, nextDueMs } from '../../src/core/credits/balance.js'
import { drawForEvent } from '../../src/core/credits/draw.js'
import { grantId } from '../../src/core/credits/grant.js'
import { applyCredit, copyAccount } from '../../src/core/credits/ledger.js'
import { decodeAccount, encodeAccount } from '../../src/core/credits/ledger-json.js'
import { followPlan, type HeldPlanGrant } from '../../src/core/credits/plan-grant.js'
import type { CreditConfig, CreditEffect } from '../../src/core/model/account-state.js'
import {
  companyId,
  configOf,
  creditId,
  dayMs,
  hourMs,
  isSame,
  must,
  overdraftOf,
  planGrant,
  startMs,
  World,
} from '../core/credit-world.js'

/** Whole numbers below a bound, from a seed. */
export type Random = (below: number) => number

/** A small generator (mulberry32): equal seeds, equal histories. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0
  return below => {
    state = (state + 0x6d2b79f5) >>> 0
    let z = state
    z = Math.imul(z ^ (z >>> 15), z | 1)
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61)
    return Math.floor((((z ^ (z >>> 14)) >>> 0) / 4_294_967_296) * below)
  }
}

const strategies = [
  'plan_first_then_credit_bundles_first_in_first_out',
  'first_in_first_out',
  'last_in_first_out',
  'expiration_priority',
] as const

const cadences = ['daily', 'weekly', 'monthly', 'quarterly', 'every_6_months', 'yearly'] as const

/** A random life of one account, checked after every step. */
export class History {
  /** Kinds of effects over all histories, to prove that none was left out. */
  static readonly seen = new Set<string>()
  readonly world: World
  /** The steps so far, for the report of a failure. */
  readonly told: string[] = []
  private held: readonly HeldPlanGrant[] = []
  private readonly snapshots: { readonly json: string; readonly from: number }[] = []

  constructor(private readonly random: Random) {
    this.world = new World(this.anyConfig())
    this.snapshots.push({ json: JSON.stringify(encodeAccount(this.world.account)), from: 0 })
  }

  private pick<T>(items: readonly T[]): T {
    return items[this.random(items.length)]!
  }

  private chance(percent: number): boolean {
    return this.random(100) < percent
  }

  /** An amount: mostly small, sometimes with nine digits, rarely larger than 64 bits. */
  private amount(): bigint {
    const kind = this.random(10)
    if (kind < 6) return BigInt(1 + this.random(60)) * 1_000_000_000n
    if (kind < 9) return BigInt(1 + this.random(50_000)) * 1_000_003n
    return kind === 9 && this.chance(10) ? BigInt(1 + this.random(9)) * 10n ** 20n : 1n
  }

  private anyConfig(): CreditConfig {
    const postpaid = this.pick([null, null, 20_000_000_000n, 1n, 'endless'] as const)
    const from = startMs - this.random(40) * dayMs
    return configOf({
      burnStrategy: this.pick(strategies),
      overdraft:
        postpaid === null
          ? null
          : {
              ...overdraftOf(postpaid === 'endless' ? null : postpaid),
              arrearsCadence: this.pick(['end_of_billing_period', 'monthly', 'quarterly']),
              arrearsAnchor: this.pick(['billing_period_start', 'month_end']),
            },
      topup: this.chance(70)
        ? null
        : {
            availability: this.pick(['off', 'automatic', 'user_controlled']),
            amount: 1 + this.random(50),
            thresholdCredits: this.chance(50) ? this.random(30) : null,
            thresholdPercent: 20,
            planGrantId: 'pcgr_1',
            expiry: { type: 'duration', unit: 'days', count: 20 },
            atOnce: this.chance(60),
            priced: this.chance(80),
          },
      period: this.chance(50)
        ? null
        : { startMs: from, endMs: from + 31 * dayMs, intervalMonths: this.pick([1, 1, 3, 12]) },
      trialEndMs: null,
      maxPerDraw: this.chance(10) ? 40_000_000_000n : null,
    })
  }

  step(): void {
    const { world } = this
    if (this.chance(70)) world.nowMs += this.pick([0, 1, 1000, 60_000, hourMs, 7 * hourMs])
    else if (this.chance(20)) world.nowMs += this.random(70) * dayMs + this.random(dayMs)
    const before = world.effects.length
    world.bringUp()
    const drawn = world.effects.length
    const untilMs = nextDueMs(world.account, world.config)
    const follows = () => followPlan(world.account, world.config, this.held, world.nowMs).length > 0
    const followed = !follows()
    const what = this.operate()
    world.check()
    const drewOnly = what === 'draw' && world.effects.slice(drawn).every(({ t }) => t === 'credit_draw')
    if (drewOnly && world.account.overdraft === null) {
      // The shard keeps a company's next instant over such draws (leavesTimeAlone).
      must(nextDueMs(world.account, world.config) >= untilMs, 'CR-53, CR-76: a draw brings nothing earlier')
      must(!followed || !follows(), 'CR-35…44: a draw brings no plan grant')
    }
    if (this.chance(2)) {
      this.snapshots.push({ json: JSON.stringify(encodeAccount(world.account)), from: world.effects.length })
    }
    for (const effect of world.effects.slice(before)) History.seen.add(effect.t)
    this.told.push(`${new Date(world.nowMs).toISOString()} ${what}`)
  }

  private operate(): string {
    const { world, random } = this
    const name = this.pick(['a', 'b', 'c', 'd'])
    switch (random(20)) {
      case 0:
      case 1:
        return this.grant()
      case 2:
      case 3:
      case 4:
      case 5:
        world.draw(this.amount())
        return 'draw'
      case 6:
        world.use(-this.amount(), this.chance(20) ? 'crlse_x' : null, null)
        return 'refund'
      case 7:
        world.acquire(this.amount())
        return 'acquire'
      case 8:
        return this.extend()
      case 9:
      case 10:
        world.commit(this.chance(5) ? 0n : this.amount())
        return 'commit'
      case 11:
        world.release()
        return 'release'
      case 12:
      case 13:
        world.reserve(`${name}${random(50)}`, this.amount())
        return 'reserve'
      case 14:
      case 15:
        world.settle(this.anyReservation(), this.chance(10) ? 0n : this.amount())
        return 'settle'
      case 16:
        world.ask({ type: 'credit_reservation_release', reservationId: this.anyHold() })
        return 'release a reservation'
      case 17:
        return this.zeroOut()
      case 18:
        return this.followPlan()
      default:
        return this.rarely()
    }
  }

  private grant(): string {
    const { world } = this
    if (world.account.renewals.length < 3 && this.chance(10)) return this.renewing()
    const fromMs = this.chance(15) ? world.nowMs + 1 + this.random(20) * dayMs : null
    world.ask({
      type: 'credit_grant',
      creditId,
      reason: this.pick(['free', 'purchased', 'adjustment']),
      quantity: 1 + this.random(100),
      count: this.chance(10) ? 3 : 1,
      validFromMs: fromMs,
      expiresAtMs: this.chance(50) ? (fromMs ?? world.nowMs) + 1 + this.random(60 * dayMs) : null,
      expiry: null,
      bundleId: null,
    })
    return 'grant'
  }

  private renewing(): string {
    this.world.ask({
      type: 'credit_grant',
      creditId,
      reason: this.pick(['free', 'purchased', 'adjustment']),
      quantity: 1 + this.random(20),
      count: this.chance(20) ? 2 : 1,
      validFromMs: null,
      expiresAtMs: null,
      expiry: this.pick([
        { type: 'duration', unit: 'days', count: 10 },
        { type: 'end_of_next_billing_period', unit: null, count: null },
        { type: 'no_expiry', unit: null, count: null },
      ]),
      bundleId: null,
      renewal: this.pick(['billing_period', 'first_of_month']),
    })
    return 'a grant that renews'
  }

  private extend(): string {
    const { world } = this
    world.ask({
      type: 'credit_extend',
      leaseId: world.holds.get('lease') ?? 'crlse_unknown',
      amount: this.amount(),
      expiresAtMs: this.chance(50) ? world.nowMs + 1 + this.random(hourMs) : null,
      key: this.chance(50) ? `key${this.random(9)}` : null,
    })
    return 'extend'
  }

  private anyReservation(): string {
    const open = this.world.account.reservations
    const found = open.length > 0 ? open[this.random(open.length)]!.keys[0] : undefined
    return found ?? 'none'
  }

  private anyHold(): string {
    const { reservations, closed } = this.world.account
    const all = [...reservations, ...closed]
    return all.length > 0 ? this.pick(all).id : 'crlse_unknown'
  }

  private zeroOut(): string {
    const { grants, spent } = this.world.account
    const ids = [
      ...grants.map(grant => grantId(companyId, creditId, grant.seq)),
      ...spent.map(grant => grantId(companyId, creditId, grant.seq)),
    ]
    if (ids.length === 0) return 'nothing'
    this.world.ask({ type: 'credit_zero_out', creditId, grantId: this.pick(ids), reason: 'manual' })
    return 'zero out'
  }

  private followPlan(): string {
    const { world } = this
    const held: HeldPlanGrant[] = []
    for (const id of ['pcgr_1', 'pcgr_2']) {
      if (this.chance(40)) continue
      const resets = this.chance(75)
      const def = planGrant({
        id,
        scaling: this.pick(['fixed', 'per_license']),
        creditAmount: this.random(60),
        companyCreditAmount: this.random(3),
        resetType: resets ? 'plan_period' : 'no_reset',
        resetCadence: resets ? this.pick(cadences) : null,
        resetStart: this.pick(['billing_period', 'first_of_month']),
        rolloverPercentage: this.pick([0, 25, 100]),
        expiryType: this.pick([null, 'end_of_billing_period', 'no_expiry', 'end_of_trial']),
        renewalPeriod: resets ? null : this.pick([null, 'billing_period', 'first_of_month']),
      })
      held.push({ def, planId: 'plan_1', versionId: 'plvr_1', licences: this.random(5) })
    }
    this.held = held
    world.apply(followPlan(world.account, world.config, held, world.nowMs))
    return `plan grants ${held.map(grant => grant.def.id).join(' ')}`
  }

  private rarely(): string {
    const { world } = this
    switch (this.random(5)) {
      case 0:
        world.config = this.anyConfig()
        world.apply(followPlan(world.account, world.config, this.held, world.nowMs))
        must(
          followPlan(world.account, world.config, this.held, world.nowMs).length === 0,
          'following twice is following once',
        )
        return 'other definitions'
      case 1:
        world.ask({ type: 'credit_topup_result', creditId, paid: this.chance(50), final: this.chance(20) })
        return 'a payment'
      case 2: {
        const settings = { enabled: this.chance(70), amount: null, thresholdCredits: this.random(20) }
        world.ask({ type: 'credit_topup_settings', creditId, settings })
        return 'settings'
      }
      case 3:
        world.ask({ type: 'credit_forgive', creditId })
        return 'forgive'
      default:
        if (!this.chance(5)) return 'nothing'
        world.apply(archive(world.account, world.nowMs))
        must(world.figures().reserved === 0n, 'CU-50: nothing is held after the end')
        must(world.account.grants.length === 0, 'CU-50: no grant after the end')
        return 'the end'
    }
  }

  /** The journalled effects, applied to any earlier snapshot, give the same account (promise 7). */
  checkReplay(): void {
    const lived = encodeAccount(this.world.account)
    const journal = this.world.effects.map(effect => JSON.stringify(effect))
    for (const { json, from } of this.snapshots) {
      const account = decodeAccount(JSON.parse(json))
      for (const line of journal.slice(from)) applyCredit(account, JSON.parse(line))
      must(
        isSame(encodeAccount(account), lived),
        `replay from ${from} of ${journal.length} effects is the same`,
      )
    }
    must(isSame(encodeAccount(copyAccount(this.world.account)), lived), 'an account can be copied')
  }

  /** Advance the account by a long time at once, and again in several steps. Returns null when both agree. */
  sweepsDiffer(): string | null {
    const { account, config, nowMs } = this.world
    const endMs = nowMs + this.random(400) * dayMs + 1
    const once = due(account, config, endMs)
    const copy = decodeAccount(JSON.parse(JSON.stringify(encodeAccount(account))))
    const many: CreditEffect[] = []
    for (let atMs = nowMs; ; atMs = Math.min(endMs, atMs + 1 + this.random(20 * dayMs))) {
      for (const effect of due(copy, config, atMs)) {
        applyCredit(copy, effect)
        many.push(effect)
      }
      if (atMs === endMs) break
    }
    return isSame(once, many) ? null : `${once.length} effects at once, ${many.length} in steps`
  }
}

/** Small worlds for the laws that compare two courses of the same start. */
export function historyWith(random: Random) {
  const build = (): World => {
    const history = new History(random)
    history.world.config = { ...history.world.config, topup: null, maxPerDraw: null }
    for (let i = 0; i < 30; i++) history.step()
    history.world.config = { ...history.world.config, topup: null }
    history.world.bringUp()
    return history.world
  }
  const fork = (world: World): World => {
    const other = new World(world.config)
    other.account = decodeAccount(JSON.parse(JSON.stringify(encodeAccount(world.account))))
    other.nowMs = world.nowMs
    return other
  }
  const left = (world: World, uncovered: bigint) => ({
    grants: world.account.grants.map(grant => [grant.seq, grant.remaining]),
    overdraft: world.account.overdraft?.remaining ?? 0n,
    figures: world.figures(),
    uncovered,
  })
  const drawn = (world: World, costs: readonly bigint[]) => {
    let uncovered = 0n
    for (const cost of costs) {
      const use = {
        cost,
        leaseId: null,
        reservationId: null,
        featureId: null,
        eventId: null,
        userId: null,
        atMs: world.nowMs,
      }
      const decision = drawForEvent(world.account, world.config, use, world.nowMs)
      for (const effect of decision.effects) applyCredit(world.account, effect)
      uncovered += decision.uncovered
    }
    return left(world, uncovered)
  }
  return {
    splitDraw() {
      const world = build()
      const whole = BigInt(2 + random(200)) * 500_000_001n
      const part = (whole * BigInt(1 + random(99))) / 100n
      return { once: drawn(fork(world), [whole]), twice: drawn(fork(world), [part, whole - part]) }
    },
    drawsInTwoOrders() {
      const world = build()
      const costs = Array.from({ length: 6 }, () => BigInt(1 + random(40)) * 700_000_003n)
      const shuffled = costs
        .map(cost => ({ cost, key: random(1000) }))
        .sort((a, b) => a.key - b.key)
        .map(({ cost }) => cost)
      return { forwards: drawn(fork(world), costs), shuffled: drawn(fork(world), shuffled) }
    },
    /** A world with credits and an overdraft limit, ready for concurrent clients. */
    concurrent(limit: bigint | null, quantity = 100_000_000_000n): World {
      const world = new World(configOf({ overdraft: limit === null ? null : overdraftOf(limit) }))
      world.limit = limit
      world.ask({
        type: 'credit_grant',
        creditId,
        reason: 'free',
        quantity: Number(quantity / 1_000_000_000n),
        count: 1,
        validFromMs: null,
        expiresAtMs: null,
        expiry: null,
        bundleId: null,
      })
      return world
    },
  }
}
