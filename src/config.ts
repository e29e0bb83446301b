// Every setting, with its unit in its name and its default beside it. No other file reads process.env.
import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { type ConsoleRole, isConsoleRole } from './core/console-role.js'
import type { Limit } from './core/values/bucket.js'
import { mayFailOver, namesSentinels, sentinelForm } from './redis-url.js'

export type Env = Readonly<Record<string, string | undefined>>

/** Rate and burst per bucket; buckets not named keep the defaults. */
export type LimitSetting = 'default' | 'off' | Readonly<Partial<Record<Bucket, Limit>>>
type Bucket = 'global' | 'mutation' | 'events_ingest' | 'analytics'

/**
 * Shard threads on a machine with so many cores. A core is left for the front; beyond four shards packets get thin, and
 * each check costs the front more than the shards take from it.
 */
export function defaultShards(cores: number): number {
  return Math.max(1, Math.min(4, cores - 1))
}

/** Files that this process may have open: its soft limit, which Node raises to the hard one at its start. source: proc(5) */
function openFilesMax(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? Number.MAX_SAFE_INTEGER : Number(soft)
  } catch {
    return filesElsewhere
  }
}

/** Assumed where the system does not tell; macOS allows 10,240 by default. */
const filesElsewhere = 10_240
/** More connections than this must be asked for. */
const defaultConnectionsMax = 32_768

/** Connections beside which the process has files for its own work: journals, stores, threads. files: it may open. */
function connectionsBeside(files: number): number {
  const kept = Math.max(256, Math.ceil(files / 5))
  return Math.max(files - kept, Math.floor(files / 4))
}

/**
 * Read and validate the settings.
 *
 * errors  throws `ConfigError`: the setting, the accepted values, and the given one (never a secret); or the name
 *         of an unknown `TOLLGATE_` setting, with the most similar known name.
 */
export function readConfig(env: Env) {
  const names = new Set<string>()
  const noting: Env = new Proxy(env, {
    get(target, name: string) {
      names.add(name)
      return target[name]
    },
  })
  const config = Object.freeze(readAll(noting))
  mustBeComplete(config)
  refuseUnknown(Object.keys(env), [...names])
  return config
}

/** Names of all settings. */
function settingNames(): readonly string[] {
  const names = new Set<string>()
  readAll(
    new Proxy<Env>(
      {},
      {
        get(_, name: string) {
          names.add(name)
          return undefined
        },
      },
    ),
  )
  return [...names]
}

/**
 * Refuse arguments of the server, which takes none.
 *
 * errors  ConfigError that names the first argument, and the setting whose name is nearest to it.
 */
export function refuseArguments(args: readonly string[]): void {
  const [first] = args
  if (first === undefined) return
  const shown = first.split('=', 1)[0]!
  const name = shown
    .replace(/^-+/, '')
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toUpperCase()
  const known = settingNames()
  const near = [name, `TOLLGATE_${name}`].map(one => nearest(one, known))
  const { each } = near.reduce((a, b) => (b.distance < a.distance ? b : a))
  throw new ConfigError(
    `${shown} is not known: a start takes no arguments, its settings are environment variables. The nearest one is ${each}.`,
  )
}

