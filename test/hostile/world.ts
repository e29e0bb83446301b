// Two environments with something of everything in the first, and the ids that answers tell of.
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import type { Route } from '../../src/front/http/routing/route.js'
import { routes } from '../../src/serve/routes.js'
import { publishedPlan } from '../control/planned.js'
import type { Client } from '../harness.js'

const agent = new Agent({ keepAlive: true, maxSockets: 16 })
const idsKeptMax = 40

export interface Heard {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Send exactly these bytes: no client tidies them up first. */
export function sendRaw(
  url: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: Buffer | null,
): Promise<Heard> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, path, method, headers, agent, timeout: 60_000 }, answer => {
      const pieces: Buffer[] = []
      answer.on('data', piece => pieces.push(piece))
      answer.on('error', reject)
      answer.on('end', () => {
        const bytes = Buffer.concat(pieces)
        const plain = answer.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes
        resolve({ status: answer.statusCode!, headers: answer.headers, text: plain.toString() })
      })
    })
    asked.on('timeout', () => asked.destroy(new Error(`no answer to ${method} ${path}`)))
    asked.on('error', reject)
    asked.end(body ?? undefined)
  })
}

/** Names of the ids of a list: ids of `/companies` are called `company_id`. */
const calledAs = new Map(
  routes
    .filter(route => route.parameters.length === 1 && route.path.endsWith(`:${route.parameters[0]}`))
    .map(route => [route.path.slice(0, route.path.lastIndexOf('/')), route.parameters[0]!]),
)

/** Ids by what they are called, taken from answers as they come. */
export class KnownIds {
  readonly ids = new Map<string, string[]>()

  /** Keep the ids of one answer. */
  learn(route: Route, text: string): void {
    if (text.length > 200_000) return
    const { data } = JSON.parse(text) as { data?: unknown }
    const own = calledAs.get(route.path) ?? route.parameters[0]
    for (const one of Array.isArray(data) ? data.slice(0, 20) : [data]) this.visit(one, own, 0)
  }

  add(name: string, id: string): void {
    const known = this.ids.get(name)
    if (known === undefined) this.ids.set(name, [id])
    else if (!known.includes(id)) {
      if (known.length >= idsKeptMax) known.splice(id.charCodeAt(id.length - 1) % idsKeptMax, 1)
      known.push(id)
    }
  }

  private visit(value: unknown, own: string | undefined, depth: number): void {
    if (typeof value !== 'object' || value === null || depth > 4) return
    for (const [name, part] of Object.entries(value)) {
      if (typeof part === 'object') this.visit(part, undefined, depth + 1)
      if (typeof part !== 'string' || !/^[a-z]+_\w{11}$/.test(part)) continue
      if (name === 'id' && own !== undefined) this.add(own, part)
      if (name.endsWith('_id')) this.add(name, part)
    }
  }
}

/** A word that stands in values of the first environment's companies and users, and nowhere else. */
export const marker = 'zebra'

/** Companies, users, a plan, features, flags, rules, traits, overrides, billing and events, through the interface. */
export async function fill(client: Client): Promise<void> {
  const ok = (method: string, path: string, body: unknown) => client.ok(method, path, body)
  const described = { description: '', icon: null }
  const feature = { ...described, name: 'Calls', feature_type: 'event', event_subtype: 'call' }
  const metered = await ok('POST', '/features', feature)
  const plain = await ok('POST', '/features', { ...described, name: 'Plain', feature_type: 'boolean' })
  await publishedPlan(client, 'Basic', [
    { feature_id: metered.id, value_type: 'numeric', value_numeric: 100, metric_period: 'all_time' },
  ])
  const flag = { key: 'hostile', name: 'h', description: '', flag_type: 'boolean', default_value: true }
  await ok('POST', '/flags', flag)
  for (const slug of ['acme', 'bolt', 'core']) {
    const company = { keys: { slug }, name: `${marker} ${slug}`, traits: { n: 1, plan: marker } }
    const { id } = await ok('POST', '/companies', company)
    await ok('POST', '/users', { keys: { mail: slug }, name: marker, company: { slug } })
    const override = { company_id: id, feature_id: plain.id, value_type: 'boolean', value_bool: true }
    await ok('POST', '/company-overrides', override)
    const event = { event: 'call', company: { slug }, user: { mail: slug }, traits: { seen: marker } }
    await ok('POST', '/events', { event_type: 'track', body: event })
  }
}

/** Every list and every single thing it names, as an environment shows them now: what another must not change. */
export async function portrait(client: Client, ids: KnownIds): Promise<ReadonlyMap<string, unknown>> {
  const shown = new Map<string, unknown>()
  for (const route of routes) {
    if (route.method !== 'get' || route.parameters.length > 0 || !route.environmentRequired) continue
    const heard = await sendRaw(client.url, 'GET', route.path, { 'X-Service-Api-Key': client.key }, null)
    if (heard.status !== 200) continue
    ids.learn(route, heard.text)
    shown.set(route.path, JSON.parse(heard.text).data)
  }
  return shown
}
