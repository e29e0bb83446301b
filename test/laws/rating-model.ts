// The model of the law of rating: it walks through raw events one by one and adds up what each costs.
import type { RatedEntitlement, RatedVersion } from '../../src/core/rating/facts.js'
import type { RatedPrice } from '../../src/core/rating/line.js'
import { addMonthsClamped, dayMs } from '../../src/core/values/period.js'
import { feeOf, type Phase, seatOf, type Used, type World } from './rating-world.js'

/** A line as the law compares it: text. */
export type Told = string

interface Span {
  readonly startMs: number
  readonly endMs: number
  /** Null: no subscription. */
  readonly anchorMs: number | null
}

/** Exact money: thousandths of thousandths of a smallest unit, so that every price here is whole. */
const scale = 1_000_000n

function units(text: string): bigint {
  const [whole, part = ''] = text.split('.')
  return BigInt(whole! + part.padEnd(6, '0'))
}

function rounded(n: bigint, d: bigint): bigint {
  const negative = n < 0n
  const size = negative ? -n : n
  const up = (2n * size + d) / (2n * d)
  return negative ? -up : up
}

/** The cost of a count, package by package. */
function cost(price: RatedPrice, count: bigint): bigint {
  let packages = 0n
  for (let left = count; left > 0n; left -= BigInt(price.packageSize)) packages++
  if (packages === 0n) return 0n
  if (price.tiers === null) return packages * units(price.unit)
  const each = (tier: { perUnitPrice: unknown; perUnitPriceDecimal: string | null }): bigint =>
    units(tier.perUnitPriceDecimal ?? String(tier.perUnitPrice))
  const tierOf = (n: bigint) => price.tiers!.find(({ upTo }) => upTo === null || n <= BigInt(upTo))!
  if (price.mode === 'volume') {
    const tier = tierOf(packages)
    return BigInt(tier.flatAmount) * scale + packages * each(tier)
  }
  let sum = 0n
  let last: unknown = null
  for (let n = 1n; n <= packages; n++) {
    const tier = tierOf(n)
    if (tier !== last) sum += BigInt(tier.flatAmount) * scale
    last = tier
    sum += each(tier)
  }
  return sum
}

/** The company's billing periods: steps from each anchor until something cuts them; then calendar months. */
export function modelPeriods({ phases, months, endMs }: World): Span[] {
  const spans: Span[] = []
  for (const [i, { atMs, anchorMs, isOver }] of phases.entries()) {
    if (!isOver && phases[i - 1]?.anchorMs === anchorMs) continue
    const untilMs =
      phases.find(one => one.atMs > atMs && (one.isOver || one.anchorMs !== anchorMs))?.atMs ?? Infinity
    let startMs = atMs
    for (let n = 1; startMs < untilMs && startMs <= endMs; n++) {
      const date = new Date(startMs)
      const due = isOver
        ? Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
        : addMonthsClamped(anchorMs, n * months)
      spans.push({ startMs, endMs: Math.min(due, untilMs), anchorMs: isOver ? null : anchorMs })
      startMs = due
    }
  }
  return spans
}

function phaseAt({ phases }: World, atMs: number): Phase | null {
  return phases.filter(one => one.atMs <= atMs).at(-1) ?? null
}

interface Priced {
  readonly version: RatedVersion
  readonly entitlement: RatedEntitlement
  readonly isTrial: boolean
}

function pricedAt(world: World, featureId: string, atMs: number): Priced | null {
  const phase = phaseAt(world, atMs)
  if (phase === null || phase.isOver) return null
  for (const id of [phase.versionId, ...(phase.addOn === null ? [] : [phase.addOn])]) {
    const version = world.versions.get(id)!
    const entitlement = version.entitlements.find(one => one.featureId === featureId)
    if (entitlement === undefined) continue
    return entitlement.behavior === null ? null : { version, entitlement, isTrial: phase.isTrial }
  }
  return null
}

/** The start of what a limit counts for an event. */
function countedFrom(
  { metricPeriod, monthReset }: RatedEntitlement,
  spans: readonly Span[],
  atMs: number,
): number {
  const date = new Date(atMs)
  const [y, m, d] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
  if (metricPeriod === 'all_time') return 0
  if (metricPeriod === 'current_day') return Date.UTC(y, m, d)
  if (metricPeriod === 'current_week') return Date.UTC(y, m, d - date.getUTCDay())
  const span = spans.find(one => one.startMs <= atMs && atMs < one.endMs)!
  if (monthReset === 'first_of_month' || span.anchorMs === null) return Date.UTC(y, m, 1)
  let startMs = span.startMs
  for (let n = 1; addMonthsClamped(span.anchorMs, n) <= atMs; n++)
    startMs = Math.max(startMs, addMonthsClamped(span.anchorMs, n))
  return startMs
}