function readAll(env: Env) {
  return {
    port: integer(env, 'TOLLGATE_PORT', 8080, { min: 0, max: 65_535 }), // 0: any free port
    host: text(env, 'TOLLGATE_HOST', '127.0.0.1'),
    sharedPort: boolean(env, 'TOLLGATE_SHARED_PORT', false), // other nodes on this machine may listen on the same port
    http: oneOf(env, 'TOLLGATE_HTTP', 'auto', httpServers), // auto: uWebSockets.js if its binary loads, else Node's http
    dataDir: resolve(text(env, 'TOLLGATE_DATA_DIR', './data')), // all embedded data
    bootstrapKey: bootstrapKey(env), // null: generated at the first start
    pepper: given(env, 'TOLLGATE_PEPPER'), // for key hashes; null: generated at the first start, kept in the data directory
    pepperPrevious: given(env, 'TOLLGATE_PEPPER_PREVIOUS'), // also tried for key hashes; null: none
    backupKey: backupKey(env), // seals backups; null: TOLLGATE_PEPPER does, else a secret generated at the first start, kept in the data directory
    membersFile: given(env, 'TOLLGATE_MEMBERS_FILE'), // account members as a JSON list; null: none
    shards: integer(env, 'TOLLGATE_SHARDS', defaultShards(availableParallelism()), { min: 1, max: 256 }), // worker threads
    fronts: integer(env, 'TOLLGATE_FRONTS', 1, { min: 1, max: 16 }), // threads that take connections; 1: the main thread; above, it takes none
    limits: limits(env, 'TOLLGATE_LIMITS'),
    limitsScope: oneOf(env, 'TOLLGATE_LIMITS_SCOPE', 'account', ['account', 'environment']), // whose budgets of events ingest and analytics are
    apiKeyHeaders: headers(env, 'TOLLGATE_API_KEY_HEADERS', 'X-Service-Api-Key'),
    environmentHeaders: headers(env, 'TOLLGATE_ENVIRONMENT_HEADERS', 'X-Service-Environment-Id'),
    authFailuresPerSecond: integer(env, 'TOLLGATE_AUTH_FAILURES_PER_SECOND', 50, { min: 0, max: 1_000_000 }), // per address, burst twenty times as many; beyond: 429; 0: no limit
    connectionsMax: integer(
      env,
      'TOLLGATE_CONNECTIONS_MAX',
      Math.min(defaultConnectionsMax, connectionsBeside(openFilesMax())),
      { min: 1, max: 1_000_000 },
    ), // open at once, WebSockets among them; beyond: closed at once
    connectionsPerAddress: integer(env, 'TOLLGATE_CONNECTIONS_PER_ADDRESS', 0, { min: 0, max: 1_000_000 }), // the same of one address; 0: a quarter of them; behind proxies there is no such bound
    trustProxy: hops(env, 'TOLLGATE_TRUST_PROXY'), // proxies in front that append to X-Forwarded-For; 0: the header is ignored
    corsOrigins: origins(env, 'TOLLGATE_CORS_ORIGINS'), // origins of pages that may check flags and send events; null: all
    publicUrl: publicUrl(env), // where browsers reach this service, with its path prefix; null: as each request says
    oidc: oidcSettings(env), // sign-on to the console; null: links and keys alone
    chunkedBodies: boolean(env, 'TOLLGATE_CHUNKED_BODIES', true), // take bodies without a Content-Length; false: 411
    metricsAddress: address(env, 'TOLLGATE_METRICS_ADDRESS'), // host:port for /metrics alone; null: on the main port
    metricsToken: given(env, 'TOLLGATE_METRICS_TOKEN'), // bearer token of /metrics; null: none
    clockBack: boolean(env, 'TOLLGATE_CLOCK_BACK', false), // start with the machine's clock even if it is behind the last known time
    databaseUrl: url(env, 'DATABASE_URL', ['postgres:', 'postgresql:']), // null: the embedded Postgres
    postgresPooler: boolean(env, 'TOLLGATE_POSTGRES_POOLER', false), // DATABASE_URL leads to a pooler in transaction mode
    postgresConnections: integer(env, 'TOLLGATE_POSTGRES_CONNECTIONS', 0, { min: 0, max: 1_000 }), // to DATABASE_URL, about; 0: 10 behind a pooler, else as many as there is use for
    clickhouseUrl: url(env, 'CLICKHOUSE_URL', ['http:', 'https:']), // null: the embedded ClickHouse
    redisUrl: redisUrl(env), // turns on several nodes; null: this one is alone
    nodeId: given(env, 'TOLLGATE_NODE_ID'), // how it is called; null: by the address it announces
    nodeListen: address(env, 'TOLLGATE_NODE_LISTEN'), // host:port where other nodes ask it; null: TOLLGATE_HOST and any free port
    nodeAddress: address(env, 'TOLLGATE_NODE_ADDRESS'), // host:port it tells them; null: where it listens
    clusterSecret: clusterSecret(env), // what nodes know of each other; needed with REDIS_URL
    nodeTls: nodeTls(env), // PEM files for TLS between nodes; null: not encrypted
    redisDurability: durability(env), // what an acknowledged write has survived: fsync, replicas:N, accept-loss
    redisKeysMs: integer(env, 'TOLLGATE_REDIS_KEYS_MS', 7_200_000, { min: 1_000, max: 86_400_000 }), // idempotency keys received so lately stay in Redis
    clusterShards: integer(env, 'TOLLGATE_CLUSTER_SHARDS', 12, { min: 1, max: 256 }), // parts that companies are divided into; the first start of a cluster decides
    leaseMs: integer(env, 'TOLLGATE_LEASE_MS', 2_000, { min: 500, max: 60_000 }), // a node that is silent for so long is replaced
    tracesUrl: tracesUrl(env), // where OpenTelemetry traces are posted to; null: none are made
    logLevel: oneOf(env, 'TOLLGATE_LOG_LEVEL', 'info', logLevels),
    slowRequestMs: integer(env, 'TOLLGATE_SLOW_REQUEST_MS', 1_000, { min: 1, max: 600_000 }), // threshold for a logged warning
    drainMs: integer(env, 'TOLLGATE_DRAIN_MS', 10_000, { min: 0, max: 600_000 }), // longest wait for requests in flight when stopping
    bodiesBytesMax: integer(env, 'TOLLGATE_BODIES_BYTES_MAX', 268_435_456, {
      min: 16_777_216,
      max: 17_179_869_184,
    }), // bodies being received, in total; and large ones being parsed, in total
    parseThreads: integer(
      env,
      'TOLLGATE_PARSE_THREADS',
      Math.max(1, Math.floor(availableParallelism() / 4)),
      {
        min: 0,
        max: 64,
      },
    ), // parse large bodies; 0: the HTTP thread parses them
    journalSegmentBytes: integer(env, 'TOLLGATE_JOURNAL_SEGMENT_BYTES', 67_108_864, {
      min: 1_048_576,
      max: 1_073_741_824,
    }),
    journalBacklogBytesMax: integer(env, 'TOLLGATE_JOURNAL_BACKLOG_BYTES', 17_179_869_184, {
      min: 67_108_864,
      max: 1_099_511_627_776,
    }), // beyond: events are refused with 503
    journalPendingBytesMax: integer(env, 'TOLLGATE_JOURNAL_PENDING_BYTES', 67_108_864, {
      min: 4_096,
      max: 4_294_967_296,
    }), // per shard, accepted but not yet on disk; beyond: writes are refused with 503
    checkpointIntervalMs: integer(env, 'TOLLGATE_CHECKPOINT_INTERVAL_MS', 10_000, {
      min: 100,
      max: 3_600_000,
    }),
    flagCheckRowsPerSecond: integer(env, 'TOLLGATE_FLAG_CHECK_ROWS_PER_SECOND', 200, {
      min: 0,
      max: 1_000_000,
    }), // checks kept as single records, per shard; beyond: only counted
    deniedRowsPerMinute: integer(env, 'TOLLGATE_DENIED_ROWS_PER_MINUTE', 60, { min: 0, max: 4_095 }), // denials kept beyond that rate, for each company
    deniedRowsPerSecond: integer(env, 'TOLLGATE_DENIED_ROWS_PER_SECOND', 200, { min: 0, max: 1_000_000 }), // the same of all companies, per shard
    threadPriorities: boolean(env, 'TOLLGATE_THREAD_PRIORITIES', true), // the projector and an embedded ClickHouse after requests
    clickhouseThrottle: boolean(env, 'TOLLGATE_CLICKHOUSE_THROTTLE', false), // an embedded ClickHouse that keeps up runs only when no thread wants the core
    idleCollections: boolean(env, 'TOLLGATE_IDLE_COLLECTIONS', true), // threads that grew and became idle collect their heaps
    companyViewsBytes: integer(env, 'TOLLGATE_COMPANY_VIEWS_BYTES', 67_108_864, {
      min: 0,
      max: 17_179_869_184,
    }), // views of companies looked up lately, kept in memory; 0: none is kept
    actorsMax: integer(env, 'TOLLGATE_ACTORS_MAX', 500_000, { min: 1_000, max: 100_000_000 }), // in memory per shard; beyond: idle ones are evicted
    idempotencyBytes: integer(env, 'TOLLGATE_IDEMPOTENCY_BYTES', 2_147_483_648, {
      min: 40_000,
      max: 1_000_000_000_000,
    }), // memory for the idempotency keys of a day; beyond: 503
    companiesMax: integer(env, 'TOLLGATE_COMPANIES_MAX', 5_000_000, { min: 1, max: 1_000_000_000 }), // per environment; beyond: 429, events fail
    usersMax: integer(env, 'TOLLGATE_USERS_MAX', 20_000_000, { min: 1, max: 1_000_000_000 }), // the same
    keyNamesMax: integer(env, 'TOLLGATE_KEY_NAMES_MAX', 10_000, { min: 1, max: 1_000_000 }), // per environment, for companies and for users; the same
    definitionsMax: integer(env, 'TOLLGATE_DEFINITIONS_MAX', 10_000, { min: 10, max: 1_000_000 }), // of one kind, per environment; features, flags, plans and keys per account; beyond: 429
    eventNamesMax: integer(env, 'TOLLGATE_EVENT_NAMES_MAX', 100_000, { min: 1, max: 10_000_000 }), // per environment, counted by each shard; beyond: events fail
    writesBehindMax: integer(env, 'TOLLGATE_WRITES_BEHIND_MAX', 500, { min: 1, max: 1_000_000 }), // writes of an environment's events that Postgres does not have yet; beyond: the next ones wait
    streamConnectionsMax: integer(env, 'TOLLGATE_STREAM_CONNECTIONS_MAX', 4_000, { min: 0, max: 1_000_000 }), // to the data stream, of an environment; beyond: 429
    streamConnectionsPerKeyMax: integer(env, 'TOLLGATE_STREAM_CONNECTIONS_PER_KEY_MAX', 2_000, {
      min: 0,
      max: 1_000_000,
    }), // the same of a key
    streamPagesMax: integer(env, 'TOLLGATE_STREAM_PAGES_MAX', 2_000, { min: 0, max: 1_000_000 }), // connections of pages, by publishable keys, of an environment; beyond: 429
    streamEntitiesMax: integer(env, 'TOLLGATE_STREAM_ENTITIES_MAX', 50_000, { min: 1, max: 10_000_000 }), // companies and users of an environment subscribed to; beyond: an error message
    streamMessagesPerSecond: integer(env, 'TOLLGATE_STREAM_MESSAGES_PER_SECOND', 200, {
      min: 1,
      max: 1_000_000,
    }), // of one connection, ten times as many at once; beyond: it is closed
    streamBufferBytes: integer(env, 'TOLLGATE_STREAM_BUFFER_BYTES', 262_144, {
      min: 16_384,
      max: 1_073_741_824,
    }), // that wait for one connection; beyond: its changes are gathered, and after ten seconds it is closed
    webhookRetryMs: integer(env, 'TOLLGATE_WEBHOOK_RETRY_MS', 5_000, { min: 1, max: 3_600_000 }), // before the first retry; each wait is four times the last
    webhookPendingBytesMax: integer(env, 'TOLLGATE_WEBHOOK_PENDING_BYTES', 67_108_864, {
      min: 1_048_576,
      max: 17_179_869_184,
    }), // pending payloads per environment; beyond: notifications wait in the outbox
    webhookPlainHttp: boolean(env, 'TOLLGATE_WEBHOOK_PLAIN_HTTP', false), // allow http for webhooks of production environments
    webhookPrivateAddresses: boolean(env, 'TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES', false), // allow webhooks to reach private networks
  }
}

