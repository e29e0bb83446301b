// Credit leases: the service holds credits for this process, the process draws them without a request, and
// events settle them.
import { amountFromNumber, amountToNumber } from '../../../src/core/values/amount.js'
import type { Keys } from './store.js'

/** A lease in the interface's shape. */
export interface LeaseView {
  readonly id: string
  readonly company_id: string
  readonly credit_type_id: string
  readonly granted_amount: number
  readonly tracked_amount: number
  readonly expires_at: string
  readonly updated_at: string
}

export interface LeaseRequest {
  readonly companyId: string
  /** Keys that name the company in events. */
  readonly company: Keys
  readonly creditId: string
  /** Credits to hold. The service holds fewer when fewer are available. */
  readonly amount: number
  /** RFC 3339; absent: the service decides. */
  readonly expiresAt?: string
  /** Extend by `amount` when less than this is left. Absent: no automatic extension. */
  readonly extendBelow?: number
}

/** The client's calls that a lease uses. */
export interface LeaseCalls {
  send(method: 'POST' | 'PUT', path: string, body: object | null): Promise<LeaseView>
  track(type: 'track' | 'inference', body: object): string | null
  flush(): Promise<void>
}

/** No credits available: the lease is used up, expired or released. */
export class LeaseError extends Error {
  override readonly name = 'LeaseError'
}

/**
 * A lease. `draw` decides in this process. Each draw is settled by the event with the lease's id. The service
 * keeps one open lease per company and credit. Processes that acquire the same lease share it, and the
 * service refuses draws that exceed it in total.
 */
export class Lease {
  private granted: bigint
  private drawn: bigint
  private expiresMs: number
  /** The least by which the time of the lease's environment is ahead of this process's clock, ms. */
  private leastAheadMs: number
  private over = false
  private extending: Promise<void> | null = null
  private releasing: Promise<void> | null = null

  constructor(
    private view: LeaseView,
    private readonly request: LeaseRequest,
    private readonly calls: LeaseCalls,
    /** The service's time, ms. */
    private readonly now: () => number,
  ) {
    this.granted = amountFromNumber(view.granted_amount)
    this.drawn = amountFromNumber(view.tracked_amount)
    this.expiresMs = Date.parse(view.expires_at)
    this.leastAheadMs = leastAheadMs(view)
  }

  get id(): string {
    return this.view.id
  }

  /** Credits that can be drawn now. */
  get remaining(): number {
    return this.isOpen ? amountToNumber(this.left) : 0
  }

  get isOpen(): boolean {
    return !this.over && Math.max(this.now(), Date.now() + this.leastAheadMs) < this.expiresMs
  }

  private get left(): bigint {
    return this.granted > this.drawn ? this.granted - this.drawn : 0n
  }

  /**
   * Take credits without a request to the service.
   *
   * returns  whether they were available. Only then do the work, and report it with `track` or `inference`.
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

  /** Give back credits that were drawn for work that was not done. */
  undo(credits: number): void {
    const amount = amountFromNumber(credits)
    this.drawn = amount > this.drawn ? 0n : this.drawn - amount
  }

  /** Report use that was drawn. The service settles it from the lease. Returns its idempotency key. */
  track(event: string, quantity = 1, more: object = {}): string | null {
    const { company } = this.request
    return this.calls.track('track', { event, company, quantity, lease_id: this.id, ...more })
  }

  /** The same for a model's answer. `body` as in the interface, without company and lease. */
  inference(body: object): string | null {
    return this.calls.track('inference', { company: this.request.company, lease_id: this.id, ...body })
  }

  /**
   * Hold more credits. Concurrent calls share one request.
   *
   * errors  LeaseError, or those of the call.
   */
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
    this.leastAheadMs = leastAheadMs(view)
  }

  /** Settle: resolves when the service has taken every event reported so far. */
  settle(): Promise<void> {
    return this.calls.flush()
  }

  /**
   * Settle, and give back the undrawn credits. A failed release can be repeated. After a success it has no
   * effect.
   */
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

/** An answer is no older than what it tells. */
const leastAheadMs = ({ updated_at }: LeaseView): number => Date.parse(updated_at) - Date.now()
