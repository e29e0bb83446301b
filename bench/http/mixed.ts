// How long a check waits while batches of 500 events arrive at half the rate at which they could: the checks alone and
// the bare route under the same batches and checks are the baselines of the same run. Last, how long while they arrive as
// quickly as they are answered.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endedWithUs } from '../interrupted.js'
import { median } from '../median.js'
import { writePrepared } from '../population/prepared.js'
import { caughtUp, stop } from '../product.js'
import { type Measured, root } from '../record.js'
import type { Paced } from './paced.js'
import { type Scenario, scenarios, startBare, writeScript } from './scenarios.js'
import { type Answered, putLoad } from './wrk.js'

const seconds = Number(process.env.TOLLGATE_BENCH_SECONDS ?? 5)
const rounds = 3
const checksPerSecond = 500
const checkConnections = 16
const batchConnections = 8

/** Measure over a service that has what `prepare` makes. */
export async function benchMixed(port: number, pid: number, work: string): Promise<readonly Measured[]> {
  const check = scenarios.find(one => one.path.endsWith('/bench-flag/check'))!
  const batch = scenarios.find(one => one.path === '/event-batch')!
  const bare = await startBare(500)
  try {
    const load = {
      port,
      path: batch.path,
      script: writeScript(batch, work),
      connections: batchConnections,
      seconds,
    }
    const top = (await putLoad(load)).perSecond
    const checks = (of: number) => paced(of, check, work, checksPerSecond, checkConnections)
    const mixed = async (of: number) =>
      Promise.all([checks(of), paced(of, batch, work, top / 2, batchConnections)])
    const [alone, bareBoth, both]: [Paced[], Paced[], (readonly [Paced, Paced])[]] = [[], [], []]
    const [worked, waited]: [number[], number[]] = [[], []]
    const full: (readonly [Paced, Answered])[] = []
    for (let round = 0; round < rounds; round++) {
      await caughtUp(port)
      alone.push(await checks(port))
      bareBoth.push((await mixed(bare.port))[0])
      const before = coreOf(pid)
      both.push(await mixed(port))
      const after = coreOf(pid)
      worked.push(after.workedMs - before.workedMs)
      waited.push(after.waitedMs - before.waitedMs)
      await caughtUp(port)
      full.push(await Promise.all([checks(port), putLoad(load)]))
    }
    const name = `checks at ${checksPerSecond}/s while batches of 500 arrive at half their top rate`
    const nameFull = `checks at ${checksPerSecond}/s while batches of 500 arrive as quickly as they are answered`
    const rows = [
      row(`${name}: p99`, median(both.map(([one]) => one.p99Ms)), 'ms', '≤ 5'),
      row(`${name}: p50`, median(both.map(([one]) => one.p50Ms)), 'ms'),
      row(`${name}: slowest`, median(both.map(([one]) => one.maxMs)), 'ms'),
      row(`${name}: p99 of a bare route under the same`, median(bareBoth.map(one => one.p99Ms)), 'ms'),
      row(`${name}: p99 of the checks alone`, median(alone.map(one => one.p99Ms)), 'ms'),
      row(`${name}: events`, median(both.map(([, one]) => one.perSecond)) * 500, 'events/s'),
      row(`${name}: HTTP thread at work, of the time`, share(worked), '%'),
      row(`${name}: HTTP thread waiting for a core, of the time`, share(waited), '%'),
      row(`${name}: p99 of the batches`, median(both.map(([, one]) => one.p99Ms)), 'ms'),
      row(`${nameFull}: p99`, median(full.map(([one]) => one.p99Ms)), 'ms'),
      row(`${nameFull}: p50`, median(full.map(([one]) => one.p50Ms)), 'ms'),
      row(`${nameFull}: events`, median(full.map(([, one]) => one.perSecond)) * 500, 'events/s'),
    ]
    for (const { name, value, unit } of rows) console.log(`${name}: ${value.toLocaleString('en')} ${unit}`)
    return rows
  } finally {
    await stop(bare.child)
  }
}

async function paced(
  port: number,
  { path, body }: Scenario,
  work: string,
  perSecond: number,
  connections: number,
): Promise<Paced> {
  const file = join(work, `${path.replaceAll('/', '-')}.requests`)
  writePrepared(file, [{ method: 'POST', path, body }])
  return pacedLoad({ port, file, perSecond, seconds, connections })
}

/** Requests of the first moments, which a paced load does not report. */
export const pacedWarmUpMs = 500

export interface PacedLoad {
  readonly port: number
  /** Prepared requests. */
  readonly file: string
  readonly perSecond: number
  readonly seconds: number
  readonly connections: number
  /** Whether requests may be refused; else the load throws. */
  readonly mayRefuse?: boolean
}

/** Put a steady load on a port from a process of its own. */
export async function pacedLoad({
  port,
  file,
  perSecond,
  seconds,
  connections,
  mayRefuse = false,
}: PacedLoad): Promise<Paced> {
  const args = [port, file, perSecond, seconds, connections].map(String)
  const child = endedWithUs(spawn(process.execPath, [join(root, 'dist/bench/http/paced.js'), ...args]))
  child.stderr.pipe(process.stderr)
  let text = ''
  // its CPU time counts once it has ended
  const ended = once(child, 'exit')
  for await (const chunk of child.stdout) text += chunk
  await ended
  const told = JSON.parse(text) as Paced
  if (told.refused > 0 && !mayRefuse) throw new Error(`${file}: ${told.refused} were refused`)
  return told
}

/** Time that a process's first thread ran on a core, and waited for a busy one, as Linux counts it. */
function coreOf(pid: number): { readonly workedMs: number; readonly waitedMs: number } {
  const [worked, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
  return { workedMs: Number(worked) / 1e6, waitedMs: Number(waited) / 1e6 }
}

/** Share of one run's time. */
function share(ms: readonly number[]): number {
  return median(ms) / (10 * (seconds + 0.5))
}

function row(name: string, value: number, unit: string, goal = ''): Measured {
  return { name, value: Math.round(value * 100) / 100, unit, goal }
}