export type Config = ReturnType<typeof readConfig>

/** Settings of the command line, tests and benchmarks, which the server ignores. */
const others = /^TOLLGATE_(URL|KEY|KEY_FILE|SEED|RUNS|(TEST|BENCH|SIMULATE|COVERED)_.*)$/
/** Variables that Kubernetes sets for a service named `tollgate`. */
const serviceLinks = /^TOLLGATE_(SERVICE_(HOST|PORT).*|PORT_\d+_.*)$/

// A misspelt setting would otherwise be ignored silently, and the default used.
function refuseUnknown(given: readonly string[], known: readonly string[]): void {
  for (const name of given) {
    if (!name.startsWith('TOLLGATE_') || known.includes(name)) continue
    if (secrets.has(name.replace(/_FILE$/, ''))) continue
    if (others.test(name) || serviceLinks.test(name)) continue
    throw new ConfigError(`${name} is not a setting. The nearest one is ${nearest(name, known).each}.`)
  }
}

function nearest(
  name: string,
  known: readonly string[],
): { readonly each: string; readonly distance: number } {
  return known
    .map(each => ({ each, distance: editDistance(name, each) }))
    .reduce((a, b) => (b.distance < a.distance ? b : a))
}

// Levenshtein distance, row by row.
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    row = next
  }
  return row[b.length]!
}

