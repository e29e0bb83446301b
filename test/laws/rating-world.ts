// Random billing lives for the law of rating: plans, prices, changes, events, and the facts that rating takes.
import type { PriceTier } from '../../src/core/model/definitions.js'
import type {
  BillingFacts,
  ItemPrice,
  OfferedPrice,
  RatedEntitlement,
  RatedVersion,
} from '../../src/core/rating/facts.js'
import { effective, type HistoryEntry } from '../../src/core/rating/history.js'
import { addMonthsClamped, dayMs, hourMs } from '../../src/core/values/period.js'
import { itemPrice, ratedPrice } from '../core/make.js'
import type { Random } from '../random.js'

/** An event as it was accepted. Times are epoch ms. */
export interface Used {
  readonly id: string
  readonly subtype: string
  readonly capturedMs: number
  readonly receivedMs: number
  readonly quantity: number
}

/** One state of the life: what is sold from an instant on. */
export interface Phase {
  readonly atMs: number
  readonly versionId: string
  /** The version of the add-on held beside; null: none. */
  readonly addOn: string | null
  readonly seats: number
  readonly isTrial: boolean
  /** The subscription is over. */
  readonly isOver: boolean
  /** The anchor of its periods. */
  readonly anchorMs: number
  /** The change that begins it is not prorated (RA-29). */
  readonly isUnprorated: boolean
}

/** Credits bought, or owed when a window of arrears closed. Credits and the price of one: decimal text. */
export interface Credits {
  readonly atMs: number
  readonly credits: string
  readonly unit: string
}

export interface World {
  readonly months: number
  readonly phases: readonly Phase[]
  readonly versions: ReadonlyMap<string, RatedVersion>
  readonly events: readonly Used[]
  readonly bundles: readonly Credits[]
  readonly overdrafts: readonly Credits[]
  readonly prorates: boolean
  readonly percentOff: string | null
  readonly startMs: number
  readonly endMs: number
}

const behaviors = ['pay_as_you_go', 'tier', 'overage'] as const
const periods = ['current_day', 'current_week', 'current_month', 'all_time'] as const
const cadences = ['end_of_billing_period', 'monthly', 'quarterly'] as const

export function randomWorld(random: Random): World {
  const months = random.pick([1, 1, 3])
  const startMs = Date.UTC(
    2026,
    random.below(12),
    1 + random.below(31),
    random.below(24),
    0,
    random.below(60),
  )
  const endMs = startMs + (100 + random.below(160)) * dayMs
  const versions = randomVersions(random)
  const base = [...versions.keys()].filter(id => !addOnIds.includes(id))
  const phases = randomPhases(random, startMs, endMs, months, base)
  const subtypes = ['a', 'b', 'c']
  const events = Array.from({ length: random.below(60) }, (_, i): Used => {
    const near = random.chance(0.2) ? random.pick(boundaries(phases, months, endMs)) : null
    const capturedMs = Math.max(
      startMs,
      near ?? Math.floor((startMs + random.next() * (endMs - startMs)) / 1000) * 1000,
    )
    const isLate = random.chance(0.25)
    return {
      id: `e${String(i).padStart(3, '0')}`,
      subtype: random.pick(subtypes),
      capturedMs,
      receivedMs: capturedMs + (isLate ? random.below(34) * dayMs + random.below(24) * hourMs : 0),
      quantity: random.chance(0.12) ? -1 - random.below(8) : 1 + random.below(30),
    }
  })
  return {
    months,
    phases,
    versions,
    events,
    bundles: randomCredits(random, startMs, endMs, boundaries(phases, months, endMs)),
    overdrafts: randomCredits(random, startMs, endMs, boundaries(phases, months, endMs)),
    prorates: random.chance(0.6),
    percentOff: random.chance(0.2) ? random.pick(['10', '12.5', '33']) : null,
    startMs,
    endMs,
  }
}

/** Some at the very boundaries of periods. */
function randomCredits(random: Random, startMs: number, endMs: number, bounds: readonly number[]): Credits[] {
  return Array.from({ length: random.below(4) }, () => ({
    atMs: random.chance(0.4)
      ? random.pick(bounds)
      : startMs + 1000 * Math.ceil((random.next() * (endMs - startMs)) / 1000),
    credits: random.pick(['1', '25', '0.5', '12.345', '1000.001']),
    unit: random.pick(['2', '0.1', '0.075', '33']),
  }))
}

function boundaries(phases: readonly Phase[], months: number, endMs: number): number[] {
  const all = phases.map(({ atMs }) => atMs)
  for (const { anchorMs } of phases)
    for (let n = 1; addMonthsClamped(anchorMs, n * months) < endMs; n++)
      all.push(addMonthsClamped(anchorMs, n * months))
  return all
}

