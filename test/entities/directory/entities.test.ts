// Deletions that take their time, or fail: who asks again hears the same, and nobody has the keys before they are
// durable (CU-50, CU-51).
import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises'
import t from 'tap'
import { TraitRegistry } from '../../../src/catalog/traits.js'
import type { ShardRequest } from '../../../src/core/company/shard-request.js'
import type { WriteReply } from '../../../src/core/model/entity-state.js'
import { shardOf } from '../../../src/core/values/id.js'
import { Directory } from '../../../src/entities/directory/directory.js'
import { Entities } from '../../../src/entities/directory/entities.js'
import { fateOf, House, heard } from '../../control/fake-shards.js'

const env = 'env_1'
const retryMs = 20

/** A company that is there, on shard 0; its journal takes writes when the test says so. */
async function housing() {
  const house = await House.start(2)
  const directory = new Directory()
  const entities = new Entities(directory, house.shards, new TraitRegistry(), undefined, retryMs)
  const id = house.idOf(0)
  directory.load(env, id)
  directory.loadPair('company', env, id, 'slug', 'acme')
  const was = { id, name: 'Acme' }
  const remove = () => heard(entities.remove('company', env, id, 1))
  const upsert = () => {
    const keys = { slug: 'acme' }
    const { found } = directory.resolve('company', env, keys)
    const target = entities.target('company', env, found, keys)
    const write = entities.write('company', env, { keys }, 1)
    return { id: target.id, made: heard(entities.ask(target, { type: 'ensure', write }, 1)) }
  }
  /** Messages that wait for a thread, by type. */
  const asked = (index: number) => house.thread(index).asked.map(typeOf)
  /** Answer everything that was asked of a thread. */
  const answer = (index: number, deleted: 'durable' | 'overloaded' | 'not_found' = 'durable') => {
    const { asked, replies } = house.thread(index)
    for (const request of asked.splice(0)) {
      const type = typeOf(request)
      if (type === 'brief') replies.answered(request.n, deleted === 'not_found' ? null : was, 0)
      else if (type !== 'delete') replies.answered(request.n, nothingFreed, 1)
      else if (deleted === 'durable')
        replies.answered(request.n, { created: false, freed: [['slug', 'acme']] } satisfies WriteReply, 9)
      else if (deleted === 'not_found') replies.refused(request.n, 'not_found')
      else replies.failed(request.n, 'overloaded')
    }
    house.thread(index).reply()
  }
  /** Answer everything, until nothing more is asked. */
  const answering = async () => {
    for (let turns = 0; turns < 10; turns++) {
      await tick()
      for (const index of [0, 1]) answer(index)
    }
  }
  return { house, directory, entities, id, was, remove, upsert, asked, answer, answering }
}

const nothingFreed: WriteReply = { created: true, freed: [] }

const typeOf = (request: ShardRequest) => ('m' in request ? request.m.type : 'other')

t.test('two deletions at once are one', async t => {
  const { remove, asked, answer, was, directory, id } = await housing()
  const both = [remove(), remove()]
  await tick()
  t.same(asked(0), ['brief', 'delete'], 'asked once')
  answer(0)
  for (const { reply, sequence } of await Promise.all(both)) {
    t.same(reply.was, was, 'CU-51 told as it was')
    t.equal(sequence, 9)
  }
  t.notOk(directory.isEnding(env, id), 'from here on it is 404')
  const again = remove()
  await tick()
  answer(0, 'not_found')
  t.equal(await fateOf(again), 'not_found')
})

t.test('a failed deletion is repeated, and its result is returned', async t => {
  const { remove, answer, asked, was, directory, entities, id } = await housing()
  const first = remove()
  await tick()
  answer(0, 'overloaded')
  t.equal(await fateOf(first), 'overloaded')
  t.ok(directory.isEnding(env, id))
  t.equal(entities.removable('company', env, { slug: 'acme' }), id, 'its keys still name it to a deletion')
  t.equal(entities.find('company', env, { slug: 'acme' }), null, 'and to nobody else')
  const second = remove()
  await tick()
  t.same(asked(0), ['brief', 'delete'], 'who asks again does not wait for the next attempt')
  answer(0, 'overloaded')
  t.equal(await fateOf(second), 'overloaded', 'still 503, and not 404')
  for (const endMs = Date.now() + 60_000; asked(0).length < 2 && Date.now() < endMs; ) await sleep(retryMs)
  t.same(asked(0), ['brief', 'delete'], 'tried again by itself, once')
  const third = remove()
  answer(0)
  t.same((await third).reply.was, was)
  t.equal(entities.removable('company', env, { slug: 'acme' }), null)
})

t.test('an attempt that seemed to fail had been made: the next one tells of success', async t => {
  const { remove, answer, was, house } = await housing()
  const first = remove()
  await tick()
  answer(0, 'overloaded')
  t.equal(await fateOf(first), 'overloaded')
  const second = remove()
  await tick()
  answer(0, 'not_found')
  t.same((await second).reply.was, was)
  // another deletion that fails now is repeated later than this one would be
  const other = await housing()
  const failed = other.remove()
  await tick()
  other.answer(0, 'overloaded')
  t.equal(await fateOf(failed), 'overloaded')
  for (const endMs = Date.now() + 60_000; other.asked(0).length === 0; await sleep(retryMs))
    if (Date.now() > endMs) throw new Error('it was not repeated')
  t.same(house.thread(0).asked, [], 'and that is the end of it')
})

t.test('a write that takes the keys of an entity being deleted waits for the deletion', async t => {
  for (const deleted of ['durable', 'overloaded'] as const) {
    const { remove, upsert, answer, answering, directory, id, house } = await housing()
    const removed = remove()
    const [one, two] = [upsert(), upsert()]
    const owner = () => directory.resolve('company', env, { slug: 'acme' }).found
    t.equal(one.id, two.id, 'CU-19 both make the same one')
    t.not(one.id, id)
    t.ok(directory.isUnconfirmed(one.id))
    for (let ticks = 0; ticks < 5; ticks++) await tick()
    const made = house.thread(shardOf(one.id, 2)).asked.filter(request => typeOf(request) === 'ensure')
    t.same(made, [], 'nothing is written: two journals know no order')
    answer(0, deleted)
    if (deleted === 'durable') {
      await removed
      await answering()
      await Promise.all([one.made, two.made])
      t.equal(owner(), one.id)
      t.notOk(directory.isUnconfirmed(one.id))
      continue
    }
    t.equal(await fateOf(removed), 'overloaded')
    t.equal(await fateOf(one.made), 'overloaded')
    t.equal(await fateOf(two.made), 'overloaded')
    t.equal(owner(), null)
    t.equal(directory.findEnding('company', env, { slug: 'acme' }), id, 'the key is again of who had it')
    const three = upsert()
    await answering()
    await three.made
    t.equal(owner(), three.id, 'the next one has it once the deletion is durable')
    t.equal(directory.size, 1)
  }
})
