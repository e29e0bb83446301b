// npm run bench -- nodes-quiet: at a low rate, CPU time of a check and of a durable event on a node without Redis, on one of two nodes where
// the company lives there, and where it lives on the other node.
import { mkdirSync, rmSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CpuTimes, cpuTimes, processUs, usedBetween } from '../cpu.js'
import { pacedLoad, pacedWarmUpMs } from '../http/mixed.js'
import { median } from '../median.js'
import { seconds } from '../population/measure.js'
import { writePrepared } from '../population/prepared.js'
import { rows } from '../population/rows.js'
import { caughtUp } from '../product.js'
import { type Measured, record, root } from '../record.js'
import { hasRedis } from '../stores.js'
import { type Sides, startSides } from './cluster.js'

const rounds = 5
const restMs = 10_000
const warmUpSeconds = 3

/** The ways of a request, and the most that each may cost, times a node without Redis. */
const contenders = [
  { name: 'without Redis', most: { check: null, event: null } },
  { name: 'with Redis, company on this node', most: { check: 1.1, event: 1.5 } },
  { name: 'with Redis, company on the other node', most: { check: 2, event: 1.5 } },
] as const

/** The rates are the same for all, and low enough for a busy machine: work that is done once a second costs all alike. */
const works = {
  check: { name: 'a check', perSecond: 1_000 },
  event: { name: 'a durable event', perSecond: 500 },
} as const
type Work = keyof typeof works

/** CPU time by process and thread, µs. */
type Parts = ReadonlyMap<string, number>

/**
 * Measure, print and record. CPU time is that of whole processes, from the first request until both stores have every
 * row, less what the same processes use at rest in that time.
 */
export async function benchQuietNodes(): Promise<void> {
  if (!hasRedis()) throw new Error('This benchmark needs redis-server: install Redis 7 or Valkey')
  const work = join(root, 'data', `bench-nodes-quiet-${process.pid}`)
  mkdirSync(work, { recursive: true, mode: 0o711 })
  const sides = await startSides('village', work)
  try {
    const measured: Measured[] = []
    const lines: string[] = []
    const say = (line: string): void => {
      console.log(line)
      lines.push(line)
    }
    say(`load average of the last minute: ${loadavg()[0]!.toFixed(1)} before`)
    const resting = await restOf(sides)
    for (const key of Object.keys(works) as Work[]) {
      const { all, refusals } = await measure(key, sides, resting, work)
      say(`${works[key].name}: ${works[key].perSecond}/s in every round; ${refusals} were refused`)
      const totals = all.map(of => median(of.map(ofTollgate)))
      for (const [index, { name, most }] of contenders.entries()) {
        const times = totals[index]! / totals[0]!
        const goal = most[key] === null ? '' : `≤ ${most[key]} × without Redis`
        const value = Math.round(totals[index]! * 10) / 10
        measured.push({ name: `${works[key].name}, ${name}`, value, unit: 'µs', goal })
        if (index > 0)
          measured.push({
            name: `${works[key].name}, ${name}: times`,
            value: Math.round(times * 100) / 100,
            unit: '×',
            goal,
          })
        say(
          `${works[key].name}, ${name}: ${totals[index]!.toFixed(1)} µs (${times.toFixed(2)} ×); ${partsOf(all[index]!)}`,
        )
      }
    }
    say(`load average of the last minute: ${loadavg()[0]!.toFixed(1)} after`)
    record('nodes-quiet', measured, { 'nodes/run.ts': lines })
  } finally {
    await sides.stop()
    rmSync(work, { recursive: true, force: true })
  }
}

