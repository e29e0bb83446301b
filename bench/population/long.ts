// npm run bench -- long [MINUTES]: everything at once for half an hour. Each row is sent at an equal part of its top rate.
// npm run bench -- halves [MINUTES]: one row a minute, in turn, at half of its top rate.
// Both print a line a minute: p99, memory, and how far the stores are behind.
import { join } from 'node:path'
import { cores, cpuTimes, idleUs, memoryOf, usedBetween } from '../cpu.js'
import { pacedLoad } from '../http/mixed.js'
import type { Paced } from '../http/paced.js'
import { assertWrk } from '../http/wrk.js'
import { inWork } from '../interrupted.js'
import { median } from '../median.js'
import { caughtUp, differencesOf, stop } from '../product.js'
import { record, root } from '../record.js'
import { keepChanging } from './changes.js'
import { prepareRow, type Service, seconds, send } from './measure.js'
import { rows } from './rows.js'
import { startPopulated } from './town.js'

/** Rows that are sent together. */
const keys = ['check', 'all', 'event', 'batch500', 'lookup', 'upsert'] as const
type Key = (typeof keys)[number]
const together = rows.filter(({ key }) => keys.includes(key as Key))

/** How rows are sent during a run. */
interface Manner {
  /** Name of the benchmark. */
  readonly area: 'long' | 'halves'
  /** Rate of each row, as a part of its top rate. */
  readonly partOfTop: number
  /** The rows of a minute, from 0. */
  readonly rowsOf: (minute: number) => readonly (typeof rows)[number][]
  /** Minutes of a row at the begin and at the end whose medians are compared. */
  readonly compared: number
}

/**
 * All rows at once, at half of what this mix reaches. It reaches a quarter of all top rates together: then two cores are nine
 * tenths full, the senders among them. A mix costs more than its parts, as a request that shares a wake at its top rate has
 * one of its own here.
 */
export const allAtOnce: Manner = {
  area: 'long',
  partOfTop: 1 / 4 / 2 / together.length,
  rowsOf: () => together,
  compared: 5,
}
/** One row at a time, each at half of its top rate. */
export const halvesInTurn: Manner = {
  area: 'halves',
  partOfTop: 1 / 2,
  rowsOf: minute => [together[minute % together.length]!],
  compared: 2,
}
const warmUpSeconds = 8
const minuteSeconds = 60
/** Connections of a row at most. It has one for each request a second: the service closes those that are idle for ten. */
const connectionsMax = 64

interface Minute {
  /** The answers to each row that was sent in it. */
  readonly byRow: ReadonlyMap<string, Paced>
  /** Resident memory of the service and of its stores, MiB, by part. */
  readonly memory: ReadonlyMap<string, number>
  /** Shares of a core, %, by part; `idle` of all cores. */
  readonly cores: ReadonlyMap<string, number>
  readonly lagSeconds: number
}

/** Send the rows to the town for so many minutes, print what was measured, and keep it. */
export async function benchLong(minutes: number, manner: Manner): Promise<void> {
  await assertWrk()
  const work = join(root, 'data', `bench-${process.pid}`)
  await inWork(work, async () => {
    const { child, port, population } = await startPopulated('town', work)
    const service: Service = { port, pid: child.pid!, population }
    const loads = new Map<string, { readonly file: string; readonly perSecond: number }>()
    for (const row of together) {
      const { file } = await prepareRow(row, service, work)
      await send(file, port, row.connections, warmUpSeconds)
      const { perSecond } = await send(file, port, row.connections, seconds)
      await caughtUp(port)
      loads.set(row.key, { file, perSecond: perSecond * manner.partOfTop })
      console.log(`${row.title}: top ${tell(perSecond * row.items)} ${row.unit}`)
    }
    const changes = keepChanging(port, population)
    const heard: Minute[] = []
    for (let minute = 0; minute < minutes; minute++) {
      const coresBefore = coresSoFar(service.pid)
      const sent = manner.rowsOf(minute).map(async ({ key }) => {
        const { file, perSecond } = loads.get(key)!
        const connections = Math.min(connectionsMax, Math.ceil(perSecond))
        const load = { port, file, perSecond, seconds: minuteSeconds, connections, mayRefuse: true }
        return [key, await pacedLoad(load)] as const
      })
      const byRow = new Map(await Promise.all(sent))
      const cores = coresSince(coresBefore, service.pid)
      heard.push({ byRow, memory: memoryOf(service.pid), cores, lagSeconds: await lagOf(port) })
      console.log(`minute ${minute + 1}: ${lineOf(heard.at(-1)!)}`)
    }
    await changes.stop()
    const endedMs = performance.now()
    await caughtUp(port)
    const completeMs = performance.now() - endedMs
    const differences = await differencesOf(port)
    console.log(
      `both stores had all ${(completeMs / 1_000).toFixed(1)} s after the last; ${differences} differences`,
    )
    record(manner.area, resultsOf(manner.compared, heard, completeMs, differences))
    await stop(child)
  })
}