/** The billed windows of an entitlement: [start, end). */
function windowsOf(entitlement: RatedEntitlement, spans: readonly Span[], untilMs: number): Span[] {
  if (entitlement.behavior !== 'overage' || entitlement.cadence === 'end_of_billing_period') return [...spans]
  const step = entitlement.cadence === 'quarterly' ? 3 : 1
  const windows: Span[] = []
  for (let i = 0; i < spans.length; ) {
    const { startMs, anchorMs } = spans[i]!
    let last = i
    while (spans[last + 1]?.anchorMs === anchorMs && spans[last + 1]) last++
    const endMs = last === spans.length - 1 ? Infinity : spans[last]!.endMs
    let fromMs = startMs
    for (let n = 1; fromMs < endMs && fromMs <= untilMs; n++) {
      const date = new Date(fromMs)
      const [y, m] = [date.getUTCFullYear(), date.getUTCMonth()]
      const calendar = entitlement.anchor === 'month_end'
      // without a subscription months are those of the calendar, quarters from the month it began in
      const first = new Date(startMs)
      const due = calendar
        ? Date.UTC(y, step === 1 ? m + 1 : Math.floor(m / 3) * 3 + 3, 1)
        : anchorMs === null
          ? Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + n * step, 1)
          : addMonthsClamped(anchorMs, n * step)
      windows.push({ startMs: fromMs, endMs: Math.min(due, endMs), anchorMs })
      fromMs = due
    }
    i = last + 1
  }
  return windows
}

interface Sold {
  readonly priced: Priced
  units: bigint
  exact: bigint
}

/** The cost of one window, segment by segment, by the events received before an instant. */
function walk(
  world: World,
  featureId: string,
  window: Span,
  rule: string,
  spans: readonly Span[],
  receivedMs: number,
): Sold[] {
  const subtype = { f1: 'a', f2: 'b', f3: 'c' }[featureId]
  const events = world.events
    .filter(one => one.subtype === subtype && one.receivedMs < receivedMs && one.capturedMs < window.endMs)
    .sort((a, b) => a.capturedMs - b.capturedMs)
  const steps: (Used | { capturedMs: number; change: true })[] = [
    { capturedMs: window.startMs, change: true as const },
    ...world.phases
      .filter(({ atMs }) => atMs > window.startMs && atMs < window.endMs)
      .map(({ atMs }) => ({ capturedMs: atMs, change: true as const })),
    ...events,
  ].sort((a, b) => a.capturedMs - b.capturedMs || Number('change' in b) - Number('change' in a))
  const sold: Sold[] = []
  let current: Sold | null = null
  let run = { key: '', sum: 0n, rated: 0n }
  const counted: Used[] = []
  for (const step of steps) {
    if ('change' in step) {
      const priced = pricedAt(world, featureId, step.capturedMs)
      if (priced === null || ruleOf(priced.entitlement) !== rule) {
        current = null
        run = { key: '', sum: 0n, rated: 0n }
        continue
      }
      const key = `${priced.entitlement.prices[0]!.id} ${priced.entitlement.behavior} ${priced.isTrial}`
      if (run.key !== key) run = { key, sum: 0n, rated: 0n }
      if (current?.priced.version !== priced.version || current.priced.isTrial !== priced.isTrial) {
        current = { priced, units: 0n, exact: 0n }
        sold.push(current)
      }
      continue
    }
    const { entitlement } = current?.priced ?? { entitlement: null }
    if (current && entitlement && step.capturedMs >= window.startMs) {
      const price = entitlement.prices[0]!
      let now: bigint
      if (entitlement.behavior === 'overage') {
        const fromMs = countedFrom(entitlement, spans, step.capturedMs)
        let had = 0n
        for (const one of counted) if (one.capturedMs >= fromMs) had += BigInt(one.quantity)
        const over = (sum: bigint): bigint => {
          const used = sum > 0n ? sum : 0n
          return used > entitlement.softLimit ? used - entitlement.softLimit : 0n
        }
        run.sum += over(had + BigInt(step.quantity)) - over(had)
        now = run.sum
      } else {
        run.sum += BigInt(step.quantity)
        now = run.sum > 0n ? run.sum : 0n
      }
      current.units += now - run.rated
      current.exact += cost(price, now) - cost(price, run.rated)
      run.rated = now
    }
    counted.push(step)
  }
  return sold
}

