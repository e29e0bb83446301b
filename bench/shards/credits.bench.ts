// Cost of a credit draw per event: durable batches of 500 over HTTP for 1 000 companies with 20 grants each, paid
// with credits, against the same batches of a feature without credits. Turns of seconds, alternating, each begun when
// both stores have the rows of the one before; senders that hardly need a core (wrk).
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CpuTimes, cores, cpuTimes, idleUs, usedBetween } from '../cpu.js'
import { assertWrk, putLoad } from '../http/wrk.js'
import { median } from '../median.js'
import { caughtUp, post, secret, startProduct, stop } from '../product.js'
import { root } from '../record.js'

const companies = 1_000
const grantsEach = 20
const batchSize = 500
const callers = 8
/** Parallel requests that make companies and grants: each answer waits for Postgres, which takes many at once. */
const makers = 64
/** Length of one turn. */
const seconds = Number(process.env.BENCH_SECONDS ?? 4)
/** Turns of each kind that are counted. */
const rounds = Number(process.env.BENCH_ROUNDS ?? 5)
const warmUps = 1
/** Grants hold what so many paid events a second would draw; about half of them are used up on the way. */
const eventsPerSecondMax = 400_000
const directory = join(root, 'data', `bench-credits-${process.pid}`)

interface Turn {
  readonly perSecond: number
  /** Per event, µs, by part: while it ran, and until both stores had all of it. */
  readonly during: ReadonlyMap<string, number>
  readonly until: ReadonlyMap<string, number>
  /** Share of the cores' time while it ran. */
  readonly idle: number
}

interface Kind {
  readonly name: string
  readonly event: string
  readonly turns: Turn[]
}

await assertWrk()
mkdirSync(directory, { recursive: true })
const product = await startProduct(join(directory, 'data'))
const pid = product.child.pid!

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member
async function send(method: string, path: string, body: unknown): Promise<any> {
  return JSON.parse(await post(product.port, path, JSON.stringify(body), method)).data
}

try {
  await prepare()
  const plain: Kind = { name: 'nothing to pay', event: 'plain', turns: [] }
  const paid: Kind = { name: 'paid with credits', event: 'paid', turns: [] }
  for (const { event } of [plain, paid]) writeFileSync(scriptOf(event), luaOf(event))
  await caughtUp(product.port)
  for (let round = -warmUps; round < rounds; round++)
    for (const kind of round % 2 === 0 ? [plain, paid] : [paid, plain]) {
      const turn = await measured(kind.event)
      if (round >= 0) kind.turns.push(turn)
    }
  for (const kind of [plain, paid]) tell(kind)
  const pairs = plain.turns.map(({ perSecond }, i) => paid.turns[i]!.perSecond / perSecond)
  console.log(
    `share kept: ${(rateOf(paid) / rateOf(plain)).toFixed(3)} of medians, ` +
      `${median(pairs).toFixed(3)} the median of pairs (${pairs.map(one => one.toFixed(3)).join(' ')})`,
  )
} finally {
  await stop(product.child)
  rmSync(directory, { recursive: true, force: true })
}

/** A credit, a plan that pays with it, companies on that plan, and their grants. */
async function prepare(): Promise<void> {
  const credit = await send('POST', '/billing/credits', { name: 'c', description: '', currency: 'usd' })
  const feature = (event_subtype: string) =>
    send('POST', '/features', { name: event_subtype, description: '', feature_type: 'event', event_subtype })
  const paid = await feature('paid')
  await feature('plain')
  const plan = await send('POST', '/plans', { name: 'p', plan_type: 'plan' })
  await send('POST', '/plan-entitlements', {
    plan_id: plan.id,
    feature_id: paid.id,
    value_type: 'credit',
    value_credit_id: credit.id,
    credit_consumption_rate: 1.5,
  })
  await send('PUT', `/plans/version/${plan.draft_version.id}/publish`, {
    migration_strategy: 'leave',
    excluded_company_ids: [],
  })
  const drawnMax = (eventsPerSecondMax * seconds * (rounds + warmUps) * 1.5) / companies
  const quantity = Math.ceil(drawnMax / grantsEach)
  const bundle = await send('POST', '/billing/credits/bundles', {
    bundle_name: 'b',
    credit_id: credit.id,
    currency: 'usd',
    price_per_unit: 1,
    quantity,
    expiry_type: 'no_expiry',
  })
  let next = 0
  const make = async () => {
    for (let index = next++; index < companies; index = next++) {
      const { id } = await send('POST', '/companies', {
        keys: { slug: `company-${index}` },
        base_plan_id: plan.id,
      })
      // so many bundles, one grant each
      await send('POST', '/billing/credits/grants/company', {
        company_id: id,
        credit_id: credit.id,
        credit_bundle_id: bundle.id,
        reason: 'purchased',
        quantity: quantity * grantsEach,
      })
    }
  }
  await Promise.all(Array.from({ length: makers }, make))
}

