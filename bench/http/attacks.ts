// npm run bench -- attacks [uws|node] [kind…]: what one key may use up that others need (security H1 to H6), on both HTTP servers. Each kind
// has a service of its own, with the default limits. Prints memory before, at most and afterwards, what of it is in use after a
// full collection of every heap, the CPU time of each part without and with the attack, the longest turn of each thread, and
// the rate and latency of production's checks meanwhile. It keeps nothing.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { cpuTimes, residentMiB, usedBetween } from '../cpu.js'
import type { Observed } from '../population/observe-thread.js'
import { secret, startProduct, stop } from '../product.js'
import { root } from '../record.js'
import { attacks, type Callers, type Send, sender } from './attack-kinds.js'
import type { AttackJob } from './attack-thread.js'

const quietMs = 4_000
const attackMs = Number(process.env.TOLLGATE_BENCH_SECONDS ?? 5) * 1_000
/**
 * Times after an attack at which memory is compared with what it was. A thread that has been idle for ten seconds collects its
 * heap: before that, much of it is garbage.
 */
const afterMs = [10_000, 45_000]
/** Above this load average latencies tell of the machine alone. */
const quietLoad = 3
/** Pause between two checks of production, ms. */
const pauseMs = 5

const servers = ['uws', 'node']
const observer = pathToFileURL(join(root, 'dist/bench/population/observe-thread.js')).href
const attackFile = new URL('attack-thread.js', import.meta.url)

/** The names of the attacks and of the servers. */
export const attackWords: readonly string[] = [...Object.keys(attacks), ...servers]

/** Run attacks, all unless some are named, on both HTTP servers unless one is named. */
export async function benchAttacks(named: readonly string[]): Promise<void> {
  const among = (all: readonly string[]) => {
    const wanted = all.filter(one => named.includes(one))
    return wanted.length === 0 ? all : wanted
  }
  const kinds = among(Object.keys(attacks))
  for (const http of among(servers)) for (const kind of kinds) await one(kind, http)
}

async function one(kind: string, http: string): Promise<void> {
  const { what, prepare } = attacks[kind]!
  const work = join(root, 'data', `bench-attack-${process.pid}-${kind}`)
  mkdirSync(work, { recursive: true })
  const settings = {
    TOLLGATE_HTTP: http,
    TOLLGATE_LIMITS: 'default',
    TOLLGATE_HOST: '127.0.0.1',
    BENCH_OBSERVE_DIR: work,
  }
  const { child, port } = await startProduct(join(work, 'data'), settings, ['--import', observer])
  const pid = child.pid!
  try {
    const url = `http://127.0.0.1:${port}`
    const send = sender(url, secret)
    const callers = await makeWorld(url, send)
    await prepare?.(send)
    // the first requests of a process compile code and fill caches
    await fare(callers, pid, quietMs)
    await sleep(1_000)
    const beforeMb = residentMiB(pid)
    const quiet = await fare(callers, pid, quietMs)
    writeFileSync(join(work, 'begin'), '')
    const [during, heard] = await Promise.all([
      fare(callers, pid, attackMs),
      ofThread({ kind, callers, forMs: attackMs }),
    ])
    const endedMs = performance.now()
    const later: string[] = []
    for (const ms of afterMs) {
      await sleep(endedMs + ms - performance.now())
      const mb = residentMiB(pid)
      later.push(`${ms / 1_000} s later ${mb} (${Math.round((mb / beforeMb - 1) * 100)} %)`)
    }
    const observed = await collected(work)
    console.log(`${http} ${kind}: ${what}${heard ? `; ${heard}` : ''}`)
    console.log(
      `  memory ${beforeMb} MB, at most ${during.topMb}, ${later.join(', ')}, all collected ${residentMiB(pid)}; ${observed}`,
    )
    console.log(`  quiet    ${quiet.text}`)
    console.log(`  attacked ${during.text}`)
  } finally {
    await stop(child)
    rmSync(work, { recursive: true, force: true })
  }
}

/** Have a thread of its own attack. Returns the answers in words. */
function ofThread(job: AttackJob): Promise<unknown> {
  return new Promise((resolve, reject) => {
    new Worker(attackFile, { workerData: job }).once('message', resolve).once('error', reject)
  })
}

