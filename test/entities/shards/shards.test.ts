// Answers to requests whose thread died, or whose write failed: a claim on their keys must be kept for as long as the
// write might still become durable, and no longer.
import { setImmediate as tick } from 'node:timers/promises'
import t from 'tap'
import { TraitRegistry } from '../../../src/catalog/traits.js'
import type { CompanyMessage, IngestItem } from '../../../src/core/model/message.js'
import { shardOf } from '../../../src/core/values/id.js'
import { Directory } from '../../../src/entities/directory/directory.js'
import { Entities } from '../../../src/entities/directory/entities.js'
import { Dedupe } from '../../../src/entities/idempotency/dedupe.js'
import { Lost } from '../../../src/entities/shards/shards.js'
import type { Sender } from '../../../src/front/events/claims.js'
import { ingestMany } from '../../../src/front/events/many.js'
import type { Services } from '../../../src/kit/services.js'
import { rememberAgain } from '../../../src/recovery/warm-up.js'
import { acceptedEvent } from '../../accepted-event.js'
import { fateOf, House, heard } from '../../control/fake-shards.js'

const env = 'env_1'
const question: CompanyMessage = { type: 'delete' }

t.test(
  'a request whose thread died is lost, and its fate is known when the next one has replayed',
  async t => {
    const house = await House.start(1)
    const id = house.idOf(0)
    const asked = heard(house.shards.ask('c', env, id, question, 1))
    let restartedWhenHeard: Promise<string> | null = null
    asked.catch(() => {
      restartedWhenHeard = fateOf(house.shards.restarted(id))
    })
    await tick()
    t.equal(await fateOf(house.shards.restarted(id)), 'resolved', 'nothing is in doubt')
    await house.killed()
    t.equal(await fateOf(asked), 'lost')
    t.equal(await restartedWhenHeard, 'pending', 'whoever hears of it finds the shard restarting already')
    t.equal(
      await fateOf(house.shards.ask('c', env, id, question, 1)),
      'starting',
      'never sent, so never lost',
    )
    const restarted = house.shards.restarted(id)
    await house.killed()
    t.equal(await fateOf(restarted), 'pending', 'a thread that dies in its replay has told nothing')
    house.thread().ready()
    t.equal(await fateOf(restarted), 'resolved')
    t.same(house.thread().asked, [], 'nothing is sent again by itself')
  },
)

t.test('a reply that was sent before its thread died is heard', async t => {
  const house = await House.start(1)
  const id = house.idOf(0)
  const [written, lost] = [1, 2].map(at => heard(house.shards.ask('c', env, id, question, at)))
  await tick()
  const thread = house.thread()
  thread.replies.answered(thread.asked[0]!.n, { created: false, freed: [] }, 7)
  thread.reply(true)
  await house.killed()
  t.match(
    await written,
    { sequence: 7 },
    'it may lie before the checkpoint that the next thread replays from',
  )
  t.equal(await fateOf(lost!), 'lost')
  t.match(house.thread().task, { again: true, heard: 7 }, 'and what lies beyond it is told once more')
})

t.test('a write that failed on the way to the disk is in doubt until the journal is mended', async t => {
  const house = await House.start(2)
  const [id, other] = [house.idOf(0), house.idOf(1)]
  const doubtful = house.shards.ask('c', env, id, question, 1)
  await tick()
  house.thread(0).fail('doubtful')
  t.equal(await fateOf(doubtful), 'lost')
  const restarted = house.shards.restarted(id)
  t.equal(await fateOf(house.shards.restarted(other)), 'resolved', 'another journal is another matter')
  house.thread(1).tell({ notice: 'mended' })
  const read = house.shards.ask('c', env, id, { type: 'brief' }, 1)
  await tick()
  house.thread(0).commit(0)
  await read
  t.equal(await fateOf(restarted), 'pending', 'a shard that answers reads has not mended its journal')
  house.thread(0).tell({ notice: 'mended' })
  t.equal(await fateOf(restarted), 'resolved')
})

t.test('in doubt, then dead: the next thread tells', async t => {
  const house = await House.start(1)
  const id = house.idOf(0)
  const doubtful = house.shards.ask('c', env, id, question, 1)
  await tick()
  house.thread().fail('doubtful')
  await fateOf(doubtful)
  const restarted = house.shards.restarted(id)
  await house.killed()
  t.equal(await fateOf(restarted), 'pending')
  house.thread().ready()
  t.equal(await fateOf(restarted), 'resolved')
})

