// npm run bench -- nodes: what nodes add. Keyed batches, keyed events and checks as quickly as they are answered, by all nodes at
// once, with the CPU time of every part: one node alone, two nodes and one Redis, three nodes and three primaries of a Redis
// Cluster. NODES_BENCH=two runs one of the three (alone, two, three), NODES_WORK=batch500 one row alone; NODES_FROM=DIRECTORY runs
// another build's nodes.
import { mkdirSync, rmSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CpuTimes, cpuTimes, processUs, usedBetween } from '../cpu.js'
import { assertWrk } from '../http/wrk.js'
import { median } from '../median.js'
import { fill } from '../population/fill.js'
import { seconds, sendUntil } from '../population/measure.js'
import { type Prepared, writePrepared } from '../population/prepared.js'
import { type Row, rows } from '../population/rows.js'
import type { Population } from '../population/streams.js'
import { caughtUp, type Started, startProduct, stop } from '../product.js'
import { type Measured, record, root } from '../record.js'
import { hasRedis, type Redis, type Stores, startPrimaries, startRedis, startStores } from '../stores.js'
import { databases, idsByKey, namedBy, nodeSettings, shardsOf } from './cluster.js'

/** All three setups take less than nine minutes. */
const rounds = 2
const warmUpSeconds = seconds
/** The stores may take so long for what a round left. */
const settledMsMax = 30_000
const connections = 32
const size = 'village'

/** A setup: its nodes and servers of Redis. */
const setups = [
  { key: 'alone', name: 'one node alone', nodes: 1, servers: 0 },
  { key: 'two', name: 'two nodes, one Redis', nodes: 2, servers: 1 },
  { key: 'three', name: 'three nodes, three primaries', nodes: 3, servers: 3 },
] as const
type Setup = (typeof setups)[number]

/** Each work: the row of the population, and the nodes that are asked. */
const works = [
  { name: 'batches of 500 with keys', row: 'batch500', way: 'all', unit: 'events/s' },
  { name: 'single events with keys', row: 'event', way: 'all', unit: 'events/s' },
  { name: 'checks, any node', row: 'check', way: 'all', unit: 'checks/s' },
  { name: 'checks at the owner', row: 'check', way: 'owner', unit: 'checks/s' },
  { name: 'checks elsewhere', row: 'check', way: 'elsewhere', unit: 'checks/s' },
] as const
type Work = (typeof works)[number]

/** The processes of a setup. */
interface Running {
  readonly nodes: readonly Started[]
  readonly redis: readonly Redis[]
  readonly stores: Stores
  readonly population: Population
  readonly isOfFirst: (request: Prepared) => boolean
}

/** CPU time of one item by part, µs. */
type Parts = ReadonlyMap<string, number>

interface Taken {
  readonly perSecond: number
  readonly parts: Parts
  readonly refused: number
}

export async function benchRates(): Promise<void> {
  if (!hasRedis()) throw new Error('This benchmark needs redis-server: install Redis 7 or Valkey')
  await assertWrk()
  const measured: Measured[] = []
  const lines: string[] = []
  const say = (line: string): void => {
    console.log(line)
    lines.push(line)
  }
  const load = () => `load average of the last minute: ${loadavg()[0]!.toFixed(1)}`
  say(`${load()} before`)
  const alone = new Map<string, number>()
  for (const setup of setups) {
    if (process.env.NODES_BENCH !== undefined && process.env.NODES_BENCH !== setup.key) continue
    await withSetup(setup, async (running, work) => {
      for (const one of works) {
        if (setup.nodes === 1 && one.way !== 'all') continue
        if (process.env.NODES_WORK !== undefined && process.env.NODES_WORK !== one.row) continue
        const all = await measure(one, running, work)
        const name = `${one.name}, ${setup.name}`
        const perSecond = median(all.map(taken => taken.perSecond))
        const us = median(all.map(({ parts }) => totalOf(parts)))
        if (setup.nodes === 1) alone.set(one.row, us)
        const base = alone.get(one.row)
        const times = setup.nodes === 1 || base === undefined ? '' : ` (${(us / base).toFixed(2)} ×)`
        measured.push({ name, value: Math.round(perSecond), unit: one.unit, goal: '' })
        measured.push({ name: `${name}: CPU of all parts`, value: rounded(us), unit: 'µs', goal: '' })
        const refused = all.reduce((sum, taken) => sum + taken.refused, 0)
        say(
          `${name}: ${Math.round(perSecond).toLocaleString('en')} ${one.unit}, ${us.toFixed(1)} µs${times}; ` +
            `${partsOf(all)}${refused === 0 ? '' : `; ${refused} requests were refused`}`,
        )
      }
    })
    say(`${load()} after ${setup.name}`)
  }
  const { NODES_BENCH, NODES_FROM, NODES_WORK } = process.env
  if (NODES_BENCH === undefined && NODES_FROM === undefined && NODES_WORK === undefined)
    record('nodes', measured, { 'nodes/rates.ts': lines })
}

