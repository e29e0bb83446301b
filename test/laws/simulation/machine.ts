// The machine of a simulated Tollgate, and one life of its engine, opened in the order of start.ts from the
// same parts.
import type { Logger } from 'pino'
import { ServiceClock } from '../../../src/account/clock.js'
import { TraitRegistry } from '../../../src/catalog/traits.js'
import type { CatalogData } from '../../../src/core/model/definitions.js'
import { Directory } from '../../../src/entities/directory/directory.js'
import { Entities } from '../../../src/entities/directory/entities.js'
import { UserSeen } from '../../../src/entities/directory/last-seen.js'
import { Dedupe } from '../../../src/entities/idempotency/dedupe.js'
import { HoldKeys } from '../../../src/entities/idempotency/hold-keys.js'
import { Shards } from '../../../src/entities/shards/shards.js'
import { JournalCorrupt } from '../../../src/journal/journal.js'
import { shardDirectory } from '../../../src/journal/segment.js'
import type { Call, KeyRecord } from '../../../src/kit/call.js'
import type { Services } from '../../../src/kit/services.js'
import { Projections } from '../../../src/recovery/projections.js'
import { Phases } from '../../../src/recovery/start-phases.js'
import { allOf, fillMemory, rememberAgain, restorePositions } from '../../../src/recovery/warm-up.js'
import { packedClaimBytes } from '../../../src/wire/packed-claim.js'
import { Positions } from '../../../src/wire/positions.js'
import { noRecords } from '../../../src/wire/record-budget.js'
import { Changes } from '../../../src/wire/version-counters.js'
import { runProjectors } from '../../../workers/projector/projector.js'
import { runShard } from '../../../workers/shard/shard.js'
import { SimulatedDisk } from './disk.js'
import { SimulatedClickHouse, SimulatedPostgres } from './stores.js'
import { Threads } from './threads.js'
import { current, Life, type World } from './world.js'

export interface Settings {
  readonly shards: number
  readonly segmentBytes: number
  readonly checkpointMs: number
  readonly actorsMax: number
  readonly pendingBytesMax: number
  readonly rowsMax: number
  readonly postgresMs: number
  readonly clickhouseMs: number
}

/** Parts broken on purpose, to test the checks. */
export type Break = 'fsync' | 'claim' | 'chunk' | null

export const environmentId = 'env_simulated'
const generation = 'g1'
const root = '/journal'
const nowhere = { url: 'nowhere' }
/** Longest start. After this long the process is killed and started again. */
const startMsMax = 60_000

const key = {
  id: 'apik_1',
  accountId: 'acct_1',
  kind: 'secret',
  readonly: false,
  environmentId,
} as KeyRecord

/** One process of Tollgate, from its start to its end. */
export class Service {
  /** Callers that wait for an answer of this life. */
  readonly callers = new Set<() => void>()

  private constructor(
    readonly life: Life,
    readonly threads: Threads,
    readonly services: Services,
    readonly directory: Directory,
  ) {}

  static async start(machine: Machine): Promise<Service> {
    const { world, disk, postgres, clickhouse, settings, catalog } = machine
    const threads = new Threads(world, disk, {
      'shard.js': task => runShard(task, { disk, snapshots: postgres.snapshots() }),
      'projector.js': task =>
        runProjectors(task, {
          disk,
          rows: postgres.rows(),
          chunks: postgres.chunks(),
          clickhouse,
          close: async () => {},
        }),
    })
    const { rowsMax, postgresMs, clickhouseMs } = settings
    const positions = Positions.make(settings.shards)
    const changes = Changes.make(settings.shards)
    await restorePositions(postgres, generation, positions)
    const log = machine.log()
    const directory = new Directory()
    const traits = new TraitRegistry()
    const dedupe = machine.break === 'claim' ? new Forgetful(machine.world) : new Dedupe(1_000_000)
    const clock = new ServiceClock({ sql: null as never })
    const starting = Shards.start({
      shards: Array.from({ length: settings.shards }, (_, index) => ({
        index,
        count: settings.shards,
        journalDir: shardDirectory(root, index),
        segmentBytes: settings.segmentBytes,
        generation,
        postgres: nowhere,
        positions: positions.memory,
        changes: changes.memory,
        pendingBytesMax: settings.pendingBytesMax,
        checkpointMs: settings.checkpointMs,
        actorsMax: settings.actorsMax,
        records: { ...noRecords, perSecond: 10 },
      })),
      workerFile: new URL('file:///workers/shard/shard.js'),
      log,
      catalogs: () => [catalog],
      onNotice: notice => {
        if (notice.notice === 'identity') rememberAgain({ directory, dedupe }, notice.facts)
      },
      startThread: threads.start,
    })
    const filling = fillMemory(
      {
        journals: { directory: root, positions, disk },
        entities: postgres,
        claims: clickhouse.claims,
        holdKeys: async () => {},
      },
      { directory, dedupe, traits, holdKeys: new HoldKeys(1_000_000) },
      clock.wall(),
      new Phases(),
    )
    const [shards] = await allOf([starting, filling])
    const projections = await Projections.start({
      positions,
      generation,
      journalDirectory: root,
      postgres: nowhere,
      clickhouse: nowhere,
      log,
      startThread: threads.start,
      bounds: { rowsMax, postgresMs, clickhouseMs },
    })
    machine.note('started')
    const userSeen = new UserSeen()
    setInterval(() => void userSeen.flush(shards, id => clock.now(id)), 1_000)
    setInterval(() => void shards.sweep(clock.wall(), {}), 10_000)
    const services = {
      log,
      clock,
      shards,
      directory,
      traits,
      entities: new Entities(directory, shards, traits),
      dedupe,
      projections,
      userSeen,
      checkedFlags: { note: () => {} },
      modelPrices: { cost: () => null },
      backlog: { admit: () => {} },
      metrics: {
        events: {
          accepted: { count: 0 },
          applied: { count: 0 },
          duplicate: { count: 0 },
          failed: { count: 0 },
        },
      },
    } as unknown as Services
    return new Service(current(), threads, services, directory)
  }

