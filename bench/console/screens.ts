// The cost of the console on the town: the browser's main thread for each screen, the service for each call that a screen
// makes, and checks while ten consoles are open. CPU times first: they can be believed on a busy machine.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { cpuTimes, usedBetween } from '../cpu.js'
import { median } from '../median.js'
import { startPopulated } from '../population/town.js'
import { post, secret, stop } from '../product.js'
import { type Measured, record, root } from '../record.js'

/** Loads of each screen, requests of each call, checks of each part. */
const loads = 5
const requests = 100
const checks = 4_000
const consoles = 10
const idleMs = 20_000
/** Where a page and a call should stand. */
const interactiveMsMax = 1_000
const cpuMsMax = 500
const callBytesMax = 60_000
const callMsMax = 100

interface Place {
  readonly port: number
  readonly pid: number
  readonly base: string
  readonly env: string
}

/** A call of the console: method, path with its query, and body. */
interface AskedCall {
  readonly method: string
  readonly path: string
  readonly body: string | null
  readonly screen: string
}

/** `npm run bench -- console`: on the town, with Debian's Chromium. */
export async function benchConsole(): Promise<void> {
  const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
    existsSync,
  )
  if (executablePath === undefined) throw new Error('No Chromium is installed')
  const work = join(root, 'data', `bench-console-${process.pid}`)
  const { child, port, population } = await startPopulated('town', work)
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
  try {
    const who = await read(port, '/whoami')
    const place = {
      port,
      pid: child.pid!,
      base: `http://127.0.0.1:${port}/console/`,
      env: who.environment_id,
    }
    const [companyId] = population.filled.companyIds
    const [planId] = population.filled.planIds
    const [flag] = await read(port, '/flags?view=summary&limit=1')
    const screens = screensOf(companyId!, planId!, flag)
    const { rows, calls, cookie } = await benchScreens(browser, place, screens)
    const asked = await benchCalls(place, calls, cookie)
    const beside = await benchBeside(browser, place, population.filled, screens)
    record('console', [...rows, ...asked, ...beside])
  } finally {
    await browser.close()
    await stop(child)
    rmSync(work, { recursive: true, force: true })
  }
}

const screensOf = (
  companyId: string,
  planId: string,
  flag: { readonly id: string; readonly key: string },
): readonly (readonly [name: string, path: string])[] => [
  ['Overview', 'overview'],
  ['Companies', 'companies'],
  ['Companies by closeness to a limit', 'companies?sort=closest_limit'],
  ['Companies that match a text', 'companies?q=gold'],
  ['a company', `companies/${companyId}`],
  ...['credits', 'charges', 'events', 'flags', 'users', 'changes', 'more'].map(
    tab => [`a company, ${tab}`, `companies/${companyId}?tab=${tab}`] as const,
  ),
  ['Why?', 'why'],
  ['Why? of a company and flag', `why?company=${companyId}&flag=${flag.key}`],
  ['Plans', 'plans'],
  ['a plan', `plans/${planId}`],
  ['plans as customers see them', 'preview/plans'],
  ['Features', 'features'],
  ['Flags', 'flags'],
  ['a flag', `flags/${flag.id}`],
  ['Credits', 'credits'],
  ['Charges', 'charges'],
  ['Charges of running periods', 'charges?period=current'],
  ['Charges of running periods that nothing matches', 'charges?period=current&kind=seat'],
  ['Events', 'events'],
  ['Webhooks', 'webhooks'],
  ['Keys and members', 'keys'],
  ['Audit', 'audit'],
  ['System', 'system'],
]

// biome-ignore lint/suspicious/noExplicitAny: replies are looked at member by member
async function read(port: number, path: string): Promise<any> {
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { 'X-Service-Api-Key': secret } })
  return ((await reply.json()) as { data: unknown }).data
}

async function signedIn(browser: Browser, { port, base }: Place): Promise<Page> {
  const { data } = JSON.parse(await post(port, '/console-links', '{}')) as { data: { token: string } }
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addInitScript(noting)
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  await page.goto(`${base}#/sign-in?token=${data.token}`)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  return page
}

/** Instants that a page notes itself: a question from outside would come late, and cost its thread time. ms since it was asked for. */
interface Noted {
  /** Its heading is there: it can be used, while tables may still be loading. */
  readonly usable: number
  /** Since when nothing says that it is loading; 0: something does. */
  readonly loaded: number
}
const noting = `
  globalThis.noted = { usable: 0, loaded: 0 }
  new MutationObserver(() => {
    if (noted.usable === 0 && document.querySelector('h1')) noted.usable = performance.now()
    const isLoading = [...document.querySelectorAll('[role=status]')].some(one => one.textContent.trim() === 'Loading')
    if (isLoading || noted.usable === 0) noted.loaded = 0
    else if (noted.loaded === 0) noted.loaded = performance.now()
  }).observe(document, { childList: true, subtree: true, characterData: true })`

