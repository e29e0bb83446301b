// A law over sequences of what a company pays for: plans, seats, add-ons, downgrades that wait, publishes, migrations, a
// custom plan's commitment, a provider that takes over, and clock steps in any order. After each step:
// 1. a subscription of the service exists exactly while a plan, add-on or seat is held that it bills (N3);
// 2. every price charged belongs to a version held, and every price held to its version (N5, N6, N4);
// 3. the quantity sold is the quantity granted, and of a custom plan at least the committed one (N7, N8);
// 4. nothing that is due is left undone, and dates that wait are those of the subscription now (N1, N2);
// 5. periods follow each other on the anchor's day (F1);
// 6. what time brings is the same, plans, periods and credits, whether it is noticed at each instant or much later (CR-44).
import t from 'tap'
import { type Catalog, compileCatalog } from '../../src/core/catalog.js'
import { byTime } from '../../src/core/company/by-time.js'
import { apply, decideCompany } from '../../src/core/company/company.js'
import { decodeCompany, encodeCompany } from '../../src/core/company/state.js'
import type {
  Commitment,
  Company,
  PlanHolding,
  SubscribedItem,
  SubscriptionState,
} from '../../src/core/model/company-state.js'
import type {
  PlanCreditGrantDef,
  PlanDef,
  PlanVersionDef,
  SoldPriceDef,
} from '../../src/core/model/definitions.js'
import type { CompanyMessage } from '../../src/core/model/message.js'
import type { MigrationReply, MigrationWanted, PlansManaged } from '../../src/core/model/plan-messages.js'
import { isActive, migrationDue, plansInForce } from '../../src/core/plans/plan.js'
import { isBilledBy } from '../../src/core/plans/unheld.js'
import { isOn, periodAt } from '../../src/core/values/period.js'
import { creditId, isSame, planGrant } from '../core/credit-world.js'
import { catalogData, company, credit, entitlement, feature, plan, planVersion, trait } from '../core/make.js'
import { Random, seed, times } from '../random.js'

const dayMs = 86_400_000
const cause = { action: 'manage_plan', actorType: 'api_key', apiKeyId: 'apik_1' } as const
/** Plans that the service bills; `own` is the company's custom plan. */
const sold = ['basic', 'pro', 'own', 'extra'] as const
type Sold = (typeof sold)[number]
const seated: readonly Sold[] = ['basic', 'own']

class Payments {
  nowMs: number
  of: Company = company({ plan: null })
  catalog: Catalog
  private readonly versions = new Map<string, PlanVersionDef[]>()
  private migrations = 0
  private subscriptions = 0
  private told = 0
  /** Until when time alone changes nothing. */
  private settledMs = 0
  readonly steps: string[] = []

  constructor(private readonly random: Random) {
    // the last days of a month often
    const day = random.chance(0.5) ? 28 + random.below(4) : 1 + random.below(28)
    this.nowMs = Date.UTC(2031, random.below(12), day, random.below(24))
    for (const id of sold) this.versions.set(id, [this.version(id, 1)])
    this.versions.set('free', [planVersion('free_v1')])
    this.versions.set('told', [
      planVersion('told_v1', { billingProductId: 'prod_told', chargeType: 'recurring' }),
    ])
    this.catalog = this.compiled()
    this.of.plan = { planId: 'free', versionId: 'free_v1', addedAtMs: 0, priceId: null, trial: null }
  }

  /** A version at some prices: always one, often both. Copies of a price keep its id. */
  private version(planId: Sold, version: number): PlanVersionDef {
    const { random } = this
    const months = random.chance(0.6) ? [1, 12] : [random.pick([1, 12])]
    const prices = (of: string, intervals: readonly number[]): SoldPriceDef[] =>
      intervals.map(each => ({
        id: `${of}_${version - random.below(Math.min(version, 2))}_${each}`,
        currency: 'usd',
        months: each,
        productId: `prod_${of}`,
      }))
    const seats = entitlement('seats', {
      id: `ent_${planId}_${version}`,
      valueType: 'trait',
      valueTraitId: 'trait_seats',
      priceBehavior: 'pay_in_advance',
      prices: prices(`${planId}_seat`, random.chance(0.8) ? months : [random.pick([1, 12])]),
      ...(planId === 'own' && { committed: random.below(6) }),
    })
    const sells = seated.includes(planId) && (planId === 'own' || random.chance(0.8))
    return planVersion(`${planId}_v${version}`, {
      version,
      billingProductId: `prod_${planId}`,
      chargeType: 'recurring',
      prices: prices(planId, months),
      entitlements: sells ? [seats] : [],
      creditGrants: this.credits(`${planId}_${version}`),
    })
  }

