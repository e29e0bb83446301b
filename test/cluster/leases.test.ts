// A node tells its address when it joins. A node whose lease has ended is removed, but not while Redis was away.
import t from 'tap'
import { Members } from '../../src/cluster/leases.js'
import type { RedisClient } from '../../src/redis/redis.js'

const leaseMs = 200

/** Redis with two nodes: the one of the test, and another that does not renew its lease. */
class TwoNodes {
  isAway = false
  otherLeftMs = 60_000
  reconnectedMs = Number.NEGATIVE_INFINITY
  readonly removed: string[] = []
  /** Entry of the node of the test, as it joined. */
  joined = ''

  async run(name: string, ...given: readonly unknown[]): Promise<unknown> {
    if (this.isAway) throw new Error('away')
    switch (name) {
      case 'join':
        this.joined = String(given[1])
        return 0
      case 'renew':
        return 1
      case 'leave':
        this.removed.push(String(given[0]))
        return 1
      default: {
        const other = this.removed.includes('other') ? [] : ['other', '{}', String(this.otherLeftMs)]
        return ['1', ['self', '{}', String(leaseMs), ...other], []]
      }
    }
  }
}

async function join() {
  const redis = new TwoNodes()
  const about = { name: 'self', host: '127.0.0.1', port: 1, sinceMs: 0 }
  const members = await Members.join(redis as unknown as RedisClient, 'self', about, leaseMs)
  return { redis, members }
}

t.test('the address of a node is known from the instant at which it joins', async t => {
  const { redis, members } = await join()
  t.match(JSON.parse(redis.joined), { name: 'self', host: '127.0.0.1', port: 1, state: 'loading' })
  members.stop()
})

t.test('a node whose lease has ended is removed at the next look', async t => {
  const { redis, members } = await join()
  redis.otherLeftMs = 0
  await members.lookAgain()
  t.same(redis.removed, ['other'])
  members.stop()
})

t.test('after a break of Redis, however short, other nodes have time to renew their leases', async t => {
  const { redis, members } = await join()
  redis.isAway = true
  await members.lookAgain()
  redis.isAway = false
  redis.otherLeftMs = 0
  const backMs = performance.now()
  await members.lookAgain()
  t.same(redis.removed, [], 'it is not removed at once')
  while (redis.removed.length === 0) await members.lookAgain()
  t.ok(performance.now() - backMs >= 2 * leaseMs, 'it is removed later')
  members.stop()
})

t.test('a Redis that has taken the place of another gives other nodes time as well', async t => {
  const { redis, members } = await join()
  const backMs = performance.now()
  redis.reconnectedMs = backMs
  redis.otherLeftMs = 0
  await members.lookAgain()
  t.same(redis.removed, [], 'it did not hear of them there')
  while (redis.removed.length === 0) await members.lookAgain()
  t.ok(performance.now() - backMs >= 2 * leaseMs, 'it is removed later')
  members.stop()
})
