// Flag checks as lines of JSON that ClickHouse stores: one record a check, up to a rate (FE-100), and counts that say how
// often a flag gave a company the same within a minute (FE-101).
import type { CheckResult } from '../core/flags/flag.js'
import { minuteMs } from '../core/values/period.js'
import { text } from '../journal/records/event-row.js'

/** The stored part of a check's result. */
export type Checked = Pick<
  CheckResult,
  'flag' | 'flagId' | 'value' | 'reason' | 'ruleId' | 'companyId' | 'userId' | 'error'
>

/** Context of a check: keys as given, as many as `shownKeys` gives, null for none. */
export interface CheckQuestion {
  readonly company: object | null
  readonly user: object | null
  readonly preflight: boolean
}

/** An outcome of checks of one flag. Its part of a row is written once. */
export class CheckOutcome {
  private readonly start: string

  constructor(environmentId: string, flagId: string, flag: string, value: boolean, reason: string) {
    this.start = `{"environment_id":"${environmentId}","flag_id":"${flagId}","flag_key":${text(flag)},"value":${value},"reason":${text(reason)},"minute":`
  }

  /**
   * A row of counts, as JSONEachRow text of table flag_checks, whose counts of one key are added up.
   *
   * companyId  '' without company.
   * atMs       any instant of the minute, epoch ms.
   */
  row(companyId: string, atMs: number, checks: number): string {
    const minute = Math.floor(atMs / minuteMs) * (minuteMs / 1_000)
    return `${this.start}${minute},"company_id":"${companyId}","checks":${checks}}`
  }
}

/** A record of one check, by its id and its instant, epoch ms. */
interface CheckRecord extends Checked, CheckQuestion {
  readonly environmentId: string
  readonly id: string
  readonly atMs: number
}

/** Characters of keys that a record shows, of a company and of a user: a check may name megabytes of them. source: decision (FE-100) */
const shownCharactersMax = 1_024

/** The first keys, as many as a record shows. */
export function shownKeys(keys: object | null): object | null {
  if (keys === null) return null
  const all = Object.entries(keys)
  let left = shownCharactersMax
  const shown = all.findIndex(([name, value]) => {
    left -= name.length + String(value).length
    return left < 0
  })
  return shown < 0 ? keys : Object.fromEntries(all.slice(0, shown))
}

/** The flag_check record of one check (FE-100), as JSONEachRow text of table events. */
export function checkRecordRow(check: CheckRecord): string {
  const { environmentId, id, atMs, flag, flagId, companyId, userId } = check
  const body = JSON.stringify({
    flag_key: flag,
    flag_id: flagId,
    value: check.value,
    reason: check.reason,
    rule_id: check.ruleId,
    company_id: companyId,
    user_id: userId,
    req_company: check.company,
    req_user: check.user,
    error: check.error,
    ...(check.preflight ? { preflight: true } : {}),
  })
  let row = `{"environment_id":"${environmentId}","id":"${id}","type":"flag_check","mode":"recorded","status":"enriched"`
  row += `,"captured_at":${atMs},"loaded_at":${atMs},"processed_at":${atMs}`
  row += `,"subtype":${text(flag)},"flag_id":"${flagId}"`
  if (companyId !== null) row += `,"company_id":"${companyId}"`
  if (userId !== null) row += `,"user_id":"${userId}"`
  return `${row},"body":${text(body)}}`
}
