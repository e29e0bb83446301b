// Answers of an actor to questions: they change nothing but its last-seen time.
import type { Catalog } from '../../../src/core/catalog.js'
import { cacheableUntil } from '../../../src/core/checks/cacheable-until.js'
import { explainFlag } from '../../../src/core/checks/explain.js'
import { briefOf, encodeUser } from '../../../src/core/company/state.js'
import { describeCredits } from '../../../src/core/live/company-accounts.js'
import type { Effect, Question } from '../../../src/core/model/message.js'
import { CachedPredicates, type ReadSet } from '../../../src/core/rules/read-set.js'
import type { Changes } from '../../../src/wire/version-counters.js'
import { type Actor, answered, type CompanyActor, showFigures } from '../actors.js'
import type { FlagChecks } from './checks.js'
import { describeCompany, keepsFigures, lineOf, outlineCompany, usageOfFeatures } from './describe.js'
import { toldOf } from './streamed.js'

/** The answer, after changes by time are applied; `actor` null: a question about the environment alone. */
export function answerOf(
  checks: FlagChecks,
  catalog: Catalog,
  actor: Actor | null,
  question: Question,
  at: number,
): unknown {
  const company = actor?.k === 'c' && actor.state.exists ? actor.state : null
  switch (question.type) {
    case 'check':
      return checks.one(catalog, company, question, at)
    case 'check_all':
      return checks.all(catalog, company, question.context, at)
    case 'describe':
      if (actor?.k === 'u') return actor.state.exists ? encodeUser(actor.state) : null
      return company && describeCompany(company, catalog, at, question.eventNamesMax)
    case 'outline':
      return company && outlineCompany(company, catalog, at, question.eventNamesMax)
    case 'line':
      return company && lineOf(company, catalog, at)
    case 'explain':
      return explainFlag(catalog, company, question, at)
    case 'feature_usage':
      return company && usageOfFeatures(company, catalog, at, question)
    case 'credits':
      return company && describeCredits(company, catalog, at)
    case 'engine':
      return actor?.state.exists ? toldOf(actor, catalog, at, question) : null
    case 'brief':
      return actor?.state.exists ? briefOf(actor.state) : null
  }
}

/** TTL of the answer to a check or of a view: the instant at which time alone may change it, epoch ms; 0: unknown. */
export function answerExpiresAt(actor: Actor | null, at: number): number {
  if (actor === null) return cacheableUntil(null, 0, at)
  return actor.k === 'c' && actor.state.exists ? cacheableUntil(actor.state, actor.settledUntilMs, at) : 0
}

/**
 * Remember what an answer rests on that may be kept: one to a check, or the view of a company or its usage. Returns whether it may
 * show usage figures; null: it is not kept.
 */
export function rememberAnswer(
  actor: Actor | null,
  question: Question,
  { figures, tests }: ReadSet,
  at: number,
  changes: Changes,
): boolean | null {
  const isView = question.type === 'outline' || question.type === 'feature_usage'
  if (question.type === 'check_all' || (question.type === 'check' && !question.timed)) {
    tellSeen(actor, changes)
    return null
  }
  if (!isView && question.type !== 'check') return null
  if (actor?.k !== 'c') return isView || figures
  if (isView) {
    showFigures(actor)
    return true
  }
  tellSeen(actor, changes)
  if (figures && actor.answeredFigures === answered.none) actor.answeredFigures = answered.checks
  if (tests.length > 0) {
    actor.answeredTests ??= CachedPredicates.at(at)
    actor.answeredTests.add(tests, at)
  }
  return figures
}

/** A company changes: none of the answers that were given of it is kept any longer (FE-105). */
export function raiseChanged(actor: CompanyActor, changes: Changes): void {
  changes.changed(actor.state.id)
  actor.answeredFigures = answered.none
  actor.answeredTests = null
}

/**
 * Raise the version counters for a record, before its effects are applied. `flags` as `flagsOf` gives them. A change of a
 * user's last-seen time alone raises none.
 */
export function raiseRecorded(actor: Actor, fx: readonly Effect[], flags: number, changes: Changes): void {
  if (actor.k === 'c') {
    const sameFigures = keepsFigures(actor, fx)
    raiseChanged(actor, changes)
    if (sameFigures) actor.answeredFigures = answered.view
  } else if (flags !== 0) changes.userChanged(actor.state.id)
}

/** One more use of a name is counted, and may have drawn credits: answers that it makes others are not kept any longer. */
export function tellUsed(actor: CompanyActor, name: string, at: number, changes: Changes): void {
  const { state, answeredFigures, answeredTests } = actor
  if (answeredTests !== null && !answeredTests.holdAfter(state, name, at)) return raiseChanged(actor, changes)
  if (answeredFigures === answered.none) return
  changes.used(state.id)
  actor.answeredFigures = answered.none
}

/** A check moved the last-seen time of a company (FE-103): a view of it is not given again. */
export function tellSeen(actor: Actor | null, changes: Changes): void {
  if (actor?.k !== 'c' || actor.answeredFigures !== answered.view) return
  changes.used(actor.state.id)
  actor.answeredFigures = answered.none
}
