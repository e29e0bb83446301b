// Freshness is zero (decision 1): what was acknowledged on one connection is seen by the next check on any other.
import t from 'tap'
import { startHere } from '../harness.js'
import { makeFlag, rule } from './flags.js'

t.test('a check that follows a 201 sees the event, across shards and connections', async t => {
  const { client } = await startHere(t)
  const metric = (value: number) => ({
    condition_type: 'metric',
    operator: 'gte',
    resource_ids: [],
    event_subtype: 'call',
    metric_period: 'all_time',
    metric_value: value,
  })
  // rules from the highest count down, named by it: the reason tells how many events the check saw
  const rules = [16, 8, 4, 2, 1].map((value, priority) =>
    rule(`at least ${value}`, [metric(value)], { priority }),
  )
  await makeFlag(client, 'calls', false, rules)

  const rounds = 40
  const companies = 25
  let stale = 0
  await Promise.all(
    Array.from({ length: companies }, async (_, index) => {
      const company = { slug: `fresh${index}` }
      for (let round = 1; round <= rounds; round++) {
        await client.ok('POST', '/events', { event_type: 'track', body: { event: 'call', company } })
        const checked = await client.ok('POST', '/flags/calls/check', { company })
        const seen = [16, 8, 4, 2, 1].find(value => round >= value)!
        if (!checked.reason.includes(`at least ${seen}"`)) stale++
      }
    }),
  )
  t.equal(stale, 0, `${rounds * companies} checks after ${rounds * companies} events`)
})
