// Nonsense for every route of a whole Tollgate: no answer is our fault, nothing ends it, memory stays bounded.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { WebSocket } from 'ws'
import type { Route } from '../../src/front/http/routing/route.js'
import { routes } from '../../src/serve/routes.js'
import { freePort } from '../cluster/nodes.js'
import { type Client, Process } from '../harness.js'
import { Random, times } from '../random.js'
import { temporaryDirectory } from '../stores.js'
import { readTakes } from './grammar.js'
import { Maker, mutate } from './make.js'
import { fill, type Heard, KnownIds, portrait, sendRaw } from './world.js'

const served = fileURLToPath(new URL('../../served/main.js', import.meta.url))
const requests = times(2_000)
const random = new Random()
const takes = readTakes()
const atOnce = 8
const failuresShownMax = 20
/** Memory of a process of this size after any number of requests, at most, bytes. */
const residentBytesMax = 1.5e9
/** Before a long run as many as this are sent: by then a process has compiled and cached what it uses. */
const longRun = 50_000
const warmUp = requests < longRun ? 0 : 5_000
/** How long nobody asks for anything before memory is looked at. */
const quietMs = 45_000
/** Memory that the second half of a long run may add, beside its data, as a share. */
const addedMax = 0.1
/** Texts that no response may contain: stacks, statements, names of tables, paths. */
const leak =
  /\n\s+at |node_modules|\/dist\/|\.js:\d|select .+ from |insert into |relation \\?"|DB::Exception|PostgresError/i

interface Request {
  readonly route: Route
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: Buffer | null
}

