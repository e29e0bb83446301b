// Several nodes of one cluster for a test: real processes on one Redis, one Postgres and one ClickHouse.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import type { Test } from 'tap'
import { clusterShards } from '../../src/cluster/leases.js'
import { type Client, Process, storesOf } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { LinkProxy } from './proxy.js'

const program = fileURLToPath(new URL('../../../bin/tollgate', import.meta.url))

/** The reason why tests of several nodes are skipped here, or false. */
export const skipped: string | false =
  spawnSync('redis-server', ['--version']).status === 0 ? false : 'no Redis server is installed'

/** A Redis of the test's own. It keeps acknowledged writes. */
export class TestRedis {
  private child: ChildProcess | null = null

  private constructor(
    readonly port: number,
    private readonly directory: string,
    private readonly replicaOf: number | null,
    private readonly more: readonly string[],
  ) {}

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  get pid(): number {
    return this.child!.pid!
  }

  /**
   * replicaOf  the port of the Redis that it replicates.
   * more       further words of its command line.
   */
  static async start(
    t: Test,
    replicaOf: number | null = null,
    { port, more = [] }: { readonly port?: number; readonly more?: readonly string[] } = {},
  ): Promise<TestRedis> {
    const redis = new TestRedis(port ?? (await freePort()), await temporaryDirectory(t), replicaOf, more)
    await redis.start()
    t.teardown(() => redis.end('SIGKILL'))
    return redis
  }

  /** Start it, or restart it on the data it kept. */
  async start(): Promise<void> {
    const settings = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '']
    const where = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.directory]
    const copies =
      this.replicaOf === null
        ? ['--repl-diskless-sync-delay', '0']
        : ['--replicaof', '127.0.0.1', String(this.replicaOf)]
    const words = [...where, ...settings, ...copies, ...this.more]
    this.child = spawn('redis-server', words, { stdio: 'ignore' })
    const probe = new Redis(this.url, {
      lazyConnect: true,
      retryStrategy: () => 50,
      maxRetriesPerRequest: null,
    })
    probe.on('error', () => {})
    await probe.connect().catch(() => {})
    while ((await probe.ping().catch(() => '')) !== 'PONG')
      await new Promise(resolve => setTimeout(resolve, 20))
    probe.disconnect()
  }

  signal(signal: NodeJS.Signals): void {
    this.child!.kill(signal)
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const exited = new Promise(resolve => child.on('exit', resolve))
    child.kill(signal)
    await exited
  }
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

/** One node. */
export interface TestNode {
  readonly name: string
  readonly process: Process
  readonly client: Client
  readonly dataDir: string
}

/** A cluster to which tests add nodes. */
export class TestCluster {
  readonly nodes: TestNode[] = []
  private made = 0

  private constructor(
    private readonly t: Test,
    readonly redis: TestRedis,
    private readonly settings: Readonly<Record<string, string>>,
    private readonly root: string,
  ) {}

  static async start(
    t: Test,
    count: number,
    more: Readonly<Record<string, string>> = {},
  ): Promise<TestCluster> {
    const root = await temporaryDirectory(t)
    const [redis, stores] = await Promise.all([TestRedis.start(t), storesOf(root, more)])
    const settings = {
      ...stores,
      REDIS_URL: redis.url,
      TOLLGATE_PEPPER: 'a pepper that is the same on all nodes',
      TOLLGATE_CLUSTER_SECRET: 'a secret that only nodes of this test know',
      TOLLGATE_SHARDS: '1',
      ...more,
    }
    const cluster = new TestCluster(t, redis, settings, root)
    if (count === 0) return cluster
    await cluster.add()
    await Promise.all(Array.from({ length: count - 1 }, () => cluster.add()))
    await until(() => cluster.isEven(), 'every node has its share')
    return cluster
  }

  /** Start a node that others reach through a proxy. Resolves when it serves. */
  async addBehindProxy(
    more: Readonly<Record<string, string>> = {},
  ): Promise<TestNode & { proxy: LinkProxy }> {
    const port = await freePort()
    const proxy = await LinkProxy.start(this.t, port)
    const addresses = {
      TOLLGATE_NODE_LISTEN: `127.0.0.1:${port}`,
      TOLLGATE_NODE_ADDRESS: `127.0.0.1:${proxy.port}`,
    }
    return { ...(await this.add({ ...addresses, ...more })), proxy }
  }

