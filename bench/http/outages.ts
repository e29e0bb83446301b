// Stores that are stopped for a minute under load, and stores that die: delay of checks, and whether every event is
// counted once in the end. Checks come at half the rate that the service could answer, events in batches beside them.
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { differencesOf, post, secret, startProduct, stop } from '../product.js'
import { type Measured, record, root } from '../record.js'
import { Pacer } from './pacer.js'

const seconds = Number(process.env.TOLLGATE_BENCH_SECONDS ?? 60)
const work = join(root, 'data', `bench-outages-${process.pid}`)
const connections = 32
const companies = 100
const eventsPerBatch = 100
const batchesPerSecond = 10
/** Longest time for a store to come back and take the backlog. */
const caughtUpMsMax = 120_000
const goal = 3

/** Run it and keep the results. */
export async function benchOutages(): Promise<void> {
  mkdirSync(work, { recursive: true })
  const dataDir = join(work, 'data')
  const { child, port } = await startProduct(dataDir)
  const checks = new Pacer('/flags/outage/check', JSON.stringify({ company: { slug: 'co0' } }))
  const events = new Events(port)
  const postgres = () => postgresOf(dataDir)
  const clickhouse = () => clickhouseOf(child.pid!)
  try {
    await prepare(port)
    await checks.open(port, connections)
    events.start()
    const perSecond = await halfOfCapacity(checks)
    const phase = async (name: string, during: () => Promise<void>) => {
      checks.start(perSecond)
      await during()
      checks.stop()
      const { count, slowestMs } = checks.times
      const [p50, p99] = [0.5, 0.99].map(share => checks.times.quantile(share)) as [number, number]
      const told = `${name}: ${count} checks, p50 ${p50} ms, p99 ${p99} ms, slowest ${Math.round(slowestMs)} ms`
      console.log(`${told}; ${events.late} batches took more than a second`)
      return { p50, p99, slowestMs }
    }
    const away = async (pids: readonly number[]): Promise<void> => {
      signal(pids, 'SIGSTOP')
      try {
        await sleep(seconds * 1_000)
      } finally {
        signal(pids, 'SIGCONT')
      }
    }
    const calm = await phase('undisturbed', () => sleep(seconds * 1_000))
    const rows: Measured[] = [
      { name: 'checks a second, half of what was possible', value: perSecond, unit: '/s', goal: '' },
      { name: 'undisturbed: p50 of checks', value: calm.p50, unit: 'ms', goal: '' },
      { name: 'undisturbed: p99 of checks', value: calm.p99, unit: 'ms', goal: '' },
    ]
    const faults: readonly (readonly [string, () => Promise<void>])[] = [
      ['Postgres stopped', () => away(postgres())],
      ['ClickHouse stopped', () => away(clickhouse())],
      [
        'both killed, and back by themselves',
        async () => {
          signal(postgres().slice(0, 1), 'SIGKILL')
          signal(clickhouse(), 'SIGKILL')
          await sleep((seconds * 1_000) / 2)
        },
      ],
    ]
    for (const [name, fault] of faults) {
      const { p99, slowestMs } = await phase(name, fault)
      const goalMs = Math.round(goal * calm.p99 * 100) / 100
      rows.push({ name: `${name}: p99 of checks`, value: p99, unit: 'ms', goal: `≤ ${goalMs} (${goal} ×)` })
      rows.push({ name: `${name}: slowest check`, value: Math.round(slowestMs), unit: 'ms', goal: '' })
      await recovered(port)
    }
    await events.stop()
    if (events.failure !== null) throw events.failure
    rows.push(...(await exact(port, events)))
    if (checks.wrong.size > 0) throw new Error(`checks failed: ${JSON.stringify([...checks.wrong])}`)
    record('outages', rows)
  } finally {
    checks.close()
    await events.stop()
    await stop(child)
    rmSync(work, { recursive: true, force: true })
  }
}

/** Batches at a steady rate; one that is refused is sent again with the same keys until it is taken. */
class Events {
  /** Units by company. */
  readonly sent = new Map<string, number>()
  acknowledged = 0
  refused = 0
  late = 0
  /** Why a batch was given up. */
  failure: unknown = null
  private made = 0
  private timer: NodeJS.Timeout | null = null
  private readonly running = new Set<Promise<void>>()

  constructor(private readonly port: number) {}

  start(): void {
    this.timer = setInterval(() => {
      const sent: Promise<void> = this.send()
        .catch(error => {
          this.failure ??= error
        })
        .finally(() => this.running.delete(sent))
      this.running.add(sent)
    }, 1_000 / batchesPerSecond)
  }

  async stop(): Promise<void> {
    if (this.timer) clearInterval(this.timer)
    await Promise.all(this.running)
  }

