// npm run bench -- scale: what a service does with more cores. Its threads have a slow core each; the load generator and
// the stores have the machine. All contenders run at once and are measured by turns; a row is the median of pairs with
// the first one.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type CpuTimes, cpuTimes } from '../cpu.js'
import { assertWrk } from '../http/wrk.js'
import { inWork } from '../interrupted.js'
import { median } from '../median.js'
import { keepChanging } from '../population/changes.js'
import { prepareRow, type Service, send } from '../population/measure.js'
import { type Row, rows } from '../population/rows.js'
import { startPopulated } from '../population/town.js'
import { caughtUp, stop } from '../product.js'
import { type Measured, record, root } from '../record.js'
import { Confined, slowCores, slowPart } from './slow-cores.js'

const keys = ['check', 'event', 'batch100']
/** Fronts of each contender, and as many shards; the first one is what the others are measured against. */
const contenders = [1, 2, 4] as const
const warmUpSeconds = 6
const seconds = Number(process.env.TOLLGATE_BENCH_SECONDS ?? 4)
/** Connections of every row; the row's own without it. */
const connections = Number(process.env.SCALE_CONNECTIONS ?? 0)
/** Threads that use less of their core are not named. */
const namedFrom = 0.1

interface Running {
  readonly name: string
  readonly service: Service
}

/** rounds: of each contender and row. */
export async function benchScale(rounds: number): Promise<void> {
  const way = slowCores()
  if ('reason' in way) {
    console.log(`scale is skipped: ${way.reason}`)
    return
  }
  await assertWrk()
  const work = join(root, 'data', `bench-scale-${process.pid}`)
  await inWork(work, async () => {
    const running: Running[] = []
    const ends: (() => Promise<void>)[] = []
    try {
      for (const count of contenders) {
        const folder = join(work, `fronts-${count}`)
        mkdirSync(folder, { recursive: true })
        const settings = { TOLLGATE_FRONTS: String(count), TOLLGATE_SHARDS: String(count) }
        const { child, port, population } = await startPopulated('village', folder, settings)
        ends.push(() => stop(child))
        const name = count === 1 ? '1 front, 1 shard' : `${count} fronts, ${count} shards`
        running.push({ name, service: { port, pid: child.pid!, population } })
      }
      // on whole cores: what is not loaded and compiled yet would be most of a round on slow ones
      const measured: { readonly row: Row; readonly file: string }[] = []
      for (const row of rows.filter(({ key }) => keys.includes(key))) {
        const { file } = await prepareRow(row, running[0]!.service, work)
        for (const { service } of running)
          await send(file, service.port, row.connections, warmUpSeconds, row.header)
        measured.push({ row, file })
      }
      for (const { service } of running) {
        await caughtUp(service.port)
        const confined = new Confined(way, service.pid)
        ends.push(async () => confined.free())
      }
      const results: Measured[] = []
      for (const { row, file } of measured) results.push(...(await measureRow(row, file, running, rounds)))
      if (rounds >= 5) record('scale', results)
    } finally {
      for (const end of ends.toReversed()) await end()
    }
  })
}

async function measureRow(
  row: Row,
  file: string,
  running: readonly Running[],
  rounds: number,
): Promise<readonly Measured[]> {
  const rates = running.map(() => [] as number[])
  const busy = running.map(() => [] as string[])
  for (let round = 0; round < rounds; round++)
    for (const [index, { service }] of running.entries()) {
      const changes = keepChanging(service.port, service.population)
      const before = cpuTimes(service.pid)
      const { perSecond } = await send(
        file,
        service.port,
        connections || row.connections,
        seconds,
        row.header,
      )
      busy[index]!.push(busyThreads(before, cpuTimes(service.pid)))
      await changes.stop()
      if (row.writes) await caughtUp(service.port)
      rates[index]!.push(perSecond * row.items)
    }
  return running.flatMap(({ name }, index) => {
    const title = `${row.title}: ${name}`
    const ratio = median(rates[index]!.map((rate, round) => rate / rates[0]![round]!))
    const value = Math.round(median(rates[index]!))
    console.log(`${title}: ${value.toLocaleString('en')} ${row.unit}, ${ratio.toFixed(2)} × the first`)
    console.log(`  of a slow core, by thread: ${busy[index]!.join(' | ')}`)
    const rate: Measured = { name: title, value, unit: row.unit, goal: '' }
    if (index === 0) return [rate]
    return [rate, { name: `${title}, of the first`, value: Number(ratio.toFixed(2)), unit: '×', goal: '' }]
  })
}

/** The parts of its slow core that each thread used, as they were started: the main thread first. */
function busyThreads(before: CpuTimes, after: CpuTimes): string {
  const ofCore = (part: string) => {
    const us = (after.get(part) ?? 0) - (before.get(part) ?? 0)
    return us / (seconds * 1e6 * slowPart)
  }
  return [...after.keys()]
    .filter(part => part === 'HTTP' || part === 'projector' || part.startsWith('thread '))
    .filter(part => ofCore(part) >= namedFrom)
    .map(part =>
      `${part.replace('HTTP', 'main').replace(/^thread \d+$/, '')} ${Math.round(100 * ofCore(part))} %`.trim(),
    )
    .join(', ')
}
