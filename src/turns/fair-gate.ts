// Limits concurrent work and shares the places fairly: among groups (environments) in turn, within a group in
// order. Each group has its own queue.
import { ServiceError } from '../errors.js'

interface FairGateOptions {
  /** Concurrent places. */
  readonly places: number
  /** Most places of one group, even if others are free; those remain for other groups. */
  readonly perGroup: number
  /** Most waiting work of one group; beyond: 503. */
  readonly waitingMax?: number
  /** Longest wait for a place, ms; beyond: 503. null: as long as it takes. */
  readonly patienceMs?: number | null
  /** Name of the resource in errors. */
  readonly name: string
}

/** Frees the place. Call it once. */
export type Leave = () => void

interface Waiter {
  readonly go: () => void
}

interface Group {
  held: number
  /** Number of its last turn; 0: none yet. */
  served: number
  readonly waiting: Set<Waiter>
}

const defaultWaitingMax = 2_000
const defaultPatienceMs = 10_000

export class FairGate {
  /** Groups that hold places or wait. */
  private readonly groups = new Map<string, Group>()
  private free: number
  private servings = 0

  constructor(private readonly options: FairGateOptions) {
    this.free = options.places
  }

  /** No work runs or waits. */
  get isIdle(): boolean {
    return this.groups.size === 0
  }

  /** Waiting work of all groups. */
  get waiting(): number {
    let sum = 0
    for (const { waiting } of this.groups.values()) sum += waiting.size
    return sum
  }

  /**
   * Wait for a place.
   *
   * returns  the function that frees it.
   * errors   overloaded (503) when too much of the group waits, or no place is free in time.
   */
  enter(name: string): Promise<Leave> {
    const { perGroup, waitingMax = defaultWaitingMax, name: what } = this.options
    const group = this.groups.get(name) ?? { held: 0, served: 0, waiting: new Set<Waiter>() }
    this.groups.set(name, group)
    // if a place is free, every waiting group is at its own maximum
    if (this.free > 0 && group.held < perGroup) return Promise.resolve(this.take(name, group))
    if (group.waiting.size >= waitingMax)
      return Promise.reject(new ServiceError('overloaded', `Too many requests wait for ${what}; try again`))
    return this.wait(name, group)
  }

  /** Do something that takes a place. Errors as `enter`, and those of `work`. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const leave = await this.enter(name)
    try {
      return await work()
    } finally {
      leave()
    }
  }

  private wait(name: string, group: Group): Promise<Leave> {
    const { patienceMs = defaultPatienceMs, name: what } = this.options
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        group.waiting.delete(waiter)
        this.forget(name, group)
        reject(new ServiceError('overloaded', `${what} is busy; try again`))
      }
      const timer = patienceMs === null ? null : setTimeout(giveUp, patienceMs)
      const waiter: Waiter = {
        go: () => {
          if (timer !== null) clearTimeout(timer)
          resolve(this.take(name, group))
        },
      }
      group.waiting.add(waiter)
    })
  }

  private take(name: string, group: Group): Leave {
    this.free--
    group.held++
    group.served = ++this.servings
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      this.free++
      group.held--
      this.forget(name, group)
      this.next()
    }
  }

  /** Serve the group that has the fewest places; of those alike the one that was not served for longest. */
  private next(): void {
    let best: Group | null = null
    for (const group of this.groups.values()) {
      if (group.waiting.size === 0 || group.held >= this.options.perGroup) continue
      if (best === null || isBefore(group, best)) best = group
    }
    if (best === null) return
    const [waiter] = best.waiting
    best.waiting.delete(waiter!)
    waiter!.go()
  }

  private forget(name: string, group: Group): void {
    if (group.held === 0 && group.waiting.size === 0) this.groups.delete(name)
  }
}

function isBefore(one: Group, other: Group): boolean {
  return one.held === other.held ? one.served < other.served : one.held < other.held
}