/** Threads that answer checks: the fronts, and beside several the main thread, for what they pass on. */
export const checkingThreads = ({ fronts }: Pick<Config, 'fronts'>): number => (fronts === 1 ? 1 : fronts + 1)

/** Single records of checks that each of so many threads makes: `RecordRates` (FE-101, EX-5). */
export function recordRates(config: Config, threads = 1) {
  const part = (rate: number) => Math.floor(rate / threads)
  return {
    perSecond: part(config.flagCheckRowsPerSecond),
    deniedPerMinute: part(config.deniedRowsPerMinute),
    deniedPerSecond: part(config.deniedRowsPerSecond),
  }
}

/** Bounds of connections by address and in total. Behind proxies all have the addresses of these. */
export function connectionBounds({
  connectionsMax: total,
  connectionsPerAddress,
  trustProxy,
}: Pick<Config, 'connectionsMax' | 'connectionsPerAddress' | 'trustProxy'>) {
  const quarter = Math.max(1, Math.floor(total / 4))
  const perAddress = connectionsPerAddress === 0 ? quarter : connectionsPerAddress
  return { total, perAddress: trustProxy > 0 ? Number.POSITIVE_INFINITY : perAddress }
}

/** Settings that several nodes need besides REDIS_URL; throws ConfigError that names the first that is missing. */
function mustBeComplete(config: Config): void {
  const connections = connectionsBeside(openFilesMax())
  if (config.connectionsMax > connections)
    throw new ConfigError(
      `TOLLGATE_CONNECTIONS_MAX: at most ${connections} beside the files of the process; raise its limit of open files (ulimit -n)`,
    )
  if (config.fronts > 1 && config.redisUrl !== null)
    throw new ConfigError('TOLLGATE_FRONTS: one of several nodes (REDIS_URL) has one front')
  if (config.fronts > 1 && config.http === 'node')
    throw new ConfigError("TOLLGATE_FRONTS: Node's http has one front; several need TOLLGATE_HTTP=uws")
  if (config.postgresPooler && config.databaseUrl === null)
    throw new ConfigError('TOLLGATE_POSTGRES_POOLER: a pooler is named by DATABASE_URL; set it, too')
  if (config.redisUrl === null) {
    if (config.sharedPort)
      throw new ConfigError('TOLLGATE_SHARED_PORT: nodes share a port; set REDIS_URL, too')
    return
  }
  const needed = {
    DATABASE_URL: config.databaseUrl,
    CLICKHOUSE_URL: config.clickhouseUrl,
    TOLLGATE_PEPPER: config.pepper,
    TOLLGATE_CLUSTER_SECRET: config.clusterSecret,
  }
  for (const [name, value] of Object.entries(needed))
    if (value === null) throw new ConfigError(`REDIS_URL: several nodes need ${name}, the same on each`)
  if (mayFailOver(config.redisUrl) && config.redisDurability === 'fsync')
    throw new ConfigError(
      'REDIS_URL: with Sentinels or a Redis Cluster a fail-over loses what no replica has. Set ' +
        'TOLLGATE_REDIS_DURABILITY to replicas:1 or more, or accept that loss with accept-loss',
    )
}