  private async send(): Promise<void> {
    const events = Array.from({ length: eventsPerBatch }, () => {
      const slug = `co${++this.made % companies}`
      this.sent.set(slug, (this.sent.get(slug) ?? 0) + 1)
      const body = { event: 'api_call', company: { slug } }
      return { event_type: 'track', idempotency_key: `o${this.made}`, body }
    })
    const body = JSON.stringify({ events })
    const begunMs = performance.now()
    for (;;) {
      const reply = await fetch(`http://127.0.0.1:${this.port}/event-batch`, {
        method: 'POST',
        headers: { 'X-Service-Api-Key': secret, 'Content-Type': 'application/json' },
        body,
      })
      await reply.arrayBuffer()
      if (reply.status === 201) break
      if (reply.status !== 503) throw new Error(`a batch answered ${reply.status}`)
      this.refused++
      await sleep(1_000 * Number(reply.headers.get('retry-after') ?? 1))
    }
    this.acknowledged += eventsPerBatch
    if (performance.now() - begunMs > 1_000) this.late++
  }
}

async function prepare(port: number): Promise<void> {
  const flag = { key: 'outage', name: 'outage', description: '', flag_type: 'boolean', default_value: false }
  const made = JSON.parse(await post(port, '/flags', JSON.stringify(flag))) as { data: { id: string } }
  const condition = {
    condition_type: 'metric',
    operator: 'gte',
    resource_ids: [],
    event_subtype: 'api_call',
    metric_period: 'all_time',
    metric_value: 0,
  }
  const rule = {
    name: 'rule',
    priority: 1,
    rule_type: 'standard',
    value: true,
    conditions: [condition],
    condition_groups: [],
  }
  await post(port, `/flags/${made.data.id}/rules`, JSON.stringify({ rules: [rule] }), 'PUT')
  for (let index = 0; index < companies; index++)
    await post(port, '/companies', JSON.stringify({ keys: { slug: `co${index}` } }))
}

/** As many checks as the connections can ask one after the other, for some seconds; half of that. */
async function halfOfCapacity(checks: Pacer): Promise<number> {
  const capacitySeconds = Math.min(5, seconds)
  checks.start(null)
  await sleep(1_000)
  const before = checks.times.count
  await sleep(capacitySeconds * 1_000)
  const capacity = (checks.times.count - before) / capacitySeconds
  checks.stop()
  await sleep(500)
  return Math.round(capacity / 2 / 100) * 100
}

/** Wait until both stores are there and have caught up. */
async function recovered(port: number): Promise<void> {
  const untilMs = performance.now() + caughtUpMsMax
  for (;;) {
    const reply = await fetch(`http://127.0.0.1:${port}/health/ready`)
    const { degraded } = (await reply.json()) as { degraded: readonly string[] }
    if (degraded.length === 0) return
    if (performance.now() > untilMs) throw new Error(`still away: ${degraded.join(', ')}`)
    await sleep(100)
  }
}

/** Every event acknowledged is counted once by its company, and once by ClickHouse. */
async function exact(port: number, { sent, acknowledged, refused }: Events): Promise<readonly Measured[]> {
  const ask = async (path: string) => {
    const url = `http://127.0.0.1:${port}${path}`
    const reply = await fetch(url, { headers: { 'X-Service-Api-Key': secret } })
    const text = await reply.text()
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${text}`)
    return text
  }
  let wrong = 0
  for (const [slug, units] of sent) {
    const { data } = JSON.parse(await ask(`/companies/lookup?slug=${slug}`)) as {
      data: { metrics: readonly { period: string; value: number }[] }
    }
    if (data.metrics.find(({ period }) => period === 'all_time')?.value !== units) wrong++
  }
  const differences = await differencesOf(port)
  console.log(`${acknowledged} events acknowledged, ${refused} batches refused and sent again;`)
  console.log(`${wrong} companies count otherwise, ${differences} differences in ClickHouse`)
  return [
    { name: 'events acknowledged', value: acknowledged, unit: '', goal: '' },
    { name: 'batches refused meanwhile and sent again', value: refused, unit: '', goal: '' },
    { name: 'companies that count another number than was acknowledged', value: wrong, unit: '', goal: '0' },
    {
      name: 'differences between ClickHouse and what companies count',
      value: differences,
      unit: '',
      goal: '0',
    },
  ]
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

/** The postmaster of the embedded Postgres and all its children. */
function postgresOf(dataDir: string): readonly number[] {
  const folder = join(dataDir, 'postgres')
  const found = readdirSync(folder, { recursive: true }).find(name => String(name).endsWith('postmaster.pid'))
  const pid = Number(readFileSync(join(folder, String(found)), 'utf8').split('\n', 1)[0])
  return [pid, ...childrenOf(pid)]
}

function clickhouseOf(pid: number): readonly number[] {
  const bridge = (child: number) => readFileSync(`/proc/${child}/cmdline`, 'latin1').includes('bridge.js')
  return childrenOf(pid).filter(bridge)
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids)
    try {
      process.kill(pid, name)
    } catch (error) {
      // a child that ended by itself meanwhile
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
}
