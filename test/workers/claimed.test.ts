// Idempotency keys of requests that come in one packet: a repeat is answered with its first event only after that event was
// recorded or refused.
import t from 'tap'
import type { ShardRequest } from '../../src/core/company/shard-request.js'
import type { IngestItem } from '../../src/core/model/message.js'
import type { AcceptedEvent } from '../../src/core/model/requests.js'
import { encodeId } from '../../src/core/values/id.js'
import type { Claimed, Held } from '../../src/redis/claims.js'
import { claimAll, type EventClaims } from '../../workers/shard/events/claimed.js'
import { acceptedEvent } from '../accepted-event.js'

const env = 'env_23456789ABC'
const companyId = encodeId('comp_', 1, 7)

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
        ({ key }): Claimed => (busy.includes(key) ? 'busy' : { held: { key, claimed: '', done: '' } }),
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
