// A body read on a parser thread, after decoding, against the HTTP thread's result for the same text. The seed is
// printed; TOLLGATE_SEED repeats a run.
import t from 'tap'
import { ServiceError } from '../../src/errors.js'
import { Unparsable } from '../../src/events/formats.js'
import { judge } from '../../src/events/judge.js'
import { eventsPerSubBatch, JudgedReading } from '../../src/events/judged.js'
import {
  type JudgedGroup,
  type ParseJob,
  type ParseReply,
  parseBody,
  transfersOf,
} from '../../src/events/parsing.js'
import { type BatchFormat, readBatch, type Submitter } from '../../src/events/read.js'
import { bodyText, failedBody, typeOf } from '../../src/events/text.js'
import { jsonText } from '../../src/json.js'
import { oddJson } from '../hostile/make.js'
import { Random } from '../random.js'

const nowMs = Date.parse('2026-11-20T12:00:00Z')
const laterMs = nowMs + 70
const random = new Random()
t.comment(`seed ${random.seed}`)

type Fate = readonly unknown[]

/** On this thread: as small bodies are taken. */
function here(text: string, format: BatchFormat, speaker: Submitter): readonly Fate[] {
  return readBatch(text, format, speaker).map((event): Fate => {
    const failed = (given: unknown, reason: string): Fate => [
      'failed',
      typeOf(given),
      failedBody(given),
      reason,
    ]
    if (event instanceof Unparsable) return failed(event.given, event.reason)
    try {
      const judged = judge(event, speaker.secret, speaker.nowMs)
      if ('error' in judged) return failed(event, judged.error)
      return passed(
        judged,
        bodyText(judged.body, false),
        judged.type === 'identify' ? failedBody(event) : null,
      )
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return failed(event, error.message)
    }
  })
}

function passed(
  judged: Exclude<ReturnType<typeof judge>, { error: string }>,
  text: string,
  whole: string | null,
): Fate {
  const { type, mode, sentAtMs, idempotencyKey, body } = judged
  const capturedAtMs = mode === 'normal' ? laterMs : judged.capturedAtMs
  if (type !== 'track')
    return [type, mode, capturedAtMs, sentAtMs, idempotencyKey, text, whole, jsonText(body)]
  // what the service reads of a track event; the rest is in its text
  const { event, company, user, quantity, lease_id, reservation_id } = body
  const read = [event, company ?? null, user ?? null, quantity ?? 1, lease_id ?? null, reservation_id ?? null]
  return [type, mode, capturedAtMs, sentAtMs, idempotencyKey, text, null, jsonText(read)]
}

/** Through the other thread's work and the crossing. */
function there(reply: ParseReply): readonly Fate[] {
  if (!('groups' in reply)) throw new Error(JSON.stringify(reply))
  return reply.groups.flatMap(fatesOf)
}

function fatesOf({ subBatches, count, keyed }: JudgedGroup): readonly Fate[] {
  const fates: Fate[] = []
  const reading = new JudgedReading(laterMs)
  for (const slice of subBatches)
    reading.read(slice, {
      failed: (type, body, reason) => void fates.push(['failed', type, body, reason]),
      judged: (judged, body, whole) => void fates.push(passed(judged, body, whole)),
    })
  t.equal(fates.length, count)
  t.equal(fates.filter(fate => fate.length > 4 && fate[4] !== null).length, keyed)
  return fates
}

const crossed = (job: ParseJob): ParseReply => {
  const reply = parseBody(structuredClone(job, { transfer: [job.bytes.buffer as ArrayBuffer] }))
  return structuredClone(reply, { transfer: [...transfersOf(reply)] })
}
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text))

const odd = () => random.pick(oddJson)
const mostly = (right: () => unknown) => (random.chance(0.06) ? odd() : JSON.stringify(right()))
const word = () => random.pick(['a', 'call', 'ü\u{1f600}', 'x'.repeat(random.below(300)), '', '\u2028"\\'])
const keys = () => random.pick([{ slug: word() }, { slug: 'acme', id: 'comp_x' }, {}, null])
const ago = (days: number) => new Date(nowMs - days * 86_400_000).toISOString()

function members(all: Readonly<Record<string, () => unknown>>): string {
  const given = Object.entries(all).filter(() => random.chance(0.7))
  return `{${given.map(([name, value]) => `${JSON.stringify(name)}:${mostly(value)}`).join(',')}}`
}

const traits = () => random.pick([{ a: 1 }, { deep: { deep: [1, 'ü'] } }, {}, null])
const whole = () => random.pick([0, 1, -3, 7, 1.5, 2 ** 53])
const bodies: Readonly<Record<string, () => string>> = {
  track: () =>
    members({
      event: word,
      company: keys,
      user: keys,
      quantity: whole,
      traits,
      lease_id: word,
      reservation_id: word,
    }),
  identify: () => members({ keys, name: word, traits, company: () => ({ keys: keys(), traits: traits() }) }),
  flag_check: () =>
    members({ flag_key: word, reason: word, value: () => true, req_company: keys, company_id: word }),
  inference: () =>
    members({
      company: keys,
      provider: word,
      response_model: word,
      input_tokens: whole,
      output_tokens: whole,
      cached_input_tokens: whole,
      cost: () => random.pick(['1.5', 'x']),
      event: word,
    }),
}

