// Evaluations of the OpenFeature Remote Evaluation Protocol that a front answers itself: of companies and users that are
// known here. Bodies that the protocol refuses are passed on.
import { flagsPerToken } from '../../src/front/checks/many.js'
import {
  type Evaluated,
  evaluatedOrNull,
  evaluationOf,
  evaluationsOf,
  isKnown,
  tagOf,
  unknownFlagText,
} from '../../src/front/checks/ofrep.js'
import type { AppRequest, AppResponse } from '../../src/front/http/apps/app.js'
import { longBytes } from '../../src/front/http/request/long-bodies.js'
import { decodeUtf8 } from '../../src/json.js'
import type { KeyFacts } from '../../src/wire/front-facts.js'
import { type FrontChecks, knownSubject } from './checks.js'
import { OwnRequest, type PlainHead, plainName, routes } from './own-request.js'
import type { Asker } from './shard-ports.js'

export class FrontOfrep {
  constructor(private readonly checks: FrontChecks) {}

  /** POST /ofrep/v1/evaluate/flags/{key} */
  readonly ofFlag = (res: AppResponse, req: AppRequest): void => {
    const flagKey = req.getParameter(0)
    this.begin(flagKey, res, req, () => plainName.test(flagKey))
  }

  /** POST /ofrep/v1/evaluate/flags */
  readonly ofAll = (res: AppResponse, req: AppRequest): void => this.begin(null, res, req, () => true)

  private begin(flagKey: string | null, res: AppResponse, req: AppRequest, isPlain: () => boolean): void {
    const { checks } = this
    checks.parts.requests.begin(
      routeOf(flagKey),
      res,
      req,
      longBytes,
      isPlain,
      (facts, head) => new Evaluation(checks, flagKey, facts, head, res),
    )
  }
}

const routeOf = (flagKey: string | null) => (flagKey === null ? routes.ofrepAll : routes.ofrepFlag)

/** One evaluation on its way. */
class Evaluation extends OwnRequest implements Asker {
  private text = ''
  private evaluated: Evaluated = { company: null, user: null }

  /** flagKey: null: of all flags. */
  constructor(
    private readonly checks: FrontChecks,
    private readonly flagKey: string | null,
    facts: KeyFacts,
    head: PlainHead,
    res: AppResponse,
  ) {
    super(checks.parts.requests, routeOf(flagKey), facts, head, res, facts.budgets)
  }

  protected get url(): string {
    const { flagKey } = this
    return flagKey === null ? '/ofrep/v1/evaluate/flags' : `/ofrep/v1/evaluate/flags/${flagKey}`
  }

  protected read(body: Buffer): void {
    const { checks, facts, flagKey } = this
    this.text = decodeUtf8(body)
    const evaluated = evaluatedOrNull(this.text)
    if (evaluated === null || (flagKey === null && facts.flags > flagsPerToken))
      return this.passOn(body, 'body')
    const { names, shards } = checks.parts
    const subject = knownSubject(names, facts, evaluated, null)
    if (subject === null) return this.passOn(body, 'names')
    this.evaluated = evaluated
    const { companyId, context } = subject
    const { environmentId } = facts
    shards.ask(
      companyId,
      environmentId,
      flagKey === null
        ? { type: 'check_all', whole: false, context }
        : { type: 'check', timed: false, flagKey, preflight: null, context },
      checks.now(facts),
      this,
    )
  }

  heard(reply: unknown): void {
    if (this.isOver) return
    const { checks, facts, flagKey, evaluated, head } = this
    const { known, figures } = checks.parts.requests.parts
    // the definitions or the clock are others than those it was asked under
    if (!known.holds(facts)) return this.passOn(Buffer.from(this.text), 'key')
    figures.checked(flagKey === null ? facts.flags : 1)
    if (reply === null) return this.answer(404, this.headers, unknownFlagText(flagKey!))
    const whole = flagKey === null ? evaluationsOf(reply as string) : evaluationOf(reply as string)
    const etag = tagOf(facts.version, evaluated, whole)
    const isSame = isKnown(etag, head.ifNoneMatch)
    this.answer(isSame ? 304 : 200, `${this.headers}\r\nETag: ${etag}`, isSame ? '' : whole)
  }

  unheard(): void {
    if (!this.isOver) this.passOn(Buffer.from(this.text), 'shard')
  }
}
