// A page of events that is read again: it begins where the page before it began, and is exact all the same.
import t from 'tap'
import { eventsList } from '../../src/analytics/events.js'
import { derivedId } from '../../src/core/values/id.js'
import { eventRow } from '../../src/journal/records/event-row.js'
import { seed } from '../random.js'
import { startStores } from '../stores.js'
import { randomFrom } from '../workers/history.js'

const dayMs = 86_400_000

t.test(
  'EV-72 a page that is read again has what came since, however it is dated, and not what went',
  async t => {
    t.comment(`seed ${seed}`)
    const random = randomFrom(seed)
    const { clickhouse } = await startStores(t)
    const env = 'env_again'
    const nowMs = Date.now()
    let count = 0
    const add = (capturedAtMs: number): Promise<void> => {
      const event = {
        id: derivedId('evt_', ++count),
        type: 'track',
        subtype: 'alpha',
        body: '{}',
        quantity: 1,
        mode: 'normal',
        capturedAtMs,
        sentAtMs: null,
        receivedAtMs: nowMs,
        apiKeyId: 'key_1',
        idempotencyKey: null,
        companyId: `comp_${random(9)}`,
        userId: null,
        leaseId: null,
        reservationId: null,
        failure: null,
        derivedFrom: null,
      } as const
      const place = { environmentId: env, featureIds: [], at: nowMs, flagId: null }
      return clickhouse.insertRaw({ table: 'events', rows: eventRow(event, place), token: event.id })
    }
    const page = async (limit: number, offset = 0): Promise<number[]> =>
      (await eventsList(clickhouse, env, { limit, offset }, nowMs)).map(one => one.captured_at_ms)
    const pages = [
      [3, 0],
      [2, 2],
      [5, 0],
    ] as const
    t.same(await page(3), [])
    const instants: number[] = []
    for (let i = 0; i < 15; i++) {
      // older ones come later too, and some at the same instant
      const at = nowMs - 40 * dayMs + random(4) * 13 * dayMs + random(4) * 30_000
      await add(at)
      instants.push(at)
      instants.sort((a, b) => b - a)
      for (const [limit, offset] of pages)
        t.same(await page(limit, offset), instants.slice(offset, offset + limit), `${limit} from ${offset}`)
    }
    const many = { least: 2n ** 60n, limit: 3, offset: 0 }
    t.same(await eventsList(clickhouse, env, many, nowMs), [], 'a quantity beyond 2^53')
    const gone = instants[1]!
    await clickhouse.command(
      `ALTER TABLE events DELETE WHERE environment_id = {env: String}
      AND captured_at = fromUnixTimestamp64Milli({at: Int64}, 'UTC')`,
      { env, at: gone },
      { mutations_sync: '1' },
    )
    const left = instants.filter(one => one !== gone)
    for (const [limit, offset] of pages)
      t.same(await page(limit, offset), left.slice(offset, offset + limit), `${limit} from ${offset}`)
  },
)
