// The order in which a shard takes what is posted to it, and when.
import t from 'tap'
import type { Packet } from '../../src/wire/message-codec.js'
import { Mailbox } from '../../workers/shard/mailbox.js'

const little = (n: number): Packet => [[n], '', []]
const long = (n: number): Packet => [[n], '', [], 'x'.repeat(40_000), '']
const longText = (n: number): Packet => [[n], 'x'.repeat(40_000), []]
const turn = () => new Promise(setImmediate)

t.test('posts are taken in order, one of many events a turn of the loop', async t => {
  const taken: number[] = []
  const posts = new Mailbox(([[n]]) => taken.push(n!))
  for (const post of [little(1), little(2), long(3), little(4), longText(5), little(6), little(7), long(8)])
    posts.add(post)
  t.same(taken, [1, 2, 3], 'what follows a long one waits')
  await turn()
  t.same(taken, [1, 2, 3, 4, 5], 'up to the next long one')
  posts.add(little(9))
  t.same(taken, [1, 2, 3, 4, 5], 'whatever comes meanwhile stands behind')
  await turn()
  t.same(taken, [1, 2, 3, 4, 5, 6, 7, 8])
  await turn()
  t.same(taken, [1, 2, 3, 4, 5, 6, 7, 8, 9])
  posts.add(little(10))
  t.equal(taken.at(-1), 10, 'at once again')
})

t.test('a packet that arrives while another is taken waits behind all others', async t => {
  const taken: number[] = []
  const posts: Mailbox = new Mailbox(([[n]]) => {
    taken.push(n!)
    if (n === 2) posts.add(little(4))
  })
  for (const post of [long(1), long(2), little(3)]) posts.add(post)
  await turn()
  await turn()
  t.same(taken, [1, 2, 3, 4])
})