t.test(`seed ${random.seed}, ${requests} requests`, async t => {
  for (const route of routes)
    if (!takes.has(`${route.method} ${route.path}`)) t.fail(`what ${route.path} takes is not to be read`)
  const dataDir = await temporaryDirectory(t)
  const inspector = await freePort()
  const program = [`--inspect=127.0.0.1:${inspector}`, served]
  let running = await Process.start(dataDir, {}, warmUp > 0 ? program : undefined)
  t.teardown(() => running.end('SIGTERM'))
  await fill(running.client)
  const known = new KnownIds()
  const clients = await makeClients(running.client, known)
  await portrait(running.client, known)

  const words = ['acme', 'bolt', 'core', 'call', 'hostile', 'slug', 'mail', 'plan', 'n', 'usd', 'Basic']
  const maker = new Maker(random, { ids: known.ids, words })
  const statuses = new Map<number, number>()
  let failures = 0
  const send = async (count: number): Promise<void> => {
    let sent = 0
    const worker = async (): Promise<void> => {
      while (sent < count && failures < failuresShownMax) {
        const route = routes[sent++ % routes.length]!
        const asked = makeRequest(maker, route, pickClient(clients), clients.kept)
        const heard = await sendRaw(running.client.url, asked.method, asked.path, asked.headers, asked.body)
        statuses.set(heard.status, (statuses.get(heard.status) ?? 0) + 1)
        const wrong = judge(heard)
        if (wrong === null) {
          if (heard.status < 300 && heard.text.startsWith('{"data"')) known.learn(route, heard.text)
          continue
        }
        failures++
        t.fail(`${wrong}: ${asked.method} ${asked.path} ${toldOf(heard, asked.body)}`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, worker))
  }
  const resident = () => residentBytes(running.child.pid!)
  /** Resident bytes at rest, without garbage of the main thread. */
  const atRest = async (): Promise<number> => {
    await quiet()
    await collect(inspector)
    return resident()
  }
  /** Send some that are not counted, and a batch for the thread that reads large ones; what is resident at rest. */
  const rested = async (): Promise<number> => {
    await send(warmUp)
    const events = Array.from({ length: 5_000 }, () => ({ event_type: 'track', body: { event: 'call' } }))
    t.equal((await running.client.post('/event-batch', { events })).status, 201)
    return atRest()
  }

  const start = warmUp > 0 ? await rested() : resident()
  statuses.clear()
  await send(requests / 2)
  const half = warmUp > 0 ? await atRest() : resident()
  await send(requests / 2)
  const top = resident()
  const told = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  t.comment(`${told.join(', ')}; resident ${mega(start)} → ${mega(top)} MB`)
  t.equal(failures, 0, 'no answer is our fault')
  t.ok((statuses.get(200) ?? 0) + (statuses.get(201) ?? 0) > requests / 20, 'some of it was right')
  t.ok(top < residentBytesMax, 'memory stays bounded')
  const end = warmUp > 0 ? await atRest() : top
  t.equal(running.child.exitCode, null, 'it is still the same process')
  t.match(await running.client.get('/health/ready'), { status: 200, body: { status: 'ready', degraded: [] } })
  t.match(
    await running.client.post('/companies', { keys: { slug: 'after' } }),
    { status: 200 },
    'and it works',
  )
  t.equal(await running.end('SIGTERM'), 0)
  if (warmUp === 0) return

  // A process that has served requests of every kind keeps code that was compiled meanwhile, and caches up to their
  // bounds; one that has just started on the same data keeps those data. A leak would go on growing with the requests.
  running = await Process.start(dataDir, {}, program)
  const again = await rested()
  const figures = [start, half, top, end, again].map(mega)
  t.comment(
    `resident at rest ${figures[0]}, after half ${figures[1]}, at the last request ${figures[2]}, at rest again ${figures[3]} MB`,
  )
  t.comment(`a process started on the same data, at rest: ${figures[4]} MB`)
  t.ok(
    end <= Math.max(half, again) * (1 + addedMax),
    'a second half of as many requests adds next to nothing but its data',
  )
  t.equal(failures, 0)
  t.equal(await running.end('SIGTERM'), 0)
})

interface Clients {
  readonly all: readonly Client[]
  /** Ids of the environments and keys the run stands on: not to be changed. */
  readonly kept: readonly string[]
  /** An environment that may be deleted. */
  readonly scratch: string
}

async function makeClients(client: Client, known: KnownIds): Promise<Clients> {
  const whoami = await client.ok('GET', '/whoami')
  const [development, production] = whoami.environments as { id: string }[]
  const scratch = await client.ok('POST', '/environments', { name: 'scratch', environment_type: 'staging' })
  known.add('environment_id', scratch.id)
  const made = async (body: object) => client.ok('POST', '/api-keys', { name: 'k', ...body })
  const account = await made({})
  const other = await made({ environment_id: production!.id })
  const torn = await made({ environment_id: scratch.id })
  const inScratch = { 'X-Service-Environment-Id': scratch.id }
  return {
    all: [client, client.as(account.secret, inScratch), client.as(other.secret), client.as(torn.secret)],
    kept: [development!.id, production!.id, whoami.api_key_id, account.id, other.id, torn.id],
    scratch: scratch.id,
  }
}

/** Mostly the one that may do everything. */
function pickClient({ all }: Clients): Client {
  return random.chance(0.85) ? all[0]! : random.pick(all)
}

function makeRequest(maker: Maker, route: Route, client: Client, kept: readonly string[]): Request {
  const { body: shape, query } = takes.get(`${route.method} ${route.path}`)!
  const headers: Record<string, string> = {}
  if (!random.chance(0.01)) headers['X-Service-Api-Key'] = client.key
  if (random.chance(0.02))
    headers['X-Service-Environment-Id'] = random.pick(["'", 'env_22222222222', '\u00ff'])
  const method = route.method === 'del' ? 'DELETE' : route.method.toUpperCase()
  let path = `${route.path.replaceAll(/:(\w+)/g, (_, name) => maker.segment(name))}${maker.query(query)}`
  if (method !== 'GET' && kept.some(id => path.includes(id))) path = route.path
  if (shape === null)
    return { route, method: random.chance(0.03) ? 'HEAD' : method, path, headers, body: null }
  headers['Content-Type'] = random.chance(0.03)
    ? random.pick(['text/plain', 'image/png', ''])
    : 'application/json'
  const text = maker.body(shape)
  const bytes = damage(random.chance(0.06) ? mutate(random, text) : text, headers)
  return { route, method, path, headers: { ...headers, 'Content-Length': String(bytes.length) }, body: bytes }
}

/** Now and then compressed, cut, or no text at all. */
function damage(text: string, headers: Record<string, string>): Buffer {
  const bytes = Buffer.from(text)
  const kind = random.below(60)
  if (kind === 0) return Buffer.alloc(0)
  if (kind === 1)
    return Buffer.concat([bytes.subarray(0, 4), Buffer.from([0xff, 0xc0, 0xed, 0xa0, 0x80]), bytes])
  if (kind > 5) return bytes
  headers['Content-Encoding'] = random.pick(['gzip', 'gzip', 'deflate', 'br', 'zstd', 'x'])
  const packed = gzipSync(bytes)
  if (kind === 2) return packed.subarray(0, packed.length >> 1)
  if (kind === 3) return Buffer.concat([packed, packed])
  return kind === 4 ? packed : bytes
}

/** An answer and the body it is to, for the message of a failure: a summary shows no more than that. */
function toldOf({ status, headers, text }: Heard, body: Buffer | null): string {
  const again = headers['retry-after'] === undefined ? '' : `, Retry-After ${headers['retry-after']}`
  return `answers ${status}${again}: ${text.slice(0, 500)} to ${body?.toString().slice(0, 1_500) ?? 'no body'}`
}

/** The fault in a response, or null. */
function judge({ status, headers, text }: Heard): string | null {
  if (status >= 500 && status !== 503) return 'an answer that is our fault'
  if (status === 503 && headers['retry-after'] === undefined) return '503 without Retry-After'
  if (status === 204 || text === '') return null
  const type = String(headers['content-type']).split(';')[0]!
  if (status === 200 && streamed.has(type)) return broken(type, text)
  let parsed: { error?: unknown; errorCode?: unknown }
  try {
    parsed = JSON.parse(text)
  } catch {
    return 'no JSON'
  }
  if (status >= 400 && typeof (parsed.error ?? parsed.errorCode) !== 'string')
    return 'a refusal without its reason'
  if (status >= 400 && leak.test(text)) return 'a refusal that tells too much'
  return null
}

/** Formats of exports and reconciliations, other than one JSON value. */
const streamed: ReadonlySet<string> = new Set([
  'application/x-ndjson',
  'text/csv',
  'application/vnd.apache.parquet',
])

/** The fault in a completed stream, or null. */
function broken(type: string, text: string): string | null {
  if (type === 'text/csv') return text.endsWith('\n') ? null : 'a table without its end'
  if (type !== 'application/x-ndjson') return text.endsWith('PAR1') ? null : 'a file without its end'
  try {
    for (const line of text.split('\n')) if (line !== '') JSON.parse(line)
    return null
  } catch {
    return 'a line that is no JSON'
  }
}

function residentBytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) * 1024
}

/** Resolves when nobody has asked for anything for some time. */
const quiet = () => new Promise<void>(resolve => setTimeout(resolve, quietMs))

/** Collect the garbage of a process's main thread. port: of its inspector. */
async function collect(port: number): Promise<void> {
  const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
    webSocketDebuggerUrl: string
  }[]
  const socket = new WebSocket(targets[0]!.webSocketDebuggerUrl)
  await once(socket, 'open')
  socket.send(JSON.stringify({ id: 1, method: 'HeapProfiler.collectGarbage' }))
  await once(socket, 'message')
  socket.close()
}

const mega = (bytes: number) => Math.round(bytes / 1e6)