function scriptOf(event: string): string {
  return join(directory, `${event}.lua`)
}

/** The load generator's script: as many bodies as callers, given in turn, which together name every company. */
function luaOf(event: string): string {
  const files = Array.from({ length: callers }, (_, caller) => {
    const file = join(directory, `${event}-${caller}.json`)
    const events = Array.from({ length: batchSize }, (_, i) => ({
      event_type: 'track',
      body: { event, company: { slug: `company-${(i * callers + caller) % companies}` }, quantity: 1 },
    }))
    writeFileSync(file, JSON.stringify({ events }))
    return JSON.stringify(file)
  })
  return `wrk.method = "POST"
wrk.path = "/event-batch"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["X-Service-Api-Key"] = "${secret}"
local bodies, next = {}, 0
init = function()
  for index, name in ipairs({${files.join(', ')}}) do
    local file = io.open(name, "rb")
    bodies[index] = wrk.format(nil, nil, nil, file:read("*a"))
    file:close()
  end
end
request = function()
  next = next % #bodies + 1
  return bodies[next]
end
`
}

/** One turn: every batch is acknowledged once it is durable, and the next follows. Ends when both stores have all of it. */
async function measured(event: string): Promise<Turn> {
  const before = look()
  const load = { port: product.port, path: '', script: scriptOf(event), connections: callers, seconds }
  const { requests, seconds: took } = await putLoad(load)
  const after = look()
  const events = requests * batchSize
  await caughtUp(product.port)
  const each = (to: CpuTimes) =>
    new Map([...usedBetween(before.cpu, to)].map(([part, us]) => [part, us / events]))
  return {
    perSecond: events / took,
    during: each(after.cpu),
    until: each(cpuTimes(pid)),
    idle: (after.idleUs - before.idleUs) / ((after.ms - before.ms) * 1_000 * cores),
  }
}

function look() {
  return { cpu: cpuTimes(pid), idleUs: idleUs(), ms: performance.now() }
}

function tell(kind: Kind): void {
  const rates = kind.turns.map(({ perSecond }) => Math.round(perSecond / 1_000)).join(' ')
  const idle = median(kind.turns.map(one => one.idle))
  console.log(
    `batches of ${batchSize}, ${kind.name}: ${Math.round(rateOf(kind)).toLocaleString('en')} events/s ` +
      `(thousands: ${rates}), cores idle ${(100 * idle).toFixed(0)} %`,
  )
  for (const [label, of] of [
    ['while they come', (turn: Turn) => turn.during],
    ['until stored', (turn: Turn) => turn.until],
  ] as const) {
    const parts = [...of(kind.turns[0]!).keys()].map(part => ({
      part,
      us: median(kind.turns.map(turn => of(turn).get(part) ?? 0)),
    }))
    const all = parts.reduce((sum, { us }) => sum + us, 0)
    const each = parts.map(({ part, us }) => `${part} ${us.toFixed(2)}`).join(', ')
    console.log(`  CPU ${label}, µs an event: ${each}; together ${all.toFixed(2)}`)
  }
}

function rateOf({ turns }: Kind): number {
  return median(turns.map(({ perSecond }) => perSecond))
}
