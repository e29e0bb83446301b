// What drawing credits costs an event: durable batches of 500 over HTTP for 1 000 companies with 20 grants each, paid
// with credits, against the same batches of a feature that nothing is paid for.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cpuOf, post, startProduct, stop } from '../product.js'
import { root } from '../record.js'

const companies = 1_000
const grantsEach = 20
const batchSize = 500
const callers = 8
const batches = Number(process.env.BENCH_BATCHES ?? 120)
const rounds = 3
const directory = join(root, 'data', `bench-credits-${process.pid}`)
mkdirSync(directory, { recursive: true })

const product = await startProduct(directory)

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member
async function send(method: string, path: string, body: unknown): Promise<any> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return JSON.parse(await post(product.port, path, text, method)).data
}

try {
  await prepare()
  const plain = { name: 'nothing to pay', event: 'plain', rates: [] as number[], httpUs: 0, othersUs: 0 }
  const paid = { name: 'paid with credits', event: 'paid', rates: [] as number[], httpUs: 0, othersUs: 0 }
  for (let round = 0; round < rounds; round++)
    for (const one of [plain, paid]) {
      const before = cpuOf(product.child.pid!)
      one.rates.push(await rateOf(one.event))
      // what follows into the stores is part of the price
      await new Promise(resolve => setTimeout(resolve, 3_000))
      const after = cpuOf(product.child.pid!)
      one.httpUs += (after.httpUs - before.httpUs) / (rounds * batches * batchSize)
      one.othersUs += (after.othersUs - before.othersUs) / (rounds * batches * batchSize)
    }
  for (const { name, rates, httpUs, othersUs } of [plain, paid])
    console.log(
      `batches of ${batchSize}, ${name}: ${Math.round(median(rates)).toLocaleString('en')} events/s; ` +
        `CPU of the HTTP thread ${httpUs.toFixed(2)} µs, of all others ${othersUs.toFixed(2)} µs an event`,
    )
  console.log(`  share kept: ${(median(paid.rates) / median(plain.rates)).toFixed(2)}`)
} finally {
  await stop(product.child)
  rmSync(directory, { recursive: true, force: true })
}

/** A credit, a plan that pays with it, companies on that plan, and their grants: two thirds of them used up on the way. */
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
  const drawn = (batches * rounds * batchSize * 1.5) / companies
  const quantity = Math.ceil((drawn * 1.5) / grantsEach)
  let next = 0
  const make = async () => {
    for (let index = next++; index < companies; index = next++) {
      const keys = { slug: `company-${index}` }
      const { id } = await send('POST', '/companies', { keys, base_plan_id: plan.id })
      for (let i = 0; i < grantsEach; i++)
        await send('POST', '/billing/credits/grants/company', {
          company_id: id,
          credit_id: credit.id,
          reason: i % 2 === 0 ? 'free' : 'purchased',
          quantity,
        })
    }
  }
  await Promise.all(Array.from({ length: 64 }, make))
}

/** Events a second, every batch acknowledged once it is durable. */
async function rateOf(event: string): Promise<number> {
  const bodies = Array.from({ length: callers }, (_, caller) =>
    JSON.stringify({
      events: Array.from({ length: batchSize }, (_, i) => ({
        event_type: 'track',
        body: { event, company: { slug: `company-${(i * callers + caller) % companies}` }, quantity: 1 },
      })),
    }),
  )
  let left = batches
  const began = performance.now()
  await Promise.all(
    bodies.map(async body => {
      while (left-- > 0) await post(product.port, '/event-batch', body)
    }),
  )
  return (batches * batchSize) / ((performance.now() - began) / 1_000)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}
