// A page on the data stream: a publishable key with a signed context. It hears that a check of its own company and user
// may have changed, and asks for it as before; it is sent no data of the environment.
import { type ContextSecrets, readContext, type SignedContext } from '../../../account/signed-contexts.js'
import { ServiceError } from '../../../errors.js'
import { type EntityKind, entityTypes } from '../../stream/frames.js'

/** Notices follow each other after this long, ms. Changes meanwhile are one notice. */
const noticeMs = 1_000
/** Connections of one company and user. */
const ofContextMax = 50
/** Every so many looks the signed context is verified again: it may have expired. */
const verifyLooks = 5

export class Page {
  /** One text for equal contexts. */
  readonly name: string
  readonly entities: readonly {
    readonly kind: EntityKind
    readonly type: string
    readonly keys: Readonly<Record<string, string>>
  }[]
  private timer: NodeJS.Timeout | null = null
  private lastMs = 0
  private isOver = false
  private looks = 0
  private secrets: ContextSecrets | null = null

  constructor(
    readonly environmentId: string,
    { company, user }: SignedContext,
    private readonly token: string,
  ) {
    const sorted = (keys: object | null) => Object.entries(keys ?? {}).sort()
    this.name = JSON.stringify([sorted(company), sorted(user)])
    this.entities = [
      ...(company === null
        ? []
        : [{ kind: 'company' as const, type: entityTypes.company.wire, keys: company }]),
      ...(user === null ? [] : [{ kind: 'user' as const, type: entityTypes.user.wire, keys: user }]),
    ]
  }

  /** Something changed: tell it, at most once a second. */
  notice(tell: () => void): void {
    if (this.timer !== null || this.isOver) return
    const waitMs = Math.max(0, this.lastMs + noticeMs - performance.now())
    this.timer = setTimeout(() => {
      this.timer = null
      this.lastMs = performance.now()
      tell()
    }, waitMs).unref()
  }

  /** Whether its context is still signed and has not expired. Verified now and then, and when the secrets change. */
  isSigned(secrets: ContextSecrets | null, nowMs: number): boolean {
    const isSame = this.secrets === secrets && this.looks++ % verifyLooks !== 0
    this.secrets = secrets
    return isSame || !('fault' in readContext(this.token, this.environmentId, secrets, nowMs))
  }

  end(): void {
    this.isOver = true
    if (this.timer !== null) clearTimeout(this.timer)
  }
}

/** Pages that are connected, by environment and context. */
export class PageCounts {
  private readonly counts = new Map<string, { all: number; readonly ofContext: Map<string, number> }>()

  /** Connections of an environment's pages. */
  of(environmentId: string): number {
    return this.counts.get(environmentId)?.all ?? 0
  }

  /** errors  rate_limited (429) at a bound. */
  requireRoom({ environmentId, name }: Page, max: number): void {
    const refusal = (line: string) => new ServiceError('rate_limited', line, { retryAfterSeconds: 30 })
    if (this.of(environmentId) >= max)
      throw refusal(`The environment has ${max} pages on the data stream, as many as it may`)
    if ((this.counts.get(environmentId)?.ofContext.get(name) ?? 0) >= ofContextMax)
      throw refusal(`The company and user have ${ofContextMax} pages on the data stream, as many as they may`)
  }

  add({ environmentId, name }: Page): void {
    let counts = this.counts.get(environmentId)
    if (counts === undefined) {
      counts = { all: 0, ofContext: new Map() }
      this.counts.set(environmentId, counts)
    }
    counts.all++
    counts.ofContext.set(name, (counts.ofContext.get(name) ?? 0) + 1)
  }

  remove({ environmentId, name }: Page): void {
    const counts = this.counts.get(environmentId)
    if (counts === undefined) return
    counts.all--
    const left = (counts.ofContext.get(name) ?? 1) - 1
    if (left > 0) counts.ofContext.set(name, left)
    else counts.ofContext.delete(name)
    if (counts.all === 0) this.counts.delete(environmentId)
  }
}