/** Versions of add-ons. */
export const addOnIds: readonly string[] = ['v8', 'v9']

function randomVersions(random: Random): Map<string, RatedVersion> {
  const versions = new Map<string, RatedVersion>()
  const count = 2 + random.below(3)
  let shared: OfferedPrice | null = null
  const ids = [...Array.from({ length: count }, (_, n) => `v${n}`), ...addOnIds]
  for (const [n, versionId] of ids.entries()) {
    const isAddOn = addOnIds.includes(versionId)
    const entitlements: RatedEntitlement[] = []
    for (const [subtype, featureId] of [
      ['a', 'f1'],
      ['b', 'f2'],
      // sold by add-ons alone
      ['c', 'f3'],
    ] as const) {
      if (random.chance(isAddOn ? 0.4 : 0.25) || (featureId === 'f3' && !isAddOn)) continue
      // a later version may keep the price of an earlier one
      const price: OfferedPrice =
        shared && random.chance(0.4) ? shared : randomPrice(random, `p_${versionId}_${featureId}`)
      if (featureId === 'f1') shared = price
      entitlements.push({
        id: `e_${versionId}_${featureId}`,
        featureId,
        subtype,
        trait: null,
        valueType: 'unlimited',
        // granted without a limit and without a price: nothing after it is asked
        behavior: random.chance(0.1) ? null : random.pick(behaviors),
        softLimit: BigInt(random.below(60)),
        metricPeriod: random.pick(periods),
        monthReset: random.pick(['billing_cycle', 'first_of_month'] as const),
        cadence: random.pick(cadences),
        anchor: random.pick(['billing_period_start', 'month_end'] as const),
        prices: [price],
      })
    }
    versions.set(versionId, {
      planId: isAddOn ? `plan_${versionId}` : `plan_${n % 2}`,
      versionId,
      version: n + 1,
      currency: 'usd',
      entitlements,
      feePriceIds: new Set([`fee_${versionId}`]),
      feeProductId: `fees_${versionId}`,
      seatPriceIds: new Map([[`seat_${versionId}`, 'seats']]),
    })
  }
  return versions
}

function randomPrice(random: Random, id: string): OfferedPrice {
  const packageSize = random.pick([1, 1, 1, 10])
  const unit = random.pick(['3', '0.5', '0.125', '7', '0.333'])
  const tiers: PriceTier[] = []
  let upTo = 0
  const count = random.chance(0.6) ? 1 + random.below(4) : 0
  for (let i = 0; i < count; i++) {
    upTo += 1 + random.below(40)
    tiers.push({
      upTo: i === count - 1 ? null : upTo,
      flatAmount: random.pick([0, 0, 100, 7]),
      perUnitPrice: random.below(9),
      perUnitPriceDecimal: random.chance(0.4) ? random.pick(['0.25', '1.5', '0.07']) : null,
    })
  }
  return {
    id,
    currency: 'usd',
    unit,
    tiers: count === 0 ? null : tiers,
    mode: random.pick(['graduated', 'volume'] as const),
    packageSize,
    months: 1,
  }
}

function randomPhases(
  random: Random,
  startMs: number,
  endMs: number,
  months: number,
  versionIds: string[],
): Phase[] {
  const isTrial = random.chance(0.15)
  let phase: Phase = {
    atMs: startMs,
    versionId: random.pick(versionIds),
    addOn: random.chance(0.4) ? random.pick(addOnIds) : null,
    seats: random.below(6),
    isTrial,
    isOver: false,
    anchorMs: startMs,
    isUnprorated: false,
  }
  const phases = [phase]
  const instants = Array.from(
    { length: random.below(6) },
    () => startMs + Math.ceil((random.next() * (endMs - startMs)) / 1000) * 1000,
  )
  if (random.chance(0.3)) instants.push(addMonthsClamped(startMs, months)) // a change at a boundary
  for (const atMs of [...new Set(instants)].sort((a, b) => a - b)) {
    if (phase.isOver || atMs <= phase.atMs || atMs >= endMs) continue
    if (phase.isTrial) {
      phase = { ...phase, atMs, isTrial: false, anchorMs: atMs }
    } else {
      const what = random.below(10)
      if (what === 0) phase = { ...phase, atMs, isOver: true }
      else if (what < 3) phase = { ...phase, atMs, versionId: random.pick(versionIds), anchorMs: atMs }
      else if (what < 5) phase = { ...phase, atMs, versionId: random.pick(versionIds) }
      else if (what < 7)
        phase = { ...phase, atMs, addOn: phase.addOn === null ? random.pick(addOnIds) : null }
      else phase = { ...phase, atMs, seats: random.below(9) }
    }
    phase = { ...phase, isUnprorated: random.chance(0.25) }
    phases.push(phase)
  }
  return phases
}

