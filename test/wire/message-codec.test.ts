// Messages between threads decode to equal messages.
import t from 'tap'
import type { ShardRequest } from '../../src/core/company/shard-request.js'
import type { AcceptedEvent, CheckContext } from '../../src/core/model/requests.js'
import {
  allFailed,
  decodeReplies,
  Encoder,
  type Outgoing,
  type Packet,
  Replies,
  unpack,
} from '../../src/wire/message-codec.js'
import { ReplyRing } from '../../src/wire/reply-ring.js'
import { acceptedEvent } from '../accepted-event.js'

const event = (some: Partial<AcceptedEvent>): AcceptedEvent =>
  acceptedEvent({
    id: 'evt_1',
    body: '{"event":"call"}',
    quantity: 3,
    mode: 'trusted',
    capturedAtMs: 5,
    sentAtMs: 4,
    receivedAtMs: 6,
    idempotencyKey: 'k',
    companyId: 'comp_1',
    userId: 'user_1',
    ...some,
  })

const tokens = { input: 1, output: 2, cachedInput: 0, cacheWrite: 0, reasoning: 0, requests: 1 }
const context: CheckContext = {
  companyGiven: true,
  userGiven: false,
  asked: '{"company":{"id":"b"}}',
  userId: null,
  userTraits: [['plan', 'x']],
}

type Numbered = Outgoing & { readonly n: number }

const requests: readonly Numbered[] = [
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
      id: [one.companyId, one.userId, 'comp_1', 'env_1'][index]!,
      env: 'env_1',
      fresh: index === 3,
      m: { type: 'event', event: one, write: null, joins: [] },
    })),
  },
  {
    n: 2,
    k: 'c',
    id: 'comp_1',
    env: 'env_1',
    at: 9,
    fresh: false,
    m: { type: 'check_all', whole: true, context },
  },
  {
    n: 3,
    k: 'e',
    id: 'env_1',
    env: 'env_1',
    at: 9,
    fresh: false,
    m: {
      type: 'check',
      timed: true,
      flagKey: 'f',
      preflight: { usage: 1, eventUsage: null, creditCost: { bcrd_1: 0.5 } },
      context,
    },
  },
  { n: 4, control: { type: 'checkpoint' } },
]

const plain = event({
  mode: 'normal',
  capturedAtMs: 9,
  sentAtMs: null,
  receivedAtMs: 9,
  idempotencyKey: null,
  userId: null,
})
const further: readonly Numbered[] = [
  // the environment and key of the one before, and others
  ...['env_1', 'env_1', 'env_2'].map((env, index) => ({
    n: 5 + index,
    at: 9,
    events: [
      {
        k: 'c' as const,
        id: 'comp_1',
        env,
        fresh: false,
        m: { type: 'event' as const, event: plain, write: null, joins: [] },
      },
    ],
  })),
  {
    n: 8,
    k: 'c',
    id: 'comp_1',
    env: 'env_1',
    at: 10,
    fresh: false,
    m: {
      type: 'check',
      timed: false,
      flagKey: 'f',
      preflight: null,
      context: {
        ...context,
        asked: '{"company":{"name":"Zoë 東京"}}',
        userId: 'user_1',
        userTraits: null,
      },
    },
  },
]

t.test('every request is equal and in its place after packing, clone and unpacking', async t => {
  const all = [...requests, ...further, ...requests]
  const packing = new Encoder()
  for (const { n, ...request } of all) packing.add(n, request)
  const got: ShardRequest[] = []
  unpack(structuredClone(packing.take()), request => got.push(request))
  t.strictSame(got, all)

  const { n, ...request } = further[1]!
  packing.add(n, request)
  const again: ShardRequest[] = []
  unpack(structuredClone(packing.take()), request => again.push(request))
  t.strictSame(again, [further[1]], 'a post leans on nothing said in the one before')
})

t.test('whole bodies arrive as bytes of the ring, as texts where it is full, and in their order', async t => {
  const memory = ReplyRing.make()
  const [replies, ring] = [new Replies(memory), new ReplyRing(memory)]
  const data = JSON.stringify('東'.repeat(9_000))
  const body = `{"data":${data},"params":{}}`
  const heard: string[] = []
  const note = (n: number, reply: unknown) =>
    heard.push(`${n} ${typeof reply} ${Buffer.from(reply as string).toString() === body}`)
  const hearing = { answered: note, cacheable: note, refused: note, failed: note }
  const posts: Packet[] = []
  for (let n = 0; n < 300; n++) {
    replies.whole(n, data, false)
    posts.push(structuredClone(replies.take()))
  }
  for (const cells of posts) decodeReplies(cells, hearing, ring)
  const inRing = heard.filter(one => one.includes('object true')).length
  t.ok(inRing > 100 && inRing < 300, `${inRing} of 300 are in the ring`)
  t.strictSame(
    heard,
    Array.from(heard, (_, n) => `${n} ${n < inRing ? 'object' : 'string'} true`),
  )
  heard.length = 0
  const place = { ...replies.whole(7, data, true)! }
  t.ok(replies.again(8, place))
  decodeReplies(replies.take(), hearing, ring)
  t.ok(replies.again(9, place))
  decodeReplies(replies.take(), hearing, ring)
  t.strictSame(heard, ['7 object true', '8 object true', '9 object true'], 'there is room again')
})

t.test('every reply arrives as it was given', async t => {
  const replies = new Replies()
  replies.answered(1, '{"a":1}', 0)
  replies.answered(2, null, 7)
  replies.refused(3, 'not_found')
  replies.refused(4, 'spend_cap', 'why')
  replies.failed(5, 'overloaded', 'full')
  replies.cacheable(6, '{"b":"東京"}', 1_700_000_060_000, false)
  replies.cacheable(7, '{"c":1}', 1_700_000_060_000, true)
  // longer ones are texts of their own
  const long = JSON.stringify('東'.repeat(5_000))
  replies.answered(8, long, 9)
  replies.cacheable(9, long, 1_700_000_060_000, false)
  replies.cacheable(10, long, 1_700_000_060_000, true)
  const cells = structuredClone(replies.take())
  t.ok(replies.isEmpty)
  const heard: unknown[] = []
  const hearing = {
    answered: (...what: unknown[]) => heard.push(['answered', ...what]),
    cacheable: (...what: unknown[]) => heard.push(['cacheable', ...what]),
    refused: (...what: unknown[]) => heard.push(['refused', ...what]),
    failed: (...what: unknown[]) => heard.push(['failed', ...what]),
  }
  decodeReplies(cells, hearing)
  t.strictSame(heard, [
    ['answered', 1, '{"a":1}', 0],
    ['answered', 2, null, 7],
    ['refused', 3, 'not_found', undefined],
    ['refused', 4, 'spend_cap', 'why'],
    ['failed', 5, 'overloaded', 'full'],
    ['cacheable', 6, '{"b":"東京"}', 1_700_000_060_000, false],
    ['cacheable', 7, '{"c":1}', 1_700_000_060_000, true],
    ['answered', 8, long, 9],
    ['cacheable', 9, long, 1_700_000_060_000, false],
    ['cacheable', 10, long, 1_700_000_060_000, true],
  ])
  heard.length = 0
  decodeReplies(allFailed(cells, 'starting', 'gone'), hearing)
  t.strictSame(
    heard,
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(n => ['failed', n, 'starting', 'gone']),
  )
})
