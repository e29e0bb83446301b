// The running service against a bare route that reads the same body and writes a reply of the same size:
// how many requests a second, and how late the slowest hundredth, on one machine with the load generator.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../median.js'
import { caughtUp, cpuOf, post, startProduct, stop } from '../product.js'
import { type Measured, record, root } from '../record.js'
import { benchMixed } from './mixed.js'
import { makeFlag, prepare, type Scenario, scenarios, startBare, writeScript } from './scenarios.js'
import { assertWrk, putLoad } from './wrk.js'

const seconds = Number(process.env.TOLLGATE_BENCH_SECONDS ?? 5)
const rounds = 3
const work = join(root, 'data', `bench-${process.pid}`)

interface Sample {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** CPU time of one request, µs: of the thread that speaks HTTP, and of all others of the process. */
  readonly httpUs: number
  readonly othersUs: number
}

/** Run every scenario and keep the results. */
export async function benchHttp(): Promise<void> {
  await assertWrk()
  mkdirSync(work, { recursive: true })
  const product = await startProduct(join(work, 'data'))
  try {
    await prepare(product.port)
    const rows: Measured[] = []
    let flags = 1
    for (const scenario of scenarios) {
      for (; flags < (scenario.flags ?? 1); flags++) await makeFlag(product.port, `bench-flag-${flags}`)
      rows.push(...(await measure(scenario, product.child.pid!, product.port)))
      if (scenario.flags !== undefined) rows.push(await alone(scenario, product.child.pid!, product.port))
    }
    rows.push(...(await benchMixed(product.port, product.child.pid!, work)))
    record('http', rows)
  } finally {
    await stop(product.child)
    rmSync(work, { recursive: true, force: true })
  }
}

/** Checks beside batches alone, printed and not kept. */
export async function benchOnlyMixed(): Promise<void> {
  await assertWrk()
  mkdirSync(work, { recursive: true })
  const product = await startProduct(join(work, 'data'))
  try {
    await prepare(product.port)
    await benchMixed(product.port, product.child.pid!, work)
  } finally {
    await stop(product.child)
    rmSync(work, { recursive: true, force: true })
  }
}

async function measure(
  scenario: Scenario,
  productPid: number,
  productPort: number,
): Promise<readonly Measured[]> {
  const script = writeScript(scenario, work)
  const replyBytes = await replySize(scenario, productPort)
  const bare = await startBare(replyBytes)
  try {
    const samples: { bare: Sample[]; product: Sample[] } = { bare: [], product: [] }
    await load(productPid, productPort, scenario, script, 1)
    await load(bare.child.pid!, bare.port, scenario, script, 1)
    for (let round = 0; round < rounds; round++) {
      samples.bare.push(await load(bare.child.pid!, bare.port, scenario, script, seconds))
      samples.product.push(await load(productPid, productPort, scenario, script, seconds))
      await caughtUp(productPort)
    }
    return tell(scenario, middle(samples.bare), middle(samples.product))
  } finally {
    await stop(bare.child)
  }
}

/**
 * One request after the other: the latency of a single caller. By the load generator: a client that parses is slower.
 */
async function alone(scenario: Scenario, pid: number, port: number): Promise<Measured> {
  const script = writeScript(scenario, work)
  const samples: Sample[] = []
  for (let round = 0; round < rounds; round++)
    samples.push(await load(pid, port, { ...scenario, connections: 1 }, script, seconds))
  const value = middle(samples).p50Ms
  console.log(`${scenario.name}: alone ${value} ms`)
  return { name: `${scenario.name}: alone, median`, value, unit: 'ms', goal: '' }
}

function tell(scenario: Scenario, bare: Sample, product: Sample): readonly Measured[] {
  const share = product.perSecond / bare.perSecond
  const rate = (sample: Sample) => Math.round(sample.perSecond * scenario.items)
  console.log(
    `${scenario.name}: ${rate(product).toLocaleString('en')} ${scenario.unit}, ` +
      `${Math.round(share * 100)} % of the bare route (${rate(bare).toLocaleString('en')}); ` +
      `p99 ${product.p99Ms} ms against ${bare.p99Ms} ms`,
  )
  const goal = scenario.goal === null ? '' : `≥ ${scenario.goal * 100} %`
  return [
    { name: scenario.name, value: rate(product), unit: scenario.unit, goal: '' },
    {
      name: `${scenario.name}: share of the bare route`,
      value: Math.round(share * 1_000) / 10,
      unit: '%',
      goal,
    },
    {
      name: `${scenario.name}: CPU of the HTTP thread a request (bare route ${round(bare.httpUs)})`,
      value: round(product.httpUs),
      unit: 'µs',
      goal: '',
    },
    {
      name: `${scenario.name}: CPU of shards, disk and projectors a request`,
      value: round(product.othersUs),
      unit: 'µs',
      goal: '',
    },
    { name: `${scenario.name}: p50`, value: product.p50Ms, unit: 'ms', goal: '' },
    {
      name: `${scenario.name}: p99`,
      value: product.p99Ms,
      unit: 'ms',
      goal: `≤ ${round(3 * bare.p99Ms)} (3 × bare)`,
    },
  ]
}

function middle(samples: readonly Sample[]): Sample {
  const of = (pick: (sample: Sample) => number) => median(samples.map(pick))
  return {
    perSecond: of(s => s.perSecond),
    p50Ms: of(s => s.p50Ms),
    p99Ms: of(s => s.p99Ms),
    httpUs: of(s => s.httpUs),
    othersUs: of(s => s.othersUs),
  }
}

async function load(
  pid: number,
  port: number,
  { path, connections = 64 }: Scenario,
  script: string,
  forSeconds: number,
): Promise<Sample> {
  const before = cpuOf(pid)
  const answered = await putLoad({ port, path, script, connections, seconds: forSeconds })
  const after = cpuOf(pid)
  return {
    ...answered,
    httpUs: (after.httpUs - before.httpUs) / answered.requests,
    othersUs: (after.othersUs - before.othersUs) / answered.requests,
  }
}

function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}

async function replySize({ path, body }: Scenario, port: number): Promise<number> {
  const reply = await post(port, path, body)
  return Buffer.byteLength(reply)
}
