// The slots of a Redis Cluster over which the nodes' keys are spread.
import calculateSlot from 'cluster-key-slot'
import t from 'tap'
import { nameOf } from '../../src/redis/old-keys.js'
import type { RedisClient } from '../../src/redis/redis.js'
import { prefixesOf, RedisSlots } from '../../src/redis/slots.js'

const allSlots = 16_384

t.test('equal parts of all slots have as many journals', async t => {
  for (let n = 0; n < 50; n++) {
    const { prefix, slots } = prefixesOf(`cluster${n}`, 12)
    t.notOk(slots.includes(prefix))
    for (const primaries of [1, 2, 3, 4, 6, 12]) {
      const counts = Array.from({ length: primaries }, () => 0)
      for (const slot of slots) counts[Math.floor((calculateSlot(slot) * primaries) / allSlots)]!++
      t.same(
        counts,
        counts.map(() => 12 / primaries),
      )
    }
  }
})

t.test('all keys of a slot lie in it', async t => {
  for (const slot of prefixesOf('cluster', 12).slots)
    for (const name of ['marks', 'file:3:00000000000000000001', 'i:a{b}c', 'floor:3'])
      t.equal(calculateSlot(slot + name), calculateSlot(slot))
})

t.test('one slot has everything', async t => {
  t.same(prefixesOf('cluster', 1), { prefix: 'tollgate:{cluster}:', slots: ['tollgate:{cluster}:'] })
})

t.test('keys of events spread over the slots', async t => {
  const slots = new RedisSlots(
    {} as RedisClient,
    Array.from({ length: 12 }, () => ({}) as RedisClient),
  )
  const counts = slots.all.map(() => 0)
  for (let n = 0; n < 12_000; n++) counts[slots.slotOf(nameOf('env', `key ${n}`))]!++
  for (const count of counts) t.ok(count > 850 && count < 1_150, `${count} of 12,000`)
})
