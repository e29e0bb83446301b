// Idempotency keys of requests that come in one packet: a repeat is answered with its first event only after that event was
// recorded or refused.
import t from 'tap'
import type { ShardRequest } from '../../src/core/company/shard-request.js'
import type { IngestItem } from '../../src/core/model/message.js'
import type { AcceptedEvent } from '../../src/core/model/requests.js'
import { UsageBatchWriter } from '../../src/core/usage/batch.js'
import { encodeId } from '../../src/core/values/id.js'
import type { Claimed, Held } from '../../src/redis/claims.js'
import { Encoder, unpack } from '../../src/wire/message-codec.js'
import { claimAll, type EventClaims, HeldKeys, sorted } from '../../workers/shard/events/claimed.js'
import { acceptedEvent } from '../accepted-event.js'

const env = 'env_23456789ABC'
const companyId = encodeId('comp_', 1, 7)

const call = { epoch: '1', n: 1, behind: 0, left: 1 }

let ids = 0
function item(key: string | null): IngestItem {
  const event = acceptedEvent({ id: encodeId('evt_', 1, ++ids), idempotencyKey: key, companyId })
  return { k: 'c', id: companyId, env, fresh: false, m: { type: 'event', event } }
}

const request = (n: number, ...keys: readonly (string | null)[]): ShardRequest & { readonly n: number } => ({
  n,
  at: 1,
  events: keys.map(item),
})

/** Claims of which some are on their way elsewhere, and the keys that were given back. */
function claiming(busy: readonly string[]) {
  const freed: string[] = []
  const claims: Pick<EventClaims, 'claim' | 'free'> = {
    claim: async events =>
      events.map(
        ({ key }): Claimed =>
          busy.includes(key) ? 'busy' : { held: { key, value: '', call, slot: 0, connection: 0 } },
      ),
    free: (held: readonly Held[]) => void freed.push(...held.map(({ key }) => key)),
  }
  return { claims: claims as EventClaims, freed }
}

t.test('EV-27 a repeat in another request waits for the fate of its first event', async t => {
  const { claims, freed } = claiming([])
  const [first, repeat] = await claimAll([request(1, 'k'), request(2, 'other', 'k')], claims)
  t.match(first, { held: [{ held: { key: 'k' } }], repeats: [] })
  t.equal(repeat, null, 'the first one may be told to come later, or fail: nothing is said of it')
  t.same(freed, ['other'], 'and it holds nothing meanwhile')
})

t.test(
  'EV-27 a repeat of an event under way is claimed when its fate is known, and holds nothing meanwhile',
  async t => {
    let written = Promise.resolve()
    const keys = new HeldKeys(claiming([]).claims, () => written)
    const [first, same, other, repeat] = [
      request(1, 'k'),
      request(2, 'l', 'k'),
      request(3, 'm'),
      request(4, 'l'),
    ] as const
    const free: unknown[] = []
    const apart = (...requests: readonly ShardRequest[]) => keys.apart(requests, one => void free.push(one))
    const turn = () => new Promise(resolve => setImmediate(resolve))
    t.same(apart(first, same, other), [first, other])
    t.same(apart(repeat), [repeat], 'a request that waits has no key that another must wait for')
    keys.passed([[other, other]])
    await turn()
    t.same(free, [])
    written = Promise.reject(new Error('the journal failed'))
    keys.passed([[first, new Error('refused')]])
    await turn()
    t.same(free, [same])
    t.same(apart(same), [], 'its other key is another request’s by now')
    keys.passed([[repeat, repeat]])
    await turn()
    t.same(free, [same, same])
    t.same(apart(same), [same])
  },
)

t.test('EV-27 no event is the repeat of one that was given up', async t => {
  const { claims, freed } = claiming(['on its way'])
  t.same(await claimAll([request(1, 'k', 'on its way'), request(2, 'k')], claims), [null, null])
  t.same(freed, ['k'])
})

t.test('EV-27 a repeat in the same request has the fate of its first event', async t => {
  const { claims } = claiming([])
  const both = request(1, 'k', null, 'k') as Extract<ShardRequest, { readonly events: unknown }>
  const [claimed] = await claimAll([both], claims)
  const [first, , repeat] = both.events.map(({ m }) => (m as { readonly event: AcceptedEvent }).event.id)
  t.match(claimed, { repeats: [[repeat, '', { eventId: first }]] })
})

/** A packet of one request whose events cross as rows: keys, and quantities; '' has no key. */
function packetOf(n: number, ...uses: readonly (readonly [key: string, quantity: number])[]) {
  const rows = new UsageBatchWriter()
  let text = ''
  const put = (part: string): number => {
    text += part
    return text.length - part.length
  }
  for (const [key, quantity] of uses)
    rows.add({
      bodyAt: put('{}'),
      bodyLength: 2,
      nameAt: put('call'),
      nameLength: 4,
      keyAt: put(key),
      keyLength: key.length,
      quantity,
      idHigh: 1,
      idLow: ++ids,
      sentAtMs: null,
      companyId,
      userId: null,
    })
  const encoder = new Encoder()
  encoder.add(n, { at: 1, env, apiKeyId: 'akey_23456789AB', text, rows })
  return encoder.take()
}

/** The requests of a packet that claim keys. */
function keyedOf(cells: ReturnType<typeof packetOf>) {
  const requests: ShardRequest[] = []
  unpack(cells, request => requests.push(request))
  const { free, keyed } = sorted(requests, cells)
  return { free, keyed }
}

t.test('EV-27 rows stay rows while their keys are claimed, and hold what they claimed', async t => {
  const { claims } = claiming([])
  const { keyed, free } = keyedOf(packetOf(1, ['k', 2], ['', 3], ['k', 2], ['l', 4]))
  t.same(free, [])
  // another packet takes the place of the rows meanwhile
  keyedOf(packetOf(2, ['other', 9]))
  const [claimed] = await claimAll(keyed, claims)
  t.match(claimed, { repeats: [[String, '', { other: false }]] })
  const { request } = claimed as Exclude<typeof claimed, Error | null | undefined>
  if (typeof request !== 'function') return t.fail('they are no events')
  const { uses, from, count, held } = request()
  t.same(
    Array.from({ length: count }, (_, i) => [
      uses.key(from + i),
      uses.quantity(from + i),
      uses.name(from + i),
    ]),
    [
      ['k', 2, 'call'],
      [null, 3, 'call'],
      ['k', 2, 'call'],
      ['l', 4, 'call'],
    ],
  )
  t.match(held, [{ key: 'k' }, undefined, null, { key: 'l' }])
})

t.test('EV-27 rows wait for a key that is on its way, and give the others back', async t => {
  const { claims, freed } = claiming(['on its way'])
  t.same(await claimAll(keyedOf(packetOf(1, ['k', 1], ['on its way', 1])).keyed, claims), [null])
  t.same(freed, ['k'])
})

t.test('EV-29 a repeat with other content is recorded as failed: its request crosses as events', async t => {
  const { claims } = claiming([])
  const [claimed] = await claimAll(keyedOf(packetOf(1, ['k', 1], ['k', 2])).keyed, claims)
  const { request, held } = claimed as Exclude<typeof claimed, Error | null | undefined>
  if (typeof request === 'function' || !('events' in request)) return t.fail('they are events')
  t.equal(held.length, 1)
  t.match(
    request.events.map(({ m }) => (m as { readonly event: AcceptedEvent }).event.failure),
    [null, /^dropped: its idempotency key was used with other content/],
  )
})
