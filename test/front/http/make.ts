// Small valid things for tests of the front end: keys, environments, services, and a listening server.
import { type Agent, type IncomingHttpHeaders, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { readConfig } from '../../../src/config.js'
import { Limits, type LimitTable } from '../../../src/front/http/admission/limits.js'
import { openApp } from '../../../src/front/http/apps/open-app.js'
import type { Stages } from '../../../src/front/http/request/stages.js'
import type { Route } from '../../../src/front/http/routing/route.js'
import { Server } from '../../../src/front/http/server.js'
import type { EnvironmentRecord, KeyRecord, PublishableKeyLimits } from '../../../src/kit/call.js'
import type { Clock, Keys, Services } from '../../../src/kit/services.js'
import { createLogger, type Logger } from '../../../src/log.js'
import { createMetrics, type Metrics } from '../../../src/metrics.js'
import { registerDocuments } from '../../../src/serve/openapi/pages.js'

export const secretOf = {
  account: 'sk_acct_test',
  development: 'sk_dev_test',
  production: 'sk_prod_test',
  reader: 'sk_dev_reader',
  writer: 'sk_dev_writer',
  capturer: 'sk_dev_capturer',
  publishable: 'pk_dev_test',
  signed: 'pk_stag_test',
  orphan: 'sk_orphan_test',
  capped: 'sk_capped_test',
} as const

/** Rights of publishable keys outside production. */
export const freeLimits: PublishableKeyLimits = {
  createCompanies: true,
  addCompanyKeys: true,
  createUsers: 10_000,
  addUserKeys: true,
  nameEvents: true,
  nameTraits: true,
  quantityMax: 10_000,
  isOwn: false,
}

export function environment(over: Partial<EnvironmentRecord> & { id: string }): EnvironmentRecord {
  return {
    accountId: 'acct_1',
    name: over.id,
    environmentType: 'development',
    requireContextSignature: false,
    publishable: freeLimits,
    contextSecrets: null,
    lowercaseKeys: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    ...over,
  }
}

export function key(over: Partial<KeyRecord> & { id: string }): KeyRecord {
  return {
    accountId: 'acct_1',
    name: over.id,
    description: null,
    kind: 'secret',
    scopes: ['read', 'write', 'capture'],
    readonly: false,
    environmentId: 'env_dev',
    rateLimitPercent: null,
    ...over,
  }
}

const environments = [
  environment({ id: 'env_dev' }),
  environment({ id: 'env_prod', environmentType: 'production' }),
  environment({ id: 'env_signed', environmentType: 'staging', requireContextSignature: true }),
  environment({ id: 'env_other', accountId: 'acct_2' }),
]

const keys: Readonly<Record<string, KeyRecord>> = {
  [secretOf.account]: key({
    id: 'apik_account',
    environmentId: null,
    scopes: ['read', 'write', 'capture', 'admin'],
  }),
  [secretOf.development]: key({ id: 'apik_dev' }),
  [secretOf.production]: key({ id: 'apik_prod', environmentId: 'env_prod' }),
  [secretOf.reader]: key({ id: 'apik_reader', readonly: true, scopes: ['read'] }),
  [secretOf.writer]: key({ id: 'apik_writer', scopes: ['write'] }),
  [secretOf.capturer]: key({ id: 'apik_capturer', scopes: ['capture'] }),
  [secretOf.publishable]: key({ id: 'apik_pub', kind: 'publishable', scopes: ['capture'] }),
  [secretOf.signed]: key({
    id: 'apik_signed',
    kind: 'publishable',
    scopes: ['capture'],
    environmentId: 'env_signed',
  }),
  [secretOf.orphan]: key({ id: 'apik_orphan', environmentId: 'env_gone' }),
  [secretOf.capped]: key({ id: 'apik_capped', rateLimitPercent: 10 }),
}

/** Services with keys and a clock; what the fake rows do not touch is absent. A secret `later:x` is looked up slowly. */
function fakeServices(used: string[] = []): Services {
  const partial: Pick<Services, 'log'> & {
    readonly keys: Pick<Keys, 'find' | 'environment' | 'environments' | 'used'>
    readonly clock: Pick<Clock, 'wall' | 'now'>
  } = {
    log: createLogger({ logLevel: 'silent' }),
    keys: {
      find(secret) {
        const found = keys[secret.replace(/^later:/, '')] ?? null
        if (!secret.startsWith('later:')) return found
        return new Promise(resolve => setTimeout(() => resolve(found), 20))
      },
      environment: id => environments.find(each => each.id === id) ?? null,
      environments: accountId => environments.filter(each => each.accountId === accountId),
      used: id => void used.push(id),
    },
    clock: { wall: () => 1_000, now: id => (id === 'env_prod' ? 3_000 : 2_000) },
  }
  return partial as unknown as Services
}

/** The same tests run on both HTTP servers: TOLLGATE_HTTP chooses. */
export const serverOfTests = readConfig(process.env).http

export interface Running {
  readonly server: Server
  readonly port: number
  readonly metrics: Metrics
}

export interface Setup {
  readonly limits?: LimitTable | null
  readonly services?: Services | null
  readonly bodiesBytesMax?: number
  readonly drainMs?: number
  readonly authFailuresPerSecond?: number
  readonly log?: Logger
  readonly trustProxy?: number
  readonly corsOrigins?: readonly string[]
  readonly chunkedBodies?: boolean
  readonly metricsToken?: string
  readonly degraded?: readonly string[]
  readonly stages?: Stages
  /** Bounds of connections; absent: none. */
  readonly connections?: { readonly total: number; readonly perAddress: number }
}

/** A server on a free port of 127.0.0.1. */
export async function start(routes: readonly Route[], setup: Setup = {}): Promise<Running> {
  const metrics = createMetrics()
  const refused = (bound: 'total' | 'address') => void metrics.connectionsRefused[bound].count++
  const { app } = await openApp(
    serverOfTests,
    setup.connections ? { ...setup.connections, threads: 1, refused } : null,
  )
  const server: Server = new Server(app, {
    documents: registerDocuments,
    config: {
      apiKeyHeaders: ['X-Service-Api-Key', 'X-Other-Key'],
      environmentHeaders: ['X-Service-Environment-Id', 'X-Other-Environment'],
      trustProxy: setup.trustProxy ?? 0,
      corsOrigins: setup.corsOrigins ?? null,
      chunkedBodies: setup.chunkedBodies ?? true,
      publicUrl: null,
      metricsToken: setup.metricsToken ?? null,
      metricsAddress: null,
      slowRequestMs: 60_000,
      drainMs: setup.drainMs ?? 2_000,
      bodiesBytesMax: setup.bodiesBytesMax ?? 67_108_864,
      fronts: 1,
      authFailuresPerSecond: setup.authFailuresPerSecond ?? 0,
      streamConnectionsMax: 10,
      streamConnectionsPerKeyMax: 10,
      streamPagesMax: 10,
      streamMessagesPerSecond: 100,
    },
    log: setup.log ?? createLogger({ logLevel: 'silent' }),
    metrics,
    limits: new Limits(setup.limits ?? null),
    health: { ready: () => server.serving, degraded: () => setup.degraded ?? [] },
    routes,
    stages: setup.stages,
  })
  const port = await server.listen('127.0.0.1', 0, false)
  if (setup.services !== null) server.serve(setup.services ?? fakeServices())
  return { server, port, metrics }
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The parsed body, or null when it is none. */
  readonly json: {
    data?: unknown
    params?: unknown
    error?: string
    bucket?: string
    [member: string]: unknown
  }
}

export interface Ask {
  readonly method?: string
  readonly path: string
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  readonly agent?: Agent
}

/** One request by the platform's own client. */
export function ask(
  port: number,
  { method = 'GET', path, key, headers = {}, body, agent }: Ask,
): Promise<Reply> {
  const own = key === undefined ? {} : { 'x-service-api-key': key }
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, method, path, headers: { ...own, ...headers }, agent: agent ?? false },
      response => {
        const chunks: Buffer[] = []
        response.on('data', chunk => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          const json = text.startsWith('{') ? JSON.parse(text) : {}
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json })
        })
      },
    )
    sent.on('error', reject)
    sent.end(body)
  })
}

/** A bare connection, for what no proper client would send. */
export async function dial(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  return socket
}

/** Everything a connection says until it is closed or silent for `quietMs`. */
export function hear(socket: Socket, quietMs = 150): Promise<{ text: string; closed: boolean }> {
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    let { closed } = socket
    let timer: NodeJS.Timeout
    const done = () => {
      clearTimeout(timer)
      socket.off('data', more)
      resolve({ text: Buffer.concat(chunks).toString(), closed })
    }
    const more = (chunk: Buffer) => {
      chunks.push(chunk)
      clearTimeout(timer)
      timer = setTimeout(done, quietMs)
    }
    timer = setTimeout(done, quietMs)
    socket.on('data', more)
    socket.on('error', () => {})
    socket.once('close', () => {
      closed = true
      done()
    })
  })
}
