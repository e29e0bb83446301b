// Several nodes over one Redis, or over the primaries of a Redis Cluster, from seeds, with faults of every kind. Everything acknowledged is counted
// once, and a node without its lease answers nothing from memory.
import t from 'tap'
import { seed as first, times } from '../random.js'
import { type Fault, simulateNodes } from './cluster/run.js'

const runs = times(10)
t.setTimeout(240_000 + runs * 2_000)

t.test(`nodes from seed ${first}`, async t => {
  let acknowledged = 0
  let nodes = 0
  let gone = 0
  const failed: string[] = []
  for (let run = 0; run < runs; run++) {
    const outcome = await simulateNodes(first + run)
    acknowledged += outcome.acknowledged
    nodes += outcome.nodes
    gone += outcome.gone
    if (outcome.wrong.length > 0) failed.push(`seed ${first + run}: ${outcome.wrong.slice(0, 3).join('; ')}`)
  }
  t.comment(`${runs} runs, ${acknowledged} events, ${nodes} nodes, ${gone} keys left Redis`)
  t.same(failed, [], 'nothing acknowledged is lost or counted twice, reads show what was acknowledged')
  t.ok(acknowledged > 10 * runs, 'clients were answered')
  t.ok(nodes > 2 * runs, 'nodes came and went')
  t.ok(gone > runs, 'keys left Redis')
})

t.test('equal seeds, equal runs', async t => {
  t.same(await simulateNodes(first), await simulateNodes(first))
})

/** Faults injected on purpose, and the report that each must cause. */
const faults: readonly (readonly [Exclude<Fault, null>, RegExp])[] = [
  ['no epoch check', /is counted|promise 9|broken|GAP/],
  ['a lease kept too long', /promise 9/],
  ['a claim taken over without asking', /is counted|EV-27/],
  ['a claim with filters out of date', /is counted|EV-27/],
  ['records behind the floor are not marked', /is counted|EV-27/],
  ['a floor beyond a claim under way', /is counted 0 times/],
  ['a call without an answer counts as settled', /is counted 0 times/],
  ['claims of another connection are not looked for', /is counted|EV-27/],
]
const noticedWithin = 400

for (const [fault, shows] of faults)
  t.test(`the fault "${fault}" is detected`, async t => {
    let count = 0
    let noticed = false
    while (!noticed && count < noticedWithin) {
      const { wrong } = await simulateNodes(first + count++, fault)
      noticed = wrong.some(text => shows.test(text))
    }
    t.ok(noticed, `within ${count} runs`)
  })
