// npm run profile -- village|town|city ROW [seconds], or constant WALK [seconds], or start: where the CPU time of one row of
// the population's table goes, of one request asked again and again, or of a start. Runs the service, samples every thread,
// prints the top costs by self time and keeps the profiles under data/ for a browser's developer tools.
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import type { Profiler } from 'node:inspector'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { makeFlag, prepare, type Scenario, scenarios, writeScript } from './http/scenarios.js'
import { assertWrk } from './http/wrk.js'
import { keepChanging } from './population/changes.js'
import { type Size, sizes } from './population/data.js'
import { prepareRow, send } from './population/measure.js'
import { type Row, rows } from './population/rows.js'
import { startPopulated } from './population/town.js'
import { sendPast, startProduct, stop } from './product.js'
import { root } from './record.js'

const run = promisify(execFile)
const shown = 24

type Walk = Pick<Scenario, 'path' | 'body' | 'flags' | 'connections'>

const of = (path: string) => scenarios.find(one => one.path === path)!
const walks: Readonly<Record<string, Walk>> = {
  check: of('/flags/bench-flag/check'),
  event: of('/events'),
  batch: of('/event-batch'),
  all: of('/flags/check'),
  bulk: of('/flags/check-bulk'),
  identify: {
    path: '/events',
    body: JSON.stringify({
      event_type: 'identify',
      body: {
        keys: { id: 'someone-at-acme-1' },
        traits: { role: 'admin', age: 40 },
        company: { keys: { id: 'acme-corporation-1' }, traits: { seats: 12, region: 'eu' } },
      },
    }),
  },
}

const [kind = '', asked = '', seconds = '5'] = process.argv.slice(2)
const size = kind in sizes ? (kind as Size) : null
const walk = kind === 'constant' ? walks[asked] : undefined
const row = size === null ? undefined : rows.find(({ key }) => key === asked)
if (walk === undefined && row === undefined && kind !== 'start') {
  console.error(
    `Which one? ${Object.keys(sizes).join('|')} ${rows.map(({ key }) => key).join('|')}, ` +
      `constant ${Object.keys(walks).join('|')}, or start`,
  )
  process.exit(2)
}
const work = join(root, 'data', `profile-${process.pid}`)
const kept = join(root, 'data', `profile-${kind === 'start' ? kind : asked}`)
const flags = ['--import', pathToFileURL(join(root, 'dist/bench/profile-thread.js')).href]
mkdirSync(work, { recursive: true })
try {
  if (row !== undefined && size !== null) await ofPopulation(row, size)
  else await (walk === undefined ? aStart() : loaded(walk))
  rmSync(kept, { recursive: true, force: true })
  mkdirSync(kept)
  for (const name of readdirSync(work).filter(name => name.endsWith('.cpuprofile'))) {
    renameSync(join(work, name), join(kept, name))
    tell(name, JSON.parse(readFileSync(join(kept, name), 'utf8')))
  }
  console.log(`\nProfiles: ${kept}`)
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** A service that has a population, under the requests of one row, while definitions change. */
async function ofPopulation(row: Row, size: Size): Promise<void> {
  await assertWrk()
  const { child, port, population } = await startPopulated(size, work, { BENCH_PROFILE_DIR: work }, flags)
  try {
    const { file } = await prepareRow(row, { port, pid: child.pid!, population }, work)
    await send(file, port, row.connections, 3)
    const changes = keepChanging(port, population)
    writeFileSync(join(work, 'begin'), '')
    await sleep(100)
    const { perSecond } = await send(file, port, row.connections, Number(seconds))
    await sampled()
    await changes.stop()
    console.log(`${row.title}: ${Math.round(perSecond * row.items).toLocaleString('en')} ${row.unit}`)
  } finally {
    await stop(child)
  }
}

/** A service under load. */
async function loaded(walk: Walk): Promise<void> {
  await assertWrk()
  const { child, port } = await startProduct(join(work, 'data'), { BENCH_PROFILE_DIR: work }, flags)
  try {
    await prepare(port)
    for (let made = 1; made < (walk.flags ?? 1); made++) await makeFlag(port, `bench-flag-${made}`)
    await load(walk, port, 3)
    writeFileSync(join(work, 'begin'), '')
    await sleep(100)
    const { stdout } = await load(walk, port, Number(seconds))
    await sampled()
    console.log(stdout.split('\n').find(line => line.startsWith('Requests/sec')))
  } finally {
    await stop(child)
  }
}

/** The start after a kill with a past, as `npm run bench start` has it. */
async function aStart(): Promise<void> {
  const settings = { TOLLGATE_CHECKPOINT_INTERVAL_MS: '3600000' }
  const first = await startProduct(join(work, 'data'), settings)
  await sendPast(first.port, 1_000_000, 100_000)
  await stop(first.child, 'SIGKILL')
  writeFileSync(join(work, 'begin'), '')
  const again = await startProduct(join(work, 'data'), { ...settings, BENCH_PROFILE_DIR: work }, flags)
  try {
    await sampled()
    console.log(`ready after ${Math.round(again.readyMs)} ms`)
  } finally {
    await stop(again.child)
  }
}

/** Ends the sampling and waits until each thread has written. */
async function sampled(): Promise<void> {
  writeFileSync(join(work, 'end'), '')
  await sleep(2_000)
}

function load(walk: Walk, port: number, forSeconds: number) {
  const script = writeScript(walk, work)
  const args = ['-t1', `-c${walk.connections ?? 64}`, `-d${forSeconds}s`, '--timeout', '20s', '-s', script]
  return run('wrk', [...args, `http://127.0.0.1:${port}${walk.path}`])
}

interface Cost {
  readonly what: string
  ms: number
}

/** The top costs of one thread, by the time in a function itself. Waiting is left out. */
function tell(name: string, { nodes, samples = [], timeDeltas = [] }: Profiler.Profile): void {
  const costs = new Map<string, Cost>()
  const byId = new Map(nodes.map(node => [node.id, node.callFrame]))
  let allMs = 0
  samples.forEach((id, i) => {
    const frame = byId.get(id)!
    const ms = (timeDeltas[i] ?? 0) / 1_000
    if (frame.functionName === '(idle)') return
    const what = described(frame)
    const cost = costs.get(what)
    if (cost) cost.ms += ms
    else costs.set(what, { what, ms })
    allMs += ms
  })
  const urls = nodes.map(node => node.callFrame.url).join('\n')
  const role = ['workers/company', 'workers/project', 'src/front/http/server', 'src/'].find(one =>
    urls.includes(one),
  )
  console.log(`\n${name} (${role ?? 'another'}): ${Math.round(allMs)} ms of CPU`)
  const top = [...costs.values()].sort((a, b) => b.ms - a.ms).slice(0, shown)
  for (const { what, ms } of top)
    console.log(
      `  ${((100 * ms) / allMs).toFixed(1).padStart(5)} %  ${ms.toFixed(0).padStart(6)} ms  ${what}`,
    )
}

function described({ functionName, url, lineNumber }: Profiler.ProfileNode['callFrame']): string {
  const file = url.replace(/^.*\/dist\//, '').replace(/^.*\/node_modules\//, '')
  return `${functionName || '(nameless)'}${file === '' ? '' : `  ${file}:${lineNumber + 1}`}`
}
