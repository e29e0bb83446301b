// Keys of reservations are remembered for a day of their environment's time (CR-80, EV-26).
import t from 'tap'
import { HoldKeys } from '../../src/entities/idempotency/hold-keys.js'
import { startHere } from '../harness.js'
import { CreditWorld } from './credit-world.js'

const day = 86_400_000

t.test('CR-80 a key stays with its company while the clock of its environment stands still', async t => {
  const { client, tollgate } = await startHere(t)
  const { sql, holdKeys, projections } = tollgate.services
  const world = new CreditWorld(client)
  const { environment_id: environmentId } = await client.ok('GET', '/whoami')
  const clock = (now: string) =>
    client.ok('PUT', `/environments/${environmentId}/clock`, { now, frozen: true })
  const credit = await world.credit()
  const [owner, other] = [await world.company(), await world.company()]
  const startMs = Date.now() + 60_000
  await clock(new Date(startMs).toISOString())
  await world.grant(owner.id, credit.id, 100)
  const body = { company_id: owner.id, credit_type_id: credit.id, amount: 10, idempotency_key: 'held' }
  await client.ok('POST', '/billing/credits/reservations', body)
  await projections.barrier('postgres')

  /** Three days pass outside: whether another company may use the key, by what is stored and by what is remembered. */
  const later = async (nowMs: number): Promise<[stored: boolean, remembered: boolean]> => {
    await sql`update hold_keys set made_at = made_at - interval '3 days'`
    await holdKeys.prune(sql)
    holdKeys.sweep(Date.now() + 3 * day, 4096, new Map([[environmentId, nowMs]]))
    const stored = new HoldKeys(1000)
    await stored.load(sql)
    const isFree = (keys: HoldKeys) =>
      keys
        .with(environmentId, 'reservation', 'held', other.id, nowMs, async () => ({
          value: true,
          made: false,
        }))
        .catch(() => false)
    return [await isFree(stored), await isFree(holdKeys)]
  }
  t.same(await later(startMs), [false, false])
  await clock(new Date(startMs + day).toISOString())
  t.same(await later(startMs + day), [true, true], 'after a day of its time')
  t.same(await sql`select key from hold_keys`, [])
})
