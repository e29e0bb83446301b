// Lists of events that cost more than usual ones leave in slices, one in a turn, in order; the answer is the same (security H4).
import { setImmediate as tick } from 'node:timers/promises'
import t from 'tap'
import { TraitRegistry } from '../../../src/catalog/traits.js'
import { Directory } from '../../../src/entities/directory/directory.js'
import { Entities } from '../../../src/entities/directory/entities.js'
import { Dedupe } from '../../../src/entities/idempotency/dedupe.js'
import type { Sender } from '../../../src/front/events/claims.js'
import { ingestMany } from '../../../src/front/events/many.js'
import { TurnLimiter } from '../../../src/front/events/parsing/turn-limiter.js'
import type { Services } from '../../../src/kit/services.js'
import { House } from '../../control/fake-shards.js'

const count = 5_000

/** A service of one shard that knows nobody, and what its shard was asked for in each turn. */
async function world(keysMax = 100_000) {
  const house = await House.start(1)
  const { shards } = house
  const directory = new Directory()
  const traits = new TraitRegistry()
  const counted = { count: 0 }
  const services = {
    shards,
    directory,
    traits,
    dedupe: new Dedupe(keysMax),
    entities: new Entities(directory, shards, traits),
    parsers: { turns: new TurnLimiter(2) },
    backlog: { admit() {} },
    metrics: { events: { accepted: counted, applied: counted, failed: counted, windowFull: counted } },
  } as unknown as Services
  const key = { id: 'apik_1', kind: 'secret', readonly: false } as Sender['key']
  const sender: Sender = { services, key, environmentId: 'env_1', nowMs: 1, remoteIp: '', userAgent: '' }
  /** Ids of the events that each post brought, once all are answered; `fails`: the number of the post that is not durable. */
  const settled = async <T>(work: Promise<T>, fails = Number.POSITIVE_INFINITY) => {
    const thread = house.thread()
    const posts: string[][] = []
    let over = false
    work.then(
      () => {
        over = true
      },
      () => {
        over = true
      },
    )
    while (!over) {
      await tick()
      const asked = thread.asked.splice(0)
      if (asked.length === 0) continue
      const ids: string[] = []
      for (const request of asked) {
        if ('events' in request) ids.push(...request.events.map(({ m }) => m.event.id))
        else if ('m' in request && request.m.type === 'event') ids.push(request.m.event.id)
        const reply = 'm' in request ? { created: true, freed: [] } : null
        if (posts.length === fails) thread.replies.failed(request.n, 'overloaded', 'no')
        else thread.replies.answered(request.n, reply, 1)
      }
      posts.push(ids)
      thread.reply()
    }
    return posts
  }
  return { sender, settled, services }
}

const idsIn = (acks: readonly string[]): string[] => acks.map(ack => JSON.parse(ack).event_id)
const identify = (n: number) => ({ event_type: 'identify', body: { keys: { cookie: `c${n}` } } })
const keyed = (n: number) => ({ event_type: 'track', idempotency_key: `k${n}`, body: { event: 'e' } })

const lists = {
  'events that are stored as failed': () => ({ event_type: 'track', body: {} }),
  'new users': identify,
  'events of nobody': keyed,
}

for (const [what, event] of Object.entries(lists))
  t.test(`security H4 ${what}: a list leaves in slices, in order`, async t => {
    const { sender, settled } = await world()
    const sent = ingestMany(
      sender,
      Array.from({ length: count }, (_, n) => event(n)),
    )
    const posts = await settled(sent)
    t.ok(Math.max(...posts.map(ids => ids.length)) < count / 2, `${posts.length} posts`)
    t.same(idsIn(await sent), posts.flat(), 'acknowledged as they were sent')
  })

t.test('EV-25 a slice that is not durable gives its keys back, and no later one is sent', async t => {
  const { sender, settled, services } = await world()
  const events = Array.from({ length: count }, (_, n) => keyed(n))
  const sent = ingestMany(sender, events)
  const posts = await settled(sent, 1)
  await t.rejects(sent, 'its caller hears of it')
  const taken = posts[0]!.length
  t.ok(posts.flat().length < count, 'the rest was not sent')
  const holds = (n: number) => services.dedupe.find('env_1', `k${n}`, 1) !== null
  t.ok(holds(0) && holds(taken - 1), 'a retry finds what is durable')
  t.notOk(holds(taken) || holds(count - 1), 'and sends the rest')
})

t.test('EV-25 where the window may lack room, all keys are claimed or none', async t => {
  const { sender, services } = await world(100)
  const events = Array.from({ length: count }, (_, n) => keyed(n))
  await t.rejects(ingestMany(sender, events), /window is full/)
  t.equal(services.dedupe.find('env_1', 'k0', 1), null)
})
