// Changes while the population is measured: a rule of a flag every five seconds, the plan of a company every second,
// twenty companies a second.
import { companies, type Size, seed } from './data.js'
import { Client } from './fill.js'
import { Random } from './random.js'
import type { Population } from './streams.js'

const ruleEveryMs = 5_000
const planEveryMs = 1_000
const companyEveryMs = 50

/** Change definitions and companies until `stop` is called; it rejects where a change was refused. */
export function keepChanging(port: number, population: Population): { stop(): Promise<void> } {
  const client = new Client(port)
  const random = new Random(seed + 7)
  const all = companies(population.size satisfies Size)
  const { ownFlags, planIds, companyIds } = population.filled
  const underWay = new Set<Promise<unknown>>()
  let failure: unknown = null
  let edits = 0
  const every = (ms: number, work: () => Promise<unknown>) =>
    setInterval(() => {
      const one = work().catch((error: unknown) => {
        failure ??= error
      })
      underWay.add(one)
      void one.finally(() => underWay.delete(one))
    }, ms)
  const timers = [
    every(ruleEveryMs, () => {
      const { id, rules } = random.of(ownFlags)
      // another name: the same rules again would be no change
      const renamed = rules.map(rule => ({ ...rule, name: `edit ${++edits}` }))
      return client.ask('PUT', `/flags/${id}/rules`, { rules: renamed })
    }),
    every(planEveryMs, () =>
      client.ask('PUT', `/company-plans/${random.of(companyIds)}`, { base_plan_id: random.of(planIds) }),
    ),
    every(companyEveryMs, () => {
      const { keys } = random.of(all)
      const traits = { seats: 1 + random.below(500) }
      return client.ask('POST', '/companies', { keys: { slug: keys.slug }, traits })
    }),
  ]
  return {
    stop: async () => {
      for (const timer of timers) clearInterval(timer)
      await Promise.all(underWay)
      client.close()
      if (failure !== null) throw failure
    },
  }
}