function ruleOf({ behavior, cadence, anchor }: RatedEntitlement): string {
  return behavior === 'overage' && cadence !== 'end_of_billing_period' ? `${cadence} ${anchor}` : 'period'
}

/** Every line of a period as of an instant. */
export function modelLines(world: World, period: Span, nowMs: number): Told[] {
  const spans = modelPeriods(world)
  const asOfMs = Math.min(nowMs, period.endMs)
  const told: Told[] = []
  const discounted: [of: string, n: bigint, d: bigint][] = []
  const tell = (
    kind: string,
    what: string,
    quantity: bigint,
    n: bigint,
    d: bigint,
    discountable = true,
  ): void => {
    const amount = rounded(n, d * scale)
    told.push(`${kind} ${what} ${quantity} ${amount}`)
    if (discountable && amount !== 0n) discounted.push([`${kind} ${what}`, n, d])
  }
  for (const featureId of ['f1', 'f2', 'f3']) {
    const entitlements = [...world.versions.values()].flatMap(one =>
      one.entitlements.filter(e => e.featureId === featureId && e.behavior !== null),
    )
    const rules = new Map(entitlements.map(one => [ruleOf(one), one]))
    for (const [rule, entitlement] of rules)
      for (const window of windowsOf(entitlement, spans, asOfMs)) {
        const cut = (receivedMs: number) => walk(world, featureId, window, rule, spans, receivedMs)
        const name = (sold: Sold) => `${featureId} ${sold.priced.version.versionId} ${window.startMs}`
        if (window.endMs > period.startMs && window.endMs <= period.endMs)
          for (const sold of cut(Math.min(window.endMs, asOfMs))) {
            const kind = sold.priced.isTrial
              ? 'trial'
              : sold.priced.entitlement.behavior === 'overage'
                ? 'overage'
                : 'usage'
            if (sold.units !== 0n)
              tell(kind, name(sold), sold.units, sold.priced.isTrial ? 0n : sold.exact, 1n)
          }
        if (window.endMs > asOfMs) continue
        const before = cut(Math.max(period.startMs, window.endMs))
        for (const [i, after] of cut(asOfMs).entries()) {
          const units = after.units - before[i]!.units
          const exact = after.exact - before[i]!.exact
          if (units !== 0n || exact !== 0n)
            tell('correction', name(after), units, after.priced.isTrial ? 0n : exact, 1n)
        }
      }
  }
  advance(world, period, asOfMs, tell)
  // credits: an instant at a period's end belongs to the next, and a window that closes there to the one that ends
  for (const [n, { atMs, credits, unit }] of world.bundles.entries())
    if (atMs >= period.startMs && atMs < period.endMs && atMs <= nowMs)
      tell('bundle', `bundle${n}`, units(credits) / scale, units(credits) * units(unit), scale, false)
  for (const [n, { atMs, credits, unit }] of world.overdrafts.entries())
    if (atMs > period.startMs && atMs <= period.endMs && atMs <= nowMs)
      tell(
        'credit_overdraft',
        `arrears${n}`,
        units(credits) / scale,
        units(credits) * units(unit),
        scale,
        false,
      )
  if (world.percentOff !== null)
    for (const [of, n, d] of discounted) {
      const off = n * -units(world.percentOff)
      told.push(`discount of ${of} ${rounded(off, d * scale * scale * 100n)}`)
    }
  return told.sort()
}

type Counts = ReadonlyMap<string, bigint>

/** Units of a period by price for which nothing was charged (RA-29), and those that were charged and went uncredited (RA-14). */
class Unpaid {
  private readonly units = new Map<string, bigint>()
  private readonly spare = new Map<string, bigint>()

  constructor(private readonly prorates: boolean) {}

  of(id: string): bigint {
    return this.units.get(id) ?? 0n
  }