/** Has every thread of the service collect its heap. Returns what it observed since the attack began, in words. */
async function collected(folder: string): Promise<string> {
  writeFileSync(join(folder, 'end'), '')
  await sleep(2_000)
  const threads = readdirSync(folder)
    .filter(name => /^thread-\d+\.json$/.test(name))
    .map(name => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Observed)
  const mb = (bytes: number) => (bytes / 2 ** 20).toFixed(0)
  const inUse = threads.reduce((sum, { heap, outside }) => sum + heap + outside, 0)
  const turns = threads
    .map(({ main, longestTurnMs, longestCollectionMs }) => {
      const name = main ? 'HTTP' : 'another'
      return `${name} ${longestTurnMs.toFixed(0)} (collection ${longestCollectionMs.toFixed(0)})`
    })
    .join(', ')
  return `in use ${mb(inUse)}; longest turn, ms: ${turns}`
}

/** Checks of production, one after the other, and /health/live, for a time. */
async function fare({ url, production }: Callers, pid: number, ms: number) {
  const send = sender(url, production.secret)
  const [checks, lives]: [number[], number[]] = [[], []]
  const beganMs = performance.now()
  const before = cpuTimes(pid)
  let topMb = 0
  const loop = async (all: number[], ask: () => Promise<unknown>) => {
    while (performance.now() < beganMs + ms) {
      const askedMs = performance.now()
      await ask()
      all.push(performance.now() - askedMs)
      await sleep(pauseMs)
    }
  }
  const watch = setInterval(() => {
    topMb = Math.max(topMb, residentMiB(pid))
  }, 50)
  const body = { company: { slug: 'prod' } }
  await Promise.all([
    loop(checks, () => send('POST', '/flags/f0/check', body)),
    loop(lives, () => fetch(`${url}/health/live`).then(answer => answer.text())),
  ])
  clearInterval(watch)
  const seconds = (performance.now() - beganMs) / 1_000
  const used = [...usedBetween(before, cpuTimes(pid))]
    .filter(([part]) => part !== 'client')
    .map(([part, us]) => `${part} ${Math.round(us / 1_000 / seconds)}`)
  const load = loadavg()[0]!
  const latencies =
    load < quietLoad
      ? `; check p50 ${rank(checks, 0.5)} ms, p99 ${rank(checks, 0.99)} ms, /health/live at most ${rank(lives, 1)} ms`
      : `; load ${load.toFixed(1)}: latencies tell of the machine`
  const text = `${Math.round(checks.length / seconds)} checks/s; CPU ms a second: ${used.join(', ')}${latencies}`
  return { topMb, text }
}

const rank = (all: number[], part: number): string =>
  (all.sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * part))] ?? 0).toFixed(1)

/** 100 flags, a company of production, and a key of each kind of caller. */
async function makeWorld(url: string, send: Send): Promise<Callers> {
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at member by member
  const data = async (...request: Parameters<Send>): Promise<any> =>
    JSON.parse((await send(...request)).text).data
  const whoami = await data('GET', '/whoami')
  const account = await data('POST', '/api-keys', { name: 'account' })
  const idOf = (name: string): string =>
    whoami.environments.find((one: { readonly name: string }) => one.name === name).id
  const [testId, productionId] = [idOf('Development'), idOf('Production')]
  const made = async (environment_id: string, more: object): Promise<string> =>
    (await data('POST', '/api-keys', { name: 'attack', environment_id, ...more }, account.secret)).secret
  const publicOf = async (id: string): Promise<string> => {
    const path = `/api-keys?limit=250&require_environment=true&environment_id=${id}`
    const keys = await data('GET', path, undefined, account.secret)
    return keys.find((one: { readonly secret?: string }) => one.secret?.startsWith('pk_')).secret
  }
  const production = { secret: await made(productionId, {}), publishable: await publicOf(productionId) }
  for (let n = 0; n < 100; n++)
    await send('POST', '/flags', {
      name: `f${n}`,
      key: `f${n}`,
      description: 'a flag',
      default_value: false,
      flag_type: 'boolean',
    })
  await send('POST', '/companies', { keys: { slug: 'prod' } }, production.secret)
  const reader = await made(testId, { readonly: true })
  return { url, reader, publishable: await publicOf(testId), production }
}
