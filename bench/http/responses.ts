// The same requests to two builds, and whether they are answered alike: `node dist/bench/http/responses.js BEFORE AFTER
// [REQUESTS]`. BEFORE and AFTER are roots of built projects. Requests are drawn for each route in turn, as
// test/hostile/requests.test.ts draws them, from TOLLGATE_SEED. Ids, secrets, hashes and times may differ.
// BEFORE runs twice: a response that differs between these two says nothing about AFTER and is not compared.
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Route } from '../../src/front/http/routing/route.js'
import { routes } from '../../src/serve/routes.js'
import { Client, type Response } from '../../test/harness.js'
import { readTakes } from '../../test/hostile/grammar.js'
import { Maker } from '../../test/hostile/make.js'
import { fill, type Heard, KnownIds, sendRaw } from '../../test/hostile/world.js'
import { Random } from '../../test/random.js'
import { type Started, secret, startProduct, stop } from '../product.js'
import { root } from '../record.js'

/** Ids of the service, with a price of a bundle, and ids of audit log entries. */
const ids = /\b[a-z]{2,6}_[A-Za-z0-9]{11}w?\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g
const time = /^[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/
const times = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?/g
/** Secrets, hashes and signatures: of no known value, but of one length. */
const opaque = /^(?:[a-z]+_[a-z]+_[A-Za-z0-9]{20,}|whsec_\S+|[0-9a-f]{32,}|[A-Za-z0-9+/_-]{40,}={0,2})$/
/** Times of two runs may differ by so much. */
const apartMs = 120_000
/** A read whose responses differ is repeated so often, as projections may lag. */
const repeats = 5
const shownMax = 20

/** One service, and its ids by those of the first service. */
class Side {
  readonly own = new Map<string, string>()
  readonly common = new Map<string, string>()

  constructor(readonly started: Started) {}

  /** Text of the first service with the ids of this one. */
  toOwn(text: string): string {
    return text.replaceAll(ids, id => this.own.get(id) ?? id)
  }

  send(method: string, path: string, headers: Record<string, string>, body: string | null): Promise<Heard> {
    const bytes = body === null ? null : Buffer.from(this.toOwn(body))
    const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, this.toOwn(value)]))
    if (bytes !== null) own['Content-Length'] = String(bytes.length)
    const url = `http://127.0.0.1:${this.started.port}`
    const none = (error: NodeJS.ErrnoException): Heard => ({ status: 0, headers: {}, text: `${error.code}` })
    return sendRaw(url, method, this.toOwn(path), own, bytes).catch(none)
  }

  /** Whether a value is the first service's, but for what may differ. Ids that are met for the first time are paired. */
  isAlike(first: unknown, here: unknown): boolean {
    if (typeof first === 'string' && typeof here === 'string') return this.isAlikeText(first, here)
    if (typeof first === 'number' && typeof here === 'number')
      return (
        first === here || (first > 1e9 && Math.abs(first - here) < (first > 1e12 ? apartMs : apartMs / 1_000))
      )
    if (Array.isArray(first) && Array.isArray(here)) {
      const ordered = inOrderOf(first, here)
      return first.length === here.length && first.every((one, i) => this.isAlike(one, ordered[i]))
    }
    if (typeof first !== 'object' || typeof here !== 'object' || first === null || here === null)
      return first === here
    const [names, others] = [Object.keys(first), Object.keys(here)]
    if (Array.isArray(first) !== Array.isArray(here) || names.length !== others.length) return false
    return names.every((name, i) => {
      // a member may be named by an id; the order of members counts
      const known = this.isAlikeText(name, others[i]!)
      const part = (first as Record<string, unknown>)[name]
      return known && this.isAlike(part, (here as Record<string, unknown>)[others[i]!])
    })
  }

  private isAlikeText(first: string, here: string): boolean {
    if (time.test(first) && time.test(here)) return Math.abs(Date.parse(first) - Date.parse(here)) < apartMs
    const [known, found] = [first.match(ids) ?? [], here.match(ids) ?? []]
    if (known.length === found.length) for (const [i, id] of known.entries()) this.pair(id, found[i]!)
    const mapped = here.replaceAll(ids, id => this.common.get(id) ?? id)
    const plain = (text: string) => text.replaceAll(times, '<time>')
    return (
      plain(first) === plain(mapped) ||
      (first.length === here.length && opaque.test(first) && opaque.test(here))
    )
  }

  private pair(first: string, here: string): void {
    const kind = (id: string) => (id.includes('_') ? id.split('_')[0] : '')
    if (kind(first) !== kind(here) || this.own.has(first) || this.common.has(here)) return
    this.own.set(first, here)
    this.common.set(here, first)
  }
}

/** Elements in the order of others, where both have the same but for ids and times: an id decides between equal times. */
function inOrderOf(first: readonly unknown[], here: readonly unknown[]): readonly unknown[] {
  const blurred = (one: unknown) => JSON.stringify(one).replaceAll(ids, '<id>').replaceAll(times, '<time>')
  const [wanted, found] = [first.map(blurred), here.map(blurred)]
  const left = new Set(found.keys())
  const places = wanted.map(text => {
    const place = [...left].find(i => found[i] === text)
    if (place !== undefined) left.delete(place)
    return place
  })
  return left.size > 0 || places.includes(undefined) ? here : places.map(i => here[i!])
}

/** The body of a response as a value: lines of values where it is no JSON. */
function parsed({ text }: Heard): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text.split('\n')
  }
}

