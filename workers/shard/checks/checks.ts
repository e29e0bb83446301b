// Flag checks in a shard, or in all shards of a thread: evaluated, written as text, counted. Counts, records and
// last-seen times follow later (FE-100…103).
import type { Catalog } from '../../../src/core/catalog.js'
import { tellAll } from '../../../src/core/checks/all-flags.js'
import { userFacts } from '../../../src/core/checks/reserve.js'
import {
  type CheckResult,
  checkWith,
  inContext,
  namingBudget,
  writeCheck,
} from '../../../src/core/flags/flag.js'
import { LiveCompany } from '../../../src/core/live/live-company.js'
import type { Company } from '../../../src/core/model/company-state.js'
import type { CheckCounts, Question, SeenUsers } from '../../../src/core/model/message.js'
import type { CheckContext, Preflight } from '../../../src/core/model/requests.js'
import { ReadSet } from '../../../src/core/rules/read-set.js'
import type { Outcome } from '../../../src/core/rules/rule.js'
import { derivedId } from '../../../src/core/values/id.js'
import { type Checked, type CheckQuestion, checkRecordRow, shownKeys } from '../../../src/wire/check-rows.js'
import { ReportedCounts } from '../../../src/wire/check-tally.js'
import { noRecords, RecordBudget, type RecordRates } from '../../../src/wire/record-budget.js'

/** Interval of reports, ms. */
export const reportMs = 1_000
/** Users in one report: about a millisecond of work. */
const usersAtOnce = 1_000

export class FlagChecks {
  private readonly counts = new ReportedCounts()
  private telling: NodeJS.Immediate | null = null
  private rows: string[] = []
  /** The context that was recorded last, and its keys as records show them. */
  private shownOf: CheckContext | null = null
  private shown: Pick<CheckQuestion, 'company' | 'user'> = { company: null, user: null }
  /** When a flag was last checked, by environment and key. */
  private flags = new Map<string, Map<string, number>>()
  /** When all flags of an environment were last checked together. */
  private readonly wholes = new Map<string, { readonly flags: Catalog['flags']; atMs: number }>()
  private users = new Map<string, Map<string, number>>()
  /** Users seen before the report that is being made. */
  private usersLeft = new Map<string, Map<string, number>>()
  private readonly budget: RecordBudget
  private made = 0
  /** Read set of the last check of one flag whose answer may be kept. */
  readonly reads = new ReadSet()
  /** Outcomes of the check of all flags that was told last. */
  readonly outcomes: Outcome[] = []

  constructor(
    /** Names this run of a shard or thread: record ids are derived from it. */
    private readonly run: string,
    records: RecordRates = noRecords,
  ) {
    this.budget = new RecordBudget(records)
  }

  /** One flag, as CheckFlag text; null for an unknown key, which leaves nothing behind (FE-77). */
  one(
    catalog: Catalog,
    company: Company | null,
    question: Extract<Question, { readonly type: 'check' }>,
    atMs: number,
  ): string | null {
    const flag = catalog.flagsByKey.get(question.flagKey)
    if (flag === undefined) return null
    const { context, preflight, timed } = question
    this.reads.clear()
    const facts = company && new LiveCompany(company, catalog, atMs, timed ? this.reads : null)
    const judged = inContext(checkWith(flag, facts, userFacts(context), preflight), context)
    const checked = preflight === null ? judged : namingBudget(judged, facts?.overBudget)
    this.note(catalog, company, context, checked, preflight, atMs)
    return writeCheck(checked)
  }

  /** Every flag by key from one snapshot, as CheckFlags text (FE-90, FE-91). */
  all(catalog: Catalog, company: Company | null, context: CheckContext, atMs: number): string {
    const json = this.tell(catalog, company, context, atMs)
    this.noteAll(catalog, company, context, this.outcomes, atMs)
    return json
  }

  /** The same text, not noted yet: `outcomes` has what came out. */
  tell(catalog: Catalog, company: Company | null, context: CheckContext, atMs: number): string {
    return tellAll(catalog, company, userFacts(context), context, atMs, this.outcomes)
  }

  /**
   * Note a check of all flags: its count, its records, when flags and user were last seen (FE-100…103).
   *
   * returns  the outcomes, as a list that nobody changes.
   */
  noteAll(
    catalog: Catalog,
    company: Company | null,
    context: CheckContext,
    outcomes: readonly Outcome[],
    atMs: number,
  ): readonly Outcome[] {
    const companyId = company?.exists ? company.id : null
    this.see(catalog, company, context.userId, atMs)
    const listed = this.counts.tally.addAll(catalog.data.environmentId, companyId ?? '', outcomes, atMs)
    this.sawAll(catalog, atMs)
    const about = { companyId, userId: context.userId, error: null }
    for (let i = 0; i < outcomes.length && this.budget.take(null, atMs); i++)
      this.record(catalog, context, { ...outcomes[i]!, ...about }, null, atMs)
    return listed
  }

  /** Every flag of a catalog was checked. */
  private sawAll({ data, flags }: Catalog, atMs: number): void {
    const seen = this.wholes.get(data.environmentId)
    if (seen?.flags === flags) seen.atMs = atMs
    else {
      this.spread(data.environmentId)
      this.wholes.set(data.environmentId, { flags, atMs })
    }
  }