  /** Credits that come with a version: some reset, with a rest that rolls over, and some are issued beside. */
  private credits(of: string): PlanCreditGrantDef[] {
    const { random } = this
    const resets: Partial<PlanCreditGrantDef> = {
      resetCadence: random.pick(['weekly', 'monthly', 'quarterly'] as const),
      resetStart: random.pick(['billing_period', 'first_of_month'] as const),
      rolloverPercentage: random.pick([0, 50, 100]),
    }
    const renews: Partial<PlanCreditGrantDef> = {
      resetType: 'no_reset',
      renewalPeriod: random.pick(['billing_period', 'first_of_month'] as const),
      expiryType: random.pick(['end_of_billing_period', 'end_of_next_billing_period', 'no_expiry'] as const),
    }
    return [resets, renews].flatMap((terms, i) =>
      random.chance(0.5)
        ? [planGrant({ id: `pcgr_${of}_${i}`, creditAmount: 10 + random.below(90), ...terms })]
        : [],
    )
  }

  private compiled(): Catalog {
    const plans = [...this.versions].map(([id, versions]): PlanDef => {
      const last = versions.at(-1)!
      return plan(id, [], {
        planType: id === 'extra' ? 'add_on' : 'plan',
        companyId: id === 'own' ? 'comp_1' : null,
        versions: versions.map(one => ({ ...one, status: one === last ? 'published' : 'archived' })),
        publishedVersionId: last.id,
      })
    })
    return compileCatalog(
      catalogData({
        plans,
        features: [feature('seats', { featureType: 'license', usageLimitTraitId: 'trait_seats' })],
        traits: [trait('seats', { id: 'trait_seats' })],
        credits: [credit(creditId)],
        fallbackPlanId: 'free',
      }),
    )
  }

  versionOf({ planId, versionId }: Pick<PlanHolding, 'planId' | 'versionId'>): PlanVersionDef {
    return this.versions.get(planId)!.find(one => one.id === versionId)!
  }

  holds(): PlanHolding[] {
    return [this.of.plan, ...this.of.addOns].filter(one => one !== null)
  }

  own(): SubscriptionState | null {
    return this.of.subscriptions.find(one => one.anchorMs != null && isActive(one, this.nowMs)) ?? null
  }

  tell<Reply>(message: CompanyMessage): Reply {
    this.settle()
    const decision = decideCompany(this.of, this.catalog, message, this.nowMs)
    if ('refused' in decision) throw new Error(`refused: ${decision.refused} ${decision.detail ?? ''}`)
    for (const effect of decision.effects) apply(this.of, effect, this.nowMs)
    this.of.timeMs = this.nowMs
    this.settle()
    return decision.reply as Reply
  }

  settle(): void {
    this.settledMs = this.settled(this.of, this.nowMs)
  }

  /** Bring a company up to an instant; returns the next at which time changes it. */
  private settled(of: Company, nowMs: number): number {
    const steps = byTime(of, this.catalog, nowMs)
    for (let i = 0; ; i++) {
      const step = steps.next()
      if (step.done) return step.value
      if (i > 2_000) throw new Error(`no end of settling: ${JSON.stringify(step.value)}`)
      for (const effect of step.value) apply(of, effect, nowMs)
      of.timeMs = nowMs
    }
  }

  /** The same company where every instant is noticed as it comes. */
  private noticed(nowMs: number): Company {
    const of = decodeCompany(JSON.parse(JSON.stringify(encodeCompany(this.of))))
    for (let atMs = this.settledMs; atMs <= nowMs; atMs = this.settled(of, atMs));
    this.settled(of, nowMs)
    return of
  }

