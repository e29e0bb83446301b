// Starts a node when `REDIS_URL` is set: joins the cluster, and makes the parts that know other nodes. Only
// such a start loads this file.
import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { StoredClaims } from '../analytics/history.js'
import type { Version } from '../catalog/cache.js'
import type { TraitRegistry } from '../catalog/traits.js'
import { type Config, ConfigError, recordRates } from '../config.js'
import type { ShardNotice } from '../core/company/shard-request.js'
import type { CatalogData } from '../core/model/definitions.js'
import type { Directory } from '../entities/directory/directory.js'
import { isRemembered } from '../entities/idempotency/dedupe.js'
import type { HoldKeys } from '../entities/idempotency/hold-keys.js'
import { ServiceError } from '../errors.js'
import { shardDirectory } from '../journal/segment.js'
import type { Journals } from '../recovery/journals.js'
import type { ProjectionsOptions } from '../recovery/projections.js'
import type { Phases } from '../recovery/start-phases.js'
import { fillMemory, restorePositions, storedIn } from '../recovery/warm-up.js'
import { keepDone } from '../redis/claims.js'
import { RedisDisk, redisRoot } from '../redis/disk.js'
import { mustRead, noteFormat } from '../redis/format.js'
import { primariesOf } from '../redis/place.js'
import { RedisClient } from '../redis/redis.js'
import { sealedKeysIn } from '../redis/sealed-keys.js'
import { prefixesOf, RedisSlots } from '../redis/slots.js'
import { Sweep } from '../redis/sweep.js'
import { mayFailOver } from '../redis-url.js'
import type { ClickHouseAddress } from '../storage/clickhouse.js'
import { closePostgres, openPostgres, type PostgresAddress } from '../storage/postgres.js'
import { unpackClaim } from '../wire/packed-claim.js'
import { Positions } from '../wire/positions.js'
import type { RedisAddress, ShardOptions } from '../wire/shard-options.js'
import { Changes } from '../wire/version-counters.js'
import { applying } from './apply.js'
import { SharedBudgets, type SharedLimits } from './budgets.js'
import { ChangeReports, ClusterChanges } from './changes.js'
import { Host } from './host.js'
import { ClusterNode } from './node.js'
import { OldWindow } from './old-window.js'
import { PairClaims } from './pairs.js'
import { ClusterProjections } from './projections.js'
import { livingNodes } from './reach.js'
import { reloadedBy } from './reload.js'
import { ReplicaWatch } from './replicas.js'
import { SharedBacklog } from './room.js'
import { SealThread } from './seal-thread.js'
import { linkSecurity } from './security.js'
import { ClusterShards } from './shards.js'
import { SharedWindow } from './window.js'

/** Segments are texts in Redis. Small ones can be deleted soon. */
const segmentBytes = 2 << 20
/** Attempts to read everything while other nodes project and trim. */
const fillTries = 10
const idempotentMs = 25 * 3_600_000
const windowMs = 24 * 3_600_000
/** How long a sealer waits for records that are on their way to ClickHouse. */
const projectedMs = 60_000

interface ClusterStart {
  readonly config: Config
  readonly log: Logger
  readonly sql: Sql
  readonly postgres: PostgresAddress
  readonly clickhouse: ClickHouseAddress
  /** This node was removed from the cluster: it must end at once. */
  readonly out: () => void
}

/** The parts of a node that replace those of a service without a cluster. */
export class Cluster {
  readonly positions: Positions
  readonly changes: Changes
  private readonly reports: ChangeReports
  /** The counters of all nodes, for the data stream. */
  readonly streamed: ClusterChanges
  readonly window = new SharedWindow()
  private readonly host: Host
  private readonly disk: RedisDisk
  readonly backlog: SharedBacklog
  /** Idempotency keys that left Redis. */
  readonly oldWindow: OldWindow
  private readonly sweep: Sweep
  private readonly sealing: SealThread
  readonly journals: Journals
  private reading: Promise<Positions> | null = null
  private budgets: SharedBudgets | null = null
  private projections: ClusterProjections | null = null

