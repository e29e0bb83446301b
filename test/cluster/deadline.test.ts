// A request that is passed on carries a deadline. Its owner does not begin it afterwards: its caller hears 503, and
// nothing was done.
import t from 'tap'
import { PeerClock } from '../../src/cluster/peer-clock.js'
import { Random } from '../random.js'
import { skipped, TestCluster, whole } from './nodes.js'

/** Longer than a request that is passed on may wait. The lease is longer still: the owner remains the owner. */
const hangMs = 12_000
const slugs = Array.from({ length: 24 }, (_, index) => `co${index}`)

t.test('an owner that hangs does not begin what nobody waits for', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 2, { TOLLGATE_LEASE_MS: '60000' })
  await whole(() => cluster.nodes)
  const [asks, hangs] = cluster.nodes
  const { client } = asks!
  for (const slug of slugs) await client.ok('POST', '/companies', { keys: { slug }, traits: { n: 0 } })
  const add = (slug: string) => client.post('/company-traits', { keys: { slug }, trait: 'n', incr: 1 })
  hangs!.process.child.kill('SIGSTOP')
  const stoppedMs = performance.now()
  const asked = slugs.map(add)
  await new Promise(resolve => setTimeout(resolve, stoppedMs + hangMs - performance.now()))
  hangs!.process.child.kill('SIGCONT')
  const answers = await Promise.all(asked)
  let late = 0
  for (const [i, { status, headers, body }] of answers.entries()) {
    const { traits } = await client.ok('GET', `/companies/lookup?slug=${slugs[i]}`)
    if (status === 200) {
      t.equal(traits.n, 1)
      continue
    }
    late++
    t.equal(status, 503)
    t.match(body.error, /came too late/)
    t.ok(headers.has('retry-after'))
    t.equal(traits.n, 0, 'nothing was done')
  }
  t.ok(late > 0, `${late} of ${slugs.length} were passed on`)
  t.equal(cluster.living.length, 2, 'it is the owner as before')
  for (const slug of slugs) t.equal((await add(slug)).status, 200, 'and goes on')
})

t.test('the clock of another node is told by its fastest frames', async t => {
  const random = new Random()
  t.comment(`seed ${random.seed}`)
  const aheadMs = 1e9 * (random.below(3) - 1)
  // 0.1 ms in a second either way: more than clocks drift
  for (const rate of [1.0001, 0.9999]) {
    const theirs = (nowMs: number) => (nowMs + aheadMs) * rate
    const clock = new PeerClock()
    let wrongMs = 0
    for (let nowMs = 0; nowMs < 600_000; nowMs += 100) {
      const onItsWayMs = random.chance(0.1) ? random.below(5_000) : 1
      const told = clock.heard(theirs(nowMs - onItsWayMs), nowMs)
      if (nowMs > 0) wrongMs = Math.max(wrongMs, Math.abs(told - theirs(nowMs)))
    }
    t.ok(wrongMs < 20, `it is known to ${wrongMs.toFixed(1)} ms`)
  }
})