  /** The message that POST /manage-plan sends for a base plan, an interval, seats and perhaps the add-on; null: nothing sells it. */
  wanted(base: Sold, months: number, seats: number, addOn: boolean): PlansManaged | null {
    const had = this.own()
    const billedBy = had?.id ?? `bilsub_${this.subscriptions + 1}`
    const items: SubscribedItem[] = []
    const names: Record<'billedBy' | 'priceIds' | 'versionIds', Record<string, string>> = {
      billedBy: {},
      priceIds: {},
      versionIds: {},
    }
    let quantity = 0
    for (const planId of addOn ? [base, 'extra' as const] : [base]) {
      const held = this.holds().find(one => one.planId === planId)
      const version = held ? this.versionOf(held) : this.versions.get(planId)!.at(-1)!
      const at = (prices: readonly SoldPriceDef[] = []) => prices.find(one => one.months === months)
      const price = at(version.prices)
      if (!price) return null
      items.push({ productId: price.productId!, priceId: price.id, quantity: 1 })
      names.versionIds[planId] = version.id
      names.priceIds[planId] = price.id
      names.billedBy[planId] = billedBy
      for (const { prices, committed = 0 } of version.entitlements) {
        const unit = at(prices)
        const wants = Math.max(seats, committed)
        if (wants > 0 && !unit) return null
        if (wants === 0) continue
        quantity = wants
        items.push({ productId: unit!.productId!, priceId: unit!.id, quantity: wants })
      }
    }
    const { startMs, nextMs } = periodAt(this.nowMs, months, this.nowMs)
    const row: SubscriptionState = {
      ...(had ?? {
        id: billedBy,
        externalId: billedBy,
        cancelAtMs: null,
        trialEndMs: null,
        trialEndSetting: null,
        anchorMs: this.nowMs,
        periodStartMs: startMs,
        periodEndMs: nextMs,
      }),
      status: 'active',
      cancelAtPeriodEnd: false,
      intervalMonths: months,
      items,
      productIds: items.map(({ productId }) => productId),
    }
    if (had && had.intervalMonths !== months) {
      const next = periodAt(had.anchorMs!, months, this.nowMs, had.periodStartMs)
      Object.assign(row, { periodEndMs: next.nextMs })
    }
    const waits = had !== null && this.random.chance(0.4)
    if (had === null) this.subscriptions++
    const effectiveAtMs = waits ? had.periodEndMs : null
    const then = waits ? { ...row, ...this.periodFrom(had, months) } : null
    return {
      type: 'manage_plan',
      basePlanId: base,
      addOnIds: addOn ? ['extra'] : [],
      ...names,
      quantities: [{ trait: 'seats', quantity }],
      trial: null,
      subscriptions: waits ? [{ ...had, cancelAtPeriodEnd: false }] : [row],
      effectiveAtMs,
      subscriptionThen: then,
      purchases: [],
      cause,
    }
  }

  private periodFrom(had: SubscriptionState, months: number) {
    const { startMs, nextMs } = periodAt(had.anchorMs!, months, had.periodEndMs, had.periodEndMs)
    return { periodStartMs: startMs, periodEndMs: nextMs }
  }

  manage(): void {
    const { random } = this
    const base = random.pick(['basic', 'pro', 'own'] as const)
    const message = this.wanted(base, random.pick([1, 12]), random.below(5), random.chance(0.4))
    this.note(
      `manage ${message && JSON.stringify([message.versionIds, message.quantities, message.effectiveAtMs])}`,
    )
    if (message) this.tell(message)
  }

  leave(later: boolean): void {
    const had = this.own()
    if (!had) return
    this.note(`leave ${later ? 'later' : 'now'}`)
    const ended = { ...had, status: 'canceled' as const }
    this.tell({
      type: 'manage_plan',
      basePlanId: null,
      addOnIds: [],
      versionIds: {},
      priceIds: {},
      billedBy: {},
      quantities: [{ trait: 'seats', quantity: 0 }],
      trial: null,
      subscriptions: [later ? { ...had, cancelAtPeriodEnd: true } : ended],
      effectiveAtMs: later ? had.periodEndMs : null,
      subscriptionThen: later ? ended : null,
      purchases: [],
      cause,
    } satisfies PlansManaged)
  }

  /** PUT /company-plans with everything left. */
  assign(): void {
    this.note('put on free')
    this.tell({
      type: 'change_plans',
      basePlanId: 'free',
      addOnIds: [],
      versionIds: {},
      priceIds: {},
      commitments: [],
      cause,
    })
  }

  publish(): void {
    const planId = this.random.pick(sold)
    const versions = this.versions.get(planId)!
    const to = this.version(planId, versions.length + 1)
    versions.push(to)
    this.catalog = this.compiled()
    const when = planId === 'own' ? 'now' : this.random.pick(['now', 'period_end', 'leave'] as const)
    this.note(
      `publish ${to.id} ${to.prices?.map(({ id }) => id)} ${JSON.stringify(to.entitlements.map(one => [one.prices?.map(({ id }) => id), one.committed]))} ${when}`,
    )
    if (when === 'leave') return
    const reply = this.tell<MigrationReply>(this.migration(planId, to, when))
    this.note(`  ${reply.outcome}`)
  }

