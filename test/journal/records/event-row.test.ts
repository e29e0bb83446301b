import t from 'tap'
import { eventRow, monthOf, type RowEvent } from '../../../src/journal/records/event-row.js'

const event: RowEvent = {
  id: 'evt_3mK9tQxYzAb',
  type: 'track',
  subtype: 'api "call"\n',
  body: '{"event":"api \\"call\\"","note":"é😀"}',
  quantity: -3,
  mode: 'trusted',
  capturedAtMs: Date.UTC(2026, 2, 15, 10, 0, 0, 7),
  sentAtMs: Date.UTC(2026, 2, 15, 10, 0, 0, 70),
  receivedAtMs: Date.UTC(2026, 2, 15, 10, 0, 1, 700),
  apiKeyId: 'key_3mK9tQxYzAb',
  idempotencyKey: 'a\\b',
  companyId: 'comp_3mK9tQxYzAb',
  userId: 'user_3mK9tQxYzAb',
  leaseId: 'l"',
  reservationId: null,
  failure: null,
  derivedFrom: 'evt_4mK9tQxYzAb',
}

t.test('EV-70: a valid event keeps its body unchanged, a failed one keeps it as a text', async t => {
  const extra = { environmentId: 'env_1', featureIds: [], at: 5 }
  t.ok(eventRow(event, extra).endsWith(`,"body":${event.body}}`))
  t.equal(JSON.parse(eventRow({ ...event, failure: 'no', body: '{"cut' }, extra)).body, '{"cut')
})

t.test('EV-70: a row is valid JSON with every member that is not its default', async t => {
  const row = JSON.parse(
    eventRow(event, {
      environmentId: 'env_1',
      featureIds: ['feat_1', 'feat_2'],
      at: event.receivedAtMs,
      flagId: 'flag_1',
      cost: { amount: '0.00984', currency: 'usd', priceId: 'price "1"' },
    }),
  )
  t.strictSame(row, {
    environment_id: 'env_1',
    id: event.id,
    type: 'track',
    captured_at: 1773568800007,
    loaded_at: 1773568801700,
    status: 'enriched',
    api_key_id: event.apiKeyId,
    subtype: event.subtype,
    company_id: event.companyId,
    user_id: event.userId,
    quantity: -3,
    mode: 'trusted',
    sent_at: 1773568800070,
    processed_at: 1773568801700,
    idempotency_key: 'a\\b',
    lease_id: 'l"',
    derived_from: event.derivedFrom,
    flag_id: 'flag_1',
    feature_ids: ['feat_1', 'feat_2'],
    cost: '0.00984',
    currency: 'usd',
    price_id: 'price "1"',
    body: { event: 'api "call"', note: 'é😀' },
  })
})

t.test('EV-33: a failed event keeps its message and was never processed', async t => {
  const row = JSON.parse(
    eventRow(event, {
      environmentId: 'env_1',
      featureIds: [],
      at: 5,
      companyId: null,
      userId: null,
      failure: 'keys match multiple companies',
    }),
  )
  t.match(row, { status: 'failed', error_message: 'keys match multiple companies' })
  t.notOk('processed_at' in row || 'company_id' in row || 'user_id' in row || 'feature_ids' in row)
})

t.test('half a surrogate pair becomes the replacement character', async t => {
  const row = eventRow(
    { ...event, subtype: 'a\ud800b', body: '{"x":"\udfff"}', failure: 'no' },
    { environmentId: 'e', featureIds: [], at: 5 },
  )
  t.equal(JSON.parse(row).subtype, 'a\ufffdb')
  t.equal(JSON.parse(row).body, '{"x":"\ufffd"}')
  t.notMatch(row, /\\ud/)
})

t.test('months count from 1970', async t => {
  t.equal(monthOf(0), 0)
  t.equal(monthOf(Date.UTC(2026, 2, 31, 23, 59, 59, 999)), 56 * 12 + 2)
  t.equal(monthOf(Date.UTC(2026, 3, 1)), 56 * 12 + 3)
  t.equal(monthOf(Date.UTC(2025, 11, 31)), 55 * 12 + 11)
})
