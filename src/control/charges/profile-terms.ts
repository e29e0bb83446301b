// Terms of billing profiles for charges, now and until they were changed.
import type { ProrationBehavior } from '../../../schemas/enums.js'
import { type BillingFacts, paidInAt } from '../../core/rating/facts.js'
import { type HistoryEntry, heldSpans } from '../../core/rating/history.js'

/** A proration behavior of plan groups until an instant. */
export interface FormerBehavior {
  readonly behavior: ProrationBehavior | null
  readonly untilMs: number
}

export interface ProfileTerms {
  readonly proration_behavior: ProrationBehavior | null
  readonly currency: string | null
}

/** The terms of a company's default billing profile, and former ones until instants, ascending. */
export interface Profile {
  readonly now: ProfileTerms
  readonly former: readonly (ProfileTerms & { readonly untilMs: number })[]
}

export const noProfile: ProfileTerms = { proration_behavior: null, currency: null }

const profileAt = ({ now, former }: Profile, atMs: number): ProfileTerms =>
  former.find(one => atMs < one.untilMs) ?? now

/** How changes were charged until instants: as the profile said then, else as the plan group did. source: RA-14 */
export function formerProrations(
  profile: Profile,
  group: { readonly now: ProrationBehavior | null; readonly former: readonly FormerBehavior[] },
): NonNullable<BillingFacts['formerProrations']> {
  const ends = new Set([...profile.former, ...group.former].map(one => one.untilMs))
  return [...ends]
    .sort((a, b) => a - b)
    .map(untilMs => {
      const said = group.former.find(one => untilMs <= one.untilMs)
      const ofGroup = said ? said.behavior : group.now
      return { ...prorationOf(profileAt(profile, untilMs - 1).proration_behavior ?? ofGroup), untilMs }
    })
}

/** The currency in which a company pays at an instant: of its subscription then, else of its profile then, else of its first. */
export function paidIn(
  history: readonly HistoryEntry[],
  paid: Pick<BillingFacts, 'currencies' | 'formerlyPaid'>,
  profile: Profile,
): (atMs: number) => string | null {
  const spans = heldSpans(history)
  return atMs => {
    const held = spans.findLast(one => one.fromMs <= atMs)?.billing
    const first = history.find(
      one => one.kind === 'subscription' && one.atMs <= atMs && paid.currencies.has(one.id),
    )
    return (
      (held && paidInAt(paid, held.id, atMs)) ??
      profileAt(profile, atMs).currency ??
      (first?.kind === 'subscription' ? paidInAt(paid, first.id, atMs)! : null)
    )
  }
}

export function prorationOf(
  behavior: ProrationBehavior | null | undefined,
): Pick<BillingFacts, 'prorates' | 'invoicesAtOnce'> {
  return { prorates: behavior != null, invoicesAtOnce: behavior === 'invoice_immediately' }
}
