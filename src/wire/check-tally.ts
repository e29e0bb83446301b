// Counts of flag checks by company, minute and outcome (FE-101), in one table of numbers: a count leaves no object
// for the garbage collector.
import type { CheckResult } from '../core/flags/flag.js'
import type { Outcome } from '../core/rules/rule.js'
import { minuteMs } from '../core/values/period.js'
import { CheckOutcome } from './check-rows.js'

type Checked = Pick<CheckResult, 'flag' | 'flagId' | 'value' | 'reason' | 'json'>

/** Places of the table, and how many are taken at most; beyond it nothing new is counted. */
const places = 1 << 17
const takenMax = (places * 3) / 4
/** Reported early from here on. */
const fullAt = takenMax / 2
/** Outcomes and lists of outcomes, each at most; reasons hold names that callers choose. */
const outcomesMax = 1 << 15

/** Lists remembered as they were met, and those of one hash, at most. */
const metMax = 4_096
const alikeMax = 4

/** A list of outcomes as it was met, and its number. */
interface MetList {
  readonly environmentId: string
  readonly outcomes: readonly Outcome[]
  readonly number: number
}

/** Numbers of one count: company + 1 (0: free), outcome or list of outcomes, minute, checks. */
const width = 4
/** Marks a list of outcomes. */
const isList = 0x4000_0000

/** Interval of reports, ms. */
const countsMs = 10_000
/** The same where there are many: repeated checks share a row within a minute. */
const manyCountsMs = 60_000
/** Rows of one report that are not many. */
const fewRows = 5_000
/** Rows of one report's part: about a millisecond of work. */
const rowsAtOnce = 2_000

/** How long a tally gathers before it is reported, ms. */
export function countsDueMs({ rowCount }: CheckTally): number {
  return rowCount > fewRows ? manyCountsMs : countsMs
}

/** Counts as they are reported: every ten seconds, or once a minute where there are many, a part at a time. */
export class ReportedCounts {
  /** Takes counts now. */
  tally = new CheckTally()
  /** The previous tally, as far as it is not reported yet. */
  private rest: CheckTally | null = null
  private toldMs = 0

  /** Whether the report that was begun has more parts. */
  get isUnderWay(): boolean {
    return this.rest !== null
  }

  get isEmpty(): boolean {
    return this.rest === null && this.tally.isEmpty
  }

  /**
   * The next rows of a report; empty: none is due, or nothing was counted.
   *
   * nowMs  of any clock that never goes back.
   * all    due or not.
   */
  take(nowMs: number, all: boolean): readonly string[] {
    const isDue = all || this.tally.isFull || nowMs - this.toldMs >= countsDueMs(this.tally)
    if (this.rest === null && isDue && !this.tally.isEmpty) {
      this.rest = this.tally
      this.tally = new CheckTally()
      this.toldMs = nowMs
    }
    const rows = this.rest?.take(rowsAtOnce) ?? []
    if (this.rest?.isEmpty) this.rest = null
    return rows
  }
}

export class CheckTally {
  private readonly table = new Int32Array(places * width)
  private readonly companies = new Map<string, number>()
  private readonly companyIds: string[] = []
  /** Numbers of outcomes by environment and the text of a result, which the same outcomes share. */
  private readonly numbers = new Map<string, Map<string, number>>()
  private readonly outcomes: CheckOutcome[] = []
  private readonly listNumbers = new Map<string, number>()
  /** The same by a hash of their outcomes' serials, for lists that were met as they are. */
  private readonly met = new Map<number, MetList[]>()
  private readonly lists: Uint16Array[] = []
  private taken = 0
  /** Rows that the report will have. */
  private rows = 0
  /** The next place to report, and the outcome in its list. */
  private place = 0
  private inList = 0

  get isEmpty(): boolean {
    return this.taken === 0
  }

  get isFull(): boolean {
    return (
      this.taken >= fullAt || this.outcomes.length >= outcomesMax / 2 || this.lists.length >= outcomesMax / 2
    )
  }

  /** Rows to be reported. */
  get rowCount(): number {
    return this.rows
  }

  /** Count checks that came to the same. `companyId`: '' without company. */
  add(environmentId: string, companyId: string, checked: Checked, atMs: number, checks = 1): void {
    const outcome = this.outcomeOf(environmentId, checked)
    if (outcome >= 0) this.count(companyId, outcome, atMs, checks)
  }

  /**
   * Count a check of every flag, as one: the companies of a plan have few lists of outcomes between them. The list may be
   * used again.
   *
   * returns  the same outcomes, in a list that is never changed; most companies share it.
   */
  addAll(
    environmentId: string,
    companyId: string,
    outcomes: readonly Outcome[],
    atMs: number,
  ): readonly Outcome[] {
    if (outcomes.length === 0) return noOutcomes
    let hash = outcomes.length
    for (let i = 0; i < outcomes.length; i++) hash = Math.imul(hash ^ outcomes[i]!.serial, 0x01000193)
    let list = this.meet(hash, environmentId, outcomes)
    if (list === null) {
      list = { environmentId, outcomes: outcomes.slice(), number: this.listOf(environmentId, outcomes) }
      if (list.number < 0) return list.outcomes
      this.remember(hash, list)
    }
    this.count(companyId, list.number | isList, atMs)
    return list.outcomes
  }

