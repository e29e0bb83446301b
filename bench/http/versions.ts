// Two states of the service against each other in one run: `node dist/bench/http/versions.js SIZE ROW SECONDS ROUNDS WHAT…`.
// SIZE, ROW  as `npm run bench` takes them; WHAT  the root of a built project (. is this one), with settings as a query:
// `.`, `../before`, `.?TOLLGATE_SHARDS=2`, or `bare` for a route of the same server library that does nothing.
// All are started; their rounds alternate, and each waits until the stores have the rows of the one before, whose CPU time
// counts until then.
// CONNECTIONS sets how many there are (64).
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { cores, idleUs } from '../cpu.js'
import { median } from '../median.js'
import { keepChanging } from '../population/changes.js'
import { type Size, sizes } from '../population/data.js'
import { load, prepareRow, type Sample } from '../population/measure.js'
import { type Row, rows } from '../population/rows.js'
import type { Population } from '../population/streams.js'
import { startPopulated } from '../population/town.js'
import { caughtUp, type Started, stop } from '../product.js'
import { root } from '../record.js'
import { type Bare, startBare } from './scenarios.js'
import { assertWrk } from './wrk.js'

interface Contender {
  readonly name: string
  readonly started: (Started & { readonly population: Population }) | Bare
  readonly rounds: Round[]
}

interface Round extends Sample {
  /** Share of the cores' time, while requests were sent. */
  readonly idle: number
}

const [size = '', key = '', seconds = '3', rounds = '5', ...what] = process.argv.slice(2)
const row = rows.find(one => one.key === key)
if (!(size in sizes) || row === undefined || what.length === 0) {
  console.error('Usage: versions.js village|town|city ROW SECONDS ROUNDS ROOT[?SETTING=value]…|bare')
  process.exit(2)
}
const connections = Number(process.env.CONNECTIONS ?? row.connections)
const directory = join(root, 'data', `bench-versions-${process.pid}`)

await assertWrk()
mkdirSync(directory, { recursive: true })
const contenders: Contender[] = []
try {
  // the bare route writes replies as long as those of the first service
  let prepared = { file: '', replyBytes: 0 }
  for (const [index, name] of [...what.entries()].filter(([, one]) => one !== 'bare')) {
    const started = await start(name, index)
    contenders.push({ name, started, rounds: [] })
    if (prepared.file === '')
      prepared = await prepareRow(row, { ...started, pid: started.child.pid! }, directory)
  }
  if (what.includes('bare'))
    contenders.push({ name: 'bare', started: await startBare(prepared.replyBytes), rounds: [] })
  for (let round = -1; round < Number(rounds); round++)
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const one = await measured(contender, row, prepared.file, round < 0 ? 2 : Number(seconds))
      if (round >= 0) contender.rounds.push(one)
    }
  for (const contender of contenders) tell(contender, contenders[0]!)
} finally {
  for (const { started } of contenders) await stop(started.child)
  rmSync(directory, { recursive: true, force: true })
}

async function start(name: string, index: number): Promise<Started & { readonly population: Population }> {
  const [from = '.', query = ''] = name.split('?')
  const settings = Object.fromEntries(new URLSearchParams(query))
  return startPopulated(size as Size, join(directory, `service-${index}`), settings, [], resolve(from))
}

async function measured({ started }: Contender, row: Row, file: string, forSeconds: number): Promise<Round> {
  const { child, port } = started
  const changes = 'population' in started ? keepChanging(port, started.population) : null
  const begun = { idle: idleUs(), ms: performance.now() }
  let idle = 0
  const settle = async () => {
    idle = (idleUs() - begun.idle) / ((performance.now() - begun.ms) * 1_000 * cores)
    await changes?.stop()
    if (changes !== null && row.writes) await caughtUp(port)
  }
  const asked = { row: { ...row, connections }, file, port, pid: child.pid!, forSeconds }
  return { ...(await load({ ...asked, settle })), idle }
}

function tell({ name, rounds: measured }: Contender, { rounds: first }: Contender): void {
  const of = (pick: (round: Round) => number) => median(measured.map(pick))
  const pairs = median(measured.map(({ perSecond }, index) => perSecond / first[index]!.perSecond))
  const parts = Object.keys(measured[0]!.cpu).map(part => ({ part, us: of(({ cpu }) => cpu[part] ?? 0) }))
  const each = parts.filter(({ us }) => us >= 0.005).map(({ part, us }) => `${part} ${us.toFixed(2)}`)
  console.log(
    `${name}: ${Math.round(of(({ perSecond }) => perSecond)).toLocaleString('en')}/s, ` +
      `${(100 * pairs).toFixed(1)} % of the first (median of pairs), ` +
      `p50 ${of(({ p50Ms }) => p50Ms).toFixed(2)} ms, p99 ${of(({ p99Ms }) => p99Ms).toFixed(2)} ms, ` +
      `cores idle ${(100 * of(({ idle }) => idle)).toFixed(0)} %`,
  )
  const all = parts.reduce((sum, { us }) => sum + us, 0)
  console.log(`  CPU, µs each: ${each.join(', ')}; together ${all.toFixed(2)}`)
}
