// The entry of a thread that holds shards of one node among several: each has its journal in Redis, its companies and
// its way to the HTTP thread, and comes and goes while the thread stays. Their messages of one turn cross as one
// packet.
import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { oldClaims } from '../../src/analytics/history.js'
import { mechanisms } from '../../src/host/few-cores.js'
import { collectWhenIdle } from '../../src/host/idle-gc.js'
import { ShardClaims } from '../../src/redis/claims.js'
import { OwnedDisk } from '../../src/redis/disk.js'
import { FirstEvents } from '../../src/redis/first-events.js'
import { OldClaims } from '../../src/redis/old-claims.js'
import { OldKeys, type SealedSpans } from '../../src/redis/old-keys.js'
import type { HostMessage, HostReply, HostTask } from '../../src/redis/shard-thread-messages.js'
import { RedisSlots } from '../../src/redis/slots.js'
import { tailOf } from '../../src/redis/tail.js'
import { type ClickHouse, openClickHouse } from '../../src/storage/clickhouse.js'
import { openPostgres } from '../../src/storage/postgres.js'
import type { Port } from '../../src/wire/port.js'
import { FlagChecks, reportMs } from './checks/checks.js'
import { runShard } from './shard.js'
import { postgresSnapshots, type SnapshotStore } from './snapshots/snapshots.js'
import type { ShardTask } from './task.js'

/** How long ClickHouse may take to name the first event with a key, and statements at once. */
const oldClaimsMs = 3_000
const oldClaimsAtOnce = 2

/** Runs until the port closes. */
export default function node(task: HostTask): Promise<void> {
  if (mechanisms().idleCollections) collectWhenIdle()
  return new Host(task).run()
}

/** One shard's end of its way. */
class ShardPort extends EventEmitter implements Pick<Port, 'postMessage' | 'close'> {
  constructor(
    private readonly index: number,
    private readonly host: { say(reply: HostReply): void },
  ) {
    super()
  }

  postMessage(message: unknown): void {
    this.host.say([this.index, 'said', message])
  }

  close(): void {
    this.emit('close')
  }
}

class Host {
  private readonly ports = new Map<number, ShardPort>()
  private said: HostReply[] = []
  private readonly snapshots: SnapshotStore
  private readonly slots: Promise<RedisSlots>
  /** Checks of all shards: one tally and one rate of records, as in a thread that is one shard. */
  private readonly checks: FlagChecks
  private readonly oldKeys: OldKeys
  private readonly firstEvents: FirstEvents
  private readonly clickhouse: ClickHouse

  constructor(private readonly task: HostTask) {
    // a pool for all shards of the thread: none of them closes it
    const kept = postgresSnapshots(
      openPostgres(task.postgres, { max: 2 * (task.postgres.shares?.thread ?? 2) }),
    )
    this.snapshots = { ...kept, close: async () => {} }
    this.slots = RedisSlots.open(task.redis)
    this.checks = new FlagChecks(randomUUID(), task.records)
    const clickhouse = { max: oldClaimsAtOnce, requestTimeoutMs: oldClaimsMs }
    this.clickhouse = openClickHouse(task.clickhouse, clickhouse)
    this.oldKeys = new OldKeys(task.oldKeys)
    this.firstEvents = new FirstEvents((span, keys) => oldClaims(this.clickhouse, span, keys))
  }

  async run(): Promise<void> {
    const { port } = this.task
    const over = new Promise<void>(resolve => port.on('close', () => resolve()))
    port.on('message', (messages: readonly HostMessage[]) => {
      for (const message of messages) this.take(message)
    })
    await Promise.race([over, this.slots])
    this.say([-1, 'ready', null])
    const telling = setInterval(() => this.tellChecks(), reportMs)
    await over
    clearInterval(telling)
    for (const one of this.ports.values()) one.close()
    await Promise.all([(await this.slots).close(), this.clickhouse.close()])
  }

  /** By the thread itself: a shard that is being closed is not heard any more. */
  private tellChecks(): void {
    this.checks.report(Date.now(), false, checks => this.say([-1, 'checks', checks]))
  }

  say(reply: HostReply): void {
    if (this.said.length === 0) queueMicrotask(() => this.flush())
    this.said.push(reply)
  }

  private flush(): void {
    const { said } = this
    this.said = []
    this.task.port.postMessage(said)
  }

  private take([index, what, value]: HostMessage): void {
    if (what === 'old') this.oldKeys.replace(value as SealedSpans)
    else if (what === 'open') void this.open(index, value as Omit<ShardTask, 'port'>)
    else if (what === 'close') this.ports.get(index)?.close()
    else this.ports.get(index)?.emit('message', value)
  }

  private async open(index: number, task: Omit<ShardTask, 'port'>): Promise<void> {
    const port = new ShardPort(index, this)
    this.ports.set(index, port)
    let failure: unknown = null
    try {
      const slots = await this.slots
      // this thread may not be the shard's first, and the mark has risen since
      const { mark } = task.options.redis!
      const disk = await OwnedDisk.reopen(slots, index, mark.slice(mark.indexOf(':') + 1))
      const claims = new ShardClaims(slots, index, disk, tailOf(disk, task.options.journalDir))
      const behind = (): void => this.say([-1, 'behind', null])
      const shared = new OldClaims(claims, this.oldKeys, this.firstEvents.find, behind)
      const storage = { disk, snapshots: this.snapshots, shared, checks: this.checks }
      await runShard({ ...task, port: port as unknown as Port }, storage).finally(() => claims.close())
    } catch (error) {
      failure = error
    }
    if (this.ports.get(index) === port) this.ports.delete(index)
    this.say([index, 'ended', failure instanceof Error ? failure.message : null])
  }
}
