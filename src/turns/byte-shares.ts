// A bound on bytes that groups (environments) share: nobody takes so much that the next finds nothing.

/** A group may hold so many times what is free: one alone three quarters of all, and there is room for one more then. */
const timesFree = 3

export class ByteShares {
  private readonly groups = new Map<string, number>()
  private sum = 0

  constructor(private readonly bytesMax: number) {}

  /** Held by all groups. */
  get held(): number {
    return this.sum
  }

  /**
   * Hold bytes for a group, or hold nothing.
   *
   * returns  false where that were more than there are, or more than the group's share; a group that holds nothing may
   *          have all that is free.
   */
  take(group: string, bytes: number): boolean {
    const had = this.groups.get(group) ?? 0
    const free = this.bytesMax - this.sum
    if (bytes > free || (had > 0 && had + bytes > free * timesFree)) return false
    this.groups.set(group, had + bytes)
    this.sum += bytes
    return true
  }

  /** Give back bytes that were taken. */
  give(group: string, bytes: number): void {
    if (bytes === 0) return
    const rest = (this.groups.get(group) ?? 0) - bytes
    if (rest > 0) this.groups.set(group, rest)
    else this.groups.delete(group)
    this.sum -= bytes
  }
}
