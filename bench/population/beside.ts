// Rows that are no plain rate: checks beside batches, pauses of threads, bytes of a company, a start after a kill.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { cpuTimes, usedBetween } from '../cpu.js'
import { pacedLoad } from '../http/mixed.js'
import { median } from '../median.js'
import { caughtUp, startProduct, stop } from '../product.js'
import { root, type TableRow } from '../record.js'
import { keepChanging } from './changes.js'
import { type Size, sizes } from './data.js'
import { prepareRow, type Service, seconds, send } from './measure.js'
import type { Observed } from './observe-thread.js'
import { type Row, rows } from './rows.js'
import { startPopulated } from './town.js'

const rounds = 3
const checksPerSecond = 500
const checkConnections = 16
const batchConnections = 8
const tailFacts = 1_000_000
/** Several rules are edited in it. */
const editedSeconds = 12
const none = { rate: '', ofBare: '', p50: '', p99: '', cpu: '', goal: '' }
const observer = pathToFileURL(join(root, 'dist/bench/population/observe-thread.js')).href

const rowOf = (key: string): Row => rows.find(row => row.key === key)!

/** Checks at a fixed rate while batches arrive at half the rate at which they could. */
export async function mixedRow(service: Service, work: string): Promise<TableRow> {
  const { port } = service
  const batches = (await prepareRow(rowOf('batch500'), service, work)).file
  const checks = (await prepareRow(rowOf('check'), service, work)).file
  await send(batches, port, batchConnections, 2)
  const top = (await send(batches, port, batchConnections, seconds)).perSecond
  const heard: Awaited<ReturnType<typeof pacedLoad>>[] = []
  for (let round = 0; round < rounds; round++) {
    await caughtUp(port)
    const changes = keepChanging(port, service.population)
    const [checked] = await Promise.all([
      pacedLoad({ port, file: checks, perSecond: checksPerSecond, seconds, connections: checkConnections }),
      pacedLoad({ port, file: batches, perSecond: top / 2, seconds, connections: batchConnections }),
    ])
    await changes.stop()
    heard.push(checked)
  }
  await caughtUp(port)
  const of = (pick: (one: (typeof heard)[number]) => number) => median(heard.map(pick)).toFixed(2)
  return {
    ...none,
    work: `checks at ${checksPerSecond}/s while batches of 500 arrive at half their top rate`,
    rate: `beside ${Math.round(top * 250).toLocaleString('en')} events/s`,
    p50: `${of(one => one.p50Ms)} ms`,
    p99: `${of(one => one.p99Ms)} ms`,
    goal: 'p99 ≤ 8 ms',
  }
}

/** Checks at a quarter of the rate at which they could arrive, while a rule is edited every five seconds. */
export async function editsRow(service: Service, work: string): Promise<TableRow> {
  const { port, pid } = service
  const { file } = await prepareRow(rowOf('check'), service, work)
  await send(file, port, 64, 8)
  const top = (await send(file, port, 64, seconds)).perSecond
  const heard: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number }[] = []
  const used: number[] = []
  for (let round = 0; round < rounds; round++) {
    const changes = keepChanging(port, service.population)
    const before = cpuTimes(pid)
    const checked = await pacedLoad({
      port,
      file,
      perSecond: top / 4,
      seconds: editedSeconds,
      connections: 64,
    })
    used.push((usedBetween(before, cpuTimes(pid)).get('HTTP') ?? 0) / checked.answered)
    await changes.stop()
    heard.push(checked)
  }
  const of = (pick: (one: (typeof heard)[number]) => number) => median(heard.map(pick)).toFixed(2)
  return {
    ...none,
    work: 'checks at a quarter of their top rate, open loop, while a rule is edited every 5 s',
    rate: `at ${Math.round(top / 4).toLocaleString('en')} checks/s, HTTP thread ${median(used).toFixed(1)} µs a check`,
    p50: `${of(one => one.p50Ms)} ms`,
    p99: `${of(one => one.p99Ms)} ms`,
    goal: 'p99 ≤ 10 ms',
  }
}