t.test('a write that was refused at the door of the journal leaves no doubt', async t => {
  const house = await House.start(1)
  const id = house.idOf(0)
  const refused = house.shards.ask('c', env, id, question, 1)
  await tick()
  house.thread().fail('overloaded')
  t.equal(await fateOf(refused), 'overloaded')
  t.equal(await fateOf(house.shards.restarted(id)), 'resolved')
})

t.test('events of two shards: each is told by itself', async t => {
  const house = await House.start(2)
  const ids = [house.idOf(0), house.idOf(1)] as const
  const posted = house.shards.ingest(ids.map(itemOf), 1)
  await tick()
  house.thread(1).commit()
  await house.killed(0)
  const undelivered = await posted
  t.equal(undelivered.length, 1)
  t.ok(undelivered[0]!.error instanceof Lost)
  t.same(ids.map(undelivered[0]!.owns), [true, false])
  house.thread(0).ready()
  const again = house.shards.ingest(ids.map(itemOf), 1)
  await tick()
  for (const index of [0, 1]) house.thread(index).commit()
  t.same(await again, [])
  t.equal(house.shards.waiting, 0, 'nothing waits for a thread that is gone')
})

t.test('a shard that never served: the start fails', async t => {
  const { house, starting } = House.begin(2)
  house.thread(1).ready()
  house.thread(0).die()
  await t.rejects(starting, /killed by the test/)
  t.equal(house.threads[0]!.length, 1, 'and is not tried again')
})

function itemOf(id: string): IngestItem {
  const event = acceptedEvent({ companyId: id })
  return { k: 'c', id, env, fresh: false, m: { type: 'event', event } }
}

/** Ingestion over such shards, with companies that are known. */
async function ingestion() {
  const directory = new Directory()
  const dedupe = new Dedupe(1_000)
  const house = await House.start(2, notice => {
    if (notice.notice === 'identity') rememberAgain({ directory, dedupe }, notice.facts)
  })
  const { shards } = house
  const slugs = ['zero', 'one'] as const
  const ids = slugs.map((slug, index) => {
    const id = house.idOf(index)
    directory.load(env, id)
    directory.loadPair('company', env, id, 'slug', slug)
    return id
  })
  const traits = new TraitRegistry()
  const counted = { count: 0 }
  const services = {
    shards,
    directory,
    dedupe,
    traits,
    entities: new Entities(directory, shards, traits),
    backlog: { admit: () => {} },
    metrics: { events: { accepted: counted, applied: counted, duplicate: counted, failed: counted } },
  } as unknown as Services
  const key = { id: 'apik_1', kind: 'secret', readonly: false } as Sender['key']
  const sender: Sender = { services, key, environmentId: env, nowMs: 1_000, remoteIp: '', userAgent: '' }
  /** Send an event for each of these companies, its slug its idempotency key; ids of the acknowledged ones. */
  const send = async (...to: readonly string[]): Promise<string[]> => {
    const events = to.map(slug => ({
      event_type: 'track',
      idempotency_key: slug,
      body: { event: 'call', company: { slug } },
    }))
    const acks = await ingestMany(sender, events)
    return acks.map(ack => JSON.parse(ack).event_id)
  }
  const held = (slug: string) => dedupe.find(env, slug, 1_000) !== null
  return { house, ids, send, held }
}

t.test('EV-25 the key of an event whose thread died is kept until its fate is told', async t => {
  for (const durable of [true, false]) {
    const { house, ids, send, held } = await ingestion()
    const first = heard(send('zero'))
    await tick()
    const asked = house.thread(0).asked[0]
    const { event } = (asked as { events: readonly IngestItem[] }).events[0]!.m
    await house.killed(0)
    t.equal(await fateOf(first), 'lost')
    t.ok(held('zero'), 'nobody may use it anew')
    t.not(await fateOf(send('zero')), 'resolved', 'a retry is not taken for a first')
    const ik = ['zero', event.id, 1_000] as const
    if (durable)
      house.thread(0).tell({
        notice: 'identity',
        facts: [{ k: 'c', id: ids[0]!, env, at: 1, fx: [], ik }],
      })
    house.thread(0).ready()
    await tick()
    t.equal(held('zero'), durable)
    const retried = send('zero')
    await tick()
    t.equal(house.thread(0).asked.length, durable ? 0 : 1, durable ? 'it is counted' : 'it is counted now')
    house.thread(0).commit()
    const [retriedId] = await retried
    t.equal(retriedId === event.id, durable, 'EV-27 acknowledged as the first was')
  }
})

