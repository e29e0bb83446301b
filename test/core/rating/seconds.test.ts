// The law of seconds: periods of the service's own begin on whole seconds, changes at any millisecond. The fraction of a second
// moves no charge in advance by more than its rounding. The seed is printed; TOLLGATE_SEED repeats a run.
import t from 'tap'
import type { ChargeLine } from '../../../src/core/rating/line.js'
import { periodsOf, ratePeriod } from '../../../src/core/rating/rate.js'
import { UsageTable } from '../../../src/core/rating/usage.js'
import { factsOf, randomWorld, type World } from '../../laws/rating-world.js'
import { Random, seed, times } from '../../random.js'

/** Lines of all periods, in order of what they are for. */
function linesOf(world: World): ChargeLine[] {
  const facts = factsOf(world, world.endMs)
  const lines = periodsOf(facts, world.endMs).flatMap(
    period => ratePeriod(facts, period, new UsageTable([]), world.endMs).lines,
  )
  const nameOf = ({ fromMs, price, kind, quantity }: ChargeLine) =>
    [Math.floor(fromMs / 1000), price!.id, kind, quantity.n].join(' ')
  return lines.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
}

t.test('RA-13, RA-14, PB-33 the fraction of a second is worth no line', t => {
  const runs = times(300)
  let lines = 0
  for (let run = 0; run < runs; run++) {
    const own = seed + run * 7919
    const random = new Random(own)
    const none = { events: [], bundles: [], overdrafts: [], percentOff: null }
    const world = { ...randomWorld(random), ...none }
    // an end in the first second of a period comes after what that period costs
    const phases = world.phases.map(one => ({
      ...one,
      atMs: one.atMs + (one.isOver ? 0 : random.below(1000)),
    }))
    const [whole, fine] = [linesOf(world), linesOf({ ...world, phases })]
    const told = ({ kind, price, quantity }: ChargeLine) => `${kind} ${price!.id} ${quantity.n}`
    lines += whole.length
    const isSame =
      whole.length === fine.length &&
      whole.every((one, i) => {
        const more = fine[i]!.amount - one.amount
        return told(one) === told(fine[i]!) && more <= 1n && more >= -1n
      })
    if (isSame) continue
    const amounts = (all: readonly ChargeLine[]) => all.map(one => `${told(one)} ${one.amount}`)
    t.same(amounts(fine), amounts(whole), `TOLLGATE_SEED=${own} TOLLGATE_RUNS=0`)
    break
  }
  t.ok(lines > runs, `${lines} lines, from seed ${seed}`)
  t.end()
})