  private migration(planId: Sold, to: PlanVersionDef, when: 'now' | 'period_end'): MigrationWanted {
    const priceIds: Record<string, string> = {}
    const productIds: Record<string, string> = {}
    const [ended, unsold] = [new Set<string>(), new Set<string>()]
    const move = (from: readonly SoldPriceDef[] = [], next: readonly SoldPriceDef[] | undefined) => {
      for (const { id, months } of from) {
        const other = next?.find(one => one.months === months)
        if (next === undefined) ended.add(id)
        else if (!other) unsold.add(id)
        else if (other.id !== id) priceIds[id] = other.id
      }
      for (const { id, productId } of next ?? []) productIds[id] = productId!
    }
    for (const from of this.versions.get(planId)!) {
      move(from.prices, to.prices)
      for (const { prices } of from.entitlements) move(prices, to.entitlements[0]?.prices)
    }
    const commitments = to.entitlements.flatMap(({ committed = 0, prices = [] }): Commitment[] =>
      committed === 0
        ? []
        : [
            {
              trait: 'seats',
              atLeast: committed,
              sold: prices.map(({ id, productId, months }) => ({
                priceId: id,
                productId: productId!,
                months: months!,
              })),
            },
          ],
    )
    return {
      type: 'migrate_plan',
      migrationId: `pvmg_${++this.migrations}`,
      planId,
      versionId: to.id,
      fromVersionIds: null,
      when,
      priceIds,
      productIds,
      ended: [...ended],
      unsold: [...unsold],
      commitments,
      cause: { ...cause, action: 'plan_version_migration' },
    }
  }

  /** A provider's message about its own subscription, sometimes an earlier one once more. */
  provider(): void {
    const again = this.random.chance(0.3)
    if (!again) this.told++
    const startMs = Date.UTC(2031, 0, 1) + this.told * dayMs - (this.random.chance(0.2) ? 5 * dayMs : 0)
    const status = this.random.pick(['active', 'active', 'past_due', 'canceled', 'incomplete'] as const)
    this.note(`provider ${status}`)
    this.tell({
      type: 'put_subscription',
      cause,
      subscription: {
        id: 'bilsub_told',
        externalId: 'sub_told',
        status,
        periodStartMs: startMs,
        periodEndMs: startMs + 3650 * dayMs,
        intervalMonths: 1,
        cancelAtPeriodEnd: false,
        cancelAtMs: null,
        trialEndMs: null,
        trialEndSetting: null,
        productIds: ['prod_told'],
        items: [{ productId: 'prod_told', priceId: 'price_told', quantity: 1 }],
      },
    })
  }

  pass(): void {
    const days = this.random.pick([0, 1, 5, 20, 31, 70, 400])
    this.nowMs += days * dayMs + this.random.below(dayMs)
    this.note(`${days} days: ${new Date(this.nowMs).toISOString()}`)
    const agreed = this.of.schedule?.downgrade
    const before = this.holds().map(({ planId }) => planId)
    const noticed = this.noticed(this.nowMs)
    this.settle()
    this.mustBeAlike(noticed)
    const taken = agreed && this.of.schedule === null ? this.of.plan : null
    if (taken && taken.addedAtMs === agreed!.plan?.addedAtMs && !before.includes(taken.planId))
      this.landed(taken)
  }

  private mustBeAlike(noticed: Company): void {
    const [late, prompt] = [this.of, noticed].map(({ plan, addOns, subscriptions, schedule, credits }) => ({
      plan,
      addOns,
      subscriptions,
      schedule,
      credits: [...credits.values()].flatMap(({ grants }) =>
        grants.map(({ reason, quantity, remaining, createdAtMs, expiresAtMs, closed }) =>
          JSON.stringify([
            reason,
            `${quantity}`,
            `${remaining}`,
            new Date(createdAtMs),
            expiresAtMs && new Date(expiresAtMs),
            closed,
          ]),
        ),
      ),
    }))
    if (!isSame(late, prompt))
      throw new Error(
        `6. noticed late: ${JSON.stringify(late, null, 1)}\nas it came: ${JSON.stringify(prompt, null, 1)}`,
      )
  }

