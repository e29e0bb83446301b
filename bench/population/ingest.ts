// npm run bench -- ingest [MINUTES]: batches of 500 events with keys as quickly as the stores take them, for half an hour on the
// town: the senders stand still while a store is a million records behind. A line a minute: events acknowledged, rows into
// ClickHouse, how far the stores are behind, memory and disk.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryOf } from '../cpu.js'
import { assertWrk } from '../http/wrk.js'
import { inWork } from '../interrupted.js'
import { median } from '../median.js'
import { caughtUp, differencesOf, stop } from '../product.js'
import { record, root } from '../record.js'
import { prepareRow, send, sendUntil } from './measure.js'
import { rows } from './rows.js'
import { startPopulated } from './town.js'

/** Bytes of the service's and its stores' files, at most: with more the load ends early. */
const diskBytesMax = Number(process.env.BENCH_DISK_BYTES ?? 24e9)
/** The senders stand still from so many records behind on, until it is half as many; looked at so often, ms. */
const behindMax = 1_000_000
const lookedAtMs = 500
const warmUpSeconds = 8
const minuteMs = 60_000
/** The stores have so long to take what they are behind. */
const completeMsMax = 20 * minuteMs
/** Minutes at the begin and at the end whose medians are compared. */
const compared = 5
const row = rows.find(({ key }) => key === 'batch500')!

/** Counters of the service so far. */
interface Counted {
  readonly atMs: number
  /** Events acknowledged, and those that were no repeats. */
  readonly accepted: number
  readonly applied: number
  /** Records that each store lacks. */
  readonly behindClickHouse: number
  readonly behindPostgres: number
}

interface Minute {
  readonly perSecond: number
  readonly rowsPerSecond: number
  readonly behind: number
  readonly memory: ReadonlyMap<string, number>
  readonly diskBytes: number
}

/** Run the load for so many minutes, print it, and keep it. */
export async function benchIngest(minutes: number): Promise<void> {
  await assertWrk()
  const work = join(root, 'data', `bench-${process.pid}`)
  await inWork(work, async () => {
    const { child, port, population } = await startPopulated('town', work)
    const pid = child.pid!
    const { file } = await prepareRow(row, { port, pid, population }, work)
    await send(file, port, row.connections, warmUpSeconds)
    await caughtUp(port)
    console.log(`at most ${gigabytes(diskBytesMax)} of disk (BENCH_DISK_BYTES)`)

    const over = new AbortController()
    let hold: (still: boolean) => void = () => {}
    const load = sendUntil(file, port, {
      connections: row.connections,
      forSeconds: minutes * 60,
      until: over.signal,
      held: holding => {
        hold = holding
      },
    })
    const pacing = pace(port, still => hold(still), load)
    // it ends with the service when a signal stops all
    pacing.catch(() => {})
    const heard: Minute[] = []
    let before = await countedBy(port)
    for (let minute = 1; minute <= minutes && !over.signal.aborted; minute++) {
      await Promise.race([sleep(minuteMs), load])
      const now = await countedBy(port)
      heard.push(minuteOf(before, now, pid, work))
      before = now
      console.log(`minute ${minute}: ${lineOf(heard.at(-1)!)}`)
      if (heard.at(-1)!.diskBytes <= diskBytesMax) continue
      console.log(`the files have reached ${gigabytes(diskBytesMax)}: the load ends here`)
      over.abort()
    }
    const { refused } = await load
    await pacing
    const endedMs = performance.now()
    await caughtUp(port, completeMsMax)
    const completeMs = performance.now() - endedMs
    const differences = await differencesOf(port)
    console.log(
      `both stores had all ${(completeMs / 1_000).toFixed(1)} s after the last; ` +
        `${differences} differences; ${refused} requests refused`,
    )
    record('ingest', resultsOf(heard, refused, completeMs, differences))
    await stop(child)
  })
}

/** Hold the load while a store is far behind, until it ends. */
async function pace(port: number, hold: (still: boolean) => void, load: Promise<unknown>): Promise<void> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  load.then(over, over)
  for (let still = false; !isOver; await sleep(lookedAtMs)) {
    const { behindClickHouse, behindPostgres } = await countedBy(port)
    const behind = Math.max(behindClickHouse, behindPostgres)
    const should: boolean = behind > (still ? behindMax / 2 : behindMax)
    if (should !== still) hold(should)
    still = should
  }
}

