// Look-ups of the same thing by many callers at once, with few statements.

/** Look-ups of one thing: at most one is under way, and one more is to begin after it. */
interface Asking<T> {
  readonly running: Promise<T>
  next: Promise<T> | null
}

/**
 * Each caller is answered by a look-up that begins after its call. Callers that ask while one is under way share the next
 * one: a caller without end occupies one connection (security 1).
 */
export class SharedLooks<T> {
  private readonly asking = new Map<string, Asking<T>>()

  /**
   * name  of the thing.
   * read  the look-up; of callers that share one, the first one's is made.
   */
  look(name: string, read: () => Promise<T>): Promise<T> {
    const asking = this.asking.get(name)
    if (asking === undefined) return this.begin(name, read)
    const again = () => this.begin(name, read)
    asking.next ??= asking.running.then(again, again)
    return asking.next
  }

  private begin(name: string, read: () => Promise<T>): Promise<T> {
    const asking: Asking<T> = { running: read(), next: null }
    this.asking.set(name, asking)
    const over = () => {
      if (asking.next === null) this.asking.delete(name)
    }
    asking.running.then(over, over)
    return asking.running
  }
}