  private constructor(
    readonly node: ClusterNode,
    readonly generation: string,
    /** Number of its shards. */
    private readonly count: number,
    private readonly from: ClusterStart,
    private readonly address: RedisAddress,
    private readonly slots: RedisSlots,
    private readonly replicas: ReplicaWatch | null,
  ) {
    const { config, sql, postgres, clickhouse } = from
    this.positions = Positions.make(count)
    this.changes = Changes.make(count)
    this.reports = new ChangeReports(this.changes)
    this.host = new Host(
      { redis: address, postgres, clickhouse, records: recordRates(config) },
      config.shards,
    )
    this.sealing = new SealThread({ redis: address, postgres, clickhouse })
    this.oldWindow = new OldWindow({
      store: sealedKeysIn(sql),
      run: this.sealing.run,
      keptMs: config.redisKeysMs,
      bytesMax: config.idempotencyBytes,
      hand: spans => this.host.knowOldKeys(spans),
    })
    this.host.heardBehind = () => void this.oldWindow.load().catch(() => {})
    this.disk = new RedisDisk(slots)
    this.sweep = new Sweep(slots.all)
    this.backlog = new SharedBacklog(slots.all)
    const { positions, changes } = this
    this.streamed = new ClusterChanges(changes, () => node.others)
    this.journals = { directory: redisRoot, generation, positions, changes, options: [] }
  }

  /**
   * Check, before the stores are migrated, that this build goes together with the nodes that live and with what is in Redis. So a
   * build that is refused has changed nothing, and the others can be started again.
   *
   * errors  ConfigError with one line; errors of Postgres.
   */
  static async mustFit(config: Config, sql: Sql): Promise<void> {
    const [made] = await sql<{ isThere: boolean }[]>`select to_regclass('cluster') is not null as "isThere"`
    if (!made!.isThere) return
    const [row] = await sql<{ generation: string }[]>`select generation from cluster`
    if (row === undefined) return
    const probe = await RedisClient.open(addressOf(config, row.generation, 1))
    try {
      await mustRead(probe)
      await livingNodes(probe)
    } finally {
      await probe.close()
    }
  }

  /**
   * Join the cluster of this Postgres. Resolves when all other nodes know this one.
   *
   * errors  ConfigError for a Redis that could lose acknowledged writes; those of Redis.
   */
  static async open(from: ClusterStart): Promise<Cluster> {
    const { config, log, sql } = from
    const { generation, shards, slots } = await clusterOf(sql, config)
    const { durability } = redisDurability(config)
    const address = addressOf(config, generation, slots)
    const probe = await RedisSlots.open(address)
    await mustLead(probe.root)
    for (const one of probe.clients) await mustKeep(one, durability.acceptsLoss)
    await mustRead(probe.root)
    await livingNodes(probe.root)
    await noteFormat(probe.root)
    await probe.close()
    const listen = config.nodeListen ?? { host: config.host, port: 0 }
    const settings = {
      redis: address,
      name: config.nodeId,
      security: linkSecurity(config),
      listen,
      announce: config.nodeAddress,
      leaseMs: config.leaseMs,
      shards,
    }
    const node = await ClusterNode.join(settings, log, from.out)
    const opened = await RedisSlots.open(address, node.redis)
    return new Cluster(node, generation, shards, from, address, opened, await ReplicaWatch.open(address))
  }

