// The call object of handlers.
import type { Sql } from 'postgres'
import type { SignedContext } from '../../../account/signed-contexts.js'
import { ServiceError } from '../../../errors.js'
import type { Call, EnvironmentRecord, KeyRecord, NamedKey } from '../../../kit/call.js'
import type { Services } from '../../../kit/services.js'

/** The request behind a call: used only before the response is sent. */
export interface Origin {
  remoteIp(): string
  readonly ifNoneMatch: string
  readonly minimal: boolean
  readonly isFinished: boolean
  record(tx: Sql): Promise<void>
  holds(tx: Sql, call: Request): Promise<void>
  taken(): void
  charge(tokens: number): void
  chargeAdded(bytes: number): void
  named(secrets: readonly string[]): Promise<ReadonlyMap<string, NamedKey | null>>
}

/** A request as its handler sees it. */
export class Request implements Call<unknown, unknown> {
  constructor(
    private readonly origin: Origin,
    readonly services: Services,
    readonly key: KeyRecord,
    readonly environmentOrNull: EnvironmentRecord | null,
    readonly params: Readonly<Record<string, string>>,
    readonly query: unknown,
    readonly body: unknown,
    readonly text: string,
    readonly nowMs: number,
    readonly userAgent: string,
    readonly signed: SignedContext | null,
  ) {}

  /** The same request with its body in another form. */
  withBody(body: unknown): Request {
    return this.with(this.query, body)
  }

  /** The same request with another query, e.g. another page. */
  withQuery(query: unknown): Request {
    return this.with(query, this.body)
  }

  private with(query: unknown, body: unknown): Request {
    const { origin, services, key, environmentOrNull, params, text, nowMs, userAgent, signed } = this
    return new Request(
      origin,
      services,
      key,
      environmentOrNull,
      params,
      query,
      body,
      text,
      nowMs,
      userAgent,
      signed,
    )
  }

  /** The same request with other services; `mark` runs in the transaction of each change, before the audit row. */
  under(services: Services, mark: (tx: Sql) => Promise<void>): Request {
    const { origin, key, environmentOrNull, params, query, body, text, nowMs, userAgent, signed } = this
    const marked = Object.create(origin, {
      record: {
        value: async (tx: Sql) => {
          await mark(tx)
          await origin.record(tx)
        },
      },
    }) as typeof origin
    return new Request(
      marked,
      services,
      key,
      environmentOrNull,
      params,
      query,
      body,
      text,
      nowMs,
      userAgent,
      signed,
    )
  }

  get environment(): EnvironmentRecord {
    if (this.environmentOrNull === null) throw new ServiceError('environment_required')
    return this.environmentOrNull
  }

  get remoteIp(): string {
    return this.origin.remoteIp()
  }

  record(tx: Sql): Promise<void> {
    return this.origin.record(tx)
  }

  holds(tx: Sql): Promise<void> {
    return this.origin.holds(tx, this)
  }

  taken(): void {
    this.origin.taken()
  }

  charge(tokens: number): void {
    this.origin.charge(tokens)
  }

  chargeAdded(bytes: number): void {
    this.origin.chargeAdded(bytes)
  }

  get ifNoneMatch(): string {
    return this.origin.ifNoneMatch
  }

  get minimal(): boolean {
    return this.origin.minimal
  }

  named(secrets: readonly string[]): Promise<ReadonlyMap<string, NamedKey | null>> {
    return this.origin.named(secrets)
  }

  get gone(): boolean {
    return this.origin.isFinished
  }
}

export const none: readonly string[] = []
export const nothing: Readonly<Record<string, never>> = Object.freeze({})
export const noParameters: Readonly<Record<string, string>> = Object.freeze({})
export const emptyInput = { query: nothing, echo: nothing }
export const askNobody = { mayAsk: () => false }