/** The facts of a world as they are known at an instant. */
export function factsOf(world: World, knownMs: number): BillingFacts {
  const { months, phases, versions } = world
  const history = phases
    .filter(({ atMs }) => atMs <= knownMs)
    .flatMap((phase): HistoryEntry[] => {
      const { atMs, versionId, addOn, seats, isTrial, isOver, anchorMs, isUnprorated } = phase
      let startMs = anchorMs
      for (let n = 1; addMonthsClamped(anchorMs, n * months) <= atMs; n++)
        startMs = addMonthsClamped(anchorMs, n * months)
      let endMs = startMs
      for (let n = 1; endMs <= startMs; n++) endMs = addMonthsClamped(anchorMs, n * months)
      const version = versions.get(versionId)!
      return [
        {
          kind: 'subscription',
          atMs,
          id: 'sub',
          state: {
            id: 'sub',
            externalId: 'sub',
            status: isOver ? 'canceled' : isTrial ? 'trialing' : 'active',
            periodStartMs: startMs,
            periodEndMs: endMs,
            intervalMonths: months,
            cancelAtPeriodEnd: false,
            cancelAtMs: null,
            trialEndMs: null,
            trialEndSetting: null,
            productIds: [],
            items: [
              { productId: `fees_${versionId}`, priceId: `fee_${versionId}`, quantity: 1 },
              ...(seats > 0
                ? [{ productId: `seats_${versionId}`, priceId: `seat_${versionId}`, quantity: seats }]
                : []),
              ...(addOn === null
                ? []
                : [{ productId: `fees_${addOn}`, priceId: `fee_${addOn}`, quantity: 1 }]),
            ],
            anchorMs,
            ...(isUnprorated && { unproratedAtMs: atMs }),
          },
        },
        {
          kind: 'plan',
          atMs,
          plan: isOver
            ? null
            : {
                planId: version.planId,
                versionId,
                addedAtMs: atMs,
                priceId: `fee_${versionId}`,
                trial: null,
                subscriptionId: 'sub',
              },
        },
        {
          kind: 'add_ons',
          atMs,
          addOns:
            isOver || addOn === null
              ? []
              : [
                  {
                    planId: versions.get(addOn)!.planId,
                    versionId: addOn,
                    addedAtMs: atMs,
                    priceId: `fee_${addOn}`,
                    trial: null,
                    subscriptionId: 'sub',
                  },
                ],
        },
      ]
    })
  const itemPrices = new Map<string, ItemPrice[]>()
  for (const [versionId] of versions) {
    itemPrices.set(`fee_${versionId}`, [itemPrice(`fee_${versionId}`, feeOf(versionId), months)])
    itemPrices.set(`seat_${versionId}`, [itemPrice(`seat_${versionId}`, seatOf(versionId), months)])
  }
  return {
    companyId: 'comp',
    history: effective(history),
    versions,
    fallback: [],
    itemPrices,
    currencies: new Map([['sub', 'usd']]),
    currency: null,
    prorates: world.prorates,
    invoicesAtOnce: false,
    purchases: world.bundles
      .map(({ atMs, credits, unit }, n) => ({
        atMs,
        creditId: 'credit',
        bundleId: `bundle${n}`,
        credits,
        price: ratedPrice({ id: `bundle${n}`, unit }),
      }))
      .filter(({ atMs }) => atMs <= knownMs),
    overdrafts: world.overdrafts
      .map(({ atMs, credits, unit }, n) => ({
        creditId: 'credit',
        atMs,
        sinceMs: atMs,
        credits,
        price: ratedPrice({ id: `arrears${n}`, unit }),
        sold: null,
      }))
      .filter(({ atMs }) => atMs <= knownMs),
    discounts:
      world.percentOff === null
        ? []
        : [
            {
              couponId: 'coup',
              subscriptionId: 'sub',
              fromMs: world.startMs,
              untilMs: null,
              percentOff: world.percentOff,
              amountOff: null,
              currency: null,
            },
          ],
    late: world.events.filter(one => one.receivedMs > one.capturedMs && one.receivedMs <= knownMs),
  }
}

export const feeOf = (versionId: string): string => String(1000 + 777 * Number(versionId.slice(1)))
export const seatOf = (versionId: string): string => `${300 + 111 * Number(versionId.slice(1))}.5`
