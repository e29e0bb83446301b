// What crosses between threads arrives equal.
import t from 'tap'
import { pack, unpack } from '../../src/core/crossing.js'
import type { AcceptedEvent, CheckContext, ShardRequest } from '../../src/core/message.js'

const event = (some: Partial<AcceptedEvent>): AcceptedEvent => ({
  id: 'evt_1',
  type: 'track',
  subtype: 'call',
  body: '{"event":"call"}',
  quantity: 3,
  mode: 'trusted',
  capturedAtMs: 5,
  sentAtMs: 4,
  receivedAtMs: 6,
  apiKeyId: 'apik_1',
  idempotencyKey: 'k',
  companyId: 'comp_1',
  userId: 'user_1',
  leaseId: null,
  reservationId: null,
  failure: null,
  derivedFrom: null,
  inference: null,
  ...some,
})

const tokens = { input: 1, output: 2, cachedInput: 0, cacheWrite: 0, reasoning: 0, requests: 1 }
const context: CheckContext = {
  companyGiven: true,
  userGiven: false,
  companyKeys: { __proto__x: 'y' },
  userKeys: null,
  userId: null,
  userTraits: [['plan', 'x']],
}

const requests: readonly ShardRequest[] = [
  {
    n: 1,
    at: 9,
    events: [
      event({}),
      event({ id: 'evt_2', leaseId: 'crlse_1', derivedFrom: 'evt_1', idempotencyKey: null }),
      event({
        type: 'inference',
        inference: { tokens, cost: { amount: '1', currency: 'usd', priceId: null } },
      }),
      event({ failure: 'no', companyId: null, userId: null }),
    ].map((one, index) => ({
      k: (['c', 'u', 'c', 'e'] as const)[index]!,
      id: 'x',
      env: 'env_1',
      fresh: index === 3,
      m: { type: 'event', event: one, write: null, joins: [] },
    })),
  },
  { n: 2, k: 'c', id: 'comp_1', env: 'env_1', at: 9, fresh: false, m: { type: 'check_all', context } },
  {
    n: 3,
    k: 'e',
    id: 'env_1',
    env: 'env_1',
    at: 9,
    fresh: false,
    m: {
      type: 'check',
      flagKey: 'f',
      preflight: { usage: 1, eventUsage: null, creditCost: { bcrd_1: 0.5 } },
      context,
    },
  },
  { n: 4, control: { type: 'checkpoint' } },
]

t.test('every request is equal after pack, clone and unpack', async t => {
  for (const request of requests) t.strictSame(unpack(structuredClone(pack(request))), request)
})
