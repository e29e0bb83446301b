// npm run bench -- village|town|city [ROW…]: the population's table. Without rows: all of it, kept and written into the
// READMEs for the town.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { assertWrk } from '../http/wrk.js'
import { inWork } from '../interrupted.js'
import { here, type Runtime, stop } from '../product.js'
import { record, root, type TableRow } from '../record.js'
import { editsRow, memoryRow, mixedRow, pauseRows, startRow } from './beside.js'
import type { Size } from './data.js'
import { type Measurement, measureRow, type Sample, type Service } from './measure.js'
import { type Row, rows } from './rows.js'
import { startPopulated } from './town.js'

const others: Readonly<Record<string, (size: Size, work: string) => Promise<readonly TableRow[]>>> = {
  mixed: (size, work) => inService(size, work, async service => [await mixedRow(service, work)]),
  edits: (size, work) => inService(size, work, async service => [await editsRow(service, work)]),
  pauses: pauseRows,
  memory: async (size, work) => [await memoryRow(size, work)],
  start: async (size, work) => [await startRow(size, work)],
}

/** Names that select rows. */
export const rowKeys = [...rows.map(({ key }) => key), ...Object.keys(others)]

export async function benchPopulation(size: Size, keys: readonly string[]): Promise<void> {
  await assertWrk()
  const work = join(root, 'data', `bench-${process.pid}`)
  const wanted = (key: string) => keys.length === 0 || keys.includes(key)
  await inWork(work, async () => {
    const table: TableRow[] = []
    const plain = rows.filter(({ key }) => wanted(key))
    if (plain.length > 0)
      await inService(size, work, async service => {
        for (const row of plain) {
          table.push(toTable(row, await measureRow(row, service, work)))
          tell(table.at(-1)!)
        }
      })
    for (const [key, measure] of Object.entries(others))
      if (wanted(key)) {
        const measured = await measure(size, work)
        for (const row of measured) tell(row)
        table.push(...measured)
      }
    if (keys.length === 0) record(size, [], {}, table)
  })
}

/**
 * npm run bench -- servers: some rows of the village on both HTTP libraries, each beside its bare route, and on the other
 * Nodes whose paths `BENCH_NODES` lists, separated by colons.
 */
export async function benchServers(): Promise<void> {
  await assertWrk()
  const work = join(root, 'data', `bench-${process.pid}`)
  const others = (process.env.BENCH_NODES ?? '').split(':').filter(path => path !== '')
  const runtimes: Runtime[] = [
    here,
    { node: process.execPath, http: 'node' },
    ...others.map(node => ({ node, http: 'node' }) as const),
  ]
  await inWork(work, async () => {
    const table: TableRow[] = []
    for (const runtime of runtimes) {
      const version = execFileSync(runtime.node, ['--version'], { encoding: 'utf8' }).trim()
      const library = runtime.http === 'uws' ? 'uWebSockets.js' : "Node's http"
      const measure = async (service: Service) => {
        for (const row of rows.filter(({ key }) => serverRows.includes(key))) {
          const measured = toTable(row, await measureRow(row, service, work, runtime))
          table.push({ ...measured, work: `${library}, Node ${version}: ${row.title}`, goal: '' })
          tell(table.at(-1)!)
        }
      }
      await inService('village', work, measure, runtime)
    }
    record('servers', [], {}, table)
  })
}

const serverRows: readonly string[] = ['check', 'all', 'event', 'batch100']

async function inService<T>(
  size: Size,
  work: string,
  measure: (service: Service) => Promise<T>,
  { node, http }: Runtime = here,
): Promise<T> {
  const folder = join(work, 'service')
  mkdirSync(folder, { recursive: true })
  const settings = { TOLLGATE_HTTP: http }
  const { child, port, population } = await startPopulated(size, folder, settings, [], root, node)
  try {
    return await measure({ port, pid: child.pid!, population })
  } finally {
    await stop(child)
    rmSync(folder, { recursive: true, force: true })
  }
}

function toTable(row: Row, { service, bare, share }: Measurement): TableRow {
  const goals = [
    row.shareMin === null ? '' : `≥ ${row.shareMin} % of bare`,
    row.p99Times === null ? '' : `p99 ≤ ${row.p99Times} × bare`,
    row.rateMin === null ? '' : `≥ ${row.rateMin.toLocaleString('en')} ${row.unit}`,
  ]
  return {
    work: row.title,
    rate: `${Math.round(service.perSecond).toLocaleString('en')} ${row.unit}`,
    ofBare: `${share.toFixed(1)} %`,
    p50: `${service.p50Ms.toFixed(2)} ms`,
    p99: `${service.p99Ms.toFixed(2)} ms (${(service.p99Ms / bare.p99Ms).toFixed(1)} ×)`,
    cpu: cpuOf(service),
    goal: goals.filter(goal => goal !== '').join(', '),
  }
}

function cpuOf({ cpu }: Sample): string {
  return ['HTTP', 'shard', 'other threads', 'projector', 'Postgres', 'ClickHouse']
    .map(part => `${(cpu[part] ?? 0).toFixed(2)}`)
    .join(' / ')
}

function tell({ work, rate, ofBare, p50, p99, cpu, goal }: TableRow): void {
  const parts = [
    rate,
    ofBare && `${ofBare} of bare`,
    p50 && `p50 ${p50}`,
    p99 && `p99 ${p99}`,
    cpu && `CPU ${cpu}`,
  ]
  console.log(
    `${work}: ${parts.filter(part => part !== '').join(', ')}${goal === '' ? '' : `; goal ${goal}`}`,
  )
}
