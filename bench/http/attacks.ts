// npm run bench -- attacks [uws|node] [kind…]: what one key may use up that others need (security H1 to H6), on both HTTP servers. Each kind
// has a data directory of its own, with the default limits. Prints memory before, at most and afterwards, what of it is in use
// after a full collection of every heap, the CPU time of each part without and with the attack, the longest turn of each thread,
// and the rate and latency of production's checks meanwhile. A service that is started anew on the same data before the attack,
// and another one after it, tell what of the memory the kept rows take. It keeps nothing.
import type { ChildProcess } from 'node:child_process'
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
/** How long a service rests before its memory is compared: longer than until an idle collection. */
const restMs = 15_000
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
  const start = (name: string): Promise<Service> => startIn(join(work, name), join(work, 'data'), http)
  try {
    let service = await start('world')
    const callers = await makeWorld(service.url, service.send)
    await prepare?.(service.send)
    await stop(service.child)
    const before = await rested(await start('before'), callers)
    service = await start('attacked')
    const { pid, folder, child } = service
    const here = { ...callers, url: service.url }
    // the first requests of a process compile code and fill caches
    await fare(here, pid, quietMs)
    await sleep(1_000)
    const beforeMb = residentMiB(pid)
    const quiet = await fare(here, pid, quietMs)
    writeFileSync(join(folder, 'begin'), '')
    const [during, heard] = await Promise.all([
      fare(here, pid, attackMs),
      ofThread({ kind, callers: here, forMs: attackMs }),
    ])
    const endedMs = performance.now()
    const later: string[] = []
    for (const ms of afterMs) {
      await sleep(endedMs + ms - performance.now())
      const mb = residentMiB(pid)
      later.push(`${ms / 1_000} s later ${mb} (${Math.round((mb / beforeMb - 1) * 100)} %)`)
    }
    const rows = await rowsOf(here)
    const { turns, ...after } = await collected(service)
    await stop(child)
    const anew = await rested(await start('after'), callers)
    console.log(`${http} ${kind}: ${what}${heard ? `; ${heard}` : ''}`)
    console.log(
      `  memory   ${beforeMb} MB, at most ${during.topMb}, ${later.join(', ')}; longest turn, ms: ${turns}`,
    )
    console.log(`  kept     ${rows} companies and users; ${apart(before, anew, after)}`)
    console.log(`  quiet    ${told(quiet)}`)
    console.log(
      `  attacked ${told(during)}; check p99 ${(during.checkP99Ms / quiet.checkP99Ms).toFixed(1)} × quiet`,
    )
  } finally {
    for (const child of running) await stop(child)
    rmSync(work, { recursive: true, force: true })
  }
}

interface Service {
  readonly child: ChildProcess
  readonly pid: number
  readonly url: string
  readonly send: Send
  /** Where its threads write what they observed. */
  readonly folder: string
}

const running = new Set<ChildProcess>()

async function startIn(folder: string, data: string, http: string): Promise<Service> {
  mkdirSync(folder, { recursive: true })
  const settings = {
    TOLLGATE_HTTP: http,
    TOLLGATE_LIMITS: 'default',
    TOLLGATE_HOST: '127.0.0.1',
    BENCH_OBSERVE_DIR: folder,
  }
  const { child, port } = await startProduct(data, settings, ['--import', observer])
  running.add(child)
  child.once('exit', () => running.delete(child))
  const url = `http://127.0.0.1:${port}`
  return { child, pid: child.pid!, url, send: sender(url, secret), folder }
}

/** Memory with all heaps collected, MiB. */
interface Held {
  readonly resident: number
  readonly inUse: number
}

/** The memory of a service that has answered a few requests since its start. It is stopped. */
async function rested(service: Service, callers: Callers): Promise<Held> {
  writeFileSync(join(service.folder, 'begin'), '')
  for (let n = 0; n < 2; n++) await fare({ ...callers, url: service.url }, service.pid, quietMs)
  await sleep(restMs)
  const { resident, inUse } = await collected(service)
  await stop(service.child)
  return { resident, inUse }
}

/** The memory of the kept rows, and the memory that the attack leaves beside them, in words. */
function apart(before: Held, anew: Held, after: Held): string {
  const part = (of: keyof Held) => {
    const rest = after[of] - anew[of]
    const percent = Math.round((rest / anew[of]) * 100)
    return `${before[of]} MB before, ${anew[of]} anew with the rows, ${after[of]} after the attack: rows ${anew[of] - before[of]}, rest ${rest} (${percent} %)`
  }
  return `all collected, resident: ${part('resident')}; in use: ${part('inUse')}`
}

/** Companies and users of both environments. */
async function rowsOf({ url, tester, production }: Callers): Promise<number> {
  const send = sender(url, tester)
  let rows = 0
  for (const key of [tester, production.secret])
    for (const path of ['/companies/count', '/users/count'])
      rows += JSON.parse((await send('GET', path, undefined, key)).text).data.count
  return rows
}

/** Have a thread of its own attack. Returns the answers in words. */
function ofThread(job: AttackJob): Promise<unknown> {
  return new Promise((resolve, reject) => {
    new Worker(attackFile, { workerData: job }).once('message', resolve).once('error', reject)
  })
}

/** Has every thread of the service collect its heap. turns: the longest one of each since the attack began, in words. */
async function collected({ folder, pid }: Service): Promise<Held & { readonly turns: string }> {
  writeFileSync(join(folder, 'end'), '')
  await sleep(2_000)
  const threads = readdirSync(folder)
    .filter(name => /^thread-\d+\.json$/.test(name))
    .map(name => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Observed)
  const inUse = threads.reduce((sum, { heap, outside }) => sum + heap + outside, 0)
  const turns = threads
    .map(({ main, longestTurnMs, longestCollectionMs }) => {
      const name = main ? 'HTTP' : 'another'
      return `${name} ${longestTurnMs.toFixed(0)} (collection ${longestCollectionMs.toFixed(0)})`
    })
    .join(', ')
  return { resident: residentMiB(pid), inUse: Math.round(inUse / 2 ** 20), turns }
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
  return {
    topMb,
    text: `${Math.round(checks.length / seconds)} checks/s; CPU ms a second: ${used.join(', ')}`,
    checkP50Ms: rank(checks, 0.5),
    checkP99Ms: rank(checks, 0.99),
    liveP99Ms: rank(lives, 0.99),
    liveMaxMs: rank(lives, 1),
    load: loadavg()[0]!,
  }
}

function told(one: Awaited<ReturnType<typeof fare>>): string {
  const ms = (value: number) => value.toFixed(1)
  return (
    `${one.text}; check p50 ${ms(one.checkP50Ms)} ms, p99 ${ms(one.checkP99Ms)}; ` +
    `/health/live p99 ${ms(one.liveP99Ms)}, at most ${ms(one.liveMaxMs)}; load ${one.load.toFixed(1)}`
  )
}

const rank = (all: number[], part: number): number =>
  all.sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * part))] ?? 0

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
  return { url, tester: secret, reader, publishable: await publicOf(testId), production }
}
