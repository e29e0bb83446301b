// The way of the usual event against the way of any event: the same bodies through both leave the same at the shards and
// tell callers the same.
import { setImmediate as tick } from 'node:timers/promises'
import t from 'tap'
import { drawIdsFrom } from '../../../src/account/ids.js'
import { TraitRegistry } from '../../../src/catalog/traits.js'
import { encodeId } from '../../../src/core/values/id.js'
import { Directory } from '../../../src/entities/directory/directory.js'
import { Entities } from '../../../src/entities/directory/entities.js'
import { Dedupe } from '../../../src/entities/idempotency/dedupe.js'
import { readEvents } from '../../../src/events/read.js'
import type { Sender } from '../../../src/front/events/claims.js'
import { ingestOne } from '../../../src/front/events/ingest.js'
import { ingestMany } from '../../../src/front/events/many.js'
import { ingestOneBytes, ingestText } from '../../../src/front/events/usual.js'
import type { Services } from '../../../src/kit/services.js'
import { House } from '../../control/fake-shards.js'
import { acksIn } from '../../events/acks.js'
import { eventText } from '../../events/usual-bodies.js'
import { Random } from '../../random.js'

const env = 'env_22222222222'

/** A service that knows some companies and users; all of its ids come from the seed. */
async function world(seed: number, keysMax = 10_000) {
  const house = await House.start(2)
  const { shards } = house
  const directory = new Directory()
  const zero = encodeId('comp_', 0, 1)
  const one = encodeId('comp_', 0, 2)
  const someone = encodeId('user_', 0, 3)
  for (const id of [zero, one, someone]) directory.load(env, id)
  directory.loadPair('company', env, zero, 'id', 'a')
  directory.loadPair('company', env, zero, 'slug', 'zero')
  directory.loadPair('company', env, one, 'slug', 'one')
  directory.loadPair('company', env, one, 'id', 'api_call')
  directory.loadPair('company', env, one, 'mail', 'a')
  directory.loadPair('user', env, someone, 'id', 'a')
  directory.loadPair('user', env, someone, 'slug', 'one')
  directory.join(someone, zero)
  const random = new Random(seed)
  drawIdsFrom(pool => {
    for (let i = 0; i < pool.length; i += 4) pool.writeUInt32LE(random.below(2 ** 32), i)
  })
  const counts = {
    accepted: { count: 0 },
    applied: { count: 0 },
    duplicate: { count: 0 },
    failed: { count: 0 },
    differing: { count: 0 },
    windowFull: { count: 0 },
  }
  const seen: unknown[] = []
  // the law draws what a publishable key may do, and how much one of its events may count
  const publishable = {
    createCompanies: random.chance(0.5),
    addCompanyKeys: random.chance(0.5),
    addUserKeys: random.chance(0.5),
    createUsers: 10_000,
    nameEvents: true,
    nameTraits: random.chance(0.5),
    quantityMax: random.pick([2, 10_000]),
    isOwn: true,
  }
  const traits = new TraitRegistry()
  const catalog = { flags: [], features: [] }
  const services = {
    shards,
    directory,
    keys: { environment: () => ({ publishable }) },
    catalogs: { get: () => catalog },
    quotas: { takePublicName: () => true, takePublicUser: () => true },
    dedupe: new Dedupe(keysMax),
    traits,
    entities: new Entities(directory, shards, traits),
    backlog: { admit: () => {} },
    userSeen: { note: (...noted: unknown[]) => seen.push(noted) },
    checkedFlags: { note() {} },
    metrics: { events: counts },
  } as unknown as Services
  const sender = (secret: boolean): Sender => ({
    services,
    key: { id: 'apik_1', kind: secret ? 'secret' : 'publishable', readonly: false } as Sender['key'],
    environmentId: env,
    nowMs: 1_773_568_800_000,
    remoteIp: '::1',
    userAgent: 'some "agent" Zoë',
  })
  /** Answers all that is asked until `work` is settled; what was asked, by shard. */
  const settled = async <T>(work: Promise<T>) => {
    const asked = [0, 1].map(() => ({ events: [] as unknown[], others: [] as unknown[] }))
    let over = false
    const told = work.then(
      value => ({ value }),
      (error: Error) => ({ error: error.message }),
    )
    void told.then(() => {
      over = true
    })
    for (let turns = 0; !over && turns < 50; turns++) {
      await tick()
      for (const [index, list] of asked.entries()) {
        const thread = house.thread(index)
        for (const request of thread.asked.splice(0)) {
          if ('events' in request)
            for (const { k, id, env: of, m } of request.events)
              list.events.push({ k, id, of, event: m.event })
          else if ('m' in request) list.others.push(request.m)
          thread.replies.answered(request.n, 'm' in request ? { created: true, freed: [] } : null, 1)
        }
        thread.reply()
      }
    }
    const { ticketsOpen } = services.dedupe
    return { told: await told, asked, counts: structuredClone(counts), seen: [...seen], ticketsOpen }
  }
  return { sender, settled }
}

