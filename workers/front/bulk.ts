// Bulk checks that a front answers itself: contexts that are valid, each of a company and user that are known here. All
// others are passed on whole: a bad context fails alone there (FE-92).
//
//   contexts ─▶ names ─▶ tokens ─▶ are all companies in memory? ─▶ shards, a few at a time ─▶ answer
import { parseCheckBulk, validateContext } from '../../schemas/checks.js'
import { inTurn } from '../../src/entities/turns/many-turns.js'
import { ServiceError } from '../../src/errors.js'
import type { Named, Subject } from '../../src/front/checks/handlers.js'
import { contextsFor, tokensFor } from '../../src/front/checks/many.js'
import type { AppRequest, AppResponse } from '../../src/front/http/apps/app.js'
import { enveloped } from '../../src/front/http/request/envelope.js'
import { longBytes } from '../../src/front/http/request/long-bodies.js'
import { parseBody } from '../../src/front/http/request/parse-body.js'
import { decodeUtf8 } from '../../src/json.js'
import type { KeyFacts } from '../../src/wire/front-facts.js'
import { type FrontChecks, knownSubject } from './checks.js'
import { OwnRequest, type PlainHead, routes } from './own-request.js'

export class FrontBulk {
  constructor(private readonly checks: FrontChecks) {}

  /** POST /flags/check-bulk */
  readonly begin = (res: AppResponse, req: AppRequest): void => {
    const { checks } = this
    checks.parts.requests.begin(
      routes.bulk,
      res,
      req,
      longBytes,
      () => true,
      (facts, head) => new Bulk(checks, facts, head, res),
    )
  }
}

/** One bulk check on its way. */
class Bulk extends OwnRequest {
  protected readonly url = '/flags/check-bulk'
  private text = ''

  constructor(
    private readonly checks: FrontChecks,
    facts: KeyFacts,
    head: PlainHead,
    res: AppResponse,
  ) {
    super(checks.parts.requests, routes.bulk, facts, head, res, facts.budgets)
  }

  protected read(body: Buffer): void {
    const { checks, facts } = this
    this.text = decodeUtf8(body)
    const { contexts } = parseBody(this.text, parseCheckBulk, true)
    if (contexts.length > contextsFor(facts.flags, facts.isPublic)) return this.passOn(body, 'body')
    const subjects: Subject[] = []
    for (const context of contexts) {
      const named = namedIn(context)
      if (named === null) return this.passOn(body, 'body')
      const subject = knownSubject(checks.parts.names, facts, named, null)
      if (subject === null) return this.passOn(body, 'names')
      subjects.push(subject)
    }
    if (this.charges(body, tokensFor(facts.flags, contexts.length)))
      void this.ask(subjects, checks.now(facts))
  }

  private async ask(subjects: readonly Subject[], nowMs: number): Promise<void> {
    const results = await this.resultsOf(subjects, nowMs)
    if (this.isOver) return
    const { facts } = this
    const { known, figures } = this.checks.parts.requests.parts
    if (results === null) return this.passOn(Buffer.from(this.text), 'shard')
    // the definitions or the clock are others than those it was asked under
    if (!known.holds(facts)) return this.passOn(Buffer.from(this.text), 'key')
    figures.checked(facts.flags * results.length)
    this.answer(201, this.headers, enveloped(`{"data":[${results.join(',')}]}`, '{}'))
  }

  /** All flags of each subject, as JSON; null: a shard does not answer. */
  private async resultsOf(subjects: readonly Subject[], nowMs: number): Promise<readonly string[] | null> {
    const companyIds = new Set(subjects.flatMap(({ companyId }) => companyId ?? []))
    // before any is asked: what is passed on is counted there
    if (!(await this.checks.parts.shards.arePresent(companyIds))) return null
    try {
      return await inTurn(this.facts.environmentId, subjects, one => this.resultOf(one, nowMs))
    } catch (error) {
      if (error instanceof ServiceError) return null
      throw error
    }
  }

  private resultOf({ companyId, context }: Subject, nowMs: number): Promise<string> {
    // its caller has left, or another of its subjects was not answered
    if (this.isOver) return Promise.resolve('')
    const { environmentId } = this.facts
    const question = { type: 'check_all', whole: false, context } as const
    return new Promise((resolve, reject) => {
      this.checks.parts.shards.ask(companyId, environmentId, question, nowMs, {
        heard: reply => resolve(reply as string),
        unheard: () => reject(new ServiceError('starting')),
      })
    })
  }
}

/** The company and user of a context; null: it is invalid, or asks for what bulk checks do not do. */
function namedIn(context: unknown): Named | null {
  const valid = validateContext(context)
  return valid.success && !valid.data.preflight ? valid.data : null
}
