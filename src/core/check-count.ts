// Flag checks counted: one row says how often a flag gave a company the same within a minute (FE-101).

/** What a row counts. */
export interface CheckCount {
  readonly environmentId: string
  /** Null: unknown. */
  readonly flagId: string | null
  readonly flagKey: string
  /** Any instant of it, epoch ms. */
  readonly minuteMs: number
  readonly companyId: string | null
  readonly value: boolean
  readonly reason: string
  readonly checks: number
}

/** The row, as JSONEachRow text of table flag_checks, whose counts of one key are added up. */
export function checkCountRow(count: CheckCount): string {
  return JSON.stringify({
    environment_id: count.environmentId,
    flag_id: count.flagId ?? '',
    flag_key: count.flagKey,
    minute: Math.floor(count.minuteMs / 60_000) * 60,
    company_id: count.companyId ?? '',
    value: count.value,
    reason: count.reason,
    checks: count.checks,
  })
}
