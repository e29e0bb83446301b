// Use that is counted in the client counts until the figures that hold it were heard, whatever arrives first; and what is
// held is not taken for current until the service has told it again.
import t from 'tap'
import { startHere } from '../harness.js'
import { makeFlag, rule } from '../interface/flags.js'
import { changeOf, clientOf, HeldWire, until } from './make.js'

t.setTimeout(120_000)

const { client } = await startHere(t)
const limit = 5
const fewer = {
  condition_type: 'metric',
  operator: 'lt',
  resource_ids: [],
  event_subtype: 'call',
  metric_period: 'all_time',
  metric_value: limit,
}
await makeFlag(client, 'calls', false, [rule('fewer', [fewer])])

const asked = (company: object) => client.ok('POST', '/flags/calls/check', { company })

/** A client whose wire can be held, that has used up what a new company may use, and has told so. */
async function usedUp(t: Parameters<typeof clientOf>[0], slug: string) {
  const company = { slug }
  const made = await client.ok('POST', '/companies', { keys: company })
  const wire = new HeldWire()
  const tollgate = clientOf(t, client, { webSocket: wire.open, events: { flushMs: 60_000 } })
  await tollgate.ready()
  t.equal((await tollgate.check('calls', { company })).source, 'local')
  const use = async (times: number) => {
    for (let i = 0; i < times; i++) tollgate.track('call', { company })
    await tollgate.flush()
  }
  return { company, id: made.id as string, wire, tollgate, use }
}

t.test('an acknowledgement that overtakes the figures', async t => {
  const { company, wire, tollgate, use } = await usedUp(t, 'overtaken')
  wire.hold()
  await use(limit)
  await wire.holding('confirmed')
  t.equal(tollgate.checkHeld('calls', { company })!.value, false, 'counted here until the figure is heard')
  wire.letGo()
  const { source: _, ...held } = tollgate.checkHeld('calls', { company })!
  t.strictSame(held, await asked(company))
})

t.test('events that were acknowledged while the stream was down', async t => {
  const { company, wire, tollgate, use } = await usedUp(t, 'reconnecting')
  const ended = changeOf(tollgate, ({ type }) => type === 'disconnected')
  const again = changeOf(tollgate, ({ type }) => type === 'connected')
  wire.hold()
  wire.end()
  await ended
  for (let i = 0; i < limit; i++) await use(1)
  t.match(tollgate.checkHeld('calls', { company }), { value: false, stale: true })
  await again
  await wire.holding('confirmed')
  t.match(
    tollgate.checkHeld('calls', { company }),
    { value: false, stale: true },
    'connected, and not told again yet',
  )
  wire.letGo()
  await until(tollgate, () => tollgate.checkHeld('calls', { company })!.stale === undefined)
  const { source: _, ...held } = tollgate.checkHeld('calls', { company })!
  t.strictSame(held, await asked(company), 'each event once')
})

t.test('a count that others take back meanwhile', async t => {
  const { company, tollgate, use } = await usedUp(t, 'taken-back')
  const body = { event: 'call', company, quantity: -3 }
  await Promise.all([use(limit), client.ok('POST', '/events', { event_type: 'track', body })])
  const service = await asked(company)
  t.equal(service.feature_usage ?? null, null)
  await until(tollgate, () => tollgate.checkHeld('calls', { company })!.value === service.value)
  await use(3)
  await until(tollgate, () => tollgate.checkHeld('calls', { company })!.value === false)
  t.equal((await asked(company)).value, false)
})

t.test('an event that is told again under its key counts once, here too', async t => {
  const { company, tollgate } = await usedUp(t, 'told-again')
  for (let i = 0; i < 2 * limit; i++) tollgate.track('call', { company, idempotencyKey: 'order-1' })
  t.equal(tollgate.checkHeld('calls', { company })!.value, true)
  const settled = changeOf(tollgate, ({ type }) => type === 'entity')
  await tollgate.flush()
  await settled
  const { source: _, ...held } = tollgate.checkHeld('calls', { company })!
  t.strictSame(held, await asked(company))
})

t.test('events that no figure shows', async t => {
  const { company, tollgate } = await usedUp(t, 'unread')
  for (let i = 0; i < 3; i++) tollgate.track('nobody-reads-it', { company })
  const settled = changeOf(tollgate, ({ type }) => type === 'entity')
  await tollgate.flush()
  await settled
  t.equal((await tollgate.check('calls', { company })).value, true)
})

t.test('a company that is deleted while the stream is down is not held any more', async t => {
  const { company, id, wire, tollgate } = await usedUp(t, 'deleted-meanwhile')
  const ended = changeOf(tollgate, ({ type }) => type === 'disconnected')
  wire.end()
  await ended
  t.match(tollgate.checkHeld('calls', { company }), { stale: true }, 'the last that was told')
  await client.ok('DELETE', `/companies/${id}`)
  await until(tollgate, () => tollgate.checkHeld('calls', { company }) === null)
  t.match(await tollgate.check('calls', { company }), { source: 'local', reason: 'Company not found' })
})
