// npm run bench -- attacks [uws|node] [kind…]: what one key may use up that others need (security H1 to H6), on both HTTP servers. Each kind
// has a service of its own, with the default limits. Prints memory before, at most and afterwards, the CPU time of each part
// without and with the attack, and the rate and latency of production's checks meanwhile. It keeps nothing.
import { mkdirSync, rmSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { WebSocket } from 'ws'
import { cpuTimes, residentMiB, usedBetween } from '../cpu.js'
import { secret, startProduct, stop } from '../product.js'
import { root } from '../record.js'

const quietMs = 4_000
const attackMs = Number(process.env.TOLLGATE_BENCH_SECONDS ?? 5) * 1_000
/** Time after an attack at which memory is compared with what it was. */
const afterMs = 10_000
/** Above this load average latencies tell of the machine alone. */
const quietLoad = 3
/** Pause between two checks of production, ms. */
const pauseMs = 5

/** One service, the keys of its callers, and how to ask it. */
interface World {
  readonly url: string
  readonly pid: number
  /** A read-only key of a test environment. */
  readonly reader: string
  /** Publishable keys of a test environment and of production. */
  readonly publishable: string
  readonly production: { readonly secret: string; readonly publishable: string }
  send(method: string, path: string, body?: object | Buffer, key?: string): Promise<Answer>
}

interface Answer {
  readonly status: number
  readonly length: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at member by member
  readonly data: any
}

interface Attack {
  /** The requests, in words. */
  readonly what: string
  prepare?(world: World): Promise<unknown>
  run(world: World, untilMs: number): Promise<unknown>
}

const numeral = (digits: number) => '9'.repeat(digits)
const event = (quantity: string) =>
  `{"event_type":"track","body":{"event":"e","company":{"slug":"a"},"quantity":${quantity}}}`

const attacks: Readonly<Record<string, Attack>> = {
  flags: {
    what: 'H1 four connections that read nothing, each asking for all flags 200 times a second',
    async run(world, untilMs) {
      const sockets = await opened(world, 4)
      for (const socket of sockets) socket.pause()
      const frame = JSON.stringify({ data: { entity_type: 'rulesengine.Flags' } })
      while (performance.now() < untilMs) {
        for (const socket of sockets)
          for (let n = 0; n < 20; n++) if (socket.readyState === WebSocket.OPEN) socket.send(frame)
        await sleep(100)
      }
      for (const socket of sockets) socket.terminate()
    },
  },
  echoes: {
    what: 'H1 one connection that reads nothing and asks for keys of 60 kB that are nobody’s',
    async run(world, untilMs) {
      const [socket] = await opened(world, 1)
      socket!.pause()
      for (let n = 0; performance.now() < untilMs; n++) {
        const keys = { slug: `${n}${'x'.repeat(60_000)}` }
        const frame = JSON.stringify({ data: { entity_type: 'rulesengine.Company', keys } })
        if (socket!.readyState === WebSocket.OPEN) socket!.send(frame)
        await sleep(10)
      }
      socket!.terminate()
    },
  },
  names: {
    what: 'H2 300 lists of 1,000 unknown companies on four connections',
    async run(world, untilMs) {
      const sockets = await opened(world, 4)
      const list = Array.from({ length: 1_000 }, (_, n) => ({ slug: `nobody-${n}` }))
      const frame = JSON.stringify({ data: { entity_type: 'rulesengine.Company', keys_list: list } })
      for (let n = 0; n < 75; n++)
        for (const socket of sockets) if (socket.readyState === WebSocket.OPEN) socket.send(frame)
      await sleep(Math.max(0, untilMs - performance.now()))
      for (const socket of sockets) socket.terminate()
    },
  },
  bulk: {
    what: 'H3 39 bulk checks of 100 contexts a second with a publishable key',
    run: ({ send, publishable }, untilMs) => {
      const contexts = Array.from({ length: 100 }, (_, n) => ({ company: { slug: `c${n}` } }))
      return many(untilMs, 39, () => send('POST', '/flags/check-bulk', { contexts }, publishable))
    },
  },
  users: {
    what: 'H4 batches of 9,900 new users with production’s publishable key, ten a second',
    run: ({ send, production }, untilMs) => {
      let made = 0
      const identify = () => ({ event_type: 'identify', body: { keys: { cookie: `c${++made}` } } })
      return many(untilMs, 10, () =>
        send(
          'POST',
          '/event-batch',
          { events: Array.from({ length: 9_900 }, identify) },
          production.publishable,
        ),
      )
    },
  },
  numerals: {
    what: 'H5 seven compressed numerals of 1,040,000 digits a second with a publishable key',
    run: ({ send, publishable }, untilMs) => {
      const body = gzipSync(event(numeral(1_040_000)))
      return many(untilMs, 7, () => send('POST', '/events', body, publishable))
    },
  },
  batches: {
    what: 'H5 the same in batches, with 4,000,000 digits',
    run: ({ send, publishable }, untilMs) => {
      const body = gzipSync(`{"events":[${event(numeral(4_000_000))}]}`)
      return many(untilMs, 7, () => send('POST', '/event-batch', body, publishable))
    },
  },
  objects: {
    what: 'H5 checks of 300,000 empty objects, seven a second, with a publishable key',
    run: ({ send, publishable }, untilMs) => {
      const body = gzipSync(`{"company":{"slug":"a"},"x":[${Array(300_000).fill('{}').join()}]}`)
      return many(untilMs, 7, () => send('POST', '/flags/f0/check', body, publishable))
    },
  },
  figures: {
    what: 'H6 20 lookups a second of a company with very many event names, with a read-only key',
    async prepare({ send }) {
      await send('POST', '/companies', { keys: { slug: 'many' } })
      const named = (name: number) => ({
        event_type: 'track',
        body: { event: `name ${name}`, company: { slug: 'many' } },
      })
      for (let n = 0; n < 10; n++)
        await send('POST', '/event-batch', {
          events: Array.from({ length: 1_000 }, (_, i) => named(1_000 * n + i)),
        })
    },
    run: ({ send, reader }, untilMs) =>
      many(untilMs, 20, () => send('GET', '/companies/lookup?slug=many', undefined, reader)),
  },
}

const servers = ['uws', 'node']

/** The names of the attacks and of the servers. */
export const attackWords: readonly string[] = [...Object.keys(attacks), ...servers]

/** Run attacks, all unless some are named, on both HTTP servers unless one is named. */
export async function benchAttacks(named: readonly string[]): Promise<void> {
  const among = (all: readonly string[]) => {
    const wanted = all.filter(one => named.includes(one))
    return wanted.length === 0 ? all : wanted
  }
  const kinds = among(Object.keys(attacks))
  for (const http of among(servers)) for (const kind of kinds) await one(kind, attacks[kind]!, http)
}

async function one(kind: string, attack: Attack, http: string): Promise<void> {
  const work = join(root, 'data', `bench-attack-${process.pid}-${kind}`)
  mkdirSync(work, { recursive: true })
  const settings = { TOLLGATE_HTTP: http, TOLLGATE_LIMITS: 'default', TOLLGATE_HOST: '127.0.0.1' }
  const { child, port } = await startProduct(join(work, 'data'), settings)
  const pid = child.pid!
  try {
    const world = await makeWorld(`http://127.0.0.1:${port}`, pid)
    await attack.prepare?.(world)
    // the first requests of a process compile code and fill caches
    await fare(world, quietMs)
    await sleep(1_000)
    const beforeMb = residentMiB(pid)
    const quiet = await fare(world, quietMs)
    const untilMs = performance.now() + attackMs
    const [during, heard] = await Promise.all([fare(world, attackMs), attack.run(world, untilMs)])
    await sleep(afterMs)
    const afterMb = residentMiB(pid)
    const percent = Math.round((afterMb / beforeMb - 1) * 100)
    console.log(`${http} ${kind}: ${attack.what}${heard ? `; ${heard}` : ''}`)
    console.log(
      `  memory ${beforeMb} MB, at most ${during.topMb}, ${afterMs / 1_000} s later ${afterMb} (${percent} %)`,
    )
    console.log(`  quiet    ${quiet.text}`)
    console.log(`  attacked ${during.text}`)
  } finally {
    await stop(child)
    rmSync(work, { recursive: true, force: true })
  }
}

/** Checks of production, one after the other, and /health/live, for a time. */
async function fare({ url, pid, production, send }: World, ms: number) {
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
    loop(checks, () => send('POST', '/flags/f0/check', body, production.secret)),
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

/** Send this often until the time is over. Returns the answers in words. */
async function many(untilMs: number, perSecond: number, ask: () => Promise<Answer>): Promise<string> {
  const asked: Promise<Answer | null>[] = []
  while (performance.now() < untilMs) {
    asked.push(ask().catch(() => null))
    await sleep(1_000 / perSecond)
  }
  const answers = await Promise.all(asked)
  const counts = new Map<string, number>()
  for (const answer of answers) {
    const status = `${answer?.status ?? 'cut'}`
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  const longest = Math.max(...answers.map(answer => answer?.length ?? 0))
  return `${[...counts].map(([status, count]) => `${count} × ${status}`).join(', ')}, the longest ${longest} bytes`
}

async function opened({ url, reader }: World, count: number): Promise<WebSocket[]> {
  return Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<WebSocket>((resolve, reject) => {
          const headers = { 'X-Service-Api-Key': reader }
          const socket = new WebSocket(`${url.replace('http', 'ws')}/datastream`, { headers })
          socket.on('open', () => resolve(socket)).on('error', reject)
        }),
    ),
  )
}

/** 100 flags, a company of production, and a key of each kind of caller. */
async function makeWorld(url: string, pid: number): Promise<World> {
  const send: World['send'] = async (method, path, body, key = secret) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        'X-Service-Api-Key': key,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(Buffer.isBuffer(body) && { 'Content-Encoding': 'gzip' }),
      },
      ...(body !== undefined && {
        body: Buffer.isBuffer(body) ? new Uint8Array(body) : JSON.stringify(body),
      }),
    })
    const text = await response.text()
    const data = text.startsWith('{') ? JSON.parse(text).data : null
    return { status: response.status, length: text.length, data }
  }
  const { data: whoami } = await send('GET', '/whoami')
  const { data: account } = await send('POST', '/api-keys', { name: 'account' })
  const idOf = (name: string): string =>
    whoami.environments.find((one: { readonly name: string }) => one.name === name).id
  const [testId, productionId] = [idOf('Development'), idOf('Production')]
  const made = async (environment_id: string, more: object) =>
    (await send('POST', '/api-keys', { name: 'attack', environment_id, ...more }, account.secret)).data
      .secret as string
  const publicOf = async (id: string): Promise<string> => {
    const path = `/api-keys?limit=250&require_environment=true&environment_id=${id}`
    const { data } = await send('GET', path, undefined, account.secret)
    return data.find((one: { readonly secret?: string }) => one.secret?.startsWith('pk_')).secret
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
  return { url, pid, reader, publishable: await publicOf(testId), production, send }
}