/** How long nothing must be loading before a screen is taken as whole. */
const quietMs = 500

/** Open a screen as from a link in a mail: all of the page is loaded. */
async function open(page: Page, { base, env }: Place, path: string): Promise<Noted> {
  await page.goto(`${base}#/${env}/${path}`)
  for (;;) {
    await new Promise(resolve => setTimeout(resolve, quietMs / 4))
    const { now, ...noted } = await page.evaluate<Noted & { now: number }>(
      '({ ...noted, now: performance.now() })',
    )
    if (noted.loaded > 0 && now - noted.loaded > quietMs) return noted
  }
}

/** Bytes of the calls of a page, as they were sent. */
const bytesText = `
  performance.getEntriesByType('resource')
    .filter(({ name }) => /console.(api|session)/.test(name))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`

/** Each screen: CPU time of the browser's main thread until nothing is loading, and the calls that it makes. */
async function benchScreens(
  browser: Browser,
  place: Place,
  screens: readonly (readonly [name: string, path: string])[],
) {
  const first = await signedIn(browser, place)
  const context = first.context()
  await first.close()
  const calls = new Map<string, AskedCall>()
  let at = ''
  context.on('request', asked => {
    const path = asked.url().split('/console/api')[1]
    if (path === undefined) return
    const one = { method: asked.method(), path, body: asked.postData(), screen: at }
    const key = `${one.method} ${path} ${one.body}`
    if (!calls.has(key)) calls.set(key, one)
  })
  const rows: Measured[] = []
  for (const [name, path] of screens) {
    at = name
    const spent: number[] = []
    const taken: number[] = []
    const usable: number[] = []
    let bytes = 0
    for (let i = 0; i < loads; i++) {
      // A page has a process of its own, whose times begin with it.
      const page = await context.newPage()
      page.setDefaultTimeout(60_000)
      const session = await context.newCDPSession(page)
      await session.send('Performance.enable', { timeDomain: 'threadTicks' })
      const noted = await open(page, place, path)
      usable.push(noted.usable)
      taken.push(noted.loaded)
      const { metrics } = await session.send('Performance.getMetrics')
      spent.push(1_000 * metrics.find(({ name: metric }) => metric === 'TaskDuration')!.value)
      bytes = await page.evaluate<number>(bytesText)
      await page.close()
    }
    rows.push(
      {
        name: `${name}: until it can be used`,
        value: Math.round(median(usable)),
        unit: 'ms',
        goal: `< ${interactiveMsMax}`,
      },
      { name: `${name}: until nothing is loading`, value: Math.round(median(taken)), unit: 'ms', goal: '' },
      {
        name: `${name}: CPU of the page's main thread`,
        value: Math.round(median(spent)),
        unit: 'ms',
        goal: `< ${cpuMsMax}`,
      },
      { name: `${name}: bytes of all calls`, value: bytes, unit: 'B', goal: `≤ ${callBytesMax}` },
    )
    console.log(
      `${name}: ${usable.map(Math.round).join(' ')} ms, all ${taken.map(Math.round).join(' ')} ms; CPU ${spent.map(Math.round).join(' ')} ms; ${bytes} B`,
    )
  }
  const [cookie] = await context.cookies(place.base)
  await context.close()
  return { rows, calls: [...calls.values()], cookie: `${cookie!.name}=${cookie!.value}` }
}

