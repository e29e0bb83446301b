// The whole engine on a simulated machine, from seeds, with faults of every kind. Everything acknowledged is
// there once.
// `npm run simulate` runs any number of seeds.
import t from 'tap'
import { seed as first, times } from '../random.js'
import type { Break } from './simulation/machine.js'
import { simulate } from './simulation/run.js'

const runs = times(20)
t.setTimeout(240_000 + runs * 5_000)

t.test(`simulations from seed ${first}`, async t => {
  let answers = 0
  let starts = 0
  const failed: string[] = []
  for (let run = 0; run < runs; run++) {
    const seed = first + run
    const outcome = await simulate(seed)
    answers += outcome.answers
    starts += outcome.starts
    if (outcome.wrong.length > 0)
      failed.push(`npm run simulate -- --seed ${seed} --verbose: ${outcome.wrong.slice(0, 3).join('; ')}`)
  }
  t.same(
    failed,
    [],
    'every acknowledged effect is there once, none was invented, every store shows the state',
  )
  t.ok(answers > 50 * runs, 'clients were answered')
  t.ok(starts > 2 * runs, 'processes ended and began again')
})

t.test('equal seeds, equal runs', async t => {
  const [one, two] = [await simulate(first), await simulate(first)]
  t.same(one, two)
})

/** Parts broken on purpose, and the report that each must cause. */
const breaks: readonly (readonly [Exclude<Break, null>, RegExp])[] = [
  ['fsync', /is stored elsewhere|acknowledged|is gone/],
  ['claim', /EV-27|acknowledged|promise 3/],
  ['chunk', /is stored \d+ times/],
]
const noticedWithin = 200

for (const [broken, shows] of breaks)
  t.test(`a broken ${broken} is detected`, async t => {
    let count = 0
    let noticed = false
    while (!noticed && count < noticedWithin) {
      const { wrong } = await simulate(first + count++, broken)
      noticed = wrong.some(text => shows.test(text))
    }
    t.ok(noticed, `within ${count} runs`)
  })
