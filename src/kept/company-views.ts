// Views of companies, each as the bytes of its JSON: a company that is looked up again is not described again while
// nothing has changed that its view shows. When a company changes its figures stay, which are most of a view and often the
// same: its shard is asked only for the rest. Within a bound of bytes, the companies used last are kept; a new one takes the
// place of the one used longest ago only if it is asked for more often.
import type { TraitDefinition } from '../catalog/traits.js'
import type { CatalogData } from '../core/model/definitions.js'
import type { MarkedFigures } from '../wire/company-outline.js'
import type { Changes } from '../wire/version-counters.js'
import { AskCounts } from './ask-counts.js'
import type { Kept } from './contract.js'
import { KeepBackoff } from './keep-backoff.js'
import { isFresh, stampOf, type VersionStamp } from './version-stamp.js'

/** Things a view shows beside its company's own state. It may be given again while each is the same object or number. */
export interface Beside {
  readonly catalog: CatalogData
  /** The environment's, as the registry lists them. */
  readonly traits: readonly TraitDefinition[]
  readonly members: number
}

/** A view that is asked for. */
interface ViewRequest {
  /** A company's id; for other views of it, more of a name. */
  readonly name: string
  /** The present instant of its environment, epoch ms. */
  readonly nowMs: number
  readonly beside: Beside
}

/** A view that was made. */
interface ViewAnswer {
  readonly pieces: ViewPieces
  /** Its figures, which may outlive it; null: it has none of their own. */
  readonly figures: MarkedFigures | null
}

/** Until when a view is valid: its version numbers from before its company was asked, and when time alone may change it, epoch ms. */
interface ViewStamp {
  readonly stamp: VersionStamp
  readonly untilMs: number
}

/** The bytes of a view, in pieces: those of the figures are the ones that are kept. */
type ViewPieces = readonly Uint8Array[]

interface View extends Beside {
  readonly stamp: VersionStamp
  readonly untilMs: number
  readonly pieces: ViewPieces
}

interface Entry {
  /** Null: it is no longer valid. */
  readonly view: View | null
  readonly figures: MarkedFigures | null
  readonly bytes: number
  /** In which second of this process it came. */
  readonly second: number
  /** It was given again, or its figures were. */
  wasUsed: boolean
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

/** There is room while less than this part of the bytes is used. */
const fullFrom = 0.98

/** Questions after which the counts of questions are halved. */
const halvedAfter = 1 << 15

export class CompanyViews implements Kept<ViewRequest, ViewAnswer, ViewStamp, ViewPieces> {
  /** By company id; the one used last comes last. */
  private readonly kept = new Map<string, Entry>()
  private readonly asked = new AskCounts(halvedAfter)
  private readonly backoff = new KeepBackoff()
  private bytes = 0
  private second = 0

  /** `bytesMax`: bytes kept, at most; 0: none are. */
  constructor(
    private readonly changes: Changes,
    private readonly bytesMax: number,
    private readonly metrics: ViewMetrics,
  ) {}

  /** The version numbers for a description that is asked for now; null when its view may not be kept. */
  stamp(environmentId: string, companyId: string, nowMs: number): VersionStamp | null {
    return this.bytesMax === 0 ? null : stampOf(this.changes, environmentId, companyId, nowMs)
  }

  /** A company is asked for: those that are asked for most often are kept. */
  ask(companyId: string): void {
    this.asked.add(companyId)
  }

  /**
   * Whether to keep what will be heard of a company; called once for each answer that is asked for. False for a company that
   * changes faster than it is asked for, and for one that would take the place of another that is asked for more often.
   */
  isWanted(companyId: string): boolean {
    if (this.bytesMax === 0 || !this.backoff.tries(companyId)) return false
    if (this.bytes < this.bytesMax * fullFrom || this.kept.has(companyId)) return true
    const [oldest] = this.kept.keys()
    return oldest === undefined || this.asked.of(companyId) > this.asked.of(oldest)
  }

  /** The view as it would be made now; null: it must be made. */
  find({ name, nowMs, beside: { catalog, traits, members } }: ViewRequest): ViewPieces | null {
    const kept = this.kept.get(name)
    const view = kept?.view
    if (kept === undefined || view == null) return null
    const isSame = view.catalog === catalog && view.traits === traits && view.members === members
    if (!isSame || !isFresh(this.changes, view.stamp, true)) {
      this.dropView(name, kept)
      return null
    }
    if (nowMs >= view.untilMs || nowMs < view.stamp.sinceMs) return null
    kept.wasUsed = true
    this.kept.delete(name)
    this.kept.set(name, kept)
    this.metrics.again.count++
    return view.pieces
  }

  /** The figures of a company that its shard may leave out of an outline, by their mark; null: none are kept. */
  figures(companyId: string): MarkedFigures | null {
    return this.kept.get(companyId)?.figures ?? null
  }

  /** Keep a view while it is valid. `beside` of its request is as it was before the company was asked, and still is. */
  keep({ name, beside }: ViewRequest, { pieces, figures }: ViewAnswer, { stamp, untilMs }: ViewStamp): void {
    if (untilMs <= stamp.sinceMs || !isFresh(this.changes, stamp, true))
      return this.keepFigures(name, figures)
    this.put(name, { ...beside, stamp, untilMs, pieces }, figures)
  }

  /** Keep figures; a view of the company that is kept is no longer valid. */
  keepFigures(companyId: string, figures: MarkedFigures | null): void {
    this.put(companyId, null, figures)
  }

  /** A second is over: views that are no longer valid give their memory back. */
  tick(): void {
    this.second++
    for (const [id, kept] of this.kept)
      if (this.second - kept.second > keptSeconds) this.drop(id, kept)
      else if (kept.view !== null && !isFresh(this.changes, kept.view.stamp, true)) this.dropView(id, kept)
    this.metrics.bytes.set(this.bytes)
  }

  private put(companyId: string, view: View | null, figures: MarkedFigures | null): void {
    const before = this.kept.get(companyId)
    const isSame = figures !== null && figures.metrics === before?.figures?.metrics
    if (before !== undefined) {
      this.backoff.judge(companyId, before.wasUsed || isSame)
      this.drop(companyId, before)
    }
    const bytes = bytesOf(view, figures)
    if (bytes === 0 || bytes * shareMax > this.bytesMax) return
    this.kept.set(companyId, { view, figures, bytes, second: this.second, wasUsed: isSame })
    this.bytes += bytes
    for (const [id, oldest] of this.kept) {
      if (this.bytes <= this.bytesMax) break
      this.drop(id, oldest)
    }
  }

  /** The figures stay where they are in the order. */
  private dropView(companyId: string, kept: Entry): void {
    const { figures, bytes } = kept
    const left = bytesOf(null, figures)
    this.bytes += left - bytes
    if (left > 0) this.kept.set(companyId, { ...kept, view: null, bytes: left })
    else {
      this.backoff.judge(companyId, kept.wasUsed)
      this.kept.delete(companyId)
    }
  }

  private drop(companyId: string, kept: Entry): void {
    this.kept.delete(companyId)
    this.bytes -= kept.bytes
  }
}

/** Bytes of a view and its figures, which are pieces of it. */
function bytesOf(view: View | null, figures: MarkedFigures | null): number {
  let bytes =
    figures === null ? 0 : figures.entitlements.length + figures.metrics.length + figures.balances.length
  for (const piece of view?.pieces ?? [])
    if (piece !== figures?.entitlements && piece !== figures?.metrics) bytes += piece.length
  return bytes
}
