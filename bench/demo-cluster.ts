// npm run demo:cluster: three nodes on this machine under load, with their own stores and Redis. One node is
// killed. The demo prints each step, and compares all usage with the acknowledged events at the end.
// Everything it started ends with it, however it ends (demo-guard.ts).
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { listening } from '../test/listening.js'
import { stop } from './product.js'
import { hasRedis, startRedis, startStores } from './stores.js'

const key = 'sk_dev_q7ZnR2vK9sXw4BtJ8mCyL1fHdP6gUaQ3eTiVo5YkWrN'
const nodesCount = 3
const companies = Array.from({ length: 24 }, (_, i) => `company-${i}`)
const senders = 8
/** Events acknowledged before the kill, and after the cluster is whole again. */
const eventsBefore = 1_000
const eventsAfter = 1_000
const pauseMs = 20
/** How often the demo looks whether the process that started it lives. */
const parentMs = 250

type Environment = Readonly<Record<string, string | undefined>>

interface Node {
  readonly name: string
  readonly url: string
  readonly child: ChildProcess
  readonly exited: Promise<number | null>
}

const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Functions that stop the demo's processes, in the order of their start. */
const closing: (() => Promise<unknown>)[] = []

async function startNode(name: string, directory: string, shared: Environment): Promise<Node> {
  const main = fileURLToPath(new URL('../served/main.js', import.meta.url))
  // The directory on its command line tells the guard that it belongs to this demo.
  const child = spawn(process.execPath, [`--diagnostic-dir=${directory}`, main], {
    env: { ...shared, TOLLGATE_NODE_ID: name, TOLLGATE_DATA_DIR: join(directory, name), TOLLGATE_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  closing.push(() => stop(child))
  const { url, exited } = await listening(child, name)
  say(`  ${name} listens on ${url}`)
  return { name, url, child, exited }
}

async function ask(node: Node, method: string, path: string, body?: object) {
  const headers = { 'X-Service-Api-Key': key, ...(body && { 'Content-Type': 'application/json' }) }
  const answer = await fetch(node.url + path, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, data: ((await answer.json()) as { data: unknown }).data }
}

/**
 * Senders of events with idempotency keys. Each event is repeated until acknowledged, to any node that takes
 * connections.
 */
class Senders {
  acknowledged = 0
  refused = 0
  longestMs = 0
  readonly counted = new Map<string, number>()
  private number = 0
  private going = true
  private readonly working: Promise<void>[]

  constructor(private readonly nodes: readonly Node[]) {
    this.working = Array.from({ length: senders }, () => this.work())
  }

  async until(acknowledged: number): Promise<void> {
    while (this.acknowledged < acknowledged) await sleep(pauseMs)
  }

  async stop(): Promise<void> {
    this.going = false
    await Promise.all(this.working)
  }

  private async work(): Promise<void> {
    while (this.going) {
      const number = this.number++
      const slug = companies[number % companies.length]!
      const body = { event: 'call', company: { slug } }
      const event = { event_type: 'track', idempotency_key: `demo-${number}`, body }
      const beganMs = performance.now()
      while (!(await this.send(event))) await sleep(pauseMs)
      this.longestMs = Math.max(this.longestMs, performance.now() - beganMs)
      this.acknowledged++
      this.counted.set(slug, (this.counted.get(slug) ?? 0) + 1)
    }
  }

  private async send(event: object): Promise<boolean> {
    const living = this.nodes.filter(({ child }) => child.exitCode === null && child.signalCode === null)
    const node = living[Math.floor(Math.random() * living.length)]!
    const answer = await ask(node, 'POST', '/events', event).catch(() => null)
    if (answer?.status === 201) return true
    if (answer !== null && answer.status !== 503) throw new Error(`POST /events answered ${answer.status}`)
    this.refused++
    return false
  }
}

async function isWhole({ url }: Node): Promise<boolean> {
  const answer = await fetch(`${url}/health/ready`).catch(() => null)
  return answer?.status === 200 && ((await answer.json()) as { degraded: string[] }).degraded.length === 0
}

async function whole(nodes: readonly Node[]): Promise<void> {
  while (!(await Promise.all(nodes.map(isWhole))).every(Boolean)) await sleep(pauseMs)
}

/** Whether a node answers for every company, whichever node owns it. */
async function allServed(node: Node): Promise<boolean> {
  const asked = companies.map(slug => ask(node, 'GET', `/companies/lookup?slug=${slug}`).catch(() => null))
  return (await Promise.all(asked)).every(answer => answer?.status === 200)
}

/** Companies whose usage at a node differs from the acknowledged events. */
async function wrong(node: Node, counted: ReadonlyMap<string, number>): Promise<readonly string[]> {
  const found: string[] = []
  for (const [slug, wanted] of counted) {
    const { data } = await ask(node, 'GET', `/companies/lookup?slug=${slug}`)
    const { metrics } = data as { metrics: { period: string; value: number }[] }
    const told = metrics
      .filter(({ period }) => period === 'all_time')
      .reduce((sum, { value }) => sum + value, 0)
    if (told !== wanted) found.push(`${slug}: ${wanted} acknowledged, ${told} counted`)
  }
  return found
}

async function demo(directory: string): Promise<number> {
  say('Starting Postgres, ClickHouse and Redis …')
  const [stores, redis] = await Promise.all([startStores(directory, false), startRedis(directory)])
  closing.push(stores.stop, redis.stop)
  const shared = {
    PATH: process.env.PATH,
    TMPDIR: process.env.TMPDIR,
    ...stores.client,
    DATABASE_URL: stores.postgresUrl,
    CLICKHOUSE_URL: stores.clickhouseUrl,
    REDIS_URL: redis.url,
    TOLLGATE_CLUSTER_SECRET: 'only the nodes of this demo know this',
    TOLLGATE_PEPPER: 'a pepper that is the same on all nodes',
    TOLLGATE_BOOTSTRAP_KEY: key,
    TOLLGATE_LIMITS: 'off',
    TOLLGATE_SHARDS: '1',
    TOLLGATE_LOG_LEVEL: 'fatal',
  }
  say(`Starting ${nodesCount} nodes:`)
  const nodes: Node[] = []
  for (let i = 1; i <= nodesCount; i++) nodes.push(await startNode(`node-${i}`, directory, shared))
  await whole(nodes)
  const load = new Senders(nodes)
  await load.until(eventsBefore)
  say(`${load.acknowledged} events of ${companies.length} companies acknowledged, through all nodes.`)
  const killed = nodes[1]!
  load.longestMs = 0
  const killedMs = performance.now()
  killed.child.kill('SIGKILL')
  await killed.exited
  say(`${killed.name} is killed (SIGKILL). Its shards are taken over when its lease of 2 s has run out …`)
  const left = nodes.filter(node => node !== killed)
  while (!(await allServed(left[0]!))) await sleep(pauseMs)
  say(`All companies are served again after ${seconds(performance.now() - killedMs)}.`)
  await load.until(load.acknowledged + eventsAfter)
  await load.stop()
  say(
    `The longest an event waited for its acknowledgement: ${seconds(load.longestMs)}; ${load.refused} were sent again.`,
  )
  const found = await wrong(left[0]!, load.counted)
  for (const line of found) say(line)
  if (found.length > 0) return 1
  say(`${load.acknowledged} events were acknowledged; each is counted once.`)
  return 0
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

if (!hasRedis()) {
  process.stderr.write(
    'redis-server is not in the PATH: install Redis 7 or Valkey, or put the folder that tools/redis prints there\n',
  )
  process.exit(1)
}
const directory = mkdtempSync(join(tmpdir(), 'tollgate-demo-'))
chmodSync(directory, 0o711)
const guard = spawn(
  process.execPath,
  [fileURLToPath(new URL('./demo-guard.js', import.meta.url)), directory],
  // Ctrl-C reaches every process of this session.
  { stdio: ['pipe', 'ignore', 'inherit'], detached: true },
)
const guarded = once(guard, 'exit')
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))
const parent = process.ppid
setInterval(() => {
  if (process.ppid !== parent) process.exit(1)
}, parentMs).unref()
let code = 1
try {
  code = await demo(directory)
} finally {
  for (const close of closing.reverse()) await close()
  guard.stdin.end()
  await guarded
}
process.exit(code)
