// kill -9 while billing periods are closed: each period is written once and whole, with its lines, its draft and its
// notification, and the sums are those of the use (RA-20, RA-21, RA-23).
import { createHash } from 'node:crypto'
import postgres from 'postgres'
import t from 'tap'
import { inParallel } from '../../src/turns/in-parallel.js'
import { eventFeature } from '../control/planned.js'
import { Process, storesOf } from '../harness.js'
import { ChargesWorld, metered } from '../interface/charges-world.js'
import { receiver } from '../interface/receiver.js'
import { Random } from '../random.js'
import { temporaryDirectory } from '../stores.js'

const random = new Random()
const companies = 60
const settings = { TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true' }
const [fee, unit] = [1000, 3]

t.setTimeout(400_000)

async function until(holds: () => Promise<boolean>): Promise<boolean> {
  for (const endMs = Date.now() + 120_000; !(await holds()); await new Promise(go => setTimeout(go, 2)))
    if (Date.now() > endMs) return false
  return true
}

t.test(
  `RA-20 seed ${random.seed}: SIGKILL while the periods of ${companies} companies are closed`,
  async t => {
    const dataDir = await temporaryDirectory(t)
    const here = await receiver(t)
    let running = await Process.start(dataDir, settings)
    t.teardown(() => running.end('SIGKILL'))
    const { DATABASE_URL: url } = await storesOf(dataDir)
    const sql = postgres(url!, { max: 2, onnotice: () => {} })
    t.teardown(() => sql.end())
    const world = await ChargesWorld.of(running.client)
    await world.clock('2031-01-15T00:00:00.000Z')
    await running.client.ok('POST', '/webhooks', {
      name: 'billing',
      url: here.url,
      request_types: ['billing.period.closed'],
    })
    const calls = await eventFeature(running.client, 'calls', 'call')
    const paid = {
      ...metered,
      feature_id: calls.id,
      price_behavior: 'pay_as_you_go',
      monthly_unit_price: unit,
    }
    const plan = await world.sold('Paid', [paid], { monthly_price: fee })
    const used = new Map<string, number>()
    await inParallel([...Array(companies).keys()], 8, async n => {
      const id = await world.subscribed(`c${n}`, plan)
      used.set(id, 1 + random.below(50))
      await world.use(`c${n}`, 'call', used.get(id)!)
    })
    const closed = async (): Promise<number> => {
      const [row] = await sql`select count(*)::int as count from billing_periods`
      return row!.count
    }

    // the writer of the first period stands between its lines and its draft when it is killed
    const [held] = [await sql.reserve()]
    await held`begin`
    await held`lock table billing_invoices in share row exclusive mode`
    await world.clock('2031-02-15T00:00:01.000Z')
    const waiting = () => sql`
    select 1 from pg_locks where relation = 'billing_invoices'::regclass and not granted`
    t.ok(await until(async () => (await waiting()).length > 0), 'a period is being written')
    await running.end('SIGKILL')
    await held`rollback`
    held.release()
    t.ok(await until(async () => (await waiting()).length === 0))
    t.equal(await closed(), 0, 'nothing is written by halves')
    const [lines] = await sql`select count(*)::int as count from charge_lines`
    t.equal(lines!.count, 0)

    for (let round = 0; round < 2; round++) {
      running = await Process.start(dataDir, settings)
      const enough = Math.min(companies - 1, (await closed()) + 1 + random.below(companies / 3))
      t.ok(await until(async () => (await closed()) >= enough))
      await running.end('SIGKILL')
      t.comment(`killed when ${await closed()} of ${companies} periods were closed`)
    }
    running = await Process.start(dataDir, settings)
    t.ok(await until(async () => (await closed()) >= companies), 'the next start closes the rest')

    const rows = await sql`select * from billing_periods order by company_id`
    t.same(
      rows.map(row => row.company_id),
      [...used.keys()].sort(),
      'one period for each company',
    )
    const wrong: string[] = []
    for (const row of rows) {
      const bodies = await sql<
        { body: string }[]
      >`select body from charge_lines where period_id = ${row.id} order by line`
      const hash = createHash('sha256').update(`${row.company_id} ${row.start_ms} ${row.end_ms}\n`)
      for (const { body } of bodies) hash.update(`${body}\n`)
      const told = bodies
        .map(({ body }) => JSON.parse(body))
        .map(one => `${one.kind} ${one.quantity} ${one.amount}`)
      const units = used.get(row.company_id)!
      const drafts = await sql`select subtotal from billing_invoices where charge_period_id = ${row.id}`
      const found = [told, row.totals[0].amount, row.hash, drafts.map(one => Number(one.subtotal))]
      const total = fee + units * unit
      const wanted = [
        [`recurring 1 ${fee}`, `usage ${units} ${units * unit}`],
        total,
        hash.digest('hex'),
        [total],
      ]
      if (JSON.stringify(found) !== JSON.stringify(wanted)) wrong.push(JSON.stringify({ found, wanted }))
    }
    t.same(wrong, [], 'lines, totals, hashes and drafts are those of the use')

    const told = () => {
      const ids = new Map<string, Set<unknown>>()
      for (const { headers, json } of here.of('billing.period.closed'))
        ids.set(json.body.id, (ids.get(json.body.id) ?? new Set()).add(headers['webhook-id']))
      return ids
    }
    await until(async () => told().size >= companies)
    t.equal(told().size, companies)
    t.ok(
      [...told().values()].every(ids => ids.size === 1),
      'each is told once',
    )
    t.equal(await running.end('SIGTERM'), 0)
  },
)
