// Credit leases: credits held in the service for this process, drawn here without asking, settled by events.
import { amountFromNumber, amountToNumber } from '../../../src/core/credits/amount.js'
import type { Keys } from './store.js'

/** A lease as the interface tells it. */
export interface LeaseView {
  readonly id: string
  readonly company_id: string
  readonly credit_type_id: string
  readonly granted_amount: number
  readonly tracked_amount: number
  readonly expires_at: string
}

export interface LeaseRequest {
  readonly companyId: string
  /** Keys that name the company in events. */
  readonly company: Keys
  readonly creditId: string
  /** Credits to hold. The service holds less where less is there. */
  readonly amount: number
  /** RFC 3339; absent: as the service decides. */
  readonly expiresAt?: string
  /** Extend by `amount` once less than this is left. Absent: never by itself. */
  readonly extendBelow?: number
}

/** What a lease needs of its client. */
export interface LeaseCalls {
  send(method: 'POST' | 'PUT', path: string, body: object | null): Promise<LeaseView>
  track(type: 'track' | 'inference', body: object): string | null
  flush(): Promise<void>
}

/** Credits cannot be had: the lease is used up, over or released. */
export class LeaseError extends Error {
  override readonly name = 'LeaseError'
}

/**
 * A lease. `draw` decides here; each draw is settled by the event that names it. The service keeps one open lease of a
 * company and credit: processes that acquire the same one share it, and the service refuses what is too much together.
 */
export class Lease {
  private granted: bigint
  private drawn: bigint
  private expiresMs: number
  private over = false
  private extending: Promise<void> | null = null
  private releasing: Promise<void> | null = null

  constructor(
    private view: LeaseView,
    private readonly request: LeaseRequest,
    private readonly calls: LeaseCalls,
    private readonly now: () => number,
  ) {
    this.granted = amountFromNumber(view.granted_amount)
    this.drawn = amountFromNumber(view.tracked_amount)
    this.expiresMs = Date.parse(view.expires_at)
  }

  get id(): string {
    return this.view.id
  }

  /** Credits that may be drawn here, now. */
  get remaining(): number {
    return this.isOpen ? amountToNumber(this.left) : 0
  }

  get isOpen(): boolean {
    return !this.over && this.now() < this.expiresMs
  }

  private get left(): bigint {
    return this.granted > this.drawn ? this.granted - this.drawn : 0n
  }

  /**
   * Take credits, without asking the service.
   *
   * returns  whether they were there. Only then the work may be done, and is to be told by `track` or `inference`.
   */
  draw(credits: number): boolean {
    const amount = amountFromNumber(credits)
    if (!this.isOpen || amount > this.left) return false
    this.drawn += amount
    const { extendBelow } = this.request
    if (extendBelow !== undefined && amountToNumber(this.left) < extendBelow)
      this.extend(this.request.amount).catch(() => {})
    return true
  }

  /** Give credits back that were drawn for work that was not done. */
  undo(credits: number): void {
    const amount = amountFromNumber(credits)
    this.drawn = amount > this.drawn ? 0n : this.drawn - amount
  }

  /** Tell of use that was drawn: the service settles it from the lease. returns: its idempotency key. */
  track(event: string, quantity = 1, more: object = {}): string | null {
    const { company } = this.request
    return this.calls.track('track', { event, company, quantity, lease_id: this.id, ...more })
  }

  /** The same of a model's answer. `body` as the interface has it, without company and lease. */
  inference(body: object): string | null {
    return this.calls.track('inference', { company: this.request.company, lease_id: this.id, ...body })
  }

  /** Hold more credits. Asked for twice at once it is done once. errors: LeaseError, or that of the call. */
  extend(credits: number): Promise<void> {
    if (this.over) return Promise.reject(new LeaseError('The lease was released'))
    this.extending ??= this.extendNow(credits).finally(() => {
      this.extending = null
    })
    return this.extending
  }

  private async extendNow(credits: number): Promise<void> {
    const body = { additional_amount: credits, idempotency_key: crypto.randomUUID() }
    const path = `/billing/credits/lease/${encodeURIComponent(this.id)}/extend`
    this.take(await this.calls.send('PUT', path, body))
  }

  private take(view: LeaseView): void {
    this.view = view
    this.granted = amountFromNumber(view.granted_amount)
    this.expiresMs = Date.parse(view.expires_at)
  }

  /** Settle: resolves when the service has taken every event told so far. */
  settle(): Promise<void> {
    return this.calls.flush()
  }

  /** Settle, and give back what was not drawn. One that failed may be tried again; after a success it changes nothing. */
  release(): Promise<void> {
    this.over = true
    this.releasing ??= this.releaseNow().catch(error => {
      this.releasing = null
      throw error
    })
    return this.releasing
  }

  private async releaseNow(): Promise<void> {
    await this.settle()
    await this.calls.send('PUT', `/billing/credits/lease/${encodeURIComponent(this.id)}/release`, null)
  }
}