t.test('EV-7, EV-25…33: batches leave and tell the same on both ways', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  let usual = 0
  for (let round = 0; round < 400; round++) {
    const seed = random.below(2 ** 31)
    const share = random.pick([0.7, 1])
    const known = () =>
      `{"event_type":"track"${random.chance(0.5) ? `,"idempotency_key":"k${random.below(12)}"` : ''},"body":{"event":"call","company":{${random.pick(['"slug":"zero"', '"id":"a"', '"slug":"one"', '"id":"a","slug":"zero"', '"slug":"nobody"', '"slug":"one","id":"a"'].slice(0, share === 1 ? 4 : 6))}}${random.chance(0.3) ? ',"user":{"id":"a"}' : ''},"traits":{"city":"${random.pick(['x', 'Zürich', 'a\\nb'])}"}}}`
    const bodies = Array.from({ length: 2 }, () => {
      const events = Array.from({ length: 1 + random.below(8) }, () =>
        random.chance(share) ? known() : eventText(random),
      )
      return `{"events":[${events.join()}]}`
    })
    const secret = random.chance(0.5)
    const report = random.chance(0.5)
    const bare = !report && random.chance(0.5)
    const outcomes: unknown[] = []
    for (const asText of [true, false]) {
      const { sender, settled } = await world(seed)
      const outcome: unknown[] = []
      for (const text of bodies) {
        // a list that cannot be read is refused whole on both
        const work = asText
          ? ingestText(sender(secret), text, Buffer.byteLength(text), report, bare).then(acksIn)
          : (async () => ingestMany(sender(secret), readEvents(text), report))()
        const { told, asked, ...rest } = await settled(work)
        if (rest.ticketsOpen !== 0) t.fail('EV-27: a claim stays under way')
        const acks = 'value' in told ? JSON.parse(`[${told.value.join()}]`) : told
        outcome.push({ acks, asked, ...rest })
      }
      outcomes.push(outcome)
      if (asText && (outcome as { counts: { accepted: { count: number } } }[])[1]!.counts.accepted.count > 0)
        usual++
    }
    const [first, second] = outcomes
    if (JSON.stringify(first) !== JSON.stringify(second)) {
      t.strictSame(first, second, bodies.join('\n'))
      return
    }
  }
  t.ok(usual > 200, `${usual} batches were taken`)
})

t.test('EV-1, EV-25: single events too', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  let usual = 0
  for (let round = 0; round < 600; round++) {
    const seed = random.below(2 ** 31)
    const text = random.chance(0.5)
      ? eventText(random)
      : `{"event_type":"track","idempotency_key":"k","body":{"event":"call","company":{"slug":"${random.pick(['zero', 'one', 'nobody'])}"}}}`
    let given: unknown
    try {
      given = JSON.parse(text)
    } catch {
      continue
    }
    const outcomes: unknown[] = []
    for (const asText of [true, false]) {
      const { sender, settled } = await world(seed)
      const send = () => {
        const later = asText ? ingestOneBytes(sender(true), Buffer.from(text)) : null
        if (later !== null) usual++
        return new Promise((resolve, reject) => {
          const answer = later ?? ingestOne(sender(true), given)
          const succeed = ({ json }: { readonly json?: string }) => resolve(JSON.parse(json!))
          if ('listen' in answer) answer.listen({ succeed, fail: reject })
          else answer.then(succeed, reject)
        })
      }
      // twice at once: the second may be a duplicate of one that is under way
      const outcome = await settled(Promise.allSettled([send(), send()]))
      if (outcome.ticketsOpen !== 0) t.fail('EV-27: a claim stays under way')
      outcomes.push(outcome)
    }
    const [first, second] = outcomes
    if (JSON.stringify(first) !== JSON.stringify(second)) {
      t.strictSame(first, second, text)
      return
    }
  }
  t.ok(usual > 200, `${usual} were of the usual kind`)
})

t.test('EV-27: where the window lacks room for all, none of a batch is taken', async t => {
  const { sender, settled } = await world(1, 2)
  const event = (key: string) =>
    `{"event_type":"track","idempotency_key":"${key}","body":{"event":"call","company":{"slug":"zero"}}}`
  const send = (...keys: string[]) => {
    const text = `{"events":[${keys.map(event).join()}]}`
    return settled(ingestText(sender(true), text, Buffer.byteLength(text), false, true).then(acksIn))
  }
  t.match(await send('a', 'b', 'c'), {
    told: { error: /window is full/ },
    asked: [{ events: [] }, { events: [] }],
  })
  t.match((await send('a', 'b')).told, { value: [String] })
})