/** A setting is wrong; the start stops with this message. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

const httpServers = ['auto', 'uws', 'node'] as const
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

// Limit of request line and headers together, read when the native HTTP server is loaded. A list of 100 ids fits.
export const headerBytesMax = 16_384

/** Set environment variables that native modules read. Call it before they are loaded. */
export function prepareNative(): void {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(headerBytesMax)
}

/** Settings with secrets: each may be given as a file, under the same name with `_FILE`. */
const secrets: ReadonlySet<string> = new Set([
  'TOLLGATE_BOOTSTRAP_KEY',
  'TOLLGATE_PEPPER',
  'TOLLGATE_PEPPER_PREVIOUS',
  'TOLLGATE_BACKUP_KEY',
  'TOLLGATE_METRICS_TOKEN',
  'TOLLGATE_CLUSTER_SECRET',
  'TOLLGATE_OIDC_CLIENT_SECRET',
  'DATABASE_URL',
  'CLICKHOUSE_URL',
  'REDIS_URL',
])
const secretBytesMax = 65_536

function given(env: Env, name: string): string | null {
  const value = env[name]?.trim() || null
  const named = `${name}_FILE`
  const file = secrets.has(name) && Object.hasOwn(env, named) ? env[named]?.trim() || null : null
  if (file === null) return value
  if (value !== null) throw new ConfigError(`${name} and ${name}_FILE are both given: keep one`)
  let read: string
  try {
    read = readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError(`${name}_FILE: ${(error as Error).message}`)
  }
  if (read.length > secretBytesMax) throw new ConfigError(`${name}_FILE: ${file} is too large for a secret`)
  if (read.trim() === '') throw new ConfigError(`${name}_FILE: ${file} is empty`)
  return read.trim()
}

