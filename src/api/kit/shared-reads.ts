// Reads of definitions and records that many requests make at the same time: those of one tick, and those that come
// while a read is under way, are asked together.

type Load<Value> = (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>

/** Ids that leave together. */
class Batch {
  readonly ids = new Set<string>()
  readonly found: Promise<ReadonlyMap<string, unknown>>
  /** Begin the read, of all ids that were added until now. */
  leave!: () => void

  constructor(load: Load<unknown>) {
    const left = new Promise<void>(resolve => {
      this.leave = resolve
    })
    this.found = left.then(() => load([...this.ids]))
  }
}

/** Reads of one name. */
interface Line {
  underWay: boolean
  next: Batch | null
}

/**
 * Gathers reads by id. Nothing is kept: a read begins after each of its askers asked, so everybody sees what was
 * committed before.
 */
export class SharedReads {
  private readonly lines = new Map<string, Line>()

  /**
   * Read values by id, together with whoever asks for others under the same name.
   *
   * name     what is read and where: callers of one name must mean the same by an id, and see the same.
   * load     reads many; that of the first caller is used for all who ask together.
   * returns  at least the values of these ids; ids of nothing are missing.
   * errors   those of `load`, for all who asked together.
   */
  many<Value>(name: string, ids: readonly string[], load: Load<Value>): Promise<ReadonlyMap<string, Value>> {
    if (ids.length === 0) return Promise.resolve(new Map())
    const line = this.lineOf(name)
    if (line.next === null) {
      line.next = new Batch(load)
      if (!line.underWay) setImmediate(() => this.send(name, line))
    }
    for (const id of ids) line.next.ids.add(id)
    return line.next.found as Promise<ReadonlyMap<string, Value>>
  }

  private lineOf(name: string): Line {
    let line = this.lines.get(name)
    if (line === undefined) {
      line = { underWay: false, next: null }
      this.lines.set(name, line)
    }
    return line
  }

  /** Send the batch that gathered; the next one follows when this one has ended. */
  private send(name: string, line: Line): void {
    const batch = line.next!
    line.next = null
    line.underWay = true
    const ended = () => {
      line.underWay = false
      if (line.next !== null) this.send(name, line)
      else this.lines.delete(name)
    }
    batch.found.then(ended, ended)
    batch.leave()
  }
}
