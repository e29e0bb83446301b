// kill -9 while many companies move to another plan, and while they come back: the next start goes on, and each company
// is moved, billed and told once (MI-12, MI-30).
import postgres, { type Sql } from 'postgres'
import t, { type Test } from 'tap'
import { inParallel } from '../../src/turns/in-parallel.js'
import { type Client, Process, storesOf } from '../harness.js'
import { MovesWorld } from '../interface/moves-world.js'
import { type Receiver, receiver } from '../interface/receiver.js'
import { Random } from '../random.js'
import { temporaryDirectory } from '../stores.js'

const random = new Random()
/** More than two portions of companies that are asked together. */
const holders = 1_000
const payers = 120
const all = holders + payers
const settings = { TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true' }

t.setTimeout(400_000)

async function until(holds: () => Promise<boolean>, ms = 120_000): Promise<boolean> {
  for (const endMs = Date.now() + ms; !(await holds()); await new Promise(resolve => setTimeout(resolve, 5)))
    if (Date.now() > endMs) return false
  return true
}

/** Changes of plans that a move has made so far, as Postgres has them. */
async function changesOf(sql: Sql, moveId: string): Promise<number> {
  const [row] = await sql`select count(*)::int as count from plan_changes where migration_id = ${moveId}`
  return row!.count
}

/** Companies that a move has asked so far. */
async function askedOf(sql: Sql, moveId: string): Promise<number> {
  const [row] = await sql`
    select count(asked_at)::int as count from plan_version_company_migrations where migration_id = ${moveId}`
  return row!.count
}

/** Keep the results of companies from being noted, until the connection that does so ends. */
async function withholdResults(url: string): Promise<() => Promise<void>> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const held = await sql.reserve()
  await held`begin`
  await held`lock table plan_version_company_migrations in share row exclusive mode`
  return async () => {
    await held`rollback`
    held.release()
    await sql.end()
  }
}

/** Checks one after the other, of any company, on the process that runs; wrong answers. */
function checking(ids: readonly string[], client: () => Client) {
  const wrong: string[] = []
  let [going, answered] = [true, 0]
  const over = (async () => {
    while (going) {
      const body = { company: { id: random.pick(ids) } }
      const answer = await client()
        .post('/flags/open/check', body)
        .catch(() => null)
      if (answer?.status === 200) answered++
      // 503: a shard that is started reads its journal
      else if (answer !== null && answer.status !== 503) wrong.push(JSON.stringify(answer.body))
      await new Promise(resolve => setTimeout(resolve, 2))
    }
  })()
  return async () => {
    going = false
    await over
    return { wrong, answered }
  }
}

/** Each company was told once that this move has changed its plan. */
async function toldOnce(t: Test, here: Receiver, toPlanId: string, said: string): Promise<void> {
  const told = () => {
    const ids = new Map<string, Set<string>>()
    for (const { headers, json } of here.received) {
      if (json.body?.base_plan?.id !== toPlanId) continue
      const { company_id: id } = json
      ids.set(id, (ids.get(id) ?? new Set()).add(String(headers['webhook-id'])))
    }
    return ids
  }
  await until(async () => told().size >= all)
  // what is told twice comes with the next attempts
  await new Promise(resolve => setTimeout(resolve, 500))
  t.same([told().size, [...told().values()].filter(one => one.size !== 1).length], [all, 0], said)
}

