// A company's time never runs backwards (decision 22), over HTTP's own shards, snapshots and test clocks.
import t from 'tap'
import type { ServiceClock } from '../../src/account/clock.js'
import { newId } from '../../src/account/ids.js'
import type { AcceptedEvent } from '../../src/core/model/requests.js'
import { acceptedEvent } from '../accepted-event.js'
import { startHere } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { CreditWorld } from './credit-world.js'

const minuteMs = 60_000

/** A refund of 5 credits for each unit, as the HTTP thread hands it to the company, stamped with a time. */
function refund(subtype: string, companyId: string, quantity: number, atMs: number): AcceptedEvent {
  return acceptedEvent({
    id: newId('evt_'),
    subtype,
    quantity: -quantity,
    capturedAtMs: atMs,
    receivedAtMs: atMs,
    companyId,
  })
}

t.test(
  'decision 22, CR-60 refunds that overtake each other share one grant, also over a restart',
  async t => {
    const dataDir = await temporaryDirectory(t)
    const first = await startHere(t, { TOLLGATE_DATA_DIR: dataDir })
    const before = new CreditWorld(first.client)
    const credit = await before.credit()
    const { subtype, plan } = await before.metered(credit.id, 5)
    const { id } = await before.company({ base_plan_id: plan.id })
    const { environment_id: env } = await first.client.ok('GET', '/whoami')
    const nowMs = Date.now() + minuteMs
    const send = ({ services }: typeof first.tollgate, quantity: number, atMs: number) => {
      const event = refund(subtype, id, quantity, atMs)
      return services.shards.ingest([{ k: 'c', id, env, fresh: false, m: { type: 'event', event } }], atMs)
    }
    await send(first.tollgate, 2, nowMs)
    await send(first.tollgate, 3, nowMs - 17)
    t.match(await before.grants(id), { length: 1, 0: { grant_reason: 'adjustment', quantity: 25 } })
    await before.agrees(t, id, credit.id, 'the ledger agrees')
    await first.tollgate.stop()

    const second = await startHere(t, { TOLLGATE_DATA_DIR: dataDir })
    const after = new CreditWorld(second.client)
    await send(second.tollgate, 1, nowMs - 20)
    t.match(await after.grants(id), { length: 1, 0: { quantity: 30 } }, 'the snapshot tells the time')
    const { reply } = await second.tollgate.services.shards.ask<{ state: { timeMs: number } }>(
      'c',
      env,
      id,
      { type: 'describe' },
      nowMs - 20,
    )
    t.equal(reply.state.timeMs, nowMs)
  },
)

t.test('decision 22 a test clock that is removed takes its companies back', async t => {
  const { client } = await startHere(t)
  const world = new CreditWorld(client)
  const credit = await world.credit()
  const { id } = await world.company()
  await world.clock(new Date(Date.now() + 30 * 24 * 60 * minuteMs).toISOString())
  await world.grant(id, credit.id, 10, {
    expires_at: new Date(Date.now() + 31 * 24 * 60 * minuteMs).toISOString(),
  })
  await world.clock(null)
  const lease = await client.post('/billing/credits/reservations', {
    company_id: id,
    credit_type_id: credit.id,
    amount: 1,
  })
  t.equal(lease.status, 402, 'the grant begins in a month')
  const now = await world.grant(id, credit.id, 5)
  t.ok(Date.parse(now.created_at) < Date.now() + minuteMs)
  t.same(await world.balance(id, credit.id), [5, 0, 5])
})

t.test('CR-76, decision 11 what ends by time alone is written down, and a frozen clock stands', async t => {
  const { client, tollgate } = await startHere(t)
  const { clock, shards } = tollgate.services
  const world = new CreditWorld(client)
  const credit = await world.credit()
  const { environment_id: env } = await client.ok('GET', '/whoami')
  const sweepLater = () => shards.sweep(clock.wall() + minuteMs, (clock as ServiceClock).testClocks())
  const timeOf = async (id: string) => {
    const question = { type: 'describe' } as const
    const { reply } = await shards.ask<{ state: { timeMs: number } }>('c', env, id, question, clock.now(env))
    return reply.state.timeMs
  }
  const endsSoon = async (fromMs: number) => {
    const { id } = await world.company()
    await world.grant(id, credit.id, 10, { expires_at: new Date(fromMs + 10_000).toISOString() })
    return id
  }

  const running = await endsSoon(Date.now())
  await sweepLater()
  t.ok((await timeOf(running)) > Date.now() + 9_000, 'the end of its grant is in its journal')

  const frozenMs = Date.now() + 60 * minuteMs
  await world.clock(new Date(frozenMs).toISOString())
  const still = await endsSoon(frozenMs)
  await sweepLater()
  t.equal(await timeOf(still), frozenMs)
  const bought = await world.grant(still, credit.id, 5)
  t.equal(Date.parse(bought.created_at), frozenMs, 'what is bought now is among the charges of now')
  t.same(await world.balance(still, credit.id), [15, 0, 15])
})
