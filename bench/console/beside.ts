// Checks beside open consoles, and what of it is the service's: ten consoles in Chromium, ten blank pages in Chromium with
// the same timers, and what ten consoles ask, asked without a browser.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Browser, Page } from 'playwright-core'
import { cpuTimes, usedBetween } from '../cpu.js'
import { median } from '../median.js'
import { stop } from '../product.js'
import type { Measured } from '../record.js'
import type { ChecksAsked } from './checks.js'
import { open, type Place, signedIn } from './page.js'
import type { Replayed } from './replay.js'

const checks = 8_000
const rounds = 3
const idleMs = 30_000

/** The companies and flags that checks are made for. */
interface Filled {
  readonly companyIds: readonly string[]
  readonly flagKeys: readonly string[]
}

interface Taken {
  /** CPU time of HTTP and shard for a check, with what else they did meanwhile, µs. */
  readonly us: number
  readonly p50: number
  readonly p99: number
}

const ways = ['alone', 'beside calls', 'beside blank pages', 'beside consoles'] as const
type Way = (typeof ways)[number]

/** Checks one after the other in each way, in turn. `paths`: the screens of the open consoles. */
export async function benchBeside(
  browser: Browser,
  place: Place,
  filled: Filled,
  paths: readonly string[],
): Promise<readonly Measured[]> {
  await checkMany(place, filled)
  const none = await idleCpu(place.pid)
  const { replayed, cpu } = await recorded(browser, place, paths)
  const taken = new Map<Way, Taken[]>(ways.map(way => [way, []]))
  let ofCalls = 0
  for (let round = 0; round < rounds; round++) {
    const take = async (way: Way) => {
      const one = await checkMany(place, filled)
      taken.get(way)!.push(one)
      console.log(
        `${way}: p50 ${one.p50.toFixed(2)}, p99 ${one.p99.toFixed(2)} ms; ${one.us.toFixed(0)} µs of CPU`,
      )
    }
    await take('alone')
    const replay = fork(new URL('./replay.js', import.meta.url))
    replay.send(replayed)
    await once(replay, 'message')
    if (round === 0) ofCalls = await idleCpu(place.pid)
    await take('beside calls')
    await stop(replay)
    const blank = await blankPages(browser, place, paths.length)
    await take('beside blank pages')
    for (const page of blank) await page.context().close()
    const pages = await openConsoles(browser, place, paths)
    await take('beside consoles')
    for (const page of pages) await page.context().close()
  }
  const of = (way: Way, member: keyof Taken) => median(taken.get(way)!.map(one => one[member]))
  const idle = 'nobody asks: CPU of the service and its stores'
  return [
    { name: idle, value: Math.round(none), unit: 'ms/s', goal: '' },
    { name: 'the same with what ten consoles ask', value: Math.round(ofCalls), unit: 'ms/s', goal: '' },
    { name: 'the same with ten open consoles', value: Math.round(cpu), unit: 'ms/s', goal: '' },
    {
      name: 'calls of ten consoles that nobody touches',
      value: round2(replayed.calls.length / (idleMs / 1_000)),
      unit: '/s',
      goal: '',
    },
    ...ways.flatMap(way => [
      {
        name: `a check ${way}, CPU of HTTP and shard`,
        value: Math.round(of(way, 'us')),
        unit: 'µs',
        goal: '',
      },
      { name: `a check ${way}, p50`, value: round2(of(way, 'p50')), unit: 'ms', goal: '' },
      {
        name: `a check ${way}, p99`,
        value: round2(of(way, 'p99')),
        unit: 'ms',
        goal: way === 'beside calls' ? 'as alone' : way === 'beside consoles' ? 'as beside blank pages' : '',
      },
    ]),
  ]
}

async function openConsoles(browser: Browser, place: Place, paths: readonly string[]): Promise<Page[]> {
  const pages: Page[] = []
  for (const path of paths) {
    const page = await signedIn(browser, place)
    await open(page, place, path)
    pages.push(page)
  }
  return pages
}

/** Pages that show a file of the service, and do nothing every three seconds. */
async function blankPages(browser: Browser, { port }: Place, count: number): Promise<Page[]> {
  const pages: Page[] = []
  for (let i = 0; i < count; i++) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    await page.goto(`http://127.0.0.1:${port}/portal.js`)
    await page.evaluate('void setInterval(() => { globalThis.at = performance.now() }, 3_000)')
    pages.push(page)
  }
  return pages
}

/** Calls of ten consoles that no person touches, and their cost for the service and its stores, ms a second. */
async function recorded(
  browser: Browser,
  place: Place,
  paths: readonly string[],
): Promise<{ readonly replayed: Replayed; readonly cpu: number }> {
  const calls: Replayed['calls'][number][] = []
  const watched: Replayed['watched'][number][] = []
  const cookies: string[] = []
  let begunMs = Number.POSITIVE_INFINITY
  const pages: Page[] = []
  for (const [session, path] of paths.entries()) {
    const page = await signedIn(browser, place)
    page.on('request', asked => {
      const called = asked.url().split('/console/api')[1]
      const atMs = performance.now() - begunMs
      if (called === undefined || !(atMs >= 0)) return
      calls.push({ atMs, session, method: asked.method(), path: called, body: asked.postData() })
    })
    page.on('websocket', socket =>
      socket.on('framesent', ({ payload }) => watched.push({ session, text: payload.toString() })),
    )
    await open(page, place, path)
    const [cookie] = await page.context().cookies(place.base)
    cookies.push(`${cookie!.name}=${cookie!.value}`)
    pages.push(page)
  }
  begunMs = performance.now()
  const cpu = await idleCpu(place.pid)
  begunMs = Number.POSITIVE_INFINITY
  for (const page of pages) await page.context().close()
  const { port, env } = place
  return { replayed: { port, env, spanMs: idleMs, cookies, calls, watched }, cpu }
}

/** CPU of the service and its stores while nobody asks, ms a second. */
async function idleCpu(pid: number): Promise<number> {
  const before = cpuTimes(pid)
  await new Promise(resolve => setTimeout(resolve, idleMs))
  const used = usedBetween(before, cpuTimes(pid))
  return [...used].reduce((sum, [part, us]) => sum + (part === 'client' ? 0 : us), 0) / idleMs
}

const round2 = (ms: number): number => Math.round(ms * 100) / 100

/** Checks of a process of its own: the one that drives the browser has other work. */
async function checkMany({ port, pid }: Place, { companyIds, flagKeys }: Filled): Promise<Taken> {
  const child: ChildProcess = fork(new URL('./checks.js', import.meta.url))
  const before = cpuTimes(pid)
  child.send({ port, checks, companies: companyIds.length, flagKeys } satisfies ChecksAsked)
  const [waits] = (await once(child, 'message')) as [number[]]
  const used = usedBetween(before, cpuTimes(pid))
  await stop(child)
  waits.sort((a, b) => a - b)
  const us = ((used.get('HTTP') ?? 0) + (used.get('shard') ?? 0)) / checks
  return { us, p50: median(waits), p99: waits[Math.floor(waits.length * 0.99)]! }
}