t.test(
  `MI-12 seed ${random.seed}: SIGKILL within a move of ${all} companies, and within its revert`,
  async t => {
    const dataDir = await temporaryDirectory(t)
    const here = await receiver(t)
    let running = await Process.start(dataDir, settings)
    t.teardown(() => running.end('SIGKILL'))
    const { DATABASE_URL: url } = await storesOf(dataDir)
    const sql = postgres(url!, { max: 1, onnotice: () => {} })
    t.teardown(() => sql.end())
    let world = await MovesWorld.of(running.client)
    const [from, to] = [await world.plan(10, 5000), await world.plan(20, 7000)]
    const [free, freer] = [await world.plan(1, null), await world.plan(2, null)]
    const flag = { key: 'open', name: 'Open', description: '', flag_type: 'boolean', default_value: true }
    await running.client.ok('POST', '/flags', flag)
    const paying: string[] = []
    const holding: string[] = []
    await inParallel([...Array(payers).keys()], 16, async () => void paying.push(await world.payer(from)))
    await inParallel(
      [...Array(holders).keys()],
      32,
      async () => void holding.push(await world.company({ base_plan_id: free.id })),
    )
    const before = new Map<string, unknown>()
    const stands = async (id: string) => {
      const { since: _, ...rest } = await world.stands(id)
      return rest
    }
    const some = [...paying, ...holding.slice(0, 60)]
    await inParallel(some, 16, async id => void before.set(id, await stands(id)))
    await running.client.ok('POST', '/webhooks', {
      name: 'plans',
      url: here.url,
      request_types: ['company.plan_changed'],
    })
    const restart = async () => {
      await running.end('SIGKILL')
      running = await Process.start(dataDir, settings)
      world = world.on(running.client)
    }
    const stop = checking([...paying, ...holding], () => running.client)

    /** Kill the service twice within a move: once between what companies did and the note of it. */
    async function killedWithin(path: string, body: object): Promise<string> {
      const known = new Set((await running.client.ok('GET', '/plan-moves?limit=250')).map(idOf))
      running.client.post(path, body).catch(() => {})
      let id: string | undefined
      await until(async () => {
        id = (await running.client.ok('GET', '/plan-moves?limit=250'))
          .map(idOf)
          .find((one: string) => !known.has(one))
        return id !== undefined
      })
      await until(async () => (await askedOf(sql, id!)) > 0)
      const release = await withholdResults(url!)
      await running.end('SIGKILL')
      await release()
      const [open] = await sql`
      select count(*)::int as waits, count(asked_at)::int as asked from plan_version_company_migrations
      where migration_id = ${id!} and status = 'pending'`
      t.comment(
        `${id} killed when ${await changesOf(sql, id!)} changes were stored, ${open!.asked} of ${open!.waits} asked`,
      )
      t.ok(open!.waits > 0, 'the kill came upon companies that wait')
      running = await Process.start(dataDir, settings)
      world = world.on(running.client)
      const enough = (await changesOf(sql, id!)) + random.below(all / 2)
      await until(async () => (await changesOf(sql, id!)) >= Math.min(all, enough))
      await restart()
      return id!
    }

    async function movedOnce(id: string, count: number): Promise<void> {
      const move = await world.until(id, 'completed')
      t.match(move, { status: 'completed', total_companies: count, completed_companies: count })
      // Postgres has them a little later
      await until(async () => (await changesOf(sql, id)) >= count)
      const rows = await sql`
      select company_id, count(*)::int as count from plan_changes where migration_id = ${id} group by company_id`
      t.same(
        [rows.length, rows.filter(row => row.count !== 1).length],
        [count, 0],
        'one change of plans for each company',
      )
    }

    const idOf = ({ id }: { id: string }) => id
    // a portion of them first, with what they pay
    const paid = await running.client.ok('POST', '/plan-moves', {
      plan_id: to.id,
      filter: { plan_ids: [from.id] },
    })
    await movedOnce(paid.id, payers)
    const id = await killedWithin('/plan-moves', {
      plan_id: freer.id,
      filter: { plan_ids: [free.id, to.id] },
    })
    await movedOnce(id, all)
    for (const one of paying) {
      const { plan, pays } = await world.stands(one)
      if (plan !== freer.id || pays !== null) t.fail(`${one} is on ${plan} and pays ${pays}`)
    }
    await toldOnce(t, here, freer.id, 'each company is told once of the move')

    const back = await killedWithin(`/plan-moves/${id}/revert`, {})
    await movedOnce(back, all)
    for (const one of paying) t.match(await world.stands(one), { plan: to.id, pays: '7000×1' })
    const first = await running.client.ok('POST', `/plan-moves/${paid.id}/revert`)
    await movedOnce(first.id, payers)
    for (const one of some)
      t.same(await stands(one), before.get(one), 'plan, price and payment are what they were')
    const subscriptions = await sql`
    select company_id from billing_subscriptions where company_id = any(${paying}::text[]) and status <> 'canceled'`
    t.equal(new Set(subscriptions.map(row => row.company_id)).size, payers)
    t.equal(subscriptions.length, payers, 'one subscription for each company that pays')
    const { wrong, answered } = await stop()
    t.same(wrong, [], `${answered} checks were answered meanwhile`)
    t.equal(await running.end('SIGTERM'), 0)
  },
)