  startShards(options: {
    readonly workerFile: URL
    readonly log: Logger
    readonly catalogs: () => readonly CatalogData[]
    /** shard  -1: of all shards of a thread. */
    readonly onNotice: (notice: ShardNotice, shard: number) => void
  }): ClusterShards {
    const { node } = this
    this.host.heardChecks = checks => options.onNotice({ notice: 'checks', checks }, -1)
    return ClusterShards.open({
      ...options,
      onNotice: (notice, shard) => {
        if (notice.notice === 'identity') void node.tell(notice.facts).catch(() => {})
        else options.onNotice(notice, shard)
      },
      slot: node.members.slot,
      leaseMs: this.from.config.leaseMs,
      changes: this.changes.memory,
      count: this.count,
      isAlive: () => node.members.isAlive,
      lack: () => this.replicas?.lack ?? null,
      tell: node.tell,
      startThread: this.host.startShard,
    })
  }

  startProjections(
    options: Omit<ProjectionsOptions, 'positions' | 'generation' | 'journalDirectory' | 'redis'>,
  ) {
    const { positions, generation } = this
    const starting = ClusterProjections.start({
      ...options,
      positions,
      generation,
      journalDirectory: redisRoot,
      redis: this.address,
    })
    return starting as Promise<ClusterProjections>
  }

  /** Sends every node the new definitions. Resolves when all live nodes serve them. */
  readonly told = async (versions: readonly Version[]): Promise<void> => {
    await this.node.changedHere('definitions', versions)
  }

  /**
   * Has other nodes read again what a request under this path changes, before the request is answered. null:
   * the request changes nothing of the kind.
   */
  readonly changing = (path: string): (() => Promise<void>) | null => {
    const what = reloadedBy(path)
    return what === null ? null : () => this.node.changedHere(what)
  }

  pairs(directory: Directory): PairClaims {
    // claims wait for replicas; on the connection of the node its lease would wait with them
    return new PairClaims(this.replicas?.redis ?? this.node.redis, directory)
  }

  /**
   * Returns the company that owns the key of a hold, among all nodes. A key without an owner becomes this
   * company's, as does one whose day of the environment's time is over.
   *
   * testMs  present of the environment where it has a test clock; null: it is the machine's.
   * errors  store_away (503) when Redis does not answer.
   * source  CR-80, EV-26.
   */
  readonly holdKey = async (
    environmentId: string,
    name: string,
    companyId: string,
    testMs: number | null,
  ): Promise<string> => {
    const { redis } = this.node
    const digest = hash('sha256', `${environmentId}\0${name}`, 'buffer').subarray(0, 18)
    const key = redis.key(`h:${digest.toString('base64url')}`)
    // only a test clock tells another time than the key's expiry
    const ours = testMs === null ? companyId : `${companyId} ${testMs}`
    try {
      for (;;) {
        if (await redis.keep(key, ours, idempotentMs)) return companyId
        const value = await redis.get(key)
        if (value === null) return companyId
        const [owner = '', usedMs = Date.now()] = value.split(' ')
        if (isRemembered(Number(usedMs), testMs ?? Date.now())) return owner
        // another node may take it first
        const [taken] = await redis.write<readonly number[]>('swap', idempotentMs, key, value, ours)
        if (taken === 1) return companyId
      }
    } catch (error) {
      throw new ServiceError('store_away', 'Redis does not answer; try again', { cause: error })
    }
  }

  /**
   * Reads everything that this thread remembers, while other nodes go on. Records that they trim meanwhile
   * are read again from Postgres; facts that they make arrive as calls.
   */
  async fill(
    memory: { readonly directory: Directory; readonly traits: TraitRegistry; readonly holdKeys: HoldKeys },
    phases: Phases,
  ): Promise<void> {
    const { sql, postgres } = this.from
    const unbounded = openPostgres(postgres, { max: 1, statementTimeoutMs: 0 })
    try {
      for (let tries = 1; ; tries++)
        try {
          const positions = Positions.make(this.count)
          await restorePositions(storedIn(sql), this.generation, positions)
          const stored = {
            journals: { directory: redisRoot, positions, disk: this.disk },
            entities: storedIn(unbounded),
            claims: () => noClaims,
            holdKeys: () => memory.holdKeys.load(sql),
          }
          await fillMemory(stored, { ...memory, dedupe: this.window }, Date.now(), phases)
          return
        } catch (error) {
          if (tries >= fillTries) throw error
          this.from.log.info({ err: error }, 'the journals were trimmed while they were read: reading again')
        }
    } finally {
      await closePostgres(unbounded)
    }
  }

