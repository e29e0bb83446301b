// A metered AI endpoint: each company's credits are leased, drawn here without a round trip, and settled by inference events.
import type { Keys, Lease, Tollgate } from '../../clients/typescript/src/index.js'

/** What a model answers. */
export interface Completion {
  readonly text: string
  readonly inputTokens: number
  readonly outputTokens: number
}

export interface Metering {
  readonly creditId: string
  /** Name of the event of the inference feature. */
  readonly event: string
  /** Credits of one answer. */
  readonly credits: number
  /** Credits leased at once. */
  readonly leased: number
}

export interface Company {
  readonly id: string
  readonly keys: Keys
}

/** The company has no credits left. */
export class OutOfCredits extends Error {}

/** Answers prompts, and keeps one lease for each company that asked. */
export class MeteredEndpoint {
  private readonly leases = new Map<string, Promise<Lease>>()

  constructor(
    private readonly tollgate: Tollgate,
    private readonly model: (prompt: string) => Promise<Completion>,
    private readonly metering: Metering,
  ) {}

  /** errors: OutOfCredits; whatever the model throws, and then nothing is drawn. */
  async answer(company: Company, prompt: string): Promise<string> {
    const { credits, event } = this.metering
    const lease = await this.drawn(company)
    let completion: Completion
    try {
      completion = await this.model(prompt)
    } catch (error) {
      lease.undo(credits)
      throw error
    }
    lease.inference({
      provider: 'example',
      response_model: 'example-large',
      input_tokens: completion.inputTokens,
      output_tokens: completion.outputTokens,
      event,
    })
    return completion.text
  }

  /** Settle every lease and give the rest back. */
  async close(): Promise<void> {
    const leases = await Promise.allSettled(this.leases.values())
    this.leases.clear()
    for (const lease of leases) if (lease.status === 'fulfilled') await lease.value.release()
  }

  /** The company's lease, with the credits of one answer taken from it. */
  private async drawn(company: Company): Promise<Lease> {
    const { credits } = this.metering
    let lease = await this.leaseOf(company)
    if (lease.draw(credits)) return lease
    // it is over or used up: another one, or more of it
    if (lease.isOpen) await lease.extend(this.metering.leased).catch(() => {})
    else {
      this.leases.delete(company.id)
      lease = await this.leaseOf(company)
    }
    if (lease.draw(credits)) return lease
    throw new OutOfCredits('There are no credits left')
  }

  private leaseOf(company: Company): Promise<Lease> {
    let lease = this.leases.get(company.id)
    if (lease === undefined) {
      const { creditId, leased, credits } = this.metering
      lease = this.tollgate.acquireLease({
        companyId: company.id,
        company: company.keys,
        creditId,
        amount: leased,
        extendBelow: credits,
      })
      this.leases.set(company.id, lease)
      lease.catch(() => this.leases.delete(company.id))
    }
    return lease
  }
}