  /** Note for each flag of an environment that all were checked. */
  private spread(environmentId: string): void {
    const seen = this.wholes.get(environmentId)
    if (seen === undefined) return
    this.wholes.delete(environmentId)
    const latest = innerOf(this.flags, environmentId)
    for (const { key } of seen.flags) latest.set(key, Math.max(seen.atMs, latest.get(key) ?? 0))
  }

  /**
   * Report the checks since the last call, a part at a time. Counts are reported every ten seconds, or once a minute
   * where there are many: repeated checks share one row.
   *
   * nowMs  of any clock that never goes back.
   * all    counts of just now too, before this returns: the shard may end.
   */
  report(nowMs: number, all: boolean, to: (checks: CheckCounts) => void): void {
    this.budget.tick()
    this.reportRest(nowMs, all, to)
  }

  private reportRest(nowMs: number, all: boolean, to: (checks: CheckCounts) => void): void {
    do {
      if (this.usersLeft.size === 0) {
        this.usersLeft = this.users
        this.users = new Map()
      }
      const taken = this.take(nowMs, all)
      if (taken !== null) to(taken)
    } while (all && (!this.counts.isEmpty || this.usersLeft.size + this.users.size > 0))
    if ((this.counts.isUnderWay || this.usersLeft.size > 0) && this.telling === null)
      this.telling = setImmediate(() => {
        this.telling = null
        this.reportRest(nowMs, false, to)
      })
  }

  /** Null: nothing gathered. */
  private take(nowMs: number, all: boolean): CheckCounts | null {
    const counts = this.counts.take(nowMs, all)
    const users = this.takeUsers()
    for (const environmentId of [...this.wholes.keys()]) this.spread(environmentId)
    if (counts.length === 0 && this.rows.length === 0 && this.flags.size === 0 && users.length === 0)
      return null
    const taken: CheckCounts = {
      counts,
      rows: this.rows,
      flags: listOf(this.flags),
      users,
    }
    this.rows = []
    this.flags = new Map()
    return taken
  }

  private takeUsers(): readonly SeenUsers[] {
    const taken: SeenUsers[] = []
    let room = usersAtOnce
    for (const [environmentId, seen] of this.usersLeft) {
      const ids: string[] = []
      const atMs: number[] = []
      for (const [id, ms] of seen) {
        if (room-- <= 0) break
        seen.delete(id)
        ids.push(id)
        atMs.push(ms)
      }
      if (ids.length > 0) taken.push({ environmentId, ids, atMs })
      if (room < 0) break
      this.usersLeft.delete(environmentId)
    }
    return taken
  }

  /** Note a check: its count, its record, when flag and user were last seen (FE-100…103). */
  note(
    catalog: Catalog,
    company: Company | null,
    context: CheckContext,
    checked: CheckResult,
    preflight: Preflight | null,
    atMs: number,
  ): void {
    if (!catalog.flagsByKey.has(checked.flag)) return
    this.see(catalog, company, checked.userId, atMs)
    this.counts.tally.add(catalog.data.environmentId, company?.id ?? '', checked, atMs)
    this.latestOf(catalog).set(checked.flag, atMs)
    const denied = checked.value ? null : (company?.id ?? catalog.data.environmentId)
    if (this.budget.take(denied, atMs)) this.record(catalog, context, checked, preflight, atMs)
  }

  private see({ data }: Catalog, company: Company | null, userId: string | null, atMs: number): void {
    if (userId !== null) innerOf(this.users, data.environmentId).set(userId, atMs)
    // last seen is best effort here: in memory at once, stored with the company's next snapshot (FE-103)
    if (company && (company.lastSeenAtMs === null || company.lastSeenAtMs < atMs)) company.lastSeenAtMs = atMs
  }

  private latestOf({ data }: Catalog): Map<string, number> {
    return innerOf(this.flags, data.environmentId)
  }

  private record(
    catalog: Catalog,
    context: CheckContext,
    checked: Checked,
    preflight: Preflight | null,
    atMs: number,
  ): void {
    const { environmentId } = catalog.data
    const id = derivedId('evt_', this.run, ++this.made)
    // one context is asked about each flag
    if (this.shownOf !== context) {
      this.shownOf = context
      this.shown = shownContext(context)
    }
    const question = { ...this.shown, preflight: preflight !== null }
    this.rows.push(checkRecordRow({ environmentId, id, atMs, ...question, ...checked }))
  }
}

function shownContext(context: CheckContext): Pick<CheckQuestion, 'company' | 'user'> {
  const asked = JSON.parse(context.asked) as { readonly company?: object; readonly user?: object }
  return {
    company: shownKeys((context.companyGiven && asked.company) || null),
    user: shownKeys((context.userGiven && asked.user) || null),
  }
}

function innerOf(maps: Map<string, Map<string, number>>, name: string): Map<string, number> {
  let inner = maps.get(name)
  if (inner === undefined) {
    inner = new Map()
    maps.set(name, inner)
  }
  return inner
}

function listOf(maps: ReadonlyMap<string, ReadonlyMap<string, number>>) {
  return [...maps].flatMap(([environmentId, inner]) =>
    [...inner].map(([name, atMs]): readonly [string, string, number] => [environmentId, name, atMs]),
  )
}