  /** Serve: apply the facts that arrived meanwhile, and own shards from now on. */
  async serve(parts: {
    readonly shards: ClusterShards
    readonly projections: ClusterProjections
    readonly pairs: PairClaims
    readonly memory: {
      readonly directory: Directory
      readonly traits: TraitRegistry
      readonly holdKeys: HoldKeys
    }
    readonly limits: SharedLimits
    readonly reload: (what: string, given: unknown) => Promise<void>
  }): Promise<void> {
    const { shards, projections, pairs, memory, limits, reload } = parts
    const apply = applying(memory)
    const { optionsOf, oldWindow, reports: changes } = this
    await oldWindow.load()
    await this.host.warm()
    const budgets = new SharedBudgets(limits, () => this.node.others)
    this.budgets = budgets
    this.node.begin({ shards, projections, pairs, budgets, changes, oldWindow, apply, reload, optionsOf })
    // other nodes count this one as told from here on
    await oldWindow.load()
    this.projections = projections
    await this.node.serve()
  }

  /** Has old idempotency keys leave Redis, if this node does what is done once. nowMs: the wall clock. */
  async sealOldKeys(nowMs: number): Promise<void> {
    const { node, projections } = this
    if (projections === null) return
    await this.oldWindow.turn(
      {
        isHere: () => node.isFirst,
        projected: () => projections.barrier('clickhouse', projectedMs),
        told: async () => void (await node.askAll('oldKeys', null)),
      },
      nowMs,
    )
  }

  /** Delete idempotency keys older than their day from Redis, on the one node that does such work. nowMs: the wall clock. */
  async sweepKeys(nowMs: number): Promise<void> {
    if (this.node.isFirst) await this.sweep.turn(nowMs)
  }

  /** Copies the idempotency keys that were used before there was a cluster. Runs once. */
  async seed(claims: StoredClaims, packedClaimBytes: number): Promise<void> {
    const { redis } = this.node
    if (await redis.exists(redis.key('seeded'))) return
    for await (const packed of claims.pages())
      for (let at = 0; at < packed.length; at += packedClaimBytes) {
        const claim = unpackClaim(packed as Buffer, at)
        const digest = Buffer.from(packed.subarray(at, at + 10)).toString('base64url')
        const leftMs = claim.receivedAtMs + windowMs - Date.now()
        if (leftMs <= 0) continue
        await keepDone(this.slots, digest, { ...claim, print: claim.print ?? 0 }, Math.ceil(leftMs))
      }
    await redis.keep(redis.key('seeded'), '1')
  }

  /** Whether Redis answers, in every slot. */
  get redisAnswers(): boolean {
    return this.slots.answer
  }

  /** Faults of the cluster, in words. */
  degraded(): string[] {
    const lack = this.replicas?.lack ?? null
    const away = this.node.redis.answers && !this.redisAnswers ? 'a primary of Redis' : null
    const lacks = [away, lack, this.backlog.lack, this.oldWindow.lack].filter(one => one !== null)
    return [...this.node.degraded(), ...lacks]
  }

  /** Hands the shards to other nodes, if there are any. */
  async drain(timeoutMs: number): Promise<void> {
    await this.node.drain(timeoutMs)
  }

  async close(): Promise<void> {
    this.backlog.stop()
    await this.sealing.stop()
    this.reports.close()
    this.budgets?.close()
    await this.replicas?.stop()
    await this.node.close()
    await this.slots.close()
  }

  closeThreads(): Promise<void> {
    return this.host.close()
  }

