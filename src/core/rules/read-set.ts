// The read set of an answer: usage figures that show in it, and counter comparisons with their results. Usage that
// changes neither leaves the answer valid.
import type { ComparableOperator, MetricPeriod, MonthReset } from '../../../schemas/enums.js'
import type { Company } from '../model/company-state.js'
import { readCounter } from '../usage/counter.js'
import { minuteMs } from '../values/period.js'
import { addQuantity, type Quantity } from '../values/quantity.js'
import { compareNumbers } from '../values/trait.js'

/** A test of a counter, as a condition has it: the same object each time. */
export class CounterTest {
  /** The last result object, for true and for false: most companies share them. */
  private held: Tested | null = null
  private failed: Tested | null = null

  constructor(
    readonly operator: ComparableOperator,
    readonly subtype: string,
    readonly period: MetricPeriod,
    readonly monthReset: MonthReset,
  ) {}

  /** Whether the comparison holds for a counter of this value plus `more`. */
  holds(counted: Quantity, more: Quantity, than: Quantity): boolean {
    return compareNumbers(this.operator, addQuantity(counted, more), than)
  }

  /** How it came out once. The same object for the same, mostly. */
  tested(more: Quantity, than: Quantity, held: boolean): Tested {
    const last = held ? this.held : this.failed
    if (last !== null && last.more === more && last.than === than) return last
    const tested = { test: this, more, than, held }
    if (held) this.held = tested
    else this.failed = tested
    return tested
  }
}

/** A test, and how it came out. */
interface Tested {
  readonly test: CounterTest
  readonly more: Quantity
  readonly than: Quantity
  readonly held: boolean
}

/** Usage read while one answer was computed. */
export class ReadSet {
  /** A figure shows in the answer, or has no comparison. */
  figures = false
  readonly tests: Tested[] = []

  clear(): void {
    this.figures = false
    this.tests.length = 0
  }

  /** Note a comparison. A billing-cycle counter may also change by a moved cycle, so it counts as a figure. */
  tested(test: CounterTest, more: Quantity, than: Quantity, held: boolean): void {
    if (test.monthReset === 'first_of_month') this.tests.push(test.tested(more, than, held))
    else this.figures = true
  }
}

/** Tests of one company that are remembered, at most. */
const testsMax = 8

/** The tests that answers given of one company rest on. Windows begin with a minute, and no answer outlives one. */
export class CachedPredicates {
  private readonly tests: Tested[] = []
  /** Too many, or of more than one minute: any use may bring another answer. */
  private beyond = false

  constructor(private readonly minute: number) {}

  static at(atMs: number): CachedPredicates {
    return new CachedPredicates(Math.floor(atMs / minuteMs))
  }

  /** Unknown read set (just loaded): any usage invalidates. */
  static readonly unknown = new CachedPredicates(Number.NaN)

  /** Remember what an answer given at this instant rests on. */
  add(tests: readonly Tested[], atMs: number): void {
    if (Math.floor(atMs / minuteMs) !== this.minute) this.beyond = true
    for (let i = 0; i < tests.length && !this.beyond; i++) {
      if (this.tests.includes(tests[i]!)) continue
      if (this.tests.length < testsMax) this.tests.push(tests[i]!)
      else this.beyond = true
    }
  }

  /** Whether all came out the same now that one more use of this name is counted, at this instant. */
  holdAfter(company: Company, subtype: string, atMs: number): boolean {
    if (this.beyond || Math.floor(atMs / minuteMs) !== this.minute) return false
    const { tests } = this
    for (let i = 0; i < tests.length; i++) {
      const { test, more, than, held } = tests[i]!
      if (test.subtype !== subtype) continue
      const counter = company.counters.get(subtype)!
      const counted = readCounter(counter, test.period, test.monthReset, atMs, null)
      if (test.holds(counted, more, than) !== held) return false
    }
    return true
  }
}
