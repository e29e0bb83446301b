// Flag checks in a shard: evaluated, written as text, counted. What a check leaves behind follows later (FE-100…103).
import type { Catalog } from '../../src/core/catalog.js'
import type { Company } from '../../src/core/company/company.js'
import { LiveCompany } from '../../src/core/company/facts.js'
import type { CheckContext, CheckCounts, Preflight, Question } from '../../src/core/company/message.js'
import {
  type CheckResult,
  type CompiledFlag,
  checkAll,
  checkWith,
  inContext,
  writeAllChecks,
  writeCheck,
} from '../../src/core/flags/flag.js'
import { UsageReads } from '../../src/core/flags/read-set.js'
import { userFacts } from '../../src/core/flags/reserve.js'
import { derivedId } from '../../src/core/id.js'
import { minuteMs } from '../../src/core/usage/period.js'
import { checkCountRow, checkRecordRow } from '../../src/protocol/check-rows.js'

/** Checks of one flag for one company within one minute that all gave the same. */
interface Count {
  readonly environmentId: string
  readonly minuteMs: number
  readonly checked: CheckResult
  checks: number
  lastAtMs: number
  /** Of the same flag and company, with another result or of another minute. */
  readonly before: Count | undefined
}

/** Most counts kept between two flushes; beyond it checks go uncounted until the next. */
const countsMax = 100_000

export class FlagChecks {
  /** The latest count of each flag by company; by catalog where there is none. */
  private running = new Map<Company | Catalog, Map<CompiledFlag, Count>>()
  private counts: Count[] = []
  private rows: string[] = []
  private users = new Map<string, readonly [string, string, number]>()
  /** Records that may still be kept before the next flush. */
  private rowsLeft: number
  private made = 0
  /** What the check last answered read of its company's use. */
  readonly reads = new UsageReads()

  constructor(
    /** Names this shard's run: record ids are derived from it. */
    private readonly run: string,
    private readonly rowsPerSecond: number,
  ) {
    this.rowsLeft = rowsPerSecond
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
    const { context, preflight } = question
    this.reads.clear()
    const facts = company && new LiveCompany(company, catalog, atMs, this.reads)
    const checked = inContext(checkWith(flag, facts, userFacts(context), preflight), context)
    this.note(catalog, company, context, checked, preflight, atMs)
    return writeCheck(checked)
  }

  /** Every flag by key from one snapshot, as CheckFlags text (FE-90, FE-91). */
  all(catalog: Catalog, company: Company | null, context: CheckContext, atMs: number): string {
    this.reads.clear()
    const checks = checkAll(catalog, company, userFacts(context), context, atMs, this.reads)
    const { flags } = checks
    this.see(catalog, company, context.userId, atMs)
    const running = this.runningOf(company ?? catalog)
    for (let i = 0; i < flags.length; i++) {
      this.count(catalog, running, catalog.flags[i]!, flags[i]!, atMs)
      if (this.rowsLeft > 0) this.record(catalog, context, flags[i]!, null, atMs)
    }
    return writeAllChecks(checks)
  }

  /** What gathered since the last time; null when nothing did. */
  take(): CheckCounts | null {
    this.rowsLeft = this.rowsPerSecond
    if (this.counts.length === 0) return null
    const flags = new Map<string, readonly [string, string, number]>()
    for (const { environmentId, checked, lastAtMs } of this.counts) {
      const name = `${environmentId} ${checked.flag}`
      const [, , knownMs = 0] = flags.get(name) ?? []
      if (knownMs < lastAtMs) flags.set(name, [environmentId, checked.flag, lastAtMs])
    }
    const taken: CheckCounts = {
      counts: this.counts.map(countRow),
      rows: this.rows,
      flags: [...flags.values()],
      users: [...this.users.values()],
    }
    this.running = new Map()
    this.counts = []
    this.rows = []
    this.users = new Map()
    return taken
  }

  /** What a check leaves behind: its count, its record, when flag and user were last seen (FE-100…103). */
  note(
    catalog: Catalog,
    company: Company | null,
    context: CheckContext,
    checked: CheckResult,
    preflight: Preflight | null,
    atMs: number,
  ): void {
    const flag = catalog.flagsByKey.get(checked.flag)
    if (flag === undefined) return
    this.see(catalog, company, checked.userId, atMs)
    this.count(catalog, this.runningOf(company ?? catalog), flag, checked, atMs)
    if (this.rowsLeft > 0) this.record(catalog, context, checked, preflight, atMs)
  }

  private see({ data }: Catalog, company: Company | null, userId: string | null, atMs: number): void {
    if (userId !== null) this.users.set(userId, [data.environmentId, userId, atMs])
    // last seen is best effort here: in memory at once, stored with the company's next snapshot (FE-103)
    if (company && (company.lastSeenAtMs === null || company.lastSeenAtMs < atMs)) company.lastSeenAtMs = atMs
  }

  private runningOf(whose: Company | Catalog): Map<CompiledFlag, Count> {
    let running = this.running.get(whose)
    if (running === undefined) {
      running = new Map()
      this.running.set(whose, running)
    }
    return running
  }

  private count(
    { data }: Catalog,
    running: Map<CompiledFlag, Count>,
    flag: CompiledFlag,
    checked: CheckResult,
    atMs: number,
  ): void {
    let count = running.get(flag)
    while (count !== undefined && !isOf(count, checked, atMs)) count = count.before
    if (count !== undefined) {
      count.checks++
      if (count.lastAtMs < atMs) count.lastAtMs = atMs
      return
    }
    if (this.counts.length >= countsMax) return
    const begun: Count = {
      environmentId: data.environmentId,
      minuteMs: atMs - (atMs % minuteMs),
      checked,
      checks: 1,
      lastAtMs: atMs,
      before: running.get(flag),
    }
    running.set(flag, begun)
    this.counts.push(begun)
  }

  private record(
    catalog: Catalog,
    context: CheckContext,
    checked: CheckResult,
    preflight: Preflight | null,
    atMs: number,
  ): void {
    this.rowsLeft--
    const { environmentId } = catalog.data
    const id = derivedId('evt_', this.run, ++this.made)
    const asked = JSON.parse(context.asked) as { readonly company?: object; readonly user?: object }
    const company = (context.companyGiven && asked.company) || null
    const user = (context.userGiven && asked.user) || null
    const question = { company, user, preflight: preflight !== null }
    this.rows.push(checkRecordRow({ environmentId, id, atMs, ...question, ...checked }))
  }
}

function isOf({ minuteMs: minute, checked: known }: Count, checked: CheckResult, atMs: number): boolean {
  return (
    known.ruleId === checked.ruleId &&
    known.value === checked.value &&
    known.reason === checked.reason &&
    known.error === checked.error &&
    atMs - minute < minuteMs &&
    atMs >= minute
  )
}

function countRow({ environmentId, minuteMs: minute, checked, checks }: Count): string {
  return checkCountRow({ environmentId, minuteMs: minute, checks, ...checked })
}
