// Rate limits with several nodes: what one node admitted is no longer left at another.
import t from 'tap'
import { skipped, TestCluster, until, whole } from './nodes.js'

/** Tokens of a bucket that is not refilled meanwhile. */
const burst = 200

t.test('AL-40 an account has one budget, whichever nodes it asks', { skip: skipped }, async t => {
  const plenty = [1_000_000, 1_000_000]
  const limits = { global: plenty, mutation: plenty, events_ingest: [0.001, burst] }
  const cluster = await TestCluster.start(t, 2, { TOLLGATE_LIMITS: JSON.stringify(limits) })
  await whole(() => cluster.nodes)
  const [one, other] = cluster.nodes
  const send = async ({ client }: typeof one & object) => {
    const body = { event: 'call', company: { slug: 'one' } }
    return client.post('/events', { event_type: 'track', body })
  }
  let admitted = 0
  while ((await send(one!)).status === 201) admitted++
  t.equal(admitted, burst, 'the first node admits all of it')

  let elsewhere = 0
  await until(async () => {
    const { status, headers } = await send(other!)
    if (status === 201) elsewhere++
    else t.match([status, headers.get('x-ratelimit-remaining')], [429, '0'])
    return status === 429
  }, 'the second node refuses')
  t.ok(elsewhere < burst, `the second node admitted ${elsewhere} more, and no budget of its own`)
})