function wrong(name: string, wanted: string, value: string): ConfigError {
  return new ConfigError(`${name}: expected ${wanted}, given ${JSON.stringify(value.slice(0, 200))}`)
}

function text(env: Env, name: string, fallback: string): string {
  return given(env, name) ?? fallback
}

function integer(env: Env, name: string, fallback: number, range: { min: number; max: number }): number {
  const value = given(env, name)
  if (value === null) return fallback
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
  if (number >= range.min && number <= range.max) return number
  throw wrong(name, `a whole number from ${range.min} to ${range.max}`, value)
}

function boolean(env: Env, name: string, fallback: boolean): boolean {
  const value = given(env, name)
  if (value === null) return fallback
  if (value === 'true' || value === '1') return true
  if (value === 'false' || value === '0') return false
  throw wrong(name, 'true or false', value)
}

/** Number of proxies; true is 1, false is 0. */
function hops(env: Env, name: string): number {
  const value = given(env, name)
  if (value === null || value === 'false') return 0
  if (value === 'true') return 1
  if (/^\d{1,2}$/.test(value) && Number(value) <= 16) return Number(value)
  throw wrong(name, 'true, false, or a number of proxies from 0 to 16', value)
}

function publicUrl(env: Env): string | null {
  return url(env, 'TOLLGATE_PUBLIC_URL', ['http:', 'https:'])
}

/** Roles by environment name or id, or "*"; a text: the role everywhere. */
type GroupRoles = ConsoleRole | Readonly<Record<string, ConsoleRole>>

/** Settings of sign-on: all of TOLLGATE_OIDC_*, or none. */
function oidcSettings(env: Env) {
  const issuer = url(env, 'TOLLGATE_OIDC_ISSUER', ['http:', 'https:'])
  const clientId = given(env, 'TOLLGATE_OIDC_CLIENT_ID')
  const clientSecret = given(env, 'TOLLGATE_OIDC_CLIENT_SECRET') // null: a public client, by PKCE alone
  const domains = (given(env, 'TOLLGATE_OIDC_DOMAINS') ?? '')
    .split(',')
    .map(part => part.trim().toLowerCase())
  const roles = groupRoles(env, 'TOLLGATE_OIDC_ROLES')
  const scopes = text(env, 'TOLLGATE_OIDC_SCOPES', 'openid email profile')
  const groupsClaim = text(env, 'TOLLGATE_OIDC_GROUPS_CLAIM', 'groups')
  if (issuer === null) return null
  if (clientId === null)
    throw new ConfigError('TOLLGATE_OIDC_ISSUER: sign-on needs TOLLGATE_OIDC_CLIENT_ID, too')
  if (given(env, 'TOLLGATE_PUBLIC_URL') === null)
    throw new ConfigError(
      'TOLLGATE_OIDC_ISSUER: sign-on needs TOLLGATE_PUBLIC_URL, to which the provider sends back',
    )
  if (new URL(issuer).protocol === 'http:' && !isLoopback(new URL(issuer).hostname))
    throw new ConfigError(
      'TOLLGATE_OIDC_ISSUER: expected https; http is for a provider on this machine alone',
    )
  return {
    issuer: new URL(issuer),
    clientId,
    clientSecret,
    domains: domains.filter(domain => domain !== ''),
    roles,
    scopes,
    groupsClaim,
  }
}

/** A map from groups of the provider to roles, as JSON. */
function groupRoles(env: Env, name: string): Readonly<Record<string, GroupRoles>> {
  const value = given(env, name)
  if (value === null) return {}
  const wanted = 'JSON as {"staff": "viewer", "sales": {"Production": "support", "*": "viewer"}}'
  let parsed: unknown
  try {
    parsed = JSON.parse(value)
  } catch {
    throw wrong(name, wanted, value)
  }
  const isMap = (one: unknown): one is Record<string, unknown> =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
  const isOfRoles = (one: unknown) =>
    isConsoleRole(one) || (isMap(one) && Object.values(one).every(isConsoleRole))
  if (!isMap(parsed) || !Object.values(parsed).every(isOfRoles)) throw wrong(name, wanted, value)
  return parsed as Readonly<Record<string, GroupRoles>>
}