interface Compared {
  readonly first: Heard
  readonly verdict: 'alike' | 'different' | 'unsteady'
  readonly after: Heard
}

/** Speaks to all services at once, as if they were the first. */
class Lockstep extends Client {
  readonly counts = { alike: 0, different: 0, unsteady: 0 }
  readonly statuses = new Map<number, number>()

  constructor(private readonly sides: readonly [Side, Side, Side]) {
    super('', secret)
  }

  override async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const all: Record<string, string> = { 'X-Service-Api-Key': secret, ...headers }
    if (body !== undefined) all['Content-Type'] = 'application/json'
    const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body)
    const { first } = await this.compare(method, path, all, text)
    const plain = new Headers({ 'content-type': String(first.headers['content-type'] ?? '') })
    return { status: first.status, headers: plain, body: parsed(first) }
  }

  /** Send one request to all and count the verdict. */
  async compare(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: string | null,
  ): Promise<Compared> {
    let compared = await this.once(method, path, headers, body)
    for (let i = 0; i < repeats && method === 'GET' && compared.verdict !== 'alike'; i++) {
      await new Promise(resolve => setTimeout(resolve, 400))
      compared = await this.once(method, path, headers, body)
    }
    const { first, verdict, after } = compared
    this.statuses.set(first.status, (this.statuses.get(first.status) ?? 0) + 1)
    if (verdict === 'different' && this.counts.different < shownMax)
      console.log(
        `different: ${method} ${path}\n  sent   ${body?.slice(0, 300)}\n  before ${first.status} ${first.text.slice(0, 600)}\n  after  ${after.status} ${after.text.slice(0, 600)}`,
      )
    if (first.status === 0) console.log(`no response: ${method} ${path.slice(0, 200)} ${first.text}`)
    this.counts[verdict]++
    return compared
  }

  private async once(
    method: string,
    path: string,
    headers: Record<string, string>,
    body: string | null,
  ): Promise<Compared> {
    const [first, again, after] = await Promise.all(
      this.sides.map(side => side.send(method, path, headers, body)),
    )
    const value = parsed(first!)
    const isAlike = (side: Side, here: Heard) =>
      side.isAlike(value, parsed(here)) &&
      here.status === first!.status &&
      here.headers['content-type'] === first!.headers['content-type']
    // a service may close a kept connection while the next request is on its way
    const isSteady = ![first, again, after].some(one => one!.status === 0) && isAlike(this.sides[1], again!)
    const verdict = isAlike(this.sides[2], after!) ? 'alike' : isSteady ? 'different' : 'unsteady'
    return { first: first!, verdict, after: after! }
  }
}

const [before, after, count = '500'] = process.argv.slice(2)
if (before === undefined || after === undefined) {
  console.error('Usage: responses.js BEFORE AFTER [REQUESTS]')
  process.exit(2)
}
const directory = join(root, 'data', `bench-responses-${process.pid}`)
mkdirSync(directory, { recursive: true })
const sides: Side[] = []
try {
  for (const [i, from] of [before, before, after].entries())
    sides.push(new Side(await startProduct(join(directory, String(i)), {}, [], resolve(from))))
  const all = new Lockstep([sides[0]!, sides[1]!, sides[2]!])
  await replay(all, Number(count))
  const told = [...all.statuses].sort(([a], [b]) => a - b).map(([status, n]) => `${n} times ${status}`)
  const { alike, different, unsteady } = all.counts
  console.log(`${alike + different + unsteady} requests (${told.join(', ')})`)
  console.log(`${alike} answered alike, ${different} differently, ${unsteady} differently by the same build`)
  process.exitCode = different === 0 ? 0 : 1
} finally {
  for (const { started } of sides) await stop(started.child)
  rmSync(directory, { recursive: true, force: true })
}

/** Fill all services, read every list, then send requests for each route in turn. */
async function replay(all: Lockstep, requests: number): Promise<void> {
  const random = new Random()
  console.log(`seed ${random.seed}`)
  await fill(all)
  const known = new KnownIds()
  const learn = (route: Route, { status, text }: Heard) => {
    if (status < 300 && text.startsWith('{"data"')) known.learn(route, text)
  }
  const headers = { 'X-Service-Api-Key': secret }
  for (const route of routes)
    if (route.method === 'get' && route.parameters.length === 0)
      learn(route, (await all.compare('GET', route.path, headers, null)).first)
  const whoami = await all.ok('GET', '/whoami')
  const kept = [whoami.api_key_id, ...whoami.environments.map(({ id }: { id: string }) => id)] as string[]
  const takes = readTakes()
  const words = ['acme', 'bolt', 'core', 'call', 'hostile', 'slug', 'mail', 'plan', 'n', 'usd', 'Basic']
  const maker = new Maker(random, { ids: known.ids, words }, 0.02)
  for (let i = 0; i < requests; i++) {
    const route = routes[i % routes.length]!
    const { body: shape, query } = takes.get(`${route.method} ${route.path}`)!
    const method = route.method === 'del' ? 'DELETE' : route.method.toUpperCase()
    let path = `${route.path.replaceAll(/:(\w+)/g, (_, name) => maker.segment(name))}${maker.query(query)}`
    if (method !== 'GET' && kept.some(id => path.includes(id))) path = route.path
    const body = shape === null ? null : maker.body(shape)
    const typed = body === null ? headers : { ...headers, 'Content-Type': 'application/json' }
    learn(route, (await all.compare(method, path, typed, body)).first)
  }
}
