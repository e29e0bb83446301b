// Cost of a request on its way to a shard's thread and back: as numbers and one text per tick, against cloned objects
// per tick and against one message per request, in one run. Rounds alternate; medians.
import { performance } from 'node:perf_hooks'
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads'
import type { AcceptedEvent } from '../../src/core/model/requests.js'
import { Encoder, type Outgoing, type Packet, unpack } from '../../src/wire/message-codec.js'

const perPost = 28 // as 64 connections give
const rounds = 9
const reply = JSON.stringify({
  flag: 'bench-flag',
  value: true,
  reason: 'r'.repeat(80),
  company_id: 'c'.repeat(60),
})

type Numbered = Outgoing & { readonly n: number }

const check = (n: number): Numbered => ({
  n,
  k: 'c',
  id: 'comp_23456789ABC',
  env: 'env_23456789ABC',
  at: 1_767_225_600_000,
  fresh: false,
  m: {
    type: 'check',
    timed: true,
    flagKey: 'bench-flag',
    preflight: null,
    context: {
      companyGiven: true,
      userGiven: true,
      asked: '{"company":{"id":"acme-corporation-1"},"user":{"id":"someone-at-acme-1"}}',
      userId: 'user_23456789ABC',
      userTraits: null,
    },
  },
})

const accepted = (n: number): AcceptedEvent => ({
  id: `evt_${String(n).padStart(11, '2')}`,
  type: 'track',
  subtype: 'api_call',
  body: '{"event":"api_call","company":{"id":"acme-corporation-1"},"user":{"id":"someone-at-acme-1"},"quantity":1}',
  quantity: 1,
  mode: 'normal',
  capturedAtMs: 1_767_225_600_000,
  sentAtMs: null,
  receivedAtMs: 1_767_225_600_000,
  apiKeyId: 'apik_23456789ABC',
  idempotencyKey: null,
  companyId: 'comp_23456789ABC',
  userId: 'user_23456789ABC',
  leaseId: null,
  reservationId: null,
  failure: null,
  derivedFrom: null,
  inference: null,
})

const single = (n: number): Numbered => ({
  n,
  at: 1_767_225_600_000,
  events: [
    {
      k: 'c',
      id: 'comp_23456789ABC',
      env: 'env_23456789ABC',
      fresh: false,
      m: { type: 'event', event: accepted(n) },
    },
  ],
})

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!

/** Microseconds per request to write a post and to read it, both on this thread. */
function writeAndRead(make: (n: number) => Numbered, packed: boolean): readonly [number, number] {
  const { port1, port2 } = new MessageChannel()
  const posts = 1_000
  let wroteMs = 0
  let readMs = 0
  const packing = new Encoder()
  for (let post = 0; post < posts; post++) {
    const requests = Array.from({ length: perPost }, (_, i) => make(post * perPost + i))
    const begunMs = performance.now()
    if (packed) {
      for (const request of requests) packing.add(request.n, request)
      port1.postMessage(packing.take())
    } else port1.postMessage(requests)
    const postedMs = performance.now()
    const got = receiveMessageOnPort(port2)!.message as Packet
    if (packed) unpack(got, () => {})
    readMs += performance.now() - postedMs
    wroteMs += postedMs - begunMs
  }
  port1.close()
  return [(wroteMs * 1_000) / posts / perPost, (readMs * 1_000) / posts / perPost]
}

/** Requests a second to another thread and back, `atOnce` under way, and the CPU time of both threads for each. */
async function roundTrips(how: 'one list' | 'objects' | 'one by one', atOnce: number) {
  const packed = how === 'one list'
  const far = new Worker(new URL('./echo.js', import.meta.url), { workerData: { reply, packed } })
  const packing = new Encoder()
  let left = 100_000
  let number = 0
  let outbox: Numbered[] = []
  const ask = () => {
    left--
    if (packed) packing.add(++number, check(number))
    else outbox.push(check(++number))
  }
  const flush = () => {
    if (packed) far.postMessage(packing.take())
    else if (how === 'objects') far.postMessage(outbox)
    else for (const request of outbox) far.postMessage([request])
    outbox = []
  }
  await new Promise(resolve => far.once('online', resolve))
  const cpu = process.cpuUsage()
  const begunMs = performance.now()
  await new Promise<void>(resolve => {
    let waiting = atOnce
    far.on('message', (replies: Packet | readonly unknown[]) => {
      const count = packed ? (replies as Packet)[0].length / 4 : replies.length
      waiting -= count
      for (let i = 0; i < count && left > 0; i++, waiting++) ask()
      if (!packing.isEmpty || outbox.length > 0) flush()
      else if (waiting === 0) resolve()
    })
    for (let i = 0; i < atOnce; i++) ask()
    flush()
  })
  const seconds = (performance.now() - begunMs) / 1_000
  const used = process.cpuUsage(cpu)
  await far.terminate()
  return { perSecond: number / seconds, cpuUs: (used.user + used.system) / number }
}

for (const [name, make] of [
  ['check', check],
  ['event', single],
] as const) {
  const samples = { flat: [] as (readonly [number, number])[], objects: [] as (readonly [number, number])[] }
  for (let round = 0; round < rounds; round++) {
    samples.flat.push(writeAndRead(make, true))
    samples.objects.push(writeAndRead(make, false))
  }
  for (const [how, of] of [
    ['objects, one post a tick', samples.objects],
    ['numbers and one text a tick', samples.flat],
  ] as const)
    console.log(
      `${name}, ${how}`.padEnd(44),
      `write ${median(of.map(one => one[0])).toFixed(3)} µs, read ${median(of.map(one => one[1])).toFixed(3)} µs a request`,
    )
}

for (const atOnce of [1, 64, 512]) {
  const ways = ['one by one', 'objects', 'one list'] as const
  const samples = new Map(ways.map(way => [way, [] as Awaited<ReturnType<typeof roundTrips>>[]]))
  for (let round = 0; round < 3; round++)
    for (const [way, of] of samples) of.push(await roundTrips(way, atOnce))
  for (const [way, of] of samples) {
    const perSecond = Math.round(median(of.map(one => one.perSecond)))
    const cpuUs = median(of.map(one => one.cpuUs)).toFixed(2)
    console.log(
      `round trips, ${atOnce} at once, ${way}`.padEnd(44),
      `${perSecond.toLocaleString('en')}/s, ${cpuUs} µs CPU each`,
    )
  }
}
