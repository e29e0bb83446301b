// Keys of events are remembered for a day of their environment's time, whatever time passes outside (EV-26).
import t from 'tap'
import type { ServiceClock } from '../../src/account/clock.js'
import { segmentCount } from '../../src/entities/idempotency/key-file.js'
import { startHere } from '../harness.js'

const day = 86_400_000

t.test(
  'EV-26 a key is remembered while the clock of its environment stands still, also by a start',
  async t => {
    const first = await startHere(t)
    const { environment_id: id } = await first.client.ok('GET', '/whoami')
    await first.tollgate.services.sql`
    update environments set clock_frozen_at = now() - interval '3 days' where id = ${id}`
    await first.tollgate.stop()
    const more = { TOLLGATE_DATA_DIR: first.dataDir }
    const event = { event_type: 'track', body: { event: 'call', company: { slug: 'still' } } }

    const second = await startHere(t, more)
    const send = async ({ client }: typeof second, key: string): Promise<string> =>
      (await client.ok('POST', '/events', { ...event, idempotency_key: key })).event_id
    const made = await send(second, 'still')
    const { dedupe, clock, projections } = second.tollgate.services
    dedupe.sweep(clock.wall(), segmentCount, (clock as ServiceClock).presents())
    t.equal(await send(second, 'still'), made, 'after the memory was swept')
    await projections.barrierOf('clickhouse', id)
    await second.tollgate.stop()

    const third = await startHere(t, more)
    t.equal(await send(third, 'still'), made, 'after a start')
    await third.client.ok('PUT', `/environments/${id}/clock`, {
      now: new Date(Date.now() - 2 * day + 60_000).toISOString(),
      frozen: true,
    })
    const later = await send(third, 'still')
    t.not(later, made, 'a day of its time has passed')
    t.equal(await send(third, 'still'), later)
  },
)

t.test(
  'EV-26 a key that was used under a clock which was ahead is free when that clock is removed',
  async t => {
    const first = await startHere(t)
    const { client, tollgate, dataDir } = first
    const { environment_id: id } = await client.ok('GET', '/whoami')
    const path = `/environments/${id}/clock`
    const send = async ({ client }: Pick<typeof first, 'client'>): Promise<string> =>
      (
        await client.ok('POST', '/events', {
          event_type: 'track',
          body: { event: 'call', company: { slug: 'ahead' } },
          idempotency_key: 'ahead',
        })
      ).event_id
    await client.ok('PUT', path, { now: new Date(Date.now() + 400 * day).toISOString() })
    const ahead = await send(first)
    t.equal(await send(first), ahead)
    await client.ok('DELETE', path)
    const now = await send(first)
    t.not(now, ahead)
    t.equal(await send(first), now)
    await tollgate.services.projections.barrierOf('clickhouse', id)
    await tollgate.stop()
    const again = await startHere(t, { TOLLGATE_DATA_DIR: dataDir })
    t.equal(await send(again), now, 'after a start the later receipt, which is yet to come, hides it not')
    t.equal(again.tollgate.services.dedupe.inMemory, 1)
  },
)
