// Last-seen times of users on their way to the actors: none is lost, and none waits for ever behind others.
import t from 'tap'
import { UserSeen } from '../../../src/entities/directory/last-seen.js'
import { Refused, type Shards } from '../../../src/entities/shards/shards.js'

type Ask = Shards['ask']

/** Actors that keep what they are sent, and fail or refuse where they are told to. */
function actors(fails: (userId: string) => Error | null = () => null) {
  const times = new Map<string, number[]>()
  const ask = (async (_kind, _environmentId, userId, message) => {
    const error = fails(userId)
    if (error !== null) throw error
    times.set(userId, [...(times.get(userId) ?? []), (message as { readonly atMs: number }).atMs])
    return { reply: null, shard: 0, sequence: 0 }
  }) as Ask
  return { times, shards: { ask } }
}

const now = () => 0

t.test('FE-103 few times are sent with each flush', async t => {
  const seen = new UserSeen()
  const { times, shards } = actors()
  for (let i = 0; i < 1_000; i++) seen.note(`user_${i}`, 'env', i)
  await seen.flush(shards, now)
  t.equal(times.size, 1_000)
  t.equal(seen.of('user_7'), null, 'what is stored is not noted any more')
})

t.test(
  'FE-103 many times are spread over a minute, users who come again and again are no obstacle',
  async t => {
    const seen = new UserSeen()
    const { times, shards } = actors()
    const users = 90_000
    for (let i = 0; i < users; i++) seen.note(`user_${i}`, 'env', 1)
    let sent = 0
    for (let second = 0; second < 120; second++) {
      for (let i = 0; i < 2_000; i++) seen.note(`user_${i}`, 'env', 2 + second)
      await seen.flush(shards, now)
      const all = [...times.values()].reduce((sum, one) => sum + one.length, 0)
      t.ok(all - sent <= 1_600, `${all - sent} in one second`)
      sent = all
    }
    t.equal(times.size, users)
    await seen.flush(shards, now, true)
    t.equal(times.get('user_3')!.at(-1), 121, 'the latest time of a user arrives')
  },
)

t.test('CU-46 a time on its way is still read, and can be dropped', async t => {
  const seen = new UserSeen()
  let answer!: () => void
  const waiting = new Promise<void>(resolve => {
    answer = resolve
  })
  const shards = { ask: (() => waiting) as unknown as Ask }
  seen.note('user_1', 'env', 5)
  seen.note('user_2', 'env', 5)
  const flushed = seen.flush(shards, now)
  t.equal(seen.of('user_1'), 5)
  seen.note('user_2', 'env', 9)
  t.equal(seen.of('user_2'), 9)
  t.equal(seen.drop('user_1'), 5)
  t.equal(seen.of('user_1'), null)
  answer()
  await flushed
  t.equal(seen.of('user_2'), 9, 'a later time waits for the next flush')
})

t.test('FE-103 times are kept while the store is away; those of deleted users are not', async t => {
  const seen = new UserSeen()
  let away = true
  const { times, shards } = actors(id =>
    id === 'user_gone' ? new Refused('not_found') : away ? new Error('away') : null,
  )
  seen.note('user_gone', 'env', 1)
  for (let i = 0; i < 300; i++) seen.note(`user_${i}`, 'env', 1)
  await seen.flush(shards, now)
  t.equal(times.size, 0)
  t.equal(seen.of('user_0'), 1)
  away = false
  await seen.flush(shards, now)
  t.equal(times.size, 300)
  t.equal(seen.of('user_gone'), null)
})
