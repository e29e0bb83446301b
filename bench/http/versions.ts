// Two states of the service against each other in one run: `node dist/bench/http/versions.js KIND SECONDS ROUNDS WHAT…`.
// KIND   check, event or batch; WHAT  the root of a built project (. is this one), with settings as a query:
// `.`, `../before`, `.?TOLLGATE_SHARDS=2`, or `bare` for a route of the same server library that does nothing.
// Their rounds follow one another in alternating order, all being started; what one left to the stores is waited for.
// CONNECTIONS sets how many there are (batch 8, otherwise 64).
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { cores, cpuTimes, idleUs, usedBetween } from '../cpu.js'
import { median } from '../median.js'
import { caughtUp, post, type Started, startProduct, stop } from '../product.js'
import { root } from '../record.js'
import { type Bare, prepare, type Scenario, scenarios, startBare, writeScript } from './scenarios.js'
import { assertWrk, putLoad } from './wrk.js'

interface Contender {
  readonly name: string
  readonly started: Started | Bare
  readonly rounds: Round[]
}

interface Round {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly idle: number
  /** Per item, µs. */
  readonly cpu: ReadonlyMap<string, number>
}

const [kind = 'event', seconds = '3', rounds = '5', ...what] = process.argv.slice(2)
const paths: Readonly<Record<string, string>> = {
  check: '/flags/bench-flag/check',
  event: '/events',
  batch: '/event-batch',
}
const scenario = scenarios.find(({ path }) => path === paths[kind])
if (scenario === undefined || what.length === 0) {
  console.error('Usage: versions.js check|event|batch SECONDS ROUNDS ROOT[?SETTING=value]…|bare')
  process.exit(2)
}
const connections = Number(process.env.CONNECTIONS ?? (kind === 'batch' ? 8 : 64))
const directory = join(root, 'data', `bench-versions-${process.pid}`)

await assertWrk()
mkdirSync(directory, { recursive: true })
const script = writeScript(scenario, directory)
const contenders: Contender[] = []
try {
  for (const [index, name] of what.entries())
    contenders.push({ name, started: await start(name, index, scenario), rounds: [] })
  for (let round = -1; round < Number(rounds); round++)
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const one = await measured(contender, scenario, round < 0 ? 1 : Number(seconds))
      if (round >= 0) contender.rounds.push(one)
    }
  for (const contender of contenders) tell(contender, contenders[0]!)
} finally {
  for (const { started } of contenders) await stop(started.child)
  rmSync(directory, { recursive: true, force: true })
}

async function start(name: string, index: number, { path, body }: Scenario): Promise<Started | Bare> {
  if (name === 'bare') return startBare(kind === 'check' ? 500 : 250)
  const [from = '.', query = ''] = name.split('?')
  const settings = Object.fromEntries(new URLSearchParams(query))
  const product = await startProduct(join(directory, `data-${index}`), settings, [], resolve(from))
  await prepare(product.port)
  await post(product.port, path, body)
  return product
}

async function measured(contender: Contender, { path, items }: Scenario, forSeconds: number): Promise<Round> {
  const { child, port } = contender.started
  const before = { cpu: cpuTimes(child.pid!), idle: idleUs(), ms: performance.now() }
  const load = { port, path, script, connections, seconds: forSeconds }
  const { requests, perSecond, p50Ms, p99Ms } = await putLoad(load)
  const after = { cpu: cpuTimes(child.pid!), idle: idleUs(), ms: performance.now() }
  if (contender.name !== 'bare') await caughtUp(port)
  return {
    perSecond: perSecond * items,
    p50Ms,
    p99Ms,
    idle: (after.idle - before.idle) / ((after.ms - before.ms) * 1_000 * cores),
    cpu: new Map(
      [...usedBetween(before.cpu, after.cpu)].map(([part, us]) => [part, us / (requests * items)]),
    ),
  }
}

function tell({ name, rounds: measured }: Contender, { rounds: first }: Contender): void {
  const of = (pick: (round: Round) => number) => median(measured.map(pick))
  const pairs = median(measured.map(({ perSecond }, index) => perSecond / first[index]!.perSecond))
  const parts = [...measured[0]!.cpu.keys()].map(part => ({ part, us: of(({ cpu }) => cpu.get(part) ?? 0) }))
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
