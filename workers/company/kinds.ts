// What kind of message, company or record it is: what the shard asks before it does anything with them.
import type { Company } from '../../src/core/company.js'
import type { Effect, Question } from '../../src/core/message.js'
import { endsAt } from '../../src/core/plan.js'
import { RecordFlag } from '../../src/journal/journal.js'

const questions: ReadonlySet<string> = new Set<Question['type']>([
  'check',
  'check_all',
  'brief',
  'credits',
  'describe',
  'feature_usage',
])

/** Whether a message changes nothing. */
export function isQuestion(m: { readonly type: string }): m is Question {
  return questions.has(m.type)
}

/** Whether time alone may change the plans of a company. */
export function isTimed({ plan, schedule, subscriptions }: Company): boolean {
  if (schedule !== null || plan?.trial?.status === 'active') return true
  return subscriptions.some(
    one => one.status !== 'canceled' && (one.anchorMs != null || endsAt(one) !== Number.POSITIVE_INFINITY),
  )
}

/** What a projector must look at: anything but use and last seen shows in Postgres; credit movements in the ledger. */
export function flagsOf(fx: readonly Effect[]): number {
  let flags = 0
  for (const { t } of fx)
    if (t === 'used' || t === 'seen') continue
    else if (t.startsWith('credit_')) flags |= RecordFlag.ledger
    else flags |= RecordFlag.identity
  return flags
}