  /** Start a node. Resolves when it serves. `program`: as of `Process.spawn`. */
  async add(more: Readonly<Record<string, string>> = {}, program?: readonly string[]): Promise<TestNode> {
    const name = `node-${++this.made}`
    const dataDir = join(this.root, name)
    const settings = { ...this.settings, TOLLGATE_NODE_ID: name, ...more }
    const process = await Process.start(dataDir, settings, program)
    const node = { name, process, client: process.client, dataDir }
    this.nodes.push(node)
    this.t.teardown(() => process.end('SIGKILL'))
    void this.tellsWhyItEnds(node)
    return node
  }

  /**
   * Start a node without Redis, with its journal in files, on the data directory of the next node that is
   * added.
   */
  async addAlone(): Promise<TestNode> {
    const node = await this.add({ REDIS_URL: '' })
    this.made--
    return node
  }

  /** Prints the last words of a node that ends by itself with an error. */
  private async tellsWhyItEnds({ name, process }: TestNode): Promise<void> {
    let last = ''
    process.child.stdout!.on('data', chunk => {
      last = `${last}${chunk}`.slice(-4_000)
    })
    const code = await process.exited
    if (code !== null && code !== 0) console.error(`${name} ended with ${code}: ${last}`)
  }

  /** Settings of a node but its name. */
  get all(): Readonly<Record<string, string>> {
    return this.settings
  }

  get databaseUrl(): string {
    return this.settings.DATABASE_URL!
  }

  get clickhouseUrl(): string {
    return this.settings.CLICKHOUSE_URL!
  }

  /** Whether each node reports its share of the shards: no shard moves then. */
  async isEven(): Promise<boolean> {
    const shares = await sharesOf(this.living)
    const least = Math.floor(clusterShards / shares.length)
    return shares.every(share => share >= least) && sum(shares) === clusterShards
  }

  /** Run a command with the settings of a node. */
  command(
    ...args: readonly string[]
  ): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
    const env = { ...process.env, TOLLGATE_DATA_DIR: join(this.root, 'command'), ...this.settings }
    const child = spawn(process.execPath, [program, ...args], { env })
    let out = ''
    let err = ''
    child.stdout.on('data', chunk => {
      out += chunk
    })
    child.stderr.on('data', chunk => {
      err += chunk
    })
    return new Promise(resolve => child.on('close', code => resolve({ code, out, err })))
  }

  /** Nodes that are still running. */
  get living(): readonly TestNode[] {
    return this.nodes.filter(
      ({ process }) => process.child.exitCode === null && process.child.signalCode === null,
    )
  }
}

/** Resolves when the condition holds. Fails after three minutes: a busy machine may need one of them. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string | (() => string),
): Promise<void> {
  for (const endMs = performance.now() + 180_000; !(await holds()); ) {
    if (performance.now() > endMs)
      throw new Error(`it did not come to this: ${typeof what === 'string' ? what : what()}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

/** Shards that each node reports as its own; 0 where it does not answer. A node without a cluster has all. */
async function sharesOf(nodes: readonly TestNode[]): Promise<readonly number[]> {
  const pages = nodes.map(async ({ client }) =>
    (await fetch(`${client.url}/metrics`, { signal: AbortSignal.timeout(10_000) })).text(),
  )
  const answered = await Promise.allSettled(pages)
  return answered.map(page =>
    page.status === 'rejected'
      ? 0
      : Number(/^tollgate_cluster_shards\{.*\} (\d+)$/m.exec(page.value)?.[1] ?? clusterShards),
  )
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/**
 * Whether these nodes own all shards. Until they hear of the death of another node they count themselves as whole.
 */
export async function ownAll(nodes: readonly TestNode[]): Promise<boolean> {
  return sum(await sharesOf(nodes)) === clusterShards
}

/** Resolves when every one of these nodes serves and reports nothing as degraded. */
export async function whole(nodes: () => readonly TestNode[]): Promise<void> {
  let lacks: readonly string[] = []
  const look = async (): Promise<boolean> => {
    lacks = (await Promise.all(nodes().map(lackOf))).flat()
    return lacks.length === 0
  }
  await until(look, () => `every node is whole. ${lacks.join('; ')}`)
}

/** Faults that keep a node from serving, in words; none when it is whole. */
async function lackOf({ name, client }: TestNode): Promise<readonly string[]> {
  const { status, body } = await client.get('/health/ready').catch(() => ({ status: 0, body: null }))
  if (status === 200 && body.degraded.length === 0) return []
  return [`${name} answers ${status}: ${body?.degraded}`]
}
