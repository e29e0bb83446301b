// Credits of a plan that a hold gives back once a change has zeroed their grant: the window issues them again (decision 33).
import type { CreditAccount, CreditConfig, Enrolment, GrantState } from '../model/account-state.js'
import { type Amount, decodeAmount, lesser } from '../values/amount.js'
import type { Draft } from './ledger.js'
import { cutKept, enrolAs, issue, reissue } from './plan-grant.js'
import { drawnIn, dueOf, isCounting, isLive, leftIn, relieved, windowStart } from './plan-window.js'

/**
 * Whether what a hold gives back to a grant is issued again: a change of plan, version or seats has zeroed it, or a window that
 * ended before its time.
 */
export function isIssuedAgain({ reason, closed }: GrantState): boolean {
  const isOver = closed === 'plan_change' || closed === 'license_retired' || closed === 'plan_period_reset'
  return reason === 'plan' && isOver
}

/** Plan grants under which more was drawn than is due, by their enrolments. */
export function overdrawnIn(account: Readonly<CreditAccount>): readonly string[] {
  return account.enrolments
    .filter(e => e.leftUntilMs === null && leftIn(account, e) === 0n && drawnIn(account, e) > dueOf(e))
    .map(e => e.planGrantId)
}

/**
 * Give a window what the end of a hold brings back to it; it counted as drawn there while it was held. Where a change has zeroed
 * its grant it is issued again, as far as it is due. Where more is drawn than is due, it is taken. A window that began after the
 * grant gets the part that was carried into it with holds.
 *
 * returned   grants as the hold ended, and nano-credits; the entries that wrote them off are in the draft
 * overdrawn  `overdrawnIn` before the hold ended
 * source     decision 33, CR-78
 */
export function issueReturned(
  draft: Draft,
  config: CreditConfig,
  returned: readonly (readonly [GrantState, Amount])[],
  overdrawn: readonly string[],
  atMs: number,
): void {
  for (const [grant, amount] of returned) {
    let rest = amount
    const own = draft.account.enrolments.find(e => e.leftUntilMs === null && isCounting(e, grant))
    const hasEnded = own !== undefined && grant.createdAtMs < windowStart(own)
    for (const e of countedIn(draft.account, grant, atMs)) {
      const isBefore = hasEnded || grant.createdAtMs < windowStart(e)
      const part = lesser(rest, decodeAmount((isBefore ? e.heldBefore : e.drawn) ?? 0))
      if (part <= 0n) continue
      rest -= part
      const less = relieved(e, part, isBefore ? part : 0n)
      enrolAs(draft, less, atMs)
      if (e.leftUntilMs !== null) continue
      const drawn = drawnIn(draft.account, less)
      const again = lesser(part, dueOf(less) - drawn - leftIn(draft.account, less))
      const isOver = grant.expiresAtMs !== null && grant.expiresAtMs <= atMs
      if (again <= 0n || isOver) continue
      // no licence has more than its share, which ends with it
      if (e.scaling === 'per_license' && e.cadence !== null) {
        reissue(draft, config, less, drawn, atMs)
        continue
      }
      const licence = (grant.licence ?? 0) > e.licences ? null : grant.licence
      issue(draft, config, less, grant.expiresAtMs, [{ amount: again, licence }], atMs)
    }
  }
  for (const e of draft.account.enrolments)
    if (overdrawn.includes(e.planGrantId) && leftIn(draft.account, e) > 0n)
      reissue(draft, config, e, drawnIn(draft.account, e), atMs)
  cutKept(draft, config, atMs)
}

/** Enrolments whose windows may count a grant: its own first, closed ones last. */
function countedIn(account: Readonly<CreditAccount>, grant: GrantState, atMs: number): readonly Enrolment[] {
  const counted = account.enrolments.filter(e => isLive(e, atMs))
  const place = (e: Enrolment): number => (e.leftUntilMs !== null ? 2 : isCounting(e, grant) ? 0 : 1)
  return counted.sort((a, b) => place(a) - place(b))
}
