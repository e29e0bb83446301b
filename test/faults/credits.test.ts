// kill -9 in the middle of draws and holds: what was acknowledged moved credits once, and nothing else moved any.
import t from 'tap'
import { Process } from '../harness.js'
import { CreditWorld } from '../interface/credit-world.js'
import { temporaryDirectory } from '../stores.js'

t.test('CR-95 SIGKILL among events and reservations: nothing is lost, nothing doubled', async t => {
  const dataDir = await temporaryDirectory(t)
  const first = await Process.start(dataDir)
  t.teardown(() => first.child.kill('SIGKILL'))
  const world = new CreditWorld(first.client)
  const credit = await world.credit()
  const { subtype, plan } = await world.metered(credit.id, 1)
  const company = await world.company({ base_plan_id: plan.id })
  await world.grant(company.id, credit.id, 10_000)
  const event = (index: number) => ({
    event_type: 'track',
    idempotency_key: `e${index}`,
    body: { event: subtype, company: company.keys, quantity: 2 },
  })
  // a repetition says the same (decision 37)
  const expiresAt = new Date(Date.now() + 50 * 60_000).toISOString()
  const hold = (index: number) => ({
    company_id: company.id,
    credit_type_id: credit.id,
    amount: 3,
    idempotency_key: `r${index}`,
    expires_at: expiresAt,
  })
  const events = 400
  const holds = 100
  const acknowledged = { events: new Set<number>(), holds: new Set<number>() }
  const work = Array.from(
    { length: events + holds },
    (_, i) => () => (i % 5 === 0 ? send('holds', i / 5) : send('events', i - Math.floor(i / 5) - 1)),
  )
  async function send(kind: 'events' | 'holds', index: number): Promise<void> {
    const answer =
      kind === 'events'
        ? await first.client.post('/events', event(index))
        : await first.client.post('/billing/credits/reservations', hold(index))
    if (answer.status === 201) acknowledged[kind].add(index)
  }
  // sixteen at a time, so that the kill comes upon some in flight
  const callers = Array.from({ length: 16 }, async () => {
    for (let next = work.pop(); next; next = work.pop()) await next()
  })
  const over = Promise.allSettled(callers)
  const some = new Promise<void>(resolve => {
    const timer = setInterval(() => {
      if (acknowledged.events.size + acknowledged.holds.size < 200) return
      clearInterval(timer)
      resolve()
    }, 1)
  })
  await some
  await first.end('SIGKILL')
  await over
  t.comment(`${acknowledged.events.size} events, ${acknowledged.holds.size} holds acknowledged`)

  const second = await Process.start(dataDir)
  t.teardown(() => second.end('SIGTERM'))
  const after = new CreditWorld(second.client)
  const [remaining, reserved] = await after.balance(company.id, credit.id)
  t.ok(10_000 - remaining - reserved >= acknowledged.events.size * 2, 'every acknowledged draw is there')
  t.ok(acknowledged.events.size < events, 'the kill came upon some in flight')
  t.ok(reserved >= acknowledged.holds.size * 3, 'every acknowledged hold is there')
  await after.agrees(t, company.id, credit.id, 'CR-88 after the restart')
  // everything is sent again: what was already there is known by its key
  await Promise.all([
    ...Array.from({ length: events }, (_, index) => second.client.ok('POST', '/events', event(index))),
    ...Array.from({ length: holds }, (_, index) =>
      second.client.ok('POST', '/billing/credits/reservations', hold(index)),
    ),
  ])
  const settled = 10_000 - events * 2
  t.same(await after.balance(company.id, credit.id), [settled - holds * 3, holds * 3, settled])
  await after.agrees(t, company.id, credit.id, 'CR-88 after everything was sent again')
  t.equal(await second.end('SIGTERM'), 0)
})
