// Answers to checks of all flags, as whole bodies in the ring of replies. The body of a company that was asked for twice, for
// the same user, stays there until the ring comes round; until then it is answered with the same bytes while nothing has
// happened to it, no definition has changed, and time alone changes nothing. The check is counted like any other.
import type { Catalog } from '../../../src/core/catalog.js'
import type { CheckContext } from '../../../src/core/model/requests.js'
import type { Outcome } from '../../../src/core/rules/rule.js'
import { hashOf } from '../../../src/core/values/id.js'
import type { Replies } from '../../../src/wire/message-codec.js'
import type { Place } from '../../../src/wire/reply-ring.js'
import type { Changes } from '../../../src/wire/version-counters.js'
import type { Actor } from '../actors.js'
import { answerExpiresAt, tellSeen } from './answer.js'
import type { FlagChecks } from './checks.js'

/** An answer in the ring, and everything it rests on. */
interface Kept extends Place {
  /** The same object: one that was loaded again is another. */
  readonly actor: Actor
  /** That of the last fact in it. */
  readonly sequence: number
  readonly edition: number
  readonly companyGiven: boolean
  /** When it holds, [fromMs, untilMs), epoch ms. */
  readonly fromMs: number
  readonly untilMs: number
  readonly outcomes: readonly Outcome[]
}

/** How often answers that are no longer in the ring are let go of: after so many that were kept. */
const sweptEvery = 64
/** Names that are remembered as asked for, at most; a power of two. */
const askedPlaces = 1 << 13

export class WholeAnswers {
  /** By the company and the user asked for; the oldest first, as they lie in the ring. */
  private readonly kept = new Map<string, Kept>()
  private untilSweep = sweptEvery
  /** By a hash of their names: that of the name asked for last. An answer stays when it is asked for again. */
  private readonly asked = new Int32Array(askedPlaces)
  /** Answers given again. */
  given = 0

  constructor(
    private readonly checks: FlagChecks,
    private readonly replies: Replies,
    private readonly changes: Changes,
  ) {}

  /**
   * Answer a check of all flags (FE-90, FE-91).
   *
   * n        the request's number.
   * actor    the company, settled by time; null or one that does not exist: the check is without company.
   * edition  that of the catalog.
   * at       the environment's present, epoch ms.
   */
  answer(
    n: number,
    actor: Actor | null,
    catalog: Catalog,
    edition: number,
    context: CheckContext,
    at: number,
  ): void {
    const { checks, replies } = this
    const company = actor?.k === 'c' && actor.state.exists ? actor.state : null
    tellSeen(actor, this.changes)
    const name = company === null ? null : nameOf(company.id, context)
    if (name !== null) {
      const kept = this.kept.get(name)
      if (kept !== undefined && holds(kept, actor!, edition, context, at) && replies.again(n, kept)) {
        this.given++
        checks.noteAll(catalog, company, context, kept.outcomes, at)
        return
      }
    }
    const json = checks.tell(catalog, company, context, at)
    const outcomes = checks.noteAll(catalog, company, context, checks.outcomes, at)
    const stays = name !== null && this.askedBefore(name)
    const place = replies.whole(n, json, stays)
    if (place === null || !stays) return
    const { from, length } = place
    this.kept.delete(name)
    this.kept.set(name, {
      from,
      length,
      actor: actor!,
      sequence: company!.sequence,
      edition,
      companyGiven: context.companyGiven,
      fromMs: at,
      untilMs: answerExpiresAt(actor, at),
      outcomes,
    })
    if (--this.untilSweep === 0) this.sweep()
  }

  private askedBefore(name: string): boolean {
    const hash = hashOf(name) | 0
    const place = hash & (askedPlaces - 1)
    if (this.asked[place] === hash) return true
    this.asked[place] = hash
    return false
  }

  private sweep(): void {
    this.untilSweep = sweptEvery
    for (const [name, kept] of this.kept) {
      if (this.replies.has(kept)) return
      this.kept.delete(name)
    }
  }
}

/** The name of a company's answer; null where it rests on traits of a user, which are no part of the company. */
function nameOf(companyId: string, { userId, userGiven, userTraits }: CheckContext): string | null {
  if (userTraits !== null) return null
  return userGiven ? `${companyId} ${userId ?? ''}` : companyId
}

function holds(kept: Kept, actor: Actor, edition: number, context: CheckContext, at: number): boolean {
  return (
    kept.actor === actor &&
    kept.sequence === actor.state.sequence &&
    kept.edition === edition &&
    kept.companyGiven === context.companyGiven &&
    at >= kept.fromMs &&
    at < kept.untilMs
  )
}
