// The scanner against judging: what it passes is what parsing and judging would have said of the same bytes.
import t from 'tap'
import { judge } from '../../src/events/judge.js'
import { parse, readEvents } from '../../src/events/read.js'
import { newScanned, Scan, type Scanned, type ScannedKeys } from '../../src/events/scan.js'
import { bodyText } from '../../src/events/text.js'
import { Random, times } from '../random.js'
import { eventText, mutated } from './usual-bodies.js'

const nowMs = Date.parse('2026-03-15T10:00:00Z')
const scan = new Scan()
const rounds = times(20_000)

interface Plain {
  name: string
  key: string | null
  quantity: number
  sentAtMs: number | null
  company: unknown
  user: unknown
  stored: string
}

function plainOf(found: Scanned): Plain {
  const { text } = scan
  const keys = ({ count, at, end, nameAt, nameEnd, valueAt, valueEnd }: ScannedKeys) => {
    if (count === 0) return null
    if (count > 1) return JSON.parse(text.slice(at, end)) as unknown
    return { [text.slice(nameAt, nameEnd)]: text.slice(valueAt, valueEnd) }
  }
  return {
    name: text.slice(found.nameAt, found.nameEnd),
    key: found.keyEnd === found.keyAt ? null : text.slice(found.keyAt, found.keyEnd),
    quantity: found.quantity,
    sentAtMs: found.sentAtMs,
    company: keys(found.company),
    user: keys(found.user),
    stored: found.stored ?? text.slice(found.bodyAt, found.bodyEnd),
  }
}

/** The judgement of an event; null when it is stored as failed or refused, or does more than count. */
function judged(given: unknown, secret: boolean): Plain | null {
  const one = judge(given, secret, nowMs)
  if ('error' in one || one.type !== 'track' || one.mode !== 'normal' || one.capturedAtMs !== nowMs)
    return null
  const { body } = one
  if (body.lease_id || body.reservation_id) return null
  return {
    name: body.event,
    key: one.idempotencyKey,
    quantity: Number(body.quantity ?? 1),
    sentAtMs: one.sentAtMs,
    company: body.company ?? null,
    user: body.user ?? null,
    stored: bodyText(body, false),
  }
}

t.test('EV-7…10: an event that the scanner passes is judged the same', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  let passed = 0
  let wellFormed = 0
  for (let i = 0; i < rounds; i++) {
    const written = eventText(random)
    const bytes = random.chance(0.4) ? mutated(random, written) : Buffer.from(written)
    const text = bytes.toString()
    const secret = random.chance(0.5)
    const found = newScanned()
    scan.begin(text, bytes.length)
    const usual = scan.event(found, secret) && scan.isAtEnd()
    const told = usual ? plainOf(found) : null
    try {
      JSON.parse(text)
      wellFormed++
    } catch {
      if (usual) t.fail('no JSON at all', { text })
      continue
    }
    if (!usual) continue
    passed++
    const wanted = judged(parse(text), secret)
    if (JSON.stringify(told) !== JSON.stringify(wanted)) {
      t.strictSame(told, wanted, text)
      return
    }
  }
  t.ok(passed > wellFormed / 10, `${passed} of ${wellFormed} well-formed ones were of the usual shape`)
})

t.test('EV-4: a list is whole for the scanner only if it is so for everybody', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  const usualEvent = '{"event_type":"track","body":{"event":"a","company":{"id":"b"}}}'
  let whole = 0
  for (let i = 0; i < rounds / 8; i++) {
    const blank = random.pick(['', '', ' ', '\n'])
    const members = Array.from({ length: random.below(5) }, () =>
      random.chance(0.7) ? usualEvent : eventText(random),
    )
    const written = `${blank}{${blank}"events"${blank}:[${members.join(`${blank},`)}${blank}]${random.chance(0.1) ? ',"x":1' : ''}}${blank}`
    const bytes = random.chance(0.4) ? mutated(random, written) : Buffer.from(written)
    const text = bytes.toString()
    scan.begin(text, bytes.length)
    const all: Plain[] = []
    let more: boolean | null = scan.list()
    while (more === true) {
      const found = newScanned()
      if (!scan.event(found, true)) more = false
      else {
        all.push(plainOf(found))
        more = scan.next()
      }
    }
    if (more !== null) continue
    whole++
    const events = readEvents(text)
    const wanted = events.map(event => judged(event, true))
    if (JSON.stringify(all) !== JSON.stringify(wanted)) {
      t.strictSame(all, wanted, text)
      return
    }
  }
  t.ok(whole > rounds / 100, `${whole} whole lists`)
})

t.test('bodies as clients write them have the plain shape', async t => {
  const usual = [
    '{"event_type":"track","body":{"event":"api_call","company":{"id":"acme"},"user":{"id":"someone"},"quantity":1}}',
    '{"body":{"company":{"id":"acme"},"event":"api_call"},"event_type":"track","idempotency_key":"k","sent_at":"2026-03-15T09:59:59.123Z"}',
    '{"event_type": "track", "body": {"event": "api_call", "company": {"id": "acme"}, "traits": {"n": 1.5, "on": true}}}',
    '{"event_type":"track","body":{"event":"e","company":{"id":"a","slug":"b"},"user":null,"traits":{"city":"Zürich","list":[1,2]}}}',
  ]
  for (const text of usual) {
    scan.begin(text, Buffer.byteLength(text))
    const found = newScanned()
    t.ok(scan.event(found, false) && scan.isAtEnd(), text)
    t.strictSame(plainOf(found), judged(JSON.parse(text), false))
  }
})