  /** A list whose very outcomes were met; null: none. */
  private meet(hash: number, environmentId: string, outcomes: readonly Outcome[]): MetList | null {
    const lists = this.met.get(hash)
    if (lists === undefined) return null
    for (const list of lists)
      if (list.environmentId === environmentId && isSame(list.outcomes, outcomes)) return list
    return null
  }

  private remember(hash: number, list: MetList): void {
    if (this.met.size >= metMax) this.met.clear()
    const lists = this.met.get(hash)
    if (lists === undefined) this.met.set(hash, [list])
    else if (lists.length < alikeMax) lists.push(list)
  }

  /** The number of a list of outcomes by their texts; -1: there are too many. */
  private listOf(environmentId: string, outcomes: readonly Checked[]): number {
    const list = new Uint16Array(outcomes.length)
    for (let i = 0; i < outcomes.length; i++) {
      const outcome = this.outcomeOf(environmentId, outcomes[i]!)
      if (outcome < 0) return -1
      list[i] = outcome
    }
    const text = textOf(list)
    let number = this.listNumbers.get(text)
    if (number === undefined) {
      if (this.lists.length >= outcomesMax) return -1
      number = this.lists.length
      this.lists.push(list)
      this.listNumbers.set(text, number)
    }
    return number
  }

  /** Rows of counts that were not taken yet, `most` of them or a few more, as lines of one text each; empty at the end. */
  take(most: number): readonly string[] {
    const rows: string[] = []
    for (; this.place < places && rows.length < most; this.place++) {
      const at = this.place * width
      const company = this.table[at]!
      if (company === 0) continue
      this.rowsAt(at, most, rows)
      if (this.inList > 0) break
      this.taken--
    }
    return rows
  }

  private rowsAt(at: number, most: number, rows: string[]): void {
    const { table } = this
    const companyId = this.companyIds[table[at]! - 1]!
    const number = table[at + 1]!
    const atMs = table[at + 2]! * minuteMs
    const checks = table[at + 3]!
    if ((number & isList) === 0) {
      rows.push(this.outcomes[number]!.row(companyId, atMs, checks))
      return
    }
    const list = this.lists[number & ~isList]!
    for (; this.inList < list.length && rows.length < most; this.inList++)
      rows.push(this.outcomes[list[this.inList]!]!.row(companyId, atMs, checks))
    if (this.inList === list.length) this.inList = 0
  }

  private outcomeOf(environmentId: string, { flag, flagId, value, reason, json }: Checked): number {
    let numbers = this.numbers.get(environmentId)
    if (numbers === undefined) {
      numbers = new Map()
      this.numbers.set(environmentId, numbers)
    }
    let number = numbers.get(json)
    if (number === undefined) {
      if (this.outcomes.length >= outcomesMax) return -1
      number = this.outcomes.length
      this.outcomes.push(new CheckOutcome(environmentId, flagId, flag, value, reason))
      numbers.set(json, number)
    }
    return number
  }

  private count(companyId: string, outcome: number, atMs: number, checks = 1): void {
    let company = this.companies.get(companyId)
    if (company === undefined) {
      this.companyIds.push(companyId)
      company = this.companyIds.length
      this.companies.set(companyId, company)
    }
    const { table } = this
    const minute = Math.floor(atMs / minuteMs)
    let place = hashOf(company, outcome, minute) & (places - 1)
    for (;;) {
      const at = place * width
      if (table[at] === company && table[at + 1] === outcome && table[at + 2] === minute) {
        table[at + 3]! += checks
        return
      }
      if (table[at] === 0) {
        if (this.taken >= takenMax) return
        this.taken++
        this.rows += (outcome & isList) === 0 ? 1 : this.lists[outcome & ~isList]!.length
        table[at] = company
        table[at + 1] = outcome
        table[at + 2] = minute
        table[at + 3] = checks
        return
      }
      place = (place + 1) & (places - 1)
    }
  }
}

const noOutcomes: readonly Outcome[] = []

function isSame(one: readonly Outcome[], other: readonly Outcome[]): boolean {
  if (one.length !== other.length) return false
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false
  return true
}

function hashOf(company: number, outcome: number, minute: number): number {
  let hash = Math.imul(company, 0x9e3779b1) ^ Math.imul(outcome, 0x85ebca6b) ^ Math.imul(minute, 0xc2b2ae35)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c1b3c6d)
  return hash ^ (hash >>> 13)
}

/** Outcomes as a text, a character each. */
function textOf(list: Uint16Array): string {
  let text = ''
  for (let from = 0; from < list.length; from += charactersAtOnce)
    text += String.fromCharCode(...list.subarray(from, from + charactersAtOnce))
  return text
}
const charactersAtOnce = 4_096