/** Each call: CPU time of the service and its stores, and how long the caller waits. */
async function benchCalls(
  { port, pid, env }: Place,
  calls: readonly AskedCall[],
  cookie: string,
): Promise<readonly Measured[]> {
  const url = `http://127.0.0.1:${port}`
  const rows: (Measured & { readonly waits: number })[] = []
  for (const { method, path, body, screen } of calls) {
    if (method !== 'GET' && !/explain|preview/.test(path)) continue
    const ask = async () => {
      const begun = performance.now()
      const reply = await fetch(`${url}/console/api${path}`, {
        method,
        headers: {
          Cookie: cookie,
          'X-Service-Environment-Id': env,
          ...(body !== null && {
            'Content-Type': 'application/json',
            'Sec-Fetch-Site': 'same-origin',
            Origin: url,
          }),
        },
        ...(body !== null && { body }),
      })
      const bytes = (await reply.arrayBuffer()).byteLength
      if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status}`)
      return { ms: performance.now() - begun, bytes }
    }
    await ask()
    const before = cpuTimes(pid)
    const told: { ms: number; bytes: number }[] = []
    for (let i = 0; i < requests; i++) told.push(await ask())
    const used = usedBetween(before, cpuTimes(pid))
    const cpu = [...used].filter(([part]) => part !== 'client')
    const sum = cpu.reduce((total, [, us]) => total + us, 0) / requests / 1_000
    const parts = cpu.flatMap(([part, us]) =>
      us / requests > 500 ? [`${part} ${(us / requests / 1_000).toFixed(1)}`] : [],
    )
    const waits = told.map(({ ms }) => ms).sort((a, b) => a - b)
    const p99 = waits[Math.ceil(waits.length * 0.99) - 1]!
    const shown = `${method} ${path.slice(0, 110)}`
    console.log(
      `${sum.toFixed(1).padStart(7)} ms CPU (${parts.join(', ')}), p50 ${median(waits).toFixed(0)}, p99 ${p99.toFixed(0)} ms, ${told[0]!.bytes} B | ${screen} | ${shown}`,
    )
    rows.push({ name: `CPU of ${shown}`, value: Math.round(sum * 10) / 10, unit: 'ms', goal: '', waits: p99 })
  }
  rows.sort((a, b) => b.value - a.value)
  const slowest = Math.max(...rows.map(({ waits }) => waits))
  return [
    {
      name: `the slowest of ${rows.length} calls, p99`,
      value: Math.round(slowest),
      unit: 'ms',
      goal: `≤ ${callMsMax}`,
    },
    ...rows.slice(0, 10).map(({ waits: _, ...row }) => row),
  ]
}

/** Checks one after the other, alone and beside ten consoles that nobody touches; and what these consoles cost. */
async function benchBeside(
  browser: Browser,
  place: Place,
  filled: { readonly companyIds: readonly string[]; readonly flagKeys: readonly string[] },
  screens: readonly (readonly [name: string, path: string])[],
): Promise<readonly Measured[]> {
  await checkMany(place, filled)
  const alone = await checkMany(place, filled)
  const none = await idleCpu(place.pid)
  const pages: Page[] = []
  for (let i = 0; i < consoles; i++) {
    const page = await signedIn(browser, place)
    await open(page, place, screens[(i * 4) % screens.length]![1])
    pages.push(page)
  }
  const ten = await idleCpu(place.pid)
  const beside = await checkMany(place, filled)
  for (const page of pages) await page.context().close()
  return [
    {
      name: 'nobody asks: CPU of the service and its stores',
      value: Math.round(none),
      unit: 'ms/s',
      goal: '',
    },
    { name: 'the same with ten open consoles', value: Math.round(ten), unit: 'ms/s', goal: '' },
    { name: 'a check, CPU of HTTP and shard', value: Math.round(alone.us), unit: 'µs', goal: '' },
    {
      name: 'the same beside ten consoles, with what these cost',
      value: Math.round(beside.us),
      unit: 'µs',
      goal: '',
    },
    { name: 'a check, p99', value: round2(alone.p99), unit: 'ms', goal: '' },
    { name: 'the same beside ten consoles', value: round2(beside.p99), unit: 'ms', goal: 'the same' },
  ]
}

/** CPU of the service and its stores while nobody asks, ms a second. */
async function idleCpu(pid: number): Promise<number> {
  const before = cpuTimes(pid)
  await new Promise(resolve => setTimeout(resolve, idleMs))
  const used = usedBetween(before, cpuTimes(pid))
  return [...used].reduce((sum, [part, us]) => sum + (part === 'client' ? 0 : us), 0) / idleMs
}

const round2 = (ms: number): number => Math.round(ms * 100) / 100

async function checkMany(
  { port, pid }: Place,
  { companyIds, flagKeys }: { readonly companyIds: readonly string[]; readonly flagKeys: readonly string[] },
): Promise<{ readonly us: number; readonly p99: number }> {
  const before = cpuTimes(pid)
  const waits: number[] = []
  for (let i = 0; i < checks; i++) {
    const begun = performance.now()
    const company = { slug: `company-${(i * 7) % companyIds.length}` }
    await post(port, `/flags/${flagKeys[i % flagKeys.length]}/check`, JSON.stringify({ company }))
    waits.push(performance.now() - begun)
  }
  const used = usedBetween(before, cpuTimes(pid))
  waits.sort((a, b) => a - b)
  const us = ((used.get('HTTP') ?? 0) + (used.get('shard') ?? 0)) / checks
  return { us, p99: waits[Math.floor(waits.length * 0.99)]! }
}