t.test('EV-25 the key of an event whose write failed is kept until the journal is mended', async t => {
  const { house, send, held } = await ingestion()
  const first = heard(send('zero'))
  await tick()
  house.thread(0).fail('doubtful')
  t.equal(await fateOf(first), 'lost')
  t.ok(held('zero'))
  house.thread(0).tell({ notice: 'mended' })
  await tick()
  t.notOk(held('zero'), 'it was cut off')
  const again = send('zero')
  await tick()
  house.thread(0).fail('overloaded')
  t.equal(await fateOf(again), 'overloaded')
  t.notOk(held('zero'), 'what never reached the journal is free at once')
})

t.test('EV-25 of a batch over two shards, each key goes the way of its own event', async t => {
  const { house, send, held } = await ingestion()
  const batch = heard(send('zero', 'one'))
  await tick()
  house.thread(1).commit()
  await house.killed(0)
  t.equal(await fateOf(batch), 'lost', 'nothing is acknowledged')
  t.same(['zero', 'one'].map(held), [true, true])
  const one = send('one')
  t.equal(await fateOf(one), 'resolved', 'what is durable is acknowledged to whoever asks again')
  house.thread(0).ready()
  await tick()
  t.same(['zero', 'one'].map(held), [false, true])
})

t.test(
  'CU-19 the pairs of a new company whose write was lost are its own until its fate is told',
  async t => {
    const { house } = await ingestion()
    const directory = new Directory()
    const entities = new Entities(directory, house.shards, new TraitRegistry())
    const write = entities.write('company', env, { keys: { slug: 'new' } }, 1)
    const owner = () => directory.resolve('company', env, { slug: 'new' }).found
    const target = entities.target('company', env, null, { slug: 'new' })
    const shard = shardOf(target.id, house.count)
    const made = heard(entities.ask(target, { type: 'ensure', write }, 1))
    await tick()
    await house.killed(shard)
    t.equal(await fateOf(made), 'lost')
    t.equal(owner(), target.id)
    house.thread(shard).ready()
    await tick()
    t.equal(owner(), null, 'the journal did not tell of it')
  },
)

t.test('single events of following turns leave as one post; all else takes them along', async t => {
  const house = await House.start(1)
  const id = house.idOf(0)
  const { asked } = house.thread()
  let nowMs = 1
  const { now } = performance
  performance.now = () => nowMs
  t.teardown(() => {
    performance.now = now
  })
  const waiting = { resolve() {}, reject: (error: Error) => t.fail(error.message) }
  const put = (): void => house.shards.putEvent(itemOf(id), 1, waiting)
  put()
  await tick()
  put()
  await tick()
  t.equal(asked.length, 0, 'each turn brought another')
  await tick()
  t.equal(asked.length, 2, 'a turn brought none')
  put()
  heard(house.shards.ask('c', env, id, question, 1))
  await tick()
  t.equal(asked.length, 4, 'a question waits for nobody')
  for (let i = 0; i < 24; i++) put()
  await tick()
  t.equal(asked.length, 28, 'as many as that wait for nobody')
  put()
  await tick()
  put()
  nowMs += 0.6
  await tick()
  t.equal(asked.length, 30, 'the first has waited half a millisecond')
})

t.test('a request without an answer at the close is lost, and a later one is refused', async t => {
  const house = await House.start(1)
  const id = house.idOf(0)
  const asked = heard(house.shards.ask('c', env, id, question, 1))
  await tick()
  const closing = house.shards.close()
  await tick()
  const { replies, asked: posted } = house.thread()
  replies.answered(posted.at(-1)!.n, null, 0)
  house.thread().reply()
  await closing
  t.equal(await fateOf(asked), 'lost')
  t.equal(await fateOf(house.shards.ask('c', env, id, question, 1)), 'starting')
  house.thread().ready()
  t.equal(await fateOf(house.shards.ask('c', env, id, question, 1)), 'starting', 'a late start opens nothing')
})