/** Starts a setup with a population of its own, and stops it afterwards. */
async function withSetup(setup: Setup, during: (running: Running, work: string) => Promise<void>) {
  const work = join(root, 'data', `bench-nodes-${process.pid}`)
  mkdirSync(work, { recursive: true, mode: 0o711 })
  const closing: (() => Promise<unknown>)[] = []
  try {
    const stores = await startStores(work, true)
    closing.push(stores.stop)
    const redis =
      setup.servers === 0
        ? []
        : setup.servers === 1
          ? [await startRedis(work)]
          : await startPrimaries(work, setup.servers)
    for (const one of redis) closing.push(one.stop)
    const shared = { ...stores.client, ...(await databases(stores, 'nodes')) }
    const url = redis.map(one => one.url).join(',')
    const nodes: Started[] = []
    for (let i = 0; i < setup.nodes; i++) {
      const name = `node-${i + 1}`
      // primaries without replicas
      const durability = setup.servers > 1 ? { TOLLGATE_REDIS_DURABILITY: 'accept-loss' } : {}
      const more =
        setup.servers === 0 ? {} : { ...nodeSettings, ...durability, REDIS_URL: url, TOLLGATE_NODE_ID: name }
      const settings = { ...shared, TOLLGATE_SHARDS: '1', ...more }
      const started = await startProduct(join(work, name), settings, [], process.env.NODES_FROM ?? root)
      closing.push(() => stop(started.child))
      nodes.push(started)
    }
    const { port } = nodes[0]!
    const owned =
      setup.servers === 0 ? null : await shardsOf('node-1', setup.nodes, shared.DATABASE_URL, { url })
    const filled = await fill(port, size)
    await settled(nodes)
    const ids = owned === null ? null : await idsByKey(port)
    const isOfFirst = (request: Prepared) =>
      ids === null || namedBy(request).every(key => ids.has(key) && owned!.has(ids.get(key)!))
    await during({ nodes, redis, stores, population: { size, filled }, isOfFirst }, work)
  } finally {
    for (const close of closing.reverse()) await close()
    rmSync(work, { recursive: true, force: true })
  }
}

async function measure({ row: key, way }: Work, running: Running, work: string): Promise<readonly Taken[]> {
  const row = rows.find(one => one.key === key)!
  const file = join(work, `${key}-${way}.requests`)
  const requests = row.stream(running.population)
  writePrepared(file, way === 'all' ? requests : requests.filter(running.isOfFirst))
  const { nodes } = running
  const asked = way === 'all' ? nodes : [nodes[way === 'owner' ? 0 : 1]!]
  await put(file, asked, row, warmUpSeconds)
  if (row.writes) await settled(nodes)
  const all: Taken[] = []
  for (let round = 0; round < rounds; round++) {
    const before = read(running)
    const { items, perSecond, refused } = await put(file, asked, row, seconds)
    if (row.writes) await settled(nodes)
    const used = between(before, read(running))
    all.push({ perSecond, refused, parts: new Map([...used].map(([part, us]) => [part, us / items])) })
  }
  return all
}

/** Sends the file to each of these nodes at once. */
async function put(file: string, nodes: readonly Started[], row: Row, forSeconds: number) {
  const sending = []
  for (const { port } of nodes) {
    const each = Math.ceil(connections / nodes.length)
    sending.push(sendUntil(file, port, { connections: each, forSeconds }))
    await sleep(2) // the tags of keys carry the millisecond
  }
  const all = await Promise.all(sending)
  const sum = (pick: (one: (typeof all)[number]) => number) =>
    all.reduce((total, one) => total + pick(one), 0)
  const refused = sum(one => one.refused)
  return {
    items: (sum(one => one.requests) - refused) * row.items,
    perSecond: sum(one => (one.requests - one.refused) / one.seconds) * row.items,
    refused,
  }
}

const settled = (nodes: readonly Started[]) =>
  Promise.all(nodes.map(({ port }) => caughtUp(port, settledMsMax)))

interface Reading {
  readonly nodes: readonly CpuTimes[]
  readonly stores: Parts
}

function read({ nodes, redis, stores }: Running): Reading {
  return {
    nodes: nodes.map(({ child }) => cpuTimes(child.pid!)),
    stores: new Map([
      ...redis.map((one, i) => [`Redis${redis.length > 1 ? ` ${i + 1}` : ''}`, processUs(one.pid)] as const),
      ['Postgres', processUs(stores.pids.postgres)] as const,
      ['ClickHouse', processUs(stores.pids.clickhouse)] as const,
    ]),
  }
}

const threads = ['HTTP', 'shard', 'other threads', 'projector']

/** CPU time by part, µs: the threads of all nodes together. */
function between(before: Reading, after: Reading): Parts {
  const parts = new Map<string, number>()
  for (const [i, times] of after.nodes.entries()) {
    const used = usedBetween(before.nodes[i]!, times)
    for (const thread of threads) parts.set(thread, (parts.get(thread) ?? 0) + (used.get(thread) ?? 0))
  }
  for (const [part, us] of after.stores) parts.set(part, us - before.stores.get(part)!)
  return parts
}

/** CPU time of nodes and Redis: the stores work alike in every setup. */
const totalOf = (parts: Parts): number =>
  [...parts]
    .filter(([part]) => part !== 'Postgres' && part !== 'ClickHouse')
    .reduce((sum, [, us]) => sum + us, 0)

function partsOf(all: readonly Taken[]): string {
  return [...all[0]!.parts.keys()]
    .map(part => [part, median(all.map(({ parts }) => parts.get(part) ?? 0))] as const)
    .filter(([, us]) => us >= 0.05)
    .map(([part, us]) => `${part} ${us.toFixed(1)}`)
    .join(', ')
}

const rounded = (us: number): number => Math.round(us * 10) / 10
