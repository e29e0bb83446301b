// Reads of definitions and records that many requests make at the same time: those of one tick, and those that come
// while a read is under way, are asked together. Definitions that were read are kept until one of them changes.
import type { CatalogData } from '../core/model/definitions.js'

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

/** Values kept of one catalog, in all: names and prices of large catalogs are read again. */
const keptMax = 20_000

/** Values read while an environment had one catalog, by what is read and by id. */
interface Kept {
  readonly byName: Map<string, Map<string, unknown>>
  /** Until when values are given, and when others are read in their place, on the monotonic clock, by name. */
  readonly lives: Map<string, { readonly untilMs: number; renewAtMs: number }>
  count: number
}

function lifeFrom(nowMs: number, forMs: number) {
  return { untilMs: nowMs + forMs, renewAtMs: nowMs + forMs / 2 }
}

/**
 * Gathers reads by id. A read begins after each of its askers asked, so everybody sees what was committed before.
 */
export class SharedReads {
  private readonly lines = new Map<string, Line>()
  private readonly kept = new WeakMap<CatalogData, Kept>()

  /** now  the monotonic clock, ms. */
  constructor(private readonly now: () => number = () => performance.now()) {}

  /**
   * Read definitions by id, and keep them as long as the environment has this catalog. Every change of a definition ends in
   * a new catalog, on every node, before its caller hears of it (`catalogs.change`).
   *
   * catalog  the environment's, as it is when the request is handled.
   * name     what is read; `load` must read only what `catalogs.change` changes, unless `forMs` is given.
   * forMs    the values are kept no longer than this: what is shown beside definitions may be as old. At half of it they
   *          are read anew, while they are still given.
   * returns  as `many`. Missing ids are read again.
   */
  async ofCatalog<Value>(
    catalog: CatalogData,
    name: string,
    ids: readonly string[],
    load: Load<Value>,
    forMs = Number.POSITIVE_INFINITY,
  ): Promise<ReadonlyMap<string, Value>> {
    const kept = this.keptOf(catalog)
    const nowMs = this.now()
    const life = kept.lives.get(name)
    if (life !== undefined && life.untilMs < nowMs) {
      kept.byName.delete(name)
      kept.lives.delete(name)
    }
    const known = (kept.byName.get(name) ?? new Map()) as Map<string, Value>
    const missing = ids.filter(id => !known.has(id))
    // under the version's own name: a read that began for an older catalog may have begun before the change
    const line = `${name} ${catalog.environmentId} ${catalog.version}`
    if (missing.length === 0) {
      if (life !== undefined && life.renewAtMs <= nowMs && nowMs <= life.untilMs) {
        life.renewAtMs = Number.POSITIVE_INFINITY
        this.renew(kept, name, line, known, load, forMs)
      }
      return known
    }
    const found = await this.many(line, missing, load)
    if (kept.count + found.size > keptMax) {
      kept.byName.clear()
      kept.count = 0
    }
    const all = (kept.byName.get(name) ?? new Map()) as Map<string, Value>
    if (!kept.byName.has(name)) kept.lives.set(name, lifeFrom(nowMs, forMs))
    kept.byName.set(name, all)
    for (const [id, value] of found) {
      if (!all.has(id)) kept.count++
      all.set(id, value)
    }
    if (ids.every(id => all.has(id))) return all
    return new Map([...known, ...found])
  }

  /** Read kept values anew. A read that fails changes nothing: they are given until their time is up. */
  private renew<Value>(
    kept: Kept,
    name: string,
    line: string,
    known: ReadonlyMap<string, Value>,
    load: Load<Value>,
    forMs: number,
  ): void {
    const nowMs = this.now()
    const ids = [...known.keys()]
    const put = (found: ReadonlyMap<string, Value>) => {
      if (kept.byName.get(name) !== known) return
      kept.byName.set(name, new Map(ids.flatMap(id => (found.has(id) ? [[id, found.get(id)]] : []))))
      kept.lives.set(name, lifeFrom(nowMs, forMs))
    }
    this.many(line, ids, load).then(put, () => {})
  }

  private keptOf(catalog: CatalogData): Kept {
    let kept = this.kept.get(catalog)
    if (kept === undefined) {
      kept = { byName: new Map(), lives: new Map(), count: 0 }
      this.kept.set(catalog, kept)
    }
    return kept
  }

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