/** Collections and turns of the loop under every plain row, one after the other. */
export async function pauseRows(size: Size, work: string): Promise<readonly TableRow[]> {
  const folder = join(work, 'pauses')
  const product = await observed(size, folder)
  const { child, port, population } = product
  const service = { port, pid: child.pid!, population }
  try {
    const prepared = []
    for (const row of rows) prepared.push({ row, ...(await prepareRow(row, service, work)) })
    writeFileSync(join(folder, 'begin'), '')
    const changes = keepChanging(port, population)
    for (const { row, file } of prepared) await send(file, port, row.connections, seconds)
    await changes.stop()
    const threads = await told(folder)
    const row = (name: string, thread: Observed): TableRow => ({
      ...none,
      work: `longest pause of ${name} under all of these, one after the other`,
      rate: `${thread.longestCollectionMs.toFixed(1)} ms in a collection, ${(thread.collectedMs / thread.seconds / 10).toFixed(1)} % of the time`,
      p99: `longest turn ${thread.longestTurnMs.toFixed(1)} ms`,
      goal: '≤ 10 ms, ≤ 3 %',
    })
    return [row('the HTTP thread', threads.find(({ main }) => main)!), row('a shard', shardOf(threads))]
  } finally {
    await stop(child)
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Heap and memory outside it that the population takes, against a service without one. */
export async function memoryRow(size: Size, work: string): Promise<TableRow> {
  const folder = join(work, 'memory')
  const full = await observed(size, folder)
  let bytes = 0
  try {
    const service = { port: full.port, pid: full.child.pid!, population: full.population }
    const { file } = await prepareRow(rowOf('check-uniform'), service, work)
    await send(file, full.port, 64, Math.max(5, sizes[size] / 5_000))
    await caughtUp(full.port)
    writeFileSync(join(folder, 'begin'), '')
    bytes += memoryOf(await told(folder))
  } finally {
    await stop(full.child)
  }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const empty = await startProduct(join(folder, 'data'), { BENCH_OBSERVE_DIR: folder }, [
    '--import',
    observer,
  ])
  try {
    writeFileSync(join(folder, 'begin'), '')
    bytes -= memoryOf(await told(folder))
  } finally {
    await stop(empty.child)
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    ...none,
    work: 'memory of a company with its two users at rest, heap and outside',
    rate: `${Math.round(bytes / sizes[size]).toLocaleString('en')} B`,
    goal: '≤ 3 kB',
  }
}

/** How long a start takes with a tail of facts that no snapshot has. */
export async function startRow(size: Size, work: string): Promise<TableRow> {
  const folder = join(work, 'start')
  mkdirSync(folder, { recursive: true })
  const settings = { TOLLGATE_CHECKPOINT_INTERVAL_MS: '3600000' }
  const product = await startPopulated(size, folder, settings)
  try {
    const service = { port: product.port, pid: product.child.pid!, population: product.population }
    const { file } = await prepareRow(rowOf('batch500'), service, work)
    for (let sent = 0; sent < tailFacts; ) sent += 500 * (await send(file, product.port, 16, 2)).requests
    await caughtUp(product.port)
    await stop(product.child, 'SIGKILL')
    const again = await startProduct(join(folder, 'data'), settings)
    await stop(again.child)
    return {
      ...none,
      work: 'start after a kill with a tail of a million facts',
      rate: `${(again.readyMs / 1_000).toFixed(1)} s`,
      goal: size === 'city' ? '≤ 3 s' : '',
    }
  } finally {
    await stop(product.child)
    rmSync(folder, { recursive: true, force: true })
  }
}

function observed(size: Size, folder: string) {
  mkdirSync(folder, { recursive: true })
  return startPopulated(size, folder, { BENCH_OBSERVE_DIR: folder }, ['--import', observer])
}

/** The observations of every thread, once all have written them. */
async function told(folder: string): Promise<readonly Observed[]> {
  await sleep(500)
  writeFileSync(join(folder, 'end'), '')
  await sleep(3_000)
  return readdirSync(folder)
    .filter(name => /^thread-\d+\.json$/.test(name))
    .map(name => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Observed)
}

function memoryOf(threads: readonly Observed[]): number {
  return threads.reduce((sum, { heap, outside }) => sum + heap + outside, 0)
}

/** The worker that holds most. */
function shardOf(threads: readonly Observed[]): Observed {
  return threads.filter(({ main }) => !main).toSorted((a, b) => b.heap - a.heap)[0]!
}