function event(): string {
  if (random.chance(0.03)) return odd()
  const type = random.pick(Object.keys(bodies))
  const more = members({
    idempotency_key: () => random.pick([word(), null, 'k'.repeat(300)]),
    sent_at: () => random.pick([ago(1), ago(100), ago(400), 'never']),
    trusted_client_clock: () => random.chance(0.5),
    backfill: () => random.chance(0.2),
  }).slice(1, -1)
  return `{"event_type":"${type}","body":${bodies[type]!()}${more === '' ? '' : `,${more}`}}`
}

const cloud = () =>
  members({
    specversion: () => '1.0',
    id: word,
    source: word,
    type: word,
    subject: () => random.pick(['acme', 'a=b&c=d', 'comp_1']),
    time: () => random.pick([ago(1), ago(60)]),
    data: () => random.pick([{ quantity: 2, x: 1 }, 'text', null]),
  })

t.test('EV-7…10 every event, in order, comes to the same on either thread', async t => {
  for (let run = 0; run < 60; run++) {
    const speaker = { secret: random.chance(0.5), nowMs }
    const count = random.pick([
      0,
      1,
      eventsPerSubBatch - 1,
      eventsPerSubBatch,
      eventsPerSubBatch + 1,
      random.below(900),
    ])
    const format = random.pick(['events', 'lines', 'cloud_events'] as const)
    const list = Array.from({ length: count }, format === 'cloud_events' ? cloud : event)
    const text =
      format === 'events'
        ? `{"events":[${list.join(',')}]}`
        : format === 'lines'
          ? list.concat('{"broken').join('\n')
          : `[${list.join(',')}]`
    const mine = here(text, format, speaker)
    const theirs = there(crossed({ bytes: bytesOf(text), format, speaker }))
    t.equal(theirs.length, mine.length)
    const wrong = mine.findIndex((fate, index) => JSON.stringify(fate) !== JSON.stringify(theirs[index]))
    if (wrong >= 0)
      t.same(JSON.stringify(theirs[wrong]), JSON.stringify(mine[wrong]), `run ${run}: ${list[wrong]}`)
  }
})

t.test('EV-4 errors of the whole body have the same words', async t => {
  const speaker = { secret: true, nowMs }
  const wrong: readonly [string, BatchFormat][] = [
    ['', 'events'],
    ['{"events":{}}', 'events'],
    [`{"events":[${'1,'.repeat(10_000)}1]}`, 'events'],
    ['1\n'.repeat(10_001), 'lines'],
    ['{', 'cloud_events'],
    ['7', 'cloud_events'],
  ]
  for (const [text, format] of wrong) {
    const reply = crossed({ bytes: bytesOf(text), format, speaker })
    let told: ServiceError | null = null
    try {
      readBatch(text, format, speaker)
    } catch (error) {
      told = error as ServiceError
    }
    t.strictSame(reply, { refused: { code: told!.code, message: told!.message, extra: told!.extra } })
  }
})

t.test('decision 8 the collector asks whose keys its events name, then answers by sender', async t => {
  const one = (api_key: string | undefined, n: number) => ({
    api_key,
    type: 'track',
    body: { event: 'e', traits: { n }, quantity: -1 },
  })
  const events = [
    one('a', 0),
    one(undefined, 1),
    one('nobody', 2),
    one('b', 3),
    'rubbish',
    one('a', 5),
    one('', 6),
  ]
  const text = JSON.stringify({ events })
  const job = (
    speaker: Submitter | null,
    known: ConstructorParameters<typeof Map<string, never>>[0] | object,
  ) =>
    crossed({
      bytes: bytesOf(text),
      format: 'collector',
      speaker,
      voices: new Map(known as Iterable<[string, null]>),
    } as ParseJob)
  const secret = { secret: true, nowMs }
  for (const [speaker, known] of [
    [null, []],
    [secret, [['a', null]]],
  ] as const) {
    const reply = job(speaker, known)
    t.ok('secrets' in reply)
    if (!('secrets' in reply)) return
    t.strictSame(reply.secrets, ['a', 'nobody', 'b'])
    t.equal(Buffer.from(reply.bytes).toString(), text, 'the bytes come back')
  }
  const reply = job(secret, [
    ['a', { group: 1, secret: true, nowMs }],
    ['nobody', null],
    ['b', { group: 2, secret: false, nowMs }],
  ])
  t.ok('groups' in reply)
  if (!('groups' in reply)) return
  t.strictSame(
    reply.groups.map(({ group, at }) => [group, [...at!]]),
    [
      [1, [0, 5]],
      [0, [1, 4, 6]],
      [2, [3]],
    ],
  )
  t.match(fatesOf(reply.groups[1]!), [['track'], ['failed', 'track', '"rubbish"'], ['track']])
  t.match(fatesOf(reply.groups[2]!), [['failed', 'track', /"n":3/, /secret API key/]], 'EV-10 by its own key')
})