/** Rounds of all contenders by turns, with the same requests: all they name lives on the first node. */
async function measure(key: Work, sides: Sides, resting: readonly Parts[], work: string) {
  const row = rows.find(one => one.key === key)!
  const file = join(work, `${key}.requests`)
  writePrepared(
    file,
    row.stream(sides.population).filter(request => sides.isOfFirst(request)),
  )
  const { alone, nodes } = sides
  const ports = [alone.port, nodes[0].port, nodes[1].port]
  const settled = () => Promise.all([alone, ...nodes].map(({ port }) => caughtUp(port)))
  const { perSecond } = works[key]
  const load = async (port: number, forSeconds: number) => {
    const told = await pacedLoad({
      port,
      file,
      perSecond,
      seconds: forSeconds,
      connections: row.connections,
      mayRefuse: true,
    })
    return { ...told, answered: told.answered + Math.round((perSecond * pacedWarmUpMs) / 1_000) }
  }
  for (const port of ports) await load(port, warmUpSeconds)
  await settled()
  const all: Parts[][] = ports.map(() => [])
  let refusals = 0
  for (let round = 0; round < rounds; round++)
    for (const index of round % 2 === 0 ? [0, 1, 2] : [2, 1, 0]) {
      const before = read(sides, index)
      const begunMs = performance.now()
      const { answered, refused } = await load(ports[index]!, seconds)
      refusals += refused
      if (row.writes) await settled()
      const tookMs = performance.now() - begunMs
      const parts = [...between(before, read(sides, index))].map(
        ([part, us]) =>
          [part, (us - (resting[index]!.get(part) ?? 0) * tookMs) / (answered + refused)] as const,
      )
      all[index]!.push(new Map(parts))
    }
  return { all, refusals }
}

/** CPU time of each contender's processes in a millisecond without requests, µs. */
async function restOf(sides: Sides): Promise<readonly Parts[]> {
  const before = contenders.map((_, index) => read(sides, index))
  const begunMs = performance.now()
  await sleep(restMs)
  const tookMs = performance.now() - begunMs
  return before.map((one, index) => {
    const used = between(one, read(sides, index))
    return new Map([...used].map(([part, us]) => [part, us / tookMs]))
  })
}

/** CPU time so far of what a contender uses. */
interface Reading {
  readonly services: readonly (readonly [prefix: string, CpuTimes])[]
  readonly stores: Parts
}

function read({ alone, nodes, stores, redis }: Sides, index: number): Reading {
  const [first, second] = nodes
  const services =
    index === 0
      ? [['', cpuTimes(alone.child.pid!)] as const]
      : [
          [index === 1 ? '' : 'owner ', cpuTimes(first.child.pid!)] as const,
          [index === 1 ? 'other ' : '', cpuTimes(second.child.pid!)] as const,
        ]
  return {
    services,
    stores: new Map([
      ...(index === 0 ? [] : [['Redis', processUs(redis.pid)] as const]),
      ['Postgres', processUs(stores.pids.postgres)] as const,
      ['ClickHouse', processUs(stores.pids.clickhouse)] as const,
    ]),
  }
}

const stores = ['Redis', 'Postgres', 'ClickHouse']
const threads = ['HTTP', 'shard', 'other threads', 'projector']

function between(before: Reading, after: Reading): Parts {
  const parts = new Map<string, number>()
  for (const [at, [prefix, times]] of after.services.entries()) {
    const used = usedBetween(before.services[at]![1], times)
    for (const thread of threads) parts.set(prefix + thread, used.get(thread) ?? 0)
  }
  for (const [part, us] of after.stores) parts.set(part, us - before.stores.get(part)!)
  return parts
}

/** CPU time of one item in all processes of Tollgate. */
const ofTollgate = (parts: Parts): number =>
  [...parts].filter(([part]) => !stores.includes(part)).reduce((sum, [, us]) => sum + us, 0)

function partsOf(measured: readonly Parts[]): string {
  const of = (part: string) => median(measured.map(parts => parts.get(part) ?? 0))
  const parts = [...measured[0]!.keys()].map(part => [part, of(part)] as const)
  const shown = parts.filter(([, us]) => us >= 0.05).map(([part, us]) => `${part} ${us.toFixed(1)}`)
  return shown.join(', ')
}