function origins(env: Env, name: string): readonly string[] | null {
  const value = given(env, name)
  if (value === null || value === '*') return null
  const list = value.split(',').map(part => part.trim())
  for (const origin of list) {
    if (origin !== 'none' && (!URL.canParse(origin) || new URL(origin).origin !== origin))
      throw wrong(name, '* or origins separated by commas, e.g. https://app.example.com, or none', origin)
  }
  return list.filter(origin => origin !== 'none')
}

function address(env: Env, name: string): { readonly host: string; readonly port: number } | null {
  const value = given(env, name)
  if (value === null) return null
  const found = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s]+)):(\d{1,5})$/.exec(value)
  if (found === null || Number(found[3]) > 65_535) throw wrong(name, 'host:port', value)
  return { host: found[1] ?? found[2]!, port: Number(found[3]) }
}

function oneOf<const T extends readonly string[]>(
  env: Env,
  name: string,
  fallback: T[number],
  words: T,
): T[number] {
  const value = given(env, name)
  if (value === null) return fallback
  if (words.includes(value)) return value
  throw wrong(name, `one of ${words.join(', ')}`, value)
}

function url(env: Env, name: string, protocols: readonly string[]): string | null {
  const value = given(env, name)
  if (value === null) return null
  const parsed = URL.canParse(value) ? new URL(value) : null
  if (parsed !== null && protocols.includes(parsed.protocol)) return value
  // the value may contain a password, so only its scheme is shown
  throw new ConfigError(
    `${name}: expected a URL of ${protocols.join(' or ')}, given one of ${parsed?.protocol ?? 'no scheme'}`,
  )
}

// OpenTelemetry's own names: a given endpoint turns tracing on.
function tracesUrl(env: Env): string | null {
  if (given(env, 'OTEL_SDK_DISABLED') === 'true' || given(env, 'OTEL_TRACES_EXPORTER') === 'none') return null
  const own = url(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', ['http:', 'https:'])
  const shared = url(env, 'OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:'])
  return own ?? (shared && `${shared.replace(/\/$/, '')}/v1/traces`)
}

// The interface document's name first, then those of existing clients (decision 7).
function headers(env: Env, name: string, own: string): readonly string[] {
  const further = (given(env, name) ?? '').split(',').map(part => part.trim())
  for (const header of further) {
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]*$/.test(header))
      throw wrong(name, 'header names separated by commas', header)
  }
  return [...new Set([own, ...further].filter(part => part !== ''))]
}

function bootstrapKey(env: Env): string | null {
  const value = given(env, 'TOLLGATE_BOOTSTRAP_KEY')
  if (value === null || /^[\x21-\x7e]{16,256}$/.test(value)) return value
  throw new ConfigError(
    `TOLLGATE_BOOTSTRAP_KEY: expected 16 to 256 printable characters without blanks, given ${value.length} characters`,
  )
}

function redisUrl(env: Env): string | null {
  const value = given(env, 'REDIS_URL')
  if (value === null) return null
  if (namesSentinels(value)) {
    if (sentinelForm.test(value)) return value
    throw new ConfigError(
      'REDIS_URL: Sentinels are named as redis+sentinel://user:password@host:port,host:port/NAME, where NAME is that of ' +
        'the primary at the Sentinels',
    )
  }
  const servers = value.split(',').map(one => one.trim())
  for (const one of servers) url({ REDIS_URL: one }, 'REDIS_URL', ['redis:', 'rediss:'])
  if (servers.length > 1 && servers.some(one => !/^\/?$/.test(new URL(one).pathname)))
    throw new ConfigError(
      'REDIS_URL: a list names a Redis Cluster, which has no databases: leave out the path',
    )
  return value
}

function durability(env: Env): string {
  const value = given(env, 'TOLLGATE_REDIS_DURABILITY') ?? 'fsync'
  if (/^(fsync|replicas:[1-9]|accept-loss)$/.test(value)) return value
  throw wrong('TOLLGATE_REDIS_DURABILITY', 'fsync, replicas:1 to replicas:9, or accept-loss', value)
}

