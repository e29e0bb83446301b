// Checks of one flag and of all flags that a front answers itself; bulk.ts and ofrep.ts have the others. A check is passed on
// where it names what is not known, or what a write under way concerns, where its body is refused, or where its company is not
// in memory.
//
//   kept answer ─ or ─▶ names ─▶ shard ─▶ answer
import { parseCheck } from '../../schemas/checks.js'
import type { Preflight } from '../../src/core/model/requests.js'
import { presentOf } from '../../src/core/values/test-clock.js'
import type { NameReader } from '../../src/entities/directory/name-reader.js'
import { ServiceError } from '../../src/errors.js'
import { askedIn, type Named, preflightOf, type Subject, subjectOf } from '../../src/front/checks/handlers.js'
import { isPlainlyNamed } from '../../src/front/checks/kept-checks.js'
import { flagsPerToken } from '../../src/front/checks/many.js'
import type { AppRequest, AppResponse } from '../../src/front/http/apps/app.js'
import { echoOf, enveloped } from '../../src/front/http/request/envelope.js'
import { longBytes } from '../../src/front/http/request/long-bodies.js'
import { parseBody } from '../../src/front/http/request/parse-body.js'
import type { WallClock } from '../../src/host/wall-clock.js'
import { decodeUtf8 } from '../../src/json.js'
import {
  AskedCheck,
  bodyBytesMax,
  type CheckRequest,
  type KeyedStamp,
  type ResponseCache,
} from '../../src/kept/response-cache.js'
import { exactly } from '../../src/kit/long.js'
import type { KeyFacts } from '../../src/wire/front-facts.js'
import { OwnRequest, type OwnRequests, type PlainHead, plainName, routes } from './own-request.js'
import type { Asker, ShardPorts } from './shard-ports.js'

/** Only the preflight of a check has 64-bit members. */
const parse = exactly(parseCheck, ({ preflight }) => preflight)

const successes = [200, 201] as const

interface ChecksParts {
  readonly requests: OwnRequests
  readonly answers: ResponseCache
  readonly names: NameReader
  readonly shards: ShardPorts
  readonly wall: WallClock
}

export class FrontChecks {
  private readonly request = new AskedCheck()

  constructor(readonly parts: ChecksParts) {}

  /** POST /flags/{key}/check */
  readonly ofFlag = (res: AppResponse, req: AppRequest): void => {
    const flagKey = req.getParameter(0)
    this.begin(routes.ofFlag, flagKey, res, req, () => plainName.test(flagKey))
  }

  /** POST /flags/check */
  readonly ofAll = (res: AppResponse, req: AppRequest): void =>
    this.begin(routes.ofAll, '', res, req, () => true)

  private begin(
    route: 0 | 1,
    flagKey: string,
    res: AppResponse,
    req: AppRequest,
    isPlain: () => boolean,
  ): void {
    this.parts.requests.begin(
      route,
      res,
      req,
      longBytes,
      isPlain,
      (facts, head) => new Check(this, route, flagKey, facts, head, res),
    )
  }

  /** The bytes of an answer that is still true; else `repeated` says whether this one is worth keeping. */
  find(flagKey: string, { environmentId }: KeyFacts, body: DataView, nowMs: number): Uint8Array | null {
    const { request } = this
    request.become(environmentId, flagKey, body, nowMs)
    return this.parts.answers.find(request)
  }

  /** A copy of the request of the last `find`, where it came before; else null. */
  repeated(): CheckRequest | null {
    return this.parts.answers.repeated(this.request)
  }

  now({ clock }: KeyFacts): number {
    return presentOf(clock, this.parts.wall.now())
  }
}

/** One check on its way. */
class Check extends OwnRequest implements Asker {
  private text = ''
  private stamp: KeyedStamp | null = null
  private kept: CheckRequest | null = null

  constructor(
    private readonly front: FrontChecks,
    private readonly kind: 0 | 1,
    private readonly flagKey: string,
    facts: KeyFacts,
    head: PlainHead,
    res: AppResponse,
  ) {
    super(front.parts.requests, kind, facts, head, res, facts.budgets)
  }

  protected get url(): string {
    return this.kind === routes.ofFlag ? `/flags/${this.flagKey}/check` : '/flags/check'
  }

  heard(reply: unknown, untilMs: number, figures: boolean): void {
    if (this.isOver) return
    const { front, facts, kind } = this
    const { answers, requests } = front.parts
    // the definitions or the clock are others than those it was asked under
    if (!requests.parts.known.holds(facts)) return this.passOn(Buffer.from(this.text), 'key')
    // a check that is passed on is counted there
    requests.parts.figures.checked(kind === routes.ofAll ? facts.flags : 1)
    if (reply === null) return this.refuse(new ServiceError('not_found', 'Flag not found'))
    const echo = kind === routes.ofFlag ? echoOf({ key: this.flagKey }) : '{}'
    const answer = enveloped(reply as string, echo)
    if (this.kept !== null && this.stamp !== null && untilMs > 0)
      answers.keep(this.kept, answer, { ...this.stamp, untilMs, figures })
    this.answer(successes[kind], this.headers, answer)
  }

  unheard(): void {
    if (!this.isOver) this.passOn(Buffer.from(this.text), 'shard')
  }

  protected read(body: Buffer): void {
    const { front, facts, kind, flagKey } = this
    const nowMs = front.now(facts)
    if (kind === routes.ofFlag && body.length <= bodyBytesMax) {
      const view = new DataView(body.buffer, body.byteOffset, body.length)
      const bytes = front.find(flagKey, facts, view, nowMs)
      if (bytes !== null) {
        front.parts.requests.parts.figures.again()
        return this.answer(200, this.headers, bytes)
      }
      this.kept = front.repeated()
    }
    this.text = decodeUtf8(body)
    const named = parseBody(this.text, parse, true)
    const { preflight } = named
    if (kind === routes.ofAll && (preflight || facts.flags > flagsPerToken)) return this.passOn(body, 'body')
    const subject = knownSubject(front.parts.names, facts, named, askedIn(this.text))
    if (subject === null) return this.passOn(body, 'names')
    this.ask(subject, preflight ? preflightOf(preflight) : null, named, nowMs)
  }

  private ask(subject: Subject, preflight: Preflight | null, named: Named, nowMs: number): void {
    const { front, facts, flagKey } = this
    const { companyId, context } = subject
    const { answers, shards } = front.parts
    const { environmentId } = facts
    const mayMeetBudget = preflight !== null && facts.haveBudgets
    if (this.kept !== null && !mayMeetBudget && isPlainlyNamed(subject, named))
      this.stamp = answers.stamp(environmentId, companyId, flagKey, nowMs)
    const timed = this.stamp !== null
    shards.ask(
      companyId,
      environmentId,
      this.kind === routes.ofAll
        ? { type: 'check_all', whole: false, context }
        : { type: 'check', timed, flagKey, preflight, context },
      nowMs,
      this,
    )
  }
}

/**
 * The company and user of a check, found; null: the main thread must look.
 *
 * text  as of `subjectOf`.
 */
export function knownSubject(
  names: NameReader,
  facts: KeyFacts,
  named: Named,
  text: string | null,
): Subject | null {
  const subject = subjectOf(names, facts, named, text)
  const { companyGiven, userGiven, userId } = subject.context
  if (companyGiven && subject.companyId === null) return null
  return userGiven && (userId === null || facts.readsUserTraits) ? null : subject
}
