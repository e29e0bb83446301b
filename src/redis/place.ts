// The forms of REDIS_URL, and the options of a connection to each. All keys of a slot (slots.ts) carry one hash tag, so one
// server at a time has them all. A connection leads to this server: the one named, the primary that Sentinels name, or the
// primary of the slot in a Redis Cluster. When that server is replaced, the connection ends or is ended, and the next one leads to
// its successor.
import { connect as connectTcp } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { AbstractConnector, Redis, type RedisOptions } from 'ioredis'
import { namesCluster, sentinelForm } from '../redis-url.js'
import type { SlotAddress } from '../wire/shard-options.js'

/** How long a Sentinel, or a server of a Redis Cluster, may take to name the primary. */
const namesMs = 2_000
/** How long the other Sentinels may take once one has named the primary. */
const othersMs = 500
const clusterPort = 6_379
const sentinelPort = 26_379

interface HostPort {
  readonly host: string
  readonly port: number
}

/** The answer of a Sentinel. */
interface Named {
  /** The number of the fail-over that made this server the primary. */
  readonly epoch: number
  readonly primary: HostPort
}

/** The answer of CLUSTER SLOTS: for each range its first and last slot, its primary and its replicas. */
type Slots = readonly (readonly [
  first: number,
  last: number,
  primary: readonly [host: string | null, port: number],
])[]

/** How a connection comes to its server where another one may take its place. */
export interface Lead {
  readonly options: RedisOptions
  /** Resolves with whether another server is the primary than the one that the last connection was led to. */
  moved(): Promise<boolean>
}

/** The way of a connection to its server; null for the URL of one server. */
export function leadingTo({ url, prefix }: Pick<SlotAddress, 'url' | 'prefix'>): Lead | null {
  const sentinels = sentinelForm.exec(url)
  if (sentinels !== null) return throughSentinels(sentinels)
  return namesCluster(url) ? throughSlots(url, prefix) : null
}

function throughSentinels([, scheme, user, password, hosts, name, db, ofSentinel]: RegExpExecArray): Lead {
  const tls = scheme === 'rediss' ? { tls: {} } : {}
  const sentinels = hosts!.split(',').map(one => hostPort(one, sentinelPort))
  const options: RedisOptions = { ...given('password', ofSentinel), ...tls }
  const set = decodeURIComponent(name!)
  const ofPrimary = {
    ...given('username', user),
    ...given('password', password),
    ...tls,
    db: Number(db ?? 0),
  }
  return leadTo(() => primaryNow(sentinels, options, set), ofPrimary)
}

/**
 * The primary by the latest fail-over that any of these Sentinels knows. One that was away, or did not hear of it yet,
 * names the former primary, which may run again and not know itself that it was replaced.
 */
async function primaryNow(
  sentinels: readonly HostPort[],
  options: RedisOptions,
  name: string,
): Promise<HostPort> {
  const named: Named[] = []
  const all = sentinels.map(async sentinel => named.push(await namedBy(sentinel, options, name)))
  await Promise.any(all).catch(error => {
    throw new Error(`no Sentinel names the primary of ${name}: ${firstOf(error)}`)
  })
  await Promise.race([Promise.allSettled(all), sleep(othersMs)])
  return named.reduce((a, b) => (b.epoch > a.epoch ? b : a)).primary
}

/** Ask one Sentinel for the primary, and for the number of the fail-over that made it so. */
async function namedBy(sentinel: HostPort, options: RedisOptions, name: string): Promise<Named> {
  return asking(sentinel, options, async redis => {
    const [told, at] = (await Promise.all([
      redis.call('SENTINEL', 'MASTER', name),
      redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name),
    ])) as [readonly string[], readonly [host: string, port: string]]
    const epoch = Number(told[told.indexOf('config-epoch') + 1])
    return { epoch, primary: { host: at[0], port: Number(at[1]) } }
  })
}

const given = (name: string, text: string | undefined): RedisOptions =>
  text ? { [name]: decodeURIComponent(text) } : {}

function hostPort(text: string, usual: number): HostPort {
  const { hostname, port } = new URL(`redis://${text}`)
  return { host: bare(hostname), port: Number(port || usual) }
}

/** The host of a URL has brackets around an IPv6 address; a socket wants none. */
const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1')

