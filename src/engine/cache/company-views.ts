// Views of companies, each as the bytes of its JSON: a company that is looked up again is not described again while
// nothing has changed that its view shows. The views used last are kept, within a bound of bytes.
import type { TraitDefinition } from '../../catalog/traits.js'
import type { CatalogData } from '../../core/definitions.js'
import type { Changes } from '../../protocol/version-counters.js'
import { isFresh, stampOf, type VersionStamp } from './version-stamp.js'

/** Things a view shows beside its company's own state. It may be given again while each is the same object or number. */
export interface Beside {
  readonly catalog: CatalogData
  /** The environment's, as the registry lists them. */
  readonly traits: readonly TraitDefinition[]
  readonly members: number
}

interface Kept extends Beside {
  readonly stamp: VersionStamp
  readonly untilMs: number
  readonly bytes: Buffer
  /** In which second of this process it came. */
  readonly second: number
}

/** Counts of what was asked for, and the bytes kept. */
interface ViewMetrics {
  readonly again: { count: number }
  readonly bytes: { set(value: number): void }
}

/** Longest life of a view: one that nobody asks for gives its memory back. In seconds of this process. */
const keptSeconds = 60

/** A view takes at most this part of the whole. */
const shareMax = 8

export class CompanyViews {
  /** By company id; the one used last comes last. */
  private readonly kept = new Map<string, Kept>()
  private bytes = 0
  private second = 0

  /** `bytesMax`: bytes of views kept, at most; 0: none is. */
  constructor(
    private readonly changes: Changes,
    private readonly bytesMax: number,
    private readonly metrics: ViewMetrics,
  ) {}

  /** The version numbers for a description that is asked for now; null when its view may not be kept. */
  stamp(environmentId: string, companyId: string, nowMs: number): VersionStamp | null {
    return this.bytesMax === 0 ? null : stampOf(this.changes, environmentId, companyId, nowMs)
  }

  /** The view of a company at this instant of its environment (epoch ms), as it would be made now; null: it must be made. */
  find(companyId: string, nowMs: number, { catalog, traits, members }: Beside): Buffer | null {
    const kept = this.kept.get(companyId)
    if (kept === undefined) return null
    const isSame = kept.catalog === catalog && kept.traits === traits && kept.members === members
    if (!isSame || !isFresh(this.changes, kept.stamp, true)) {
      this.drop(companyId, kept)
      return null
    }
    if (nowMs >= kept.untilMs || nowMs < kept.stamp.sinceMs) return null
    this.kept.delete(companyId)
    this.kept.set(companyId, kept)
    this.metrics.again.count++
    return kept.bytes
  }

  /**
   * Keep a view while it is valid.
   *
   * stamp    from before its company was asked; `untilMs` with the answer: when time alone may change it, epoch ms.
   * beside   as it was before the company was asked and still is.
   */
  keep(companyId: string, stamp: VersionStamp, untilMs: number, beside: Beside, bytes: Buffer): void {
    const { bytesMax, changes } = this
    if (bytes.length * shareMax > bytesMax || untilMs <= stamp.sinceMs || !isFresh(changes, stamp, true))
      return
    const before = this.kept.get(companyId)
    if (before !== undefined) this.drop(companyId, before)
    this.kept.set(companyId, { ...beside, stamp, untilMs, bytes, second: this.second })
    this.bytes += bytes.length
    for (const [id, oldest] of this.kept) {
      if (this.bytes <= bytesMax) break
      this.drop(id, oldest)
    }
  }

  /** A second is over: views that are no longer valid give their memory back. */
  tick(): void {
    this.second++
    for (const [id, kept] of this.kept)
      if (this.second - kept.second > keptSeconds || !isFresh(this.changes, kept.stamp, true))
        this.drop(id, kept)
    this.metrics.bytes.set(this.bytes)
  }

  private drop(companyId: string, kept: Kept): void {
    this.kept.delete(companyId)
    this.bytes -= kept.bytes.length
  }
}