function clusterSecret(env: Env): string | null {
  const value = given(env, 'TOLLGATE_CLUSTER_SECRET')
  if (value === null || value.length >= 32) return value
  throw new ConfigError(
    `TOLLGATE_CLUSTER_SECRET: expected 32 characters or more, hard to guess, given ${value.length} characters`,
  )
}

function nodeTls(env: Env): { readonly cert: string; readonly key: string; readonly ca: string } | null {
  const cert = given(env, 'TOLLGATE_NODE_TLS_CERT')
  const key = given(env, 'TOLLGATE_NODE_TLS_KEY')
  const ca = given(env, 'TOLLGATE_NODE_TLS_CA')
  if (cert !== null && key !== null && ca !== null) return { cert, key, ca }
  if (cert === null && key === null && ca === null) return null
  throw new ConfigError(
    'TOLLGATE_NODE_TLS_CERT, TOLLGATE_NODE_TLS_KEY and TOLLGATE_NODE_TLS_CA belong together: name all three files or none',
  )
}

function backupKey(env: Env): string | null {
  const value = given(env, 'TOLLGATE_BACKUP_KEY')
  if (value === null || value.length >= 32) return value
  throw new ConfigError(
    `TOLLGATE_BACKUP_KEY: expected 32 characters or more, hard to guess, given ${value.length} characters`,
  )
}

/**
 * Warning about stores that are reached unencrypted over a network, where passwords and data can be read and changed.
 * Empty when there are none.
 */
export function plainStores({
  databaseUrl,
  clickhouseUrl,
}: {
  readonly databaseUrl: string | null
  readonly clickhouseUrl: string | null
}): readonly string[] {
  const said: string[] = []
  if (databaseUrl !== null) {
    const { hostname, searchParams } = new URL(databaseUrl)
    const mode = searchParams.get('sslmode') ?? searchParams.get('ssl') ?? 'disable'
    const verifies = mode.startsWith('verify-') || searchParams.get('sslrootcert') === 'system'
    if (!isLoopback(hostname) && !verifies)
      said.push(
        `DATABASE_URL: ${mode === 'disable' ? 'the connection is not encrypted' : `sslmode=${mode} does not verify the server`}. ` +
          'Say sslmode=verify-full, and name your authority in NODE_EXTRA_CA_CERTS.',
      )
  }
  if (clickhouseUrl !== null) {
    const { hostname, protocol } = new URL(clickhouseUrl)
    if (!isLoopback(hostname) && protocol === 'http:')
      said.push(
        'CLICKHOUSE_URL: the connection is not encrypted. Use https://, and name your authority in NODE_EXTRA_CA_CERTS.',
      )
  }
  return said
}

/** Warning when a start runs as root. */
export const rootAdvice =
  'Tollgate runs as root: a hole in it is one in the whole machine, and the embedded Postgres runs as postgres or nobody, ' +
  'whose other processes may read its files. Start it as a user of its own.'

/** Whether a URL's host is the local machine. */
export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return host === '' || host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

function limits(env: Env, name: string): LimitSetting {
  const value = given(env, name)
  if (value === null || value === 'default') return 'default'
  if (value === 'off') return 'off'
  const table = parseLimits(value)
  if (table !== null) return table
  throw wrong(
    name,
    'default, off, or {"global":[rate per second, burst], "mutation":…, "events_ingest":…, "analytics":…}',
    value,
  )
}

const buckets: readonly string[] = ['global', 'mutation', 'events_ingest', 'analytics'] satisfies Bucket[]

/** Parse limits `{"global":[rate,burst],…}`; null when invalid. `tollgate limits` uses it too. */
export function parseLimits(value: string): Partial<Record<Bucket, Limit>> | null {
  let parsed: unknown
  try {
    parsed = JSON.parse(value)
  } catch {
    return null
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return null
  const table: Partial<Record<Bucket, Limit>> = {}
  for (const [bucket, pair] of Object.entries(parsed)) {
    if (!buckets.includes(bucket) || !isRateAndBurst(pair)) return null
    table[bucket as Bucket] = { ratePerSecond: pair[0], burst: pair[1] }
  }
  return table
}

function isRateAndBurst(pair: unknown): pair is [number, number] {
  if (!Array.isArray(pair) || pair.length !== 2) return false
  const [rate, burst] = pair as unknown[]
  return (
    typeof rate === 'number' &&
    rate > 0 &&
    rate <= 1e9 &&
    Number.isInteger(burst) &&
    (burst as number) >= 1 &&
    (burst as number) <= 1e9
  )
}