/**
 * Find the number of primaries of a Redis Cluster that have slots now. 1: the URL names one server, or Sentinels.
 *
 * errors  Error: no server of the Redis Cluster answers.
 */
export async function primariesOf(url: string): Promise<number> {
  if (!namesCluster(url)) return 1
  const { servers, options } = clusterServers(url)
  const ranges = await anyOf(servers, server =>
    asking(server, options, redis => redis.cluster('SLOTS') as unknown as Promise<Slots>),
  )
  return new Set(ranges.map(([, , [host, port]]) => `${host}:${port}`)).size
}

/** The servers that the URL of a Redis Cluster names, and the options of a connection to each. */
function clusterServers(url: string) {
  const urls = url.split(',').map(one => new URL(one.trim()))
  const { protocol, username, password } = urls[0]!
  const options: RedisOptions = {
    ...given('username', username),
    ...given('password', password),
    ...(protocol === 'rediss:' ? { tls: {} } : {}),
  }
  const servers = urls.map(({ hostname, port }) => ({
    host: bare(hostname),
    port: Number(port || clusterPort),
  }))
  return { servers, options }
}

function throughSlots(url: string, key: string): Lead {
  const { servers, options } = clusterServers(url)
  return leadTo(() => anyOf(servers, server => primaryOf(server, options, key)), options)
}

/** The first answer of the servers of a Redis Cluster. */
const anyOf = <Answer>(
  servers: readonly HostPort[],
  asked: (server: HostPort) => Promise<Answer>,
): Promise<Answer> =>
  Promise.any(servers.map(asked)).catch(error => {
    throw new Error(`no server of the Redis Cluster says who has the slot: ${firstOf(error)}`)
  })

/** The first of the errors that Promise.any gathered, in words. */
const firstOf = (error: unknown): string => ((error as AggregateError).errors[0] as Error).message

/** Leads each new connection to the server that is the primary then. */
function leadTo(primaryNow: () => Promise<HostPort>, options: RedisOptions): Lead {
  let last: HostPort | null = null
  class PrimaryConnector extends AbstractConnector {
    constructor({ disconnectTimeout }: { readonly disconnectTimeout: number }) {
      super(disconnectTimeout)
    }

    async connect() {
      this.connecting = true
      const primary = await primaryNow()
      if (!this.connecting) throw new Error('Connection is closed.')
      last = primary
      const stream = options.tls === undefined ? connectTcp(primary) : connectTls(primary)
      stream.once('error', error => {
        this.firstError = error
      })
      this.stream = stream
      return stream
    }
  }
  return {
    options: { ...options, Connector: PrimaryConnector as NonNullable<RedisOptions['Connector']> },
    async moved() {
      const was = last
      const { host, port } = await primaryNow()
      return was !== null && was === last && (was.host !== host || was.port !== port)
    },
  }
}

/** Ask one server of a Redis Cluster for the primary of a key's slot. */
function primaryOf(server: HostPort, options: RedisOptions, key: string): Promise<HostPort> {
  return asking(server, options, async redis => {
    const [slot, ranges] = await Promise.all([
      redis.cluster('KEYSLOT', key),
      redis.cluster('SLOTS') as unknown as Promise<Slots>,
    ])
    const range = ranges.find(([first, last]) => first <= slot && slot <= last)
    if (range === undefined) throw new Error(`no server has slot ${slot}`)
    const [host, port] = range[2]
    // A server that does not know its own address leaves it out.
    return { host: host || server.host, port }
  })
}

/** Connect to a server for one question. */
async function asking<Answer>(
  server: HostPort,
  options: RedisOptions,
  question: (redis: Redis) => Promise<Answer>,
): Promise<Answer> {
  const redis = new Redis({
    ...options,
    ...server,
    lazyConnect: true,
    enableReadyCheck: false,
    maxRetriesPerRequest: 0,
    connectTimeout: namesMs,
    commandTimeout: namesMs,
    retryStrategy: () => null,
  })
  let cause: Error | null = null
  redis.on('error', error => {
    cause = error
  })
  try {
    await redis.connect().catch(error => {
      throw cause ?? error
    })
    return await question(redis)
  } finally {
    redis.disconnect()
  }
}