  /** The positions of the stores, read once for all shards that are opened in one turn. */
  private stored(): Promise<Positions> {
    this.reading ??= nextTurn().then(async () => {
      this.reading = null
      const positions = Positions.make(this.count)
      await restorePositions(storedIn(this.from.sql), this.generation, positions)
      return positions
    })
    return this.reading
  }

  private readonly optionsOf = async (index: number, mark: string): Promise<ShardOptions> => {
    const { config, postgres } = this.from
    const stored = await this.stored()
    for (const name of ['checkpointed', 'postgres', 'seen', 'clickhouse'] as const)
      this.positions.set(index, name, stored.get(index, name))
    this.positions.set(index, 'committed', 0)
    return {
      index,
      count: this.count,
      journalDir: shardDirectory(redisRoot, index),
      segmentBytes,
      generation: this.generation,
      postgres,
      positions: this.positions.memory,
      changes: this.changes.memory,
      pendingBytesMax: config.journalPendingBytesMax,
      checkpointMs: config.checkpointIntervalMs,
      actorsMax: Math.max(1_000, Math.floor(config.actorsMax / this.count)),
      records: recordRates(config),
      eventNamesMax: config.eventNamesMax,
      redis: { address: this.address, mark },
    }
  }
}

const noClaims: StoredClaims = {
  count: async () => 0,
  async *pages() {},
}

/**
 * The name of this cluster's journals, and the numbers of its shards and slots. The first start makes them: a slot for each
 * primary of a Redis Cluster. More slots than primaries would only make more and smaller commands.
 */
async function clusterOf(sql: Sql, { clusterShards, redisUrl }: Config) {
  const kept = () => sql<{ generation: string; shards: number; slots: number }[]>`
    select generation, shards, slots from cluster`
  const [row] = await kept()
  if (row !== undefined) return row
  const made = hash('sha256', `${Date.now()} ${Math.random()}`, 'base64url').slice(0, 12)
  const slots = await primariesOf(redisUrl!)
  await sql`
    insert into cluster (generation, shards, slots) values (${made}, ${clusterShards}, ${slots})
    on conflict do nothing`
  return (await kept())[0]!
}

const addressOf = (config: Config, generation: string, slots: number): RedisAddress => ({
  url: config.redisUrl!,
  ...prefixesOf(generation, slots),
  replicas: redisDurability(config).durability.replicas,
})

function redisDurability({ redisDurability: said }: Config) {
  const replicas = /^replicas:(\d)$/.exec(said)
  return {
    durability: {
      replicas: replicas === null ? 0 : Number(replicas[1]),
      acceptsLoss: said === 'accept-loss',
    },
  }
}

/** Checks that a server of a Redis Cluster is named as one: it has some of the keys only, and for some time. */
async function mustLead(redis: RedisClient): Promise<void> {
  const { url } = redis.address
  if (mayFailOver(url) || (await redis.info('server')).get('redis_mode') !== 'cluster') return
  throw new ConfigError(
    'REDIS_URL: this is a server of a Redis Cluster. Name several of its servers: redis://host:port,redis://host:port',
  )
}

/** Checks that Redis does not drop keys, and does not lose acknowledged writes when its machine stops. */
async function mustKeep(redis: RedisClient, acceptsLoss: boolean): Promise<void> {
  const policy = await redis.setting('maxmemory-policy')
  if (policy !== null && policy !== 'noeviction')
    throw new ConfigError(
      `REDIS_URL: its maxmemory-policy is ${policy}: Redis would drop parts of the journal. Set it to noeviction.`,
    )
  if (acceptsLoss) return
  const file = await redis.setting('appendonly')
  const sync = await redis.setting('appendfsync')
  if (file === 'yes' && sync === 'always') return
  throw new ConfigError(
    `REDIS_URL: appendonly is ${file ?? 'unknown'} and appendfsync is ${sync ?? 'unknown'}: ` +
      'acknowledged writes could be lost when its machine stops. Set them to yes and always, or accept that ' +
      'loss with TOLLGATE_REDIS_DURABILITY=accept-loss.',
  )
}
