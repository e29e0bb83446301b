// Flag checks in a shard: evaluated, written as text, counted. What a check leaves behind follows later (FE-100…103).
import type { Catalog } from '../../src/core/catalog.js'
import { userFacts } from '../../src/core/check-reserve.js'
import type { Company } from '../../src/core/company.js'
import {
  type CheckResult,
  checkAll,
  checkWith,
  inContext,
  writeAllChecks,
  writeCheck,
} from '../../src/core/flag.js'
import { derivedId } from '../../src/core/id.js'
import type { CheckContext, CheckCounts, Preflight, Question } from '../../src/core/message.js'
import { LiveCompany } from '../../src/core/snapshot.js'
import { text } from '../../src/journal/event-row.js'

interface Count {
  readonly environmentId: string
  readonly minuteMs: number
  readonly checked: CheckResult
  checks: number
}

/** Distinct (minute, flag, company, value, reason) kept between two flushes; beyond it the oldest leave early. */
const countsMax = 100_000

export class FlagChecks {
  private counts = new Map<string, Count>()
  private rows: string[] = []
  private flags = new Map<string, readonly [string, string, number]>()
  private users = new Map<string, readonly [string, string, number]>()
  /** Records that may still be kept before the next flush. */
  private rowsLeft: number
  private made = 0

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
    const facts = company && new LiveCompany(company, catalog, atMs)
    const checked = inContext(checkWith(flag, facts, userFacts(context), preflight), context)
    this.note(catalog, company, context, checked, preflight, atMs)
    return writeCheck(checked)
  }

  /** Every flag by key from one snapshot, as CheckFlags text (FE-90, FE-91). */
  all(catalog: Catalog, company: Company | null, context: CheckContext, atMs: number): string {
    const checks = checkAll(catalog, company, userFacts(context), context, atMs)
    for (const checked of checks.flags) this.note(catalog, company, context, checked, null, atMs)
    return writeAllChecks(checks)
  }

  /** What gathered since the last time; null when nothing did. */
  take(): CheckCounts | null {
    this.rowsLeft = this.rowsPerSecond
    if (this.flags.size === 0) return null
    const taken: CheckCounts = {
      counts: [...this.counts.values()].map(countRow),
      rows: this.rows,
      flags: [...this.flags.values()],
      users: [...this.users.values()],
    }
    this.counts = new Map()
    this.rows = []
    this.flags = new Map()
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
    const { environmentId } = catalog.data
    const minuteMs = atMs - (atMs % 60_000)
    const name = `${minuteMs}${checked.flagId}${checked.companyId}${checked.ruleId}${checked.value}${checked.error}`
    const count = this.counts.get(name)
    if (count) count.checks++
    else if (this.counts.size < countsMax)
      this.counts.set(name, { environmentId, minuteMs, checked, checks: 1 })
    this.flags.set(checked.flag, [environmentId, checked.flag, atMs])
    if (checked.userId !== null) this.users.set(checked.userId, [environmentId, checked.userId, atMs])
    // last seen is best effort here: in memory at once, stored with the company's next snapshot (FE-103)
    if (company && (company.lastSeenAtMs === null || company.lastSeenAtMs < atMs)) company.lastSeenAtMs = atMs
    if (this.rowsLeft > 0) {
      this.rowsLeft--
      this.rows.push(this.recordRow(environmentId, context, checked, preflight, atMs))
    }
  }

  /** The flag_check record of one check (FE-100), as a row of table events. */
  private recordRow(
    environmentId: string,
    context: CheckContext,
    checked: CheckResult,
    preflight: Preflight | null,
    atMs: number,
  ): string {
    const asked = JSON.parse(context.asked) as { readonly company?: object; readonly user?: object }
    const body = JSON.stringify({
      flag_key: checked.flag,
      flag_id: checked.flagId,
      value: checked.value,
      reason: checked.reason,
      rule_id: checked.ruleId,
      company_id: checked.companyId,
      user_id: checked.userId,
      req_company: context.companyGiven ? asked.company : null,
      req_user: context.userGiven ? asked.user : null,
      error: checked.error,
      ...(preflight === null ? {} : { preflight: true }),
    })
    const id = derivedId('evt_', this.run, ++this.made)
    let row = `{"environment_id":"${environmentId}","id":"${id}","type":"flag_check","mode":"recorded","status":"enriched"`
    row += `,"captured_at":${atMs},"loaded_at":${atMs},"processed_at":${atMs}`
    row += `,"subtype":${text(checked.flag)},"flag_id":"${checked.flagId}"`
    if (checked.companyId !== null) row += `,"company_id":"${checked.companyId}"`
    if (checked.userId !== null) row += `,"user_id":"${checked.userId}"`
    return `${row},"body":${text(body)}}`
  }
}

function countRow({ environmentId, minuteMs, checked, checks }: Count): string {
  return JSON.stringify({
    environment_id: environmentId,
    flag_id: checked.flagId ?? '',
    flag_key: checked.flag,
    minute: minuteMs / 1_000,
    company_id: checked.companyId ?? '',
    value: checked.value,
    reason: checked.reason,
    checks,
  })
}
