// Single records of checks: random checks of many companies stay within each rate, and use it up (FE-101, EX-5).
import t from 'tap'
import { RecordBudget } from '../../src/wire/record-budget.js'
import { Random } from '../random.js'

const rates = { perSecond: 5, deniedPerMinute: 7, deniedPerSecond: 20 }

t.test(
  'EX-5 denials are kept within the rate of a company and minute, and of all companies and a second',
  t => {
    const random = new Random()
    const budget = new RecordBudget(rates)
    const minutes = new Map<string, number>()
    for (let second = 0; second < 300; second++) {
      let first = 0
      let denied = 0
      const busy = random.chance(0.5)
      for (let i = 0; i < (busy ? 200 : 20); i++) {
        const name = random.chance(0.3) ? null : `comp_${Math.floor(random.next() ** 3 * 60)}`
        const minute = `${name} ${Math.floor(second / 60)}`
        const taken = budget.take(name, second * 1_000)
        const had = minutes.get(minute) ?? 0
        const due =
          first < rates.perSecond ||
          (name !== null && denied < rates.deniedPerSecond && had < rates.deniedPerMinute)
        if (taken !== due) return void t.equal(taken, due, `seed ${random.seed}, second ${second}`)
        if (!taken) continue
        if (first < rates.perSecond) first++
        else {
          denied++
          minutes.set(minute, had + 1)
        }
      }
      budget.tick()
    }
    t.ok(
      [...minutes.values()].some(had => had === rates.deniedPerMinute),
      'some company used its minute up',
    )
    t.end()
  },
)

t.test(
  'EX-5 very many companies of one minute are not read anew for each denial, and others find room later',
  t => {
    const budget = new RecordBudget({ perSecond: 0, deniedPerMinute: 1, deniedPerSecond: 30_000 })
    let kept = 0
    for (let i = 0; i < 30_000; i++) if (budget.take(`comp_${i}`, 0)) kept++
    t.equal(kept, 20_000)
    budget.tick()
    t.notOk(budget.take('comp_new', 1_000), 'no room in this minute')
    budget.tick()
    t.ok(budget.take('comp_new', 60_000), 'companies of an earlier minute were forgotten')
    t.end()
  },
)