  /** The call that a handler receives. */
  call(): Call<never> {
    const { services } = this
    return {
      services,
      key,
      environment: { id: environmentId, accountId: key.accountId },
      nowMs: services.clock.now(environmentId),
      remoteIp: '127.0.0.1',
      userAgent: '',
    } as unknown as Call<never>
  }
}

/** A window that forgets some of its keys. */
class Forgetful extends Dedupe {
  constructor(private readonly world: World) {
    super(1_000_000)
  }

  override loadWords(...claim: Parameters<Dedupe['loadWords']>): void {
    if (!this.world.random.chance(0.2)) super.loadWords(...claim)
  }

  override loadPacked(claims: Uint8Array): void {
    for (let at = 0; at < claims.length; at += packedClaimBytes)
      if (!this.world.random.chance(0.2)) super.loadPacked(claims.subarray(at, at + packedClaimBytes))
  }
}

export class Machine {
  readonly disk: SimulatedDisk
  readonly postgres: SimulatedPostgres
  readonly clickhouse: SimulatedClickHouse
  service: Service | null = null
  starts = 0
  private starting: Life | null = null
  /** Violations, in order. */
  readonly wrong: string[] = []
  /** Log lines of the engine, newest last. */
  readonly said: string[] = []

  constructor(
    readonly world: World,
    readonly settings: Settings,
    readonly catalog: CatalogData,
    readonly break_: Break,
  ) {
    this.disk = new SimulatedDisk(world)
    this.postgres = new SimulatedPostgres(world)
    this.clickhouse = new SimulatedClickHouse(world)
    if (break_ === 'fsync') this.disk.lying = 1
    if (break_ === 'chunk') this.clickhouse.doubling = 1
  }

  get break(): Break {
    return this.break_
  }

  /** Start Tollgate; repeat until it succeeds. */
  powerOn(): void {
    if (this.starting !== null || this.service !== null) return
    const { world } = this
    const life = new Life(world, `process ${++this.starts}`)
    // After a clock is set back, time stands still within one run only. The clock is right again for the next
    // run.
    world.wallOffMs = 0
    const again = (error: unknown) => {
      if (error instanceof JournalCorrupt) this.wrong.push(`a start was refused: ${error.message}`)
      if (!life.alive) return
      this.note(`start failed: ${error}`)
      life.end()
      this.starting = null
      this.disk.processDied(life)
      world.after(200, world.nature, () => this.powerOn())
    }
    world.after(startMsMax, life, () => {
      if (this.service?.life !== life) again(new Error('the start stands still'))
    })
    this.starting = life
    life.run(() => {
      Service.start(this).then(service => {
        this.starting = null
        this.service = service
      }, again)
    })
  }

  /** End the process in the middle of its work, and restart it a little later. */
  crash(how: 'killed' | 'power'): void {
    const life = this.service?.life ?? this.starting
    if (life === null) return
    const { world } = this
    this.note(how)
    life.end()
    if (how === 'power') this.disk.powerWent(life)
    else this.disk.processDied(life)
    for (const told of this.service?.callers ?? []) told()
    this.service = null
    this.starting = null
    world.after(world.delay(300, 2_000), world.nature, () => this.powerOn())
  }

  /** Keeps the engine's log for the analysis of a failing seed. */
  log(): Logger {
    const write = (fields: { readonly err?: unknown }, text: string) =>
      this.note(`${text} ${fields.err ?? ''}`)
    return { error: write, warn: write, info: write } as unknown as Logger
  }

  note(text: string): void {
    this.said.push(`${this.world.nowMs.toFixed(3)} ${text}`)
    if (this.said.length > 10_000) this.said.shift()
  }
}
