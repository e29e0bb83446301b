// The cost of the console on the town: the browser's main thread for each screen, the service for each call that a screen
// makes, and checks beside open consoles (beside.ts). CPU times first: they can be believed on a busy machine.
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { cpuTimes, usedBetween } from '../cpu.js'
import { median } from '../median.js'
import { startPopulated } from '../population/town.js'
import { secret, stop } from '../product.js'
import { type Measured, record, root } from '../record.js'
import { benchBeside } from './beside.js'
import { open, type Place, signedIn } from './page.js'

/** Loads of each screen, requests of each call. */
const loads = 5
const requests = 100
/** Where a page and a call should stand. */
const interactiveMsMax = 1_000
const cpuMsMax = 500
const callBytesMax = 60_000
const callMsMax = 100

/** A call of the console: method, path with its query, and body. */
interface AskedCall {
  readonly method: string
  readonly path: string
  readonly body: string | null
  readonly screen: string
}

/** Screens of the consoles that nobody touches: those that read again by themselves, and others. */
const leftOpen = [
  'Overview',
  'Companies',
  'a company',
  'a company, events',
  'Why? of a company and flag',
  'a plan',
  'a flag',
  'Events',
  'Audit',
  'System',
]

/** Parts that are run alone where they are named: their results are printed, not kept. */
export const consoleParts: readonly string[] = ['screens', 'beside']

/** `npm run bench -- console [screens] [beside]`: on the town, with Debian's Chromium. */
export async function benchConsole(only: readonly string[]): Promise<void> {
  const wants = (part: string) => only.length === 0 || only.includes(part)
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
    const rows: Measured[] = []
    if (wants('screens')) {
      const seen = await benchScreens(browser, place, screens)
      rows.push(...seen.rows, ...(await benchCalls(place, seen.calls, seen.cookie)))
    }
    if (wants('beside')) {
      const paths = screens.filter(([name]) => leftOpen.includes(name)).map(([, path]) => path)
      rows.push(...(await benchBeside(browser, place, population.filled, paths)))
    }
    if (only.length === 0) record('console', rows)
    else for (const { name, value, unit, goal } of rows) console.log(`${name}: ${value} ${unit} ${goal}`)
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
  ['Companies by use', 'companies?sort=usage'],
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
      const { byteLength } = await reply.arrayBuffer()
      // as it was sent, which is compressed
      const bytes = Number(reply.headers.get('content-length') ?? byteLength)
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