  /** A change of the units. Returns those that come or go without a charge or credit. */
  step(had: Counts, has: Counts, isUnprorated: boolean): Counts {
    const free = new Map<string, bigint>()
    for (const id of new Set([...had.keys(), ...has.keys()])) {
      const more = (has.get(id) ?? 0n) - (had.get(id) ?? 0n)
      const [unpaid, spare] = [this.of(id), this.spare.get(id) ?? 0n]
      const gone = more < 0n ? -more : 0n
      const come = more > 0n ? more : 0n
      const again = come < spare ? come : spare
      const neverPaid = gone < unpaid ? gone : unpaid
      const isUncredited = isUnprorated || !this.prorates
      this.spare.set(id, spare - again + (isUncredited ? gone - neverPaid : 0n))
      this.units.set(id, unpaid - neverPaid + (isUnprorated ? come - again : 0n))
      free.set(id, neverPaid - again)
    }
    return free
  }
}

function advance(
  world: World,
  { startMs, endMs, anchorMs }: Span,
  asOfMs: number,
  tell: (kind: string, what: string, quantity: bigint, n: bigint, d: bigint) => void,
): void {
  const itemsOf = (phase: Phase): [kind: string, id: string, price: bigint, quantity: bigint][] => [
    ['recurring', `fee_${phase.versionId}`, units(feeOf(phase.versionId)), 1n],
    ...(phase.seats > 0
      ? [
          ['seat', `seat_${phase.versionId}`, units(seatOf(phase.versionId)), BigInt(phase.seats)] as [
            string,
            string,
            bigint,
            bigint,
          ],
        ]
      : []),
    ...(phase.addOn === null
      ? []
      : [
          ['recurring', `fee_${phase.addOn}`, units(feeOf(phase.addOn)), 1n] as [
            string,
            string,
            bigint,
            bigint,
          ],
        ]),
  ]
  const countsOf = (phase: Phase): Counts =>
    new Map(itemsOf(phase).map(([, id, , quantity]) => [id, quantity]))
  const opening = phaseAt(world, startMs)!
  const former = world.phases.filter(one => one.atMs < startMs).at(-1)
  const cutHere = world.phases.some(
    one => one.atMs === startMs && former && (one.isOver || one.anchorMs !== former.anchorMs),
  )
  // what was left of the period that ended early is credited in the one that begins
  if (cutHere && former && !former.isTrial && world.prorates) {
    let n = 0
    while (addMonthsClamped(former.anchorMs, (n + 1) * world.months) <= startMs) n++
    const [from, to] = [
      addMonthsClamped(former.anchorMs, n * world.months),
      addMonthsClamped(former.anchorMs, (n + 1) * world.months),
    ]
    const cut = phaseAt(world, startMs)!
    if (from < startMs && !cut.isUnprorated) {
      const unpaid = new Unpaid(world.prorates)
      let last = phaseAt(world, from)!
      for (const phase of world.phases.filter(({ atMs }) => atMs > from && atMs < startMs)) {
        unpaid.step(countsOf(last), countsOf(phase), phase.isUnprorated)
        last = phase
      }
      for (const [kind, id, price, held] of itemsOf(former)) {
        const quantity = held - unpaid.of(id)
        if (quantity > 0n)
          tell(kind, id, -quantity, -price * quantity * BigInt(to - startMs), BigInt(to - from))
      }
    }
  }
  if (anchorMs === null || opening.isOver) return
  for (const [kind, id, price, quantity] of itemsOf(opening))
    tell(opening.isTrial ? 'trial' : kind, id, quantity, opening.isTrial ? 0n : price * quantity, 1n)
  let n = 1
  while (addMonthsClamped(anchorMs, n * world.months) <= startMs) n++
  const dueMs = addMonthsClamped(anchorMs, n * world.months)
  let last = opening
  const unpaid = new Unpaid(world.prorates)
  for (const phase of world.phases) {
    if (phase.atMs <= startMs || phase.atMs >= endMs || phase.atMs > asOfMs) continue
    const [had, has] = [itemsOf(last), itemsOf(phase)]
    const passed = unpaid.step(countsOf(last), countsOf(phase), phase.isUnprorated)
    for (const id of new Set([...had, ...has].map(one => one[1]))) {
      const [was, is] = [had.find(one => one[1] === id), has.find(one => one[1] === id)]
      const [kind, , price] = (is ?? was)!
      const quantity = (is?.[3] ?? 0n) - (was?.[3] ?? 0n) + (passed.get(id) ?? 0n)
      if (phase.isUnprorated || quantity === 0n || (quantity < 0n && !world.prorates)) continue
      tell(kind, id, quantity, price * quantity * BigInt(dueMs - phase.atMs), BigInt(dueMs - startMs))
    }
    last = phase
  }
}

export { dayMs }