function resultsOf(compared: number, heard: readonly Minute[], completeMs: number, differences: number) {
  const measured = (name: string, value: number, unit: string, goal = '') => ({ name, value, unit, goal })
  const results = [measured('minutes', heard.length, '')]
  for (const { key, title, items, unit } of together) {
    const sent = heard.flatMap(({ byRow }) => byRow.get(key) ?? [])
    if (sent.length === 0) continue
    const p99Of = (some: readonly Paced[]) => round(median(some.map(({ p99Ms }) => p99Ms)))
    results.push(
      measured(title, Math.round(median(sent.map(({ perSecond }) => perSecond)) * items), unit),
      measured(`${title}: p99, first minutes`, p99Of(sent.slice(0, compared)), 'ms'),
      measured(`${title}: p99, last minutes`, p99Of(sent.slice(-compared)), 'ms', 'as at first'),
      measured(`${title}: slowest`, round(Math.max(...sent.map(({ maxMs }) => maxMs))), 'ms'),
      measured(`${title}: refused`, sum(sent.map(({ refused }) => refused)), '', '0'),
    )
  }
  const first = heard.slice(0, together.length)
  const last = heard.slice(-together.length)
  for (const name of heard[0]!.memory.keys()) {
    const of = (minutes: readonly Minute[]) => median(minutes.map(({ memory }) => memory.get(name) ?? 0))
    results.push(
      measured(`memory of ${name}, first minutes`, of(first), 'MiB'),
      measured(`memory of ${name}, last minutes`, of(last), 'MiB', 'as at first'),
    )
  }
  for (const name of heard[0]!.cores.keys()) {
    const of = (minutes: readonly Minute[]) => round(median(minutes.map(({ cores }) => cores.get(name) ?? 0)))
    results.push(
      measured(`a core, ${name}, first minutes`, of(first), '%'),
      measured(`a core, ${name}, last minutes`, of(last), '%', 'as at first'),
    )
  }
  const lags = heard.map(({ lagSeconds }) => lagSeconds)
  results.push(
    measured('age of the oldest record that a store lacks: most', round(Math.max(...lags)), 's', 'bounded'),
    measured('both stores complete after the end', round(completeMs / 1_000), 's'),
    measured('differences between counters and stored events', differences, '', '0'),
  )
  return results
}

interface CoresSoFar {
  readonly times: ReturnType<typeof cpuTimes>
  readonly idleUs: number
  readonly atMs: number
}

const coresSoFar = (pid: number): CoresSoFar => ({
  times: cpuTimes(pid),
  idleUs: idleUs(),
  atMs: performance.now(),
})

function coresSince(before: CoresSoFar, pid: number): ReadonlyMap<string, number> {
  const now = coresSoFar(pid)
  const share = (us: number) => us / 10 / (now.atMs - before.atMs)
  const used = usedBetween(before.times, now.times).set('idle', now.idleUs - before.idleUs)
  return new Map([...used].map(([name, us]) => [name, share(us)]))
}

function lineOf({ byRow, memory, cores: used, lagSeconds }: Minute): string {
  const parts = [...byRow].map(
    ([key, { perSecond, p99Ms, refused }]) =>
      `${key} ${tell(perSecond)}/s p99 ${p99Ms.toFixed(1)} ms${refused === 0 ? '' : ` ${refused} refused`}`,
  )
  const held = [...memory].map(([name, mebibytes]) => `${name} ${mebibytes} MiB`)
  const shares = [...used].map(([name, share]) => `${name} ${share.toFixed(0)} %`)
  return (
    `${parts.join(', ')}; ${held.join(', ')}; of ${cores} cores: ${shares.join(', ')}; ` +
    `behind ${lagSeconds.toFixed(1)} s`
  )
}

/** Age of the oldest record that a store lacks. */
async function lagOf(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const lags = [...text.matchAll(/^tollgate_projector_lag_seconds\{[^}]*\} (\S+)$/gm)]
  return Math.max(...lags.map(([, lag]) => Number(lag)))
}

const tell = (value: number) => Math.round(value).toLocaleString('en')
const round = (value: number) => Math.round(value * 100) / 100
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
