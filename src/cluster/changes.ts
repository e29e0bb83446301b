// Version counters of all nodes, for the data stream of one. A shard raises numbers in the memory of its own node. Each
// node that has subscribers asks every other which numbers were raised there, and raises the same in a memory of its own.
import { Changes } from '../protocol/version-counters.js'
import { clusterShards } from './members.js'

/** How often a node looks which of its numbers were raised, ms. */
const tickMs = 10
/** An answer leaves after this long, with or without numbers, ms. */
const waitMs = 1_000
/** A node that does not ask for this long is forgotten, and told everything when it asks again, ms. */
const forgottenMs = 30_000
/** Numbers that wait for one node; beyond, it is told to look at everything. */
const pendingMax = 100_000
/** A pause after a node did not answer, ms. */
const againMs = 50

/** Numbers that were raised since the last report to a node. */
export interface ChangeReport {
  readonly cursor: number
  /** Any number may be another. */
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

/** Tells other nodes which numbers of this one were raised. */
export class ChangeReports {
  private readonly listeners = new Map<string, Listener>()
  private timer: NodeJS.Timeout | null = null

  constructor(private readonly local: Changes) {}

  /** Resolves when something was raised since the report with this cursor, or after a second. `cursor` 0: the first. */
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

/** The way to another node, as far as changes need it. */
export interface Reporter {
  call(name: string, given: unknown): Promise<unknown>
}

/** The numbers as the stream of this node looks at them: raised here or on any other node. */
export class ClusterChanges {
  private readonly others = Changes.make(clusterShards)
  /** Rises when something may have been raised elsewhere unheard. */
  private unheard = 0
  /** Nodes that are being asked. */
  private readonly followed = new Set<Reporter>()
  private wantedMs = 0

  constructor(
    private readonly local: Changes,
    private readonly nodes: () => Iterable<Reporter>,
  ) {}

  get shards(): number {
    return clusterShards
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

  /** The stream has subscribers: every other node is asked from now on, for as long as this is called. */
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
        // whatever it tells after this, something may be missing
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
