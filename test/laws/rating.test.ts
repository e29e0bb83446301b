// The law of rating: for random plans, prices, histories and events, the lines of every period are those of a model
// that walks through raw events one by one; and a closed period stays what it was, in whatever order, however often
// and however late it is rated. The seed is printed; TOLLGATE_SEED repeats a run.
import t from 'tap'
import type { ChargeLine } from '../../src/core/rating/line.js'
import type { BillingPeriod } from '../../src/core/rating/periods.js'
import { periodsOf, ratePeriod } from '../../src/core/rating/rate.js'
import { UsageNeeds, type UsagePiece, UsageTable } from '../../src/core/rating/usage.js'
import { Random, seed, times } from '../random.js'
import { modelLines, modelPeriods } from './rating-model.js'
import { factsOf, randomWorld, type World } from './rating-world.js'

/** Rate as the service does: a pass that finds what is needed, sums of the events, and a pass with them. */
function rated(world: World, period: BillingPeriod, knownMs: number, nowMs: number) {
  const facts = factsOf(world, knownMs)
  const needs = new UsageNeeds()
  ratePeriod(facts, period, needs, nowMs)
  const { bounds, received, subtypes } = needs
  const known = world.events.filter(one => one.receivedMs <= knownMs)
  const sorted = [...known].sort((a, b) => a.capturedMs - b.capturedMs || (a.id < b.id ? -1 : 1))
  const pieces: UsagePiece[] = []
  for (const subtype of subtypes)
    for (const receivedMs of received)
      for (const [i, startMs] of bounds.entries()) {
        const own = sorted.filter(
          one =>
            one.subtype === subtype &&
            one.receivedMs < receivedMs &&
            one.capturedMs >= startMs &&
            one.capturedMs < (bounds[i + 1] ?? startMs),
        )
        if (own.length === 0) continue
        const quantity = own.reduce((all, one) => all + BigInt(one.quantity), 0n)
        pieces.push({
          subtype,
          receivedMs,
          startMs,
          quantity,
          count: own.length,
          firstId: own[0]!.id,
          lastId: own.at(-1)!.id,
        })
      }
  return ratePeriod(facts, period, new UsageTable(pieces), nowMs)
}

function told(lines: readonly ChargeLine[]): string[] {
  return lines
    .map(({ kind, of, featureId, sold, price, quantity, amount, window }) => {
      const what = window ? `${featureId} ${sold!.versionId} ${window.startMs}` : price!.id
      return kind === 'discount'
        ? `discount of ${of} ${what} ${amount}`
        : `${kind} ${what} ${quantity.n / quantity.d} ${amount}`
    })
    .sort()
}

t.test(
  'RA-1, RA-2, RA-5, RA-6, RA-7, RA-8, RA-9, RA-10, RA-12, RA-13, RA-14, RA-16, RA-17 lines equal those of a model that rates raw events one by one',
  async t => {
    const runs = times(300)
    let lines = 0
    for (let run = 0; run < runs; run++) {
      const own = seed + run * 7919
      const world = randomWorld(new Random(own))
      const nowMs = world.endMs
      const periods = periodsOf(factsOf(world, nowMs), nowMs)
      const model = modelPeriods(world).filter(one => one.startMs <= nowMs)
      const bounds = (all: readonly { startMs: number; endMs: number }[]) =>
        all.map(one => [one.startMs, one.endMs])
      if (JSON.stringify(bounds(periods)) !== JSON.stringify(bounds(model))) {
        t.same(bounds(periods), bounds(model), `periods; TOLLGATE_SEED=${own}`)
        return
      }
      for (const period of periods) {
        const found = told(rated(world, period, nowMs, nowMs).lines)
        const wanted = modelLines(world, model.find(one => one.startMs === period.startMs)!, nowMs)
        lines += wanted.length
        if (JSON.stringify(found) !== JSON.stringify(wanted)) {
          t.same(
            found,
            wanted,
            `period ${new Date(period.startMs).toISOString()}; TOLLGATE_SEED=${own} TOLLGATE_RUNS=0`,
          )
          return
        }
      }
    }
    t.ok(lines > runs, `${runs} histories, ${lines} lines, from seed ${seed}`)
  },
)

t.test('RA-10 closing in any order, twice and late gives the same rows', async t => {
  const runs = times(150)
  for (let run = 0; run < runs; run++) {
    const own = seed + run * 104_729
    const random = new Random(own)
    const world = randomWorld(random)
    const all = periodsOf(factsOf(world, world.endMs), world.endMs).filter(one => one.endMs <= world.endMs)
    const inTime = all.map(period => show(rated(world, period, period.endMs, period.endMs).lines))
    const order = all.map((_, i) => i).sort(() => random.next() - 0.5)
    for (const i of [...order, ...order.reverse()]) {
      const late = show(rated(world, all[i]!, world.endMs, world.endMs).lines)
      if (late === inTime[i]) continue
      t.same(late, inTime[i], `TOLLGATE_SEED=${own}`)
      return
    }
  }
  t.pass(`${runs} histories from seed ${seed}`)
})

function show(lines: readonly ChargeLine[]): string {
  return JSON.stringify(lines, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}
