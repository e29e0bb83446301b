// npm run bench -- long [MINUTES]: everything at once for half an hour. Each row is sent at an equal part of its top rate. A
// line a minute: p99, memory, and how far the stores are behind.
import { join } from 'node:path'
import { memoryOf } from '../cpu.js'
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
/**
 * Part of all top rates together. A mix costs more than its parts: a request that shares a wake at its top rate has one of its
 * own here. At a quarter two cores are nine tenths full, the senders among them.
 */
const partOfTops = 1 / 6
const partOfTop = partOfTops / together.length
const warmUpSeconds = 8
const minuteSeconds = 60
const connections = 64
/** Minutes at the begin and at the end whose medians are compared. */
const compared = 5

interface Minute {
  readonly byRow: ReadonlyMap<string, Paced>
  /** Resident memory of the service and of its stores, MiB, by part. */
  readonly memory: ReadonlyMap<string, number>
  readonly lagSeconds: number
}

/** Run the mix on the town for so many minutes, print it, and keep it. */
export async function benchLong(minutes: number): Promise<void> {
  await assertWrk()
  const work = join(root, 'data', `bench-${process.pid}`)
  await inWork(work, async () => {
    const { child, port, population } = await startPopulated('town', work)
    const service: Service = { port, pid: child.pid!, population }
    const loads = []
    for (const row of together) {
      const { file } = await prepareRow(row, service, work)
      await send(file, port, row.connections, warmUpSeconds)
      const { perSecond } = await send(file, port, row.connections, seconds)
      await caughtUp(port)
      loads.push({ row, file, perSecond: perSecond * partOfTop })
      console.log(`${row.title}: top ${tell(perSecond * row.items)} ${row.unit}`)
    }
    const changes = keepChanging(port, population)
    const heard: Minute[] = []
    for (let minute = 1; minute <= minutes; minute++) {
      const paced = await Promise.all(
        loads.map(({ file, perSecond }) =>
          pacedLoad({ port, file, perSecond, seconds: minuteSeconds, connections, mayRefuse: true }),
        ),
      )
      const byRow = new Map(together.map(({ key }, index) => [key, paced[index]!]))
      heard.push({ byRow, memory: memoryOf(service.pid), lagSeconds: await lagOf(port) })
      console.log(`minute ${minute}: ${lineOf(heard.at(-1)!)}`)
    }
    await changes.stop()
    const endedMs = performance.now()
    await caughtUp(port)
    const completeMs = performance.now() - endedMs
    const differences = await differencesOf(port)
    console.log(
      `both stores had all ${(completeMs / 1_000).toFixed(1)} s after the last; ${differences} differences`,
    )
    record('long', resultsOf(heard, completeMs, differences))
    await stop(child)
  })
}

function resultsOf(heard: readonly Minute[], completeMs: number, differences: number) {
  const measured = (name: string, value: number, unit: string, goal = '') => ({ name, value, unit, goal })
  const results = [measured('minutes', heard.length, '')]
  const first = heard.slice(0, compared)
  const last = heard.slice(-compared)
  for (const { key, title, items, unit } of together) {
    const of = (minutes: readonly Minute[], pick: (one: Paced) => number) =>
      median(minutes.map(({ byRow }) => pick(byRow.get(key)!)))
    results.push(
      measured(title, Math.round(of(heard, one => one.perSecond) * items), unit),
      measured(`${title}: p99, first minutes`, round(of(first, one => one.p99Ms)), 'ms'),
      measured(`${title}: p99, last minutes`, round(of(last, one => one.p99Ms)), 'ms', 'as at first'),
      measured(
        `${title}: slowest`,
        round(Math.max(...heard.map(({ byRow }) => byRow.get(key)!.maxMs))),
        'ms',
      ),
      measured(`${title}: refused`, sum(heard.map(({ byRow }) => byRow.get(key)!.refused)), '', '0'),
    )
  }
  for (const name of heard[0]!.memory.keys()) {
    const of = (minutes: readonly Minute[]) => median(minutes.map(({ memory }) => memory.get(name) ?? 0))
    results.push(
      measured(`memory of ${name}, first minutes`, of(first), 'MiB'),
      measured(`memory of ${name}, last minutes`, of(last), 'MiB', 'as at first'),
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

function lineOf({ byRow, memory, lagSeconds }: Minute): string {
  const parts = [...byRow].map(
    ([key, { perSecond, p99Ms, refused }]) =>
      `${key} ${tell(perSecond)}/s p99 ${p99Ms.toFixed(1)} ms${refused === 0 ? '' : ` ${refused} refused`}`,
  )
  const held = [...memory].map(([name, mebibytes]) => `${name} ${mebibytes} MiB`)
  return `${parts.join(', ')}; ${held.join(', ')}; behind ${lagSeconds.toFixed(1)} s`
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
