// Work that must not overlap: one at a time per name, in the order it came.

export class KeyedMutex {
  private readonly last = new Map<string, Promise<unknown>>()

  /** Run once everything of this name that came before is done, however it ended. Rejections pass through. */
  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(name) ?? Promise.resolve()
    const turn = before.then(work, work)
    this.last.set(name, turn)
    try {
      return await turn
    } finally {
      if (this.last.get(name) === turn) this.last.delete(name)
    }
  }
}
