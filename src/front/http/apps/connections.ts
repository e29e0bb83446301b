// Bounds of connections (security H7): in total, so that the process keeps file handles for its own work, and per address, so
// that one peer does not take all of them.
import { networkOf } from '../admission/network-of.js'

/** The bound that a connection was beyond. */
export type Bound = 'total' | 'address'

export interface ConnectionOptions {
  /** Connections that may be open at once, WebSockets among them. */
  readonly total: number
  /** The same of one address, or of one IPv6 network of 64 bits. Infinity: no bound. */
  readonly perAddress: number
  /** Threads that listen on the port: each has its share of both. */
  readonly threads: number
  /** A connection is closed. */
  readonly refused: (bound: Bound, address: string) => void
}

/** Connections to the port, of all threads, by network; null where the system does not tell. */
export type Recount = () => Promise<ReadonlyMap<string, number> | null>

/** Networks in memory; a new one replaces the oldest. */
const networksMax = 10_000
/** Between two recounts, ms; and so many times as long as the last one took. */
const [pauseMs, pauseTimes] = [1_000, 20]
/** For so long after a recount the counts of networks are believed, ms: they are too high, never too low. */
const freshMs = 30_000

/**
 * The connections of one server.
 *
 * Node's server tells whose connection has closed, so its counts are exact. The native server does not: there a network's
 * count only rises, and `departed` tells by how much it may be too high. Where that leaves it open whether the network is
 * beyond its bound, the system is asked.
 */
export class Connections {
  private open = 0
  private byNetwork = new Map<string, number>()
  /** Connections that closed since the counts were exact, by whichever network. */
  private departed = 0
  /** How often all connections were closed: a recount from before is of connections that are gone. */
  private cleared = 0
  private recounting = false
  private recountedMs = Number.NEGATIVE_INFINITY
  private recountAfterMs = Number.NEGATIVE_INFINITY
  private readonly total: number
  private readonly perAddress: number

  constructor(
    private readonly options: ConnectionOptions,
    private readonly recount: Recount = async () => null,
  ) {
    const { total, perAddress, threads } = options
    this.total = Math.max(1, Math.floor(total / threads))
    this.perAddress = Math.max(1, Math.floor(perAddress / threads))
  }

  /** A connection was opened. returns: whether it may stay. One that may not is not counted. */
  came(address: string): boolean {
    if (this.open >= this.total) return this.refuse('total', address)
    this.open++
    if (this.perAddress === Number.POSITIVE_INFINITY) return true
    const network = networkOf(address)
    const had = this.byNetwork.get(network) ?? 0
    if (had >= this.perAddress && this.isBeyond(had)) {
      this.open--
      return this.refuse('address', address)
    }
    if (had === 0 && this.byNetwork.size >= networksMax) this.forgetOldest()
    this.byNetwork.set(network, had + 1)
    return true
  }

  /** A connection that might stay has closed. address: null where the server does not tell. */
  left(address: string | null): void {
    this.open--
    if (this.open === 0) {
      this.byNetwork.clear()
      this.departed = 0
      this.cleared++
    } else if (address === null) this.departed++
    else {
      const network = networkOf(address)
      const had = this.byNetwork.get(network) ?? 0
      if (had > 1) this.byNetwork.set(network, had - 1)
      else this.byNetwork.delete(network)
    }
  }

  private refuse(bound: Bound, address: string): false {
    this.options.refused(bound, address)
    return false
  }

  private isBeyond(had: number): boolean {
    const isCertain = had - this.departed >= this.perAddress
    const wasRecounted = this.recountedMs !== Number.NEGATIVE_INFINITY
    const isFresh = performance.now() - this.recountedMs < freshMs
    // a count of the system may be of connections that have closed meanwhile
    if (!isCertain || wasRecounted) void this.countAnew()
    return isCertain || isFresh
  }

  private async countAnew(): Promise<void> {
    const beganMs = performance.now()
    if (this.recounting || beganMs < this.recountAfterMs) return
    this.recounting = true
    const { departed: before, cleared } = this
    const counts = await this.recount().catch(() => null)
    this.recounting = false
    const nowMs = performance.now()
    this.recountAfterMs = nowMs + Math.max(pauseMs, pauseTimes * (nowMs - beganMs))
    if (counts === null || this.cleared !== cleared) return
    const { threads } = this.options
    this.byNetwork = new Map([...counts].map(([network, count]) => [network, Math.ceil(count / threads)]))
    // the system may have counted those that closed meanwhile; `departed` is less where all closed
    this.departed = Math.max(0, this.departed - before)
    this.recountedMs = nowMs
  }

  private forgetOldest(): void {
    for (const network of this.byNetwork.keys()) {
      this.byNetwork.delete(network)
      return
    }
  }
}
