// Version counters of all nodes, for the data stream of one. A shard raises counters in the memory of its own
// node. Each node with subscribers polls every other node for the counters raised there, and raises the same
// ones in its own memory.
import { Changes } from '../wire/version-counters.js'

/** Interval at which a node looks for raised counters, ms. */
const tickMs = 10
/** A report is sent after this long, with or without counters, ms. */
const waitMs = 1_000
/** A node that sends no request for this long is forgotten. Its next report covers everything. In ms. */
const forgottenMs = 30_000
/** Most counters that wait for one node. Beyond this the report covers everything. */
const pendingMax = 100_000
/** Pause after a node did not answer, ms. */
const againMs = 50

/** Counters that were raised since the last report to a node. */
interface ChangeReport {
  readonly cursor: number
  /** Any counter may have changed. */
  readonly all: boolean
  readonly raised: readonly number[]
}

interface Listener {
  cursor: number
  all: boolean
  readonly pending: Set<number>
  seenMs: number
  /** Ends its wait. */
  wake: (() => void) | null
}

/** Reports the raised counters of this node to other nodes. */
export class ChangeReports {
  private readonly listeners = new Map<string, Listener>()
  private timer: NodeJS.Timeout | null = null

  constructor(private readonly local: Changes) {}

  /**
   * Resolves when a counter was raised since the report with this cursor, or after a second. The first cursor
   * is 0.
   */
  async next(node: string, cursor: number): Promise<ChangeReport> {
    let listener = this.listeners.get(node)
    if (listener === undefined || listener.cursor !== cursor) {
      listener?.wake?.()
      listener = { cursor, all: true, pending: new Set(), seenMs: 0, wake: null }
      this.listeners.set(node, listener)
      this.start()
    }
    listener.seenMs = performance.now()
    if (!listener.all && listener.pending.size === 0) await this.wait(listener)
    const { all, pending } = listener
    const report = { cursor: ++listener.cursor, all, raised: all ? [] : [...pending] }
    listener.all = false
    pending.clear()
    return report
  }

  close(): void {
    if (this.timer !== null) clearInterval(this.timer)
    this.timer = null
    for (const { wake } of this.listeners.values()) wake?.()
    this.listeners.clear()
  }

  private wait(listener: Listener): Promise<void> {
    return new Promise(resolve => {
      const late = setTimeout(() => listener.wake?.(), waitMs)
      listener.wake = () => {
        clearTimeout(late)
        listener.wake = null
        resolve()
      }
    })
  }

  private start(): void {
    if (this.timer !== null) return
    this.local.watch()
    this.timer = setInterval(() => this.look(), tickMs)
  }

  private look(): void {
    const nowMs = performance.now()
    const raised = this.local.raised()
    for (const [node, listener] of this.listeners) {
      if (listener.wake === null && nowMs - listener.seenMs > forgottenMs) {
        this.listeners.delete(node)
        continue
      }
      for (const number of raised ?? []) listener.pending.add(number)
      if (raised === null || listener.pending.size > pendingMax) {
        listener.pending.clear()
        listener.all = true
      }
      if (listener.all || listener.pending.size > 0) listener.wake?.()
    }
    if (this.listeners.size > 0 || this.timer === null) return
    clearInterval(this.timer)
    this.timer = null
  }
}

/** The connection to another node, as far as changes need it. */
interface Reporter {
  call(name: string, given: unknown): Promise<unknown>
}

/** The counters as the stream of this node reads them: raised here or on any other node. */
export class ClusterChanges {
  private readonly others: Changes
  /** Rises when counters may have been raised elsewhere without a report. */
  private unheard = 0
  /** Nodes that are polled. */
  private readonly followed = new Set<Reporter>()
  private wantedMs = 0

  constructor(
    private readonly local: Changes,
    private readonly nodes: () => Iterable<Reporter>,
  ) {
    this.others = Changes.make(local.shards)
  }

  get shards(): number {
    return this.local.shards
  }

  get blocks(): number {
    return this.local.blocks
  }

  placeOf(companyId: string): number {
    return this.local.placeOf(companyId)
  }

  placeOfUser(userId: string): number {
    return this.local.placeOfUser(userId)
  }

  blockOf(place: number): number {
    return this.local.blockOf(place)
  }

  at(place: number): number {
    return this.local.at(place) + this.others.at(place)
  }

  usageVersion(place: number): number {
    return this.local.usageVersion(place) + this.others.usageVersion(place)
  }

  block(index: number): number {
    return (this.local.block(index) + this.others.block(index)) | 0
  }

  epoch(shard: number): number {
    return (this.local.epoch(shard) + 2 * this.unheard) | 0
  }

  /** The stream has subscribers. Every other node is polled for as long as this is called. */
  follow(): void {
    this.wantedMs = performance.now()
    for (const node of this.nodes()) if (!this.followed.has(node)) void this.ask(node)
  }

  private async ask(node: Reporter): Promise<void> {
    this.followed.add(node)
    let cursor = 0
    while (performance.now() - this.wantedMs < waitMs && this.isThere(node))
      try {
        const report = (await node.call('changes', cursor)) as ChangeReport
        cursor = report.cursor
        if (report.all) this.unheard++
        for (const number of report.raised) this.others.raise(number)
      } catch {
        // Reports may have been lost: the next one must cover everything.
        cursor = 0
        this.unheard++
        await new Promise(resolve => setTimeout(resolve, againMs))
      }
    this.followed.delete(node)
  }

  private isThere(node: Reporter): boolean {
    for (const one of this.nodes()) if (one === node) return true
    return false
  }
}