  /** A downgrade takes a plan up in its published version, where that is sold as the company pays (N4). */
  private landed(taken: PlanHolding): void {
    const published = this.versions.get(taken.planId)!.at(-1)!
    const own = this.own()
    if (taken.versionId === published.id || own === null) return
    const at = (prices: readonly SoldPriceDef[] = []) =>
      prices.some(({ months }) => months === own.intervalMonths)
    const isPaid = own.items!.some(({ priceId }) => priceId.includes('seat'))
    const isSold =
      at(published.prices) && (!isPaid || published.entitlements.every(({ prices }) => at(prices)))
    if (isSold) throw new Error(`N4: landed on ${taken.versionId}, published is ${published.id}`)
  }

  note(step: string): void {
    this.steps.push(step)
  }

  step(): void {
    const at = this.random.next()
    if (at < 0.3) this.manage()
    else if (at < 0.5) this.publish()
    else if (at < 0.75) this.pass()
    else if (at < 0.85) this.provider()
    else if (at < 0.9) this.leave(true)
    else if (at < 0.94) this.leave(false)
    else this.assign()
    this.check()
  }

  check(): void {
    const { of, nowMs } = this
    const must = (holds: boolean, what: string) => {
      if (!holds)
        throw new Error(
          `${what}: ${JSON.stringify([of.plan, of.addOns, of.subscriptions, of.schedule, of.traits.text('seats')], null, 1)}`,
        )
    }
    const owns = of.subscriptions.filter(one => one.anchorMs != null && isActive(one, nowMs))
    must(owns.length <= 1, 'one subscription of the service at most')
    const own = owns[0] ?? null
    const holds = this.holds()
    const billed = own
      ? holds.filter(one => isBilledBy(one, this.catalog.plans.get(one.planId)?.def, own))
      : []
    must(own === null || billed.length > 0, '1. a subscription of the service bills something that is held')
    for (const held of holds) {
      if (!(sold as readonly string[]).includes(held.planId)) continue
      must(billed.includes(held), `1. ${held.planId} is paid for`)
      must(
        this.versionOf(held).prices!.some(({ id }) => id === held.priceId),
        `2. the price of ${held.planId} is of its version`,
      )
    }
    const ofVersions = new Set(
      billed.flatMap(held => {
        const version = this.versionOf(held)
        return [
          held.priceId,
          ...version.entitlements.flatMap(({ prices = [] }) => prices.map(({ id }) => id)),
        ]
      }),
    )
    for (const { priceId } of own?.items ?? [])
      must(ofVersions.has(priceId), `2. ${priceId} is of a version held`)
    const seatItems = (own?.items ?? []).filter(({ priceId }) => priceId.includes('seat'))
    const granted = holds.some(one => this.versionOf(one).entitlements.length > 0)
      ? Number(of.traits.text('seats') ?? 0)
      : 0
    must(seatItems.length <= 1, '3. seats are sold once')
    must((seatItems[0]?.quantity ?? 0) === granted, `3. ${granted} seats are granted and sold`)
    must(Number(of.traits.text('seats') ?? 0) === granted, '3. no seats without a version that sells them')
    for (const held of holds)
      for (const { committed = 0 } of this.versionOf(held).entitlements)
        must(granted >= committed, '3. the commitment')
    must(!of.schedule?.downgrade || of.schedule.downgrade.effectiveAtMs > nowMs, '4. no downgrade is overdue')
    for (const migration of of.schedule?.migrations ?? []) {
      const dueMs = migrationDue(of, migration, nowMs)
      must(dueMs === null || dueMs > nowMs, '4. no migration is overdue')
      must(dueMs === migration.effectiveAtMs, '4. the date told is the date')
    }
    const { plan: base, addOns } = plansInForce(of, this.catalog, nowMs)
    must(
      base?.versionId === of.plan?.versionId && addOns.length === of.addOns.length,
      '4. what is in force is stored',
    )
    if (own) {
      must(
        own.periodStartMs <= nowMs && (own.periodEndMs > nowMs || own.cancelAtPeriodEnd),
        '5. the period is of now',
      )
      must(isOn(own.anchorMs!, own.periodEndMs), '5. a period ends on the anchor’s day')
    }
  }
}

t.test('N1…N8, F1 what is held is paid for, and nothing else, over any sequence', async t => {
  for (let run = 0; run < times(400); run++) {
    const world = new Payments(new Random(seed + run))
    try {
      for (let i = 0; i < 40; i++) world.step()
    } catch (error) {
      t.fail(`seed ${seed + run}: ${(error as Error).message}\n${world.steps.join('\n')}`)
      return
    }
  }
  t.pass('every history agrees')
})