function minuteOf(before: Counted, now: Counted, pid: number, directory: string): Minute {
  const seconds = (now.atMs - before.atMs) / 1_000
  const stored = now.applied - before.applied - (now.behindClickHouse - before.behindClickHouse)
  return {
    perSecond: (now.accepted - before.accepted) / seconds,
    rowsPerSecond: stored / seconds,
    behind: Math.max(now.behindClickHouse, now.behindPostgres),
    memory: memoryOf(pid),
    diskBytes: bytesIn(directory),
  }
}

async function countedBy(port: number): Promise<Counted> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const value = (name: string): number => {
    const line = text.split('\n').find(one => one.startsWith(`${name} `))
    if (line === undefined) throw new Error(`/metrics has no ${name}`)
    return Number(line.slice(name.length + 1))
  }
  return {
    atMs: performance.now(),
    accepted: value('tollgate_events_total{outcome="accepted"}'),
    applied: value('tollgate_events_total{outcome="applied"}'),
    behindClickHouse: value('tollgate_projector_lag_records{store="clickhouse"}'),
    behindPostgres: value('tollgate_projector_lag_records{store="postgres"}'),
  }
}

function bytesIn(directory: string): number {
  // a file may go while it counts
  const counted = execFileSync('sh', ['-c', 'du -s --block-size=1 "$0" 2>/dev/null || true', directory])
  return Number(counted.toString().split('\t')[0])
}

function resultsOf(heard: readonly Minute[], refused: number, completeMs: number, differences: number) {
  const measured = (name: string, value: number, unit: string, goal = '') => ({ name, value, unit, goal })
  const first = heard.slice(0, compared)
  const last = heard.slice(-compared)
  const of = (minutes: readonly Minute[], pick: (one: Minute) => number) =>
    Math.round(median(minutes.map(pick)))
  const results = [
    measured('minutes', heard.length, ''),
    measured(
      row.title,
      of(heard, one => one.perSecond),
      row.unit,
      '≥ 100,000',
    ),
    measured(
      `${row.title}: first minutes`,
      of(first, one => one.perSecond),
      row.unit,
    ),
    measured(
      `${row.title}: last minutes`,
      of(last, one => one.perSecond),
      row.unit,
      'as at first',
    ),
    measured(
      'rows into ClickHouse',
      of(heard, one => one.rowsPerSecond),
      'rows/s',
      '≥ 100,000',
    ),
    measured('records that a store lacks: most', Math.max(...heard.map(one => one.behind)), '', 'bounded'),
  ]
  for (const name of heard[0]!.memory.keys())
    results.push(
      measured(
        `memory of ${name}, first minutes`,
        of(first, one => one.memory.get(name) ?? 0),
        'MiB',
      ),
      measured(
        `memory of ${name}, last minutes`,
        of(last, one => one.memory.get(name) ?? 0),
        'MiB',
        'as at first',
      ),
    )
  const most = Math.max(...heard.map(one => one.diskBytes))
  results.push(
    measured('disk of all files: most', Math.round(most / 1e6), 'MB', `≤ ${diskBytesMax / 1e6}`),
    measured('requests refused', refused, '', '0'),
    measured('both stores complete after the end', Math.round(completeMs / 10) / 100, 's'),
    measured('differences between counters and stored events', differences, '', '0'),
  )
  return results
}

function lineOf({ perSecond, rowsPerSecond, behind, memory, diskBytes }: Minute): string {
  const held = [...memory].map(([name, mebibytes]) => `${name} ${mebibytes} MiB`)
  return (
    `${tell(perSecond)} ${row.unit} acknowledged, ${tell(rowsPerSecond)} rows/s into ClickHouse, ` +
    `${tell(behind)} records behind; ${held.join(', ')}; ${gigabytes(diskBytes)} of disk`
  )
}

const tell = (value: number) => Math.round(value).toLocaleString('en')
const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(2)} GB`
