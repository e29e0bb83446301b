// One event judged alone (EV-7…10, EV-15) against the conformance cases.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { judge } from '../../src/events/judge.js'

interface Case {
  id: string
  title: string
  input: { now: string; key_kind: string; event: unknown }
  expected: { status: number; error: string | null }
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../test/fixtures/conformance-vectors.json', import.meta.url), 'utf8'),
) as { event_validation: Case[] }

t.test('event_validation (EV-8, EV-10)', async t => {
  for (const { id, title, input, expected } of vectors.event_validation) {
    const judged = judge(input.event, input.key_kind === 'secret', Date.parse(input.now))
    const error = 'error' in judged ? judged.error : null
    const passed =
      (error === null) === (expected.status === 201) && (expected.error === null || error === expected.error)
    t.ok(passed, `${id} ${title}`, { error, expected })
  }
})

const track = (body: object, more: object = {}) => ({
  event_type: 'track',
  body: { event: 'x', ...body },
  ...more,
})
const nowMs = Date.parse('2026-03-15T10:00:00Z')
const errorOf = (event: unknown, secret = true): string | null => {
  const judged = judge(event, secret, nowMs)
  return 'error' in judged ? judged.error : null
}

t.test('EV-8, decision 25 (D11) backfill needs the trusted clock', async t => {
  const times = { backfill: true, sent_at: '2026-03-01T00:00:00Z' }
  for (const trusted_client_clock of [undefined, null, false])
    t.equal(errorOf(track({}, { ...times, trusted_client_clock })), 'backfill requires trusted_client_clock')
  t.equal(errorOf(track({}, { ...times, trusted_client_clock: true })), null)
})

t.test('EV-9 missing, mistyped or oversized members are named', async t => {
  t.match(errorOf({ event_type: 'track' }), /body/)
  t.match(errorOf(track({ company: { '': 'x' } })), /key names/)
  t.match(errorOf(track({ company: { a: '' } })), /company/)
  t.match(errorOf(track({ quantity: '3' })), /body\.quantity/)
  t.match(errorOf({ event_type: 'identify', body: { keys: {} } }), /keys/)
  t.match(errorOf({ event_type: 'identify', body: { keys: { a: '1' }, company: { keys: {} } } }), /company/)
  t.match(errorOf({ event_type: 'flag_check', body: { flag_key: 'x', reason: 'y' } }), /value/)
  t.match(errorOf({ event_type: 'inference', body: { company: { a: '1' }, provider: 'p' } }), /body/)
  const inference = {
    company: { a: '1' },
    provider: 'p',
    response_model: 'm',
    input_tokens: 1,
    output_tokens: 1,
  }
  t.equal(errorOf({ event_type: 'inference', body: inference }), null)
  t.match(errorOf({ event_type: 'inference', body: { ...inference, reasoning_tokens: 2 } }), /reasoning/)
  t.match(errorOf({ event_type: 'inference', body: { ...inference, requests: 0 } }), /requests/)
  t.match(errorOf({ event_type: 'inference', body: { ...inference, cost: '1e5' } }), /cost/)
  t.match(errorOf({ event_type: 'inference', body: { ...inference, input_tokens: -1 } }), /input_tokens/)
  t.match(errorOf('not an object'), /event/)
})

t.test('EV-10 quantity 0 settles a hold and nothing else', async t => {
  t.equal(errorOf(track({ quantity: 0, lease_id: 'crlse_1' })), null)
  t.match(errorOf(track({ quantity: 0 })), /must not be 0/)
})

t.test('EV-15 the effective time is the receipt, or sent_at with a trusted clock', async t => {
  t.match(judge(track({}, { sent_at: '2026-03-01T00:00:00Z' }), true, nowMs), {
    capturedAtMs: nowMs,
    mode: 'normal',
  })
  const trusted = track({}, { sent_at: '2026-03-01T00:00:00+01:00', trusted_client_clock: true })
  t.match(judge(trusted, true, nowMs), { capturedAtMs: Date.parse('2026-02-28T23:00:00Z'), mode: 'trusted' })
  t.match(errorOf(track({}, { sent_at: 'yesterday' })), /RFC 3339/)
})

t.test('EV-29 an empty idempotency key is none, and one over 255 characters is refused', async t => {
  t.match(judge(track({}, { idempotency_key: '' }), true, nowMs), { idempotencyKey: null })
  t.match(errorOf(track({}, { idempotency_key: 'k'.repeat(256) })), /idempotency_key/)
})
