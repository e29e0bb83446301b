// Runs the credit scenarios of the conformance vectors against the core: one account, steps in order.

import type { BillingCreditGrantReason } from '../../schemas/enums.js'
import { decideCredit } from '../../src/core/credits/account.js'
import { due, figures } from '../../src/core/credits/balance.js'
import { drawForEvent, type UseDecision } from '../../src/core/credits/draw.js'
import { grantId } from '../../src/core/credits/grant.js'
import { applyCredit, draftOf, type LedgerEntry, ledgerEntries } from '../../src/core/credits/ledger.js'
import { resetPlanGrant } from '../../src/core/credits/plan-grant.js'
import { giveGrant, repayFrom, repays } from '../../src/core/credits/repayment.js'
import {
  type CreditAccount,
  type CreditConfig,
  type CreditEffect,
  emptyAccount,
} from '../../src/core/model/account-state.js'
import { amountFromNumber, amountToNumber, costOf, encodeAmount } from '../../src/core/values/amount.js'
import { companyId, configOf, creditId, overdraftOf } from './credit-world.js'

export interface Scenario {
  readonly id: string
  readonly config: {
    readonly burn_strategy?: string
    readonly postpaid?: { readonly overdraft_limit?: number }
  }
  readonly steps: readonly Step[]
  readonly final: Final
}

interface Step {
  readonly op: string
  readonly at: string
  readonly id?: string
  readonly reason?: string
  readonly quantity?: number
  readonly rate?: number
  readonly cost?: number
  readonly amount?: number
  readonly expires_at?: string
  readonly valid_from?: string
  readonly lease?: string
  readonly reservation?: string
  readonly grant?: string
  readonly rollover_percentage?: number
  readonly rollover_id?: string
  readonly new_id?: string
  readonly next_reset?: string
  readonly expect: Readonly<Record<string, unknown>>
}

interface Final {
  readonly grants_remaining: Readonly<Record<string, number>>
  readonly ledger_amount_sum: number
  readonly ledger_amount_by_kind: Readonly<Record<string, number>>
  readonly quantity_consumed_sum: number
  readonly uncovered_sum: number
}

/** Results of a scenario's steps, in the words of the vectors, cut to the members that each step expects. */
export function run(scenario: Scenario): { steps: unknown[]; final: Final } {
  const { burn_strategy, postpaid } = scenario.config
  const limit = postpaid?.overdraft_limit
  const config = configOf({
    ...(burn_strategy === undefined ? {} : { burnStrategy: burn_strategy as CreditConfig['burnStrategy'] }),
    overdraft:
      postpaid === undefined ? null : overdraftOf(limit === undefined ? null : amountFromNumber(limit)),
  })
  const world = new Scene(config)
  const steps = scenario.steps.map(step => {
    const nowMs = Date.parse(step.at)
    world.apply(due(world.account, config, nowMs))
    const result = { ...world.take(step, nowMs), balance: world.balance(nowMs) }
    return Object.fromEntries(
      Object.keys(step.expect).map(name => [name, (result as Record<string, unknown>)[name]]),
    )
  })
  return { steps, final: world.final() }
}

class Scene {
  readonly account: CreditAccount = emptyAccount(companyId, creditId)
  readonly entries: LedgerEntry[] = []
  readonly effects: CreditEffect[] = []
  /** Names of the vectors: by grant sequence, and their own ids of holds. */
  readonly names = new Map<number, string>()
  readonly holds = new Map<string, string>()
  uncovered = 0n

  constructor(readonly config: CreditConfig) {}

  apply(effects: readonly CreditEffect[]): void {
    for (const effect of effects) {
      applyCredit(this.account, effect)
      this.entries.push(...ledgerEntries(companyId, effect))
      this.effects.push(effect)
      if (effect.t === 'credit_grant' && effect.g.reason === 'postpaid_overdraft')
        this.names.set(effect.seq, 'overdraft')
      if (effect.t === 'credit_refund') this.names.set(effect.s[0], 'adjustment')
    }
  }

  balance(nowMs: number) {
    const { remaining, reserved, settled } = figures(this.account, this.config, nowMs)
    return {
      remaining: amountToNumber(remaining),
      reserved: amountToNumber(reserved),
      settled: amountToNumber(settled),
    }
  }

  seqOf(name: string): number {
    for (const [seq, other] of this.names) if (other === name) return seq
    throw new Error(`no grant ${name}`)
  }

  take(step: Step, nowMs: number): Record<string, unknown> {
    switch (step.op) {
      case 'advance_to':
        return {}
      case 'grant':
        return this.grant(step, nowMs)
      case 'draw':
        return this.use(step, nowMs, null, null)
      case 'refund':
        return this.refund(step, nowMs)
      case 'commit':
        return this.use(step, nowMs, this.holds.get(step.lease!) ?? step.lease!, null)
      case 'settle':
        return this.use(step, nowMs, null, this.holds.get(step.reservation!) ?? step.reservation!)
      case 'reset':
        return this.reset(step, nowMs)
      case 'zero_out': {
        const grant = this.account.grants.find(other => other.seq === this.seqOf(step.grant!))!
        const before = grant.remaining
        const id = grantId(companyId, creditId, grant.seq)
        this.ask({ type: 'credit_zero_out', creditId, grantId: id, reason: 'manual' }, nowMs)
        return { written_off: amountToNumber(before) }
      }
      default:
        return this.hold(step, nowMs)
    }
  }

  grant(step: Step, nowMs: number) {
    const draft = draftOf(this.account)
    const reason = step.reason as BillingCreditGrantReason
    const g = {
      reason,
      q: encodeAmount(amountFromNumber(step.quantity!)),
      exp: step.expires_at === undefined ? undefined : Date.parse(step.expires_at),
      from: step.valid_from === undefined ? undefined : Date.parse(step.valid_from),
      pg: reason === 'plan' ? 'pcgr_test' : undefined,
    }
    const seq = giveGrant(draft, g, nowMs)
    if (repays(reason)) repayFrom(draft, seq, nowMs)
    this.names.set(seq, step.id!)
    this.apply(draft.effects)
    return { recovered: this.moved(draft.effects, 'credit_transfer') }
  }

  use(step: Step, nowMs: number, leaseId: string | null, reservationId: string | null) {
    const cost = step.cost === undefined ? costOf(step.quantity!, step.rate!) : amountFromNumber(step.cost)
    const decision = this.draw(cost, nowMs, leaseId, reservationId)
    const tracked = decision.effects.find(effect => effect.t === 'credit_commit')
    const hold = [this.account.lease, ...this.account.closed].find(
      other => tracked?.t === 'credit_commit' && other?.id === tracked.h,
    )
    const draws = this.drawn(decision)
    const total = hold == null ? null : amountToNumber(hold.tracked)
    return {
      applied: decision.applied,
      draws,
      overage_draws: draws,
      overdraft: amountToNumber(decision.overdrawn),
      uncovered: amountToNumber(decision.uncovered),
      overdrawn: amountToNumber(decision.uncovered),
      returned: amountToNumber(decision.returned),
      tracked_amount: total,
      settled_amount: total,
    }
  }

  drawn(decision: UseDecision) {
    const draws = []
    for (const effect of decision.effects) {
      if (effect.t !== 'credit_draw') continue
      for (const [seq, moved] of effect.s) {
        const grant = this.names.get(seq)
        if (grant !== 'overdraft') draws.push({ grant, credits: amountToNumber(BigInt(moved)) })
      }
    }
    return draws
  }

  draw(cost: bigint, nowMs: number, leaseId: string | null, reservationId: string | null): UseDecision {
    const use = {
      cost,
      leaseId,
      reservationId,
      featureId: 'feat_1',
      eventId: 'evnt_1',
      userId: null,
      atMs: nowMs,
    }
    const decision = drawForEvent(this.account, this.config, use, nowMs)
    this.apply(decision.effects)
    this.uncovered += decision.uncovered
    return decision
  }

  refund(step: Step, nowMs: number) {
    const decision = this.draw(costOf(step.quantity!, step.rate!), nowMs, null, null)
    const grant = this.account.grants.find(other => other.seq === this.account.refundSeq)!
    return {
      returned: amountToNumber(-decision.consumed),
      grant: 'adjustment',
      expires_at: new Date(grant.expiresAtMs!).toISOString().replace('.000Z', 'Z'),
    }
  }

  ask(message: Parameters<typeof decideCredit>[1], nowMs: number) {
    const accounts = new Map([[creditId, this.account]])
    const decision = decideCredit({ companyId, accounts, configOf: () => this.config }, message, nowMs)
    if ('effects' in decision) this.apply(decision.effects as readonly CreditEffect[])
    return decision
  }

  hold(step: Step, nowMs: number): Record<string, unknown> {
    const amount = step.amount === undefined ? 0n : amountFromNumber(step.amount)
    const expiresAtMs = step.expires_at === undefined ? null : Date.parse(step.expires_at)
    const id = this.holds.get(step.id!) ?? step.id!
    const before = this.effects.length
    const decision =
      step.op === 'acquire'
        ? this.ask({ type: 'credit_lease', creditId, amount, expiresAtMs }, nowMs)
        : step.op === 'extend'
          ? this.ask({ type: 'credit_extend', leaseId: id, amount, expiresAtMs, key: null }, nowMs)
          : step.op === 'release'
            ? this.ask({ type: 'credit_release', leaseId: id }, nowMs)
            : this.ask(
                {
                  type: 'credit_reserve',
                  creditId,
                  amount,
                  expiresAtMs,
                  key: null,
                  featureId: null,
                  userId: null,
                },
                nowMs,
              )
    if ('refused' in decision) return { status: decision.refused === 'insufficient_credits' ? 402 : 400 }
    const reply = decision.reply
    if (reply.type !== 'hold') throw new Error(reply.type)
    const made = this.effects.slice(before)
    const { hold } = reply
    if (made.length > 0 && !this.holds.has(step.id!)) this.holds.set(step.id!, hold.id)
    const name = [...this.holds].find(([, own]) => own === hold.id)?.[0]
    return {
      lease: name,
      granted_amount: amountToNumber(hold.granted),
      reserved_amount: amountToNumber(hold.granted),
      reused: made.length === 0,
      added: this.moved(made, 'credit_hold'),
      returned: this.moved(made, 'credit_release'),
    }
  }

  reset(step: Step, nowMs: number) {
    const draft = draftOf(this.account)
    const nextMs = Date.parse(step.next_reset!)
    const unused = draft.account.grants.find(other => other.seq === this.seqOf(step.grant!))!.remaining
    resetPlanGrant(
      draft,
      {
        planGrantId: 'pcgr_test',
        planId: 'plan_test',
        versionId: 'plvr_test',
        creditAmount: step.quantity!,
        companyCreditAmount: 0,
        scaling: 'fixed',
        licences: 0,
        cadence: 'monthly',
        resetStart: 'billing_period',
        rolloverPercentage: step.rollover_percentage!,
        enrolledAtMs: 0,
        anchorMs: 0,
        issuedAtMs: 0,
        nextResetMs: nowMs,
        leftUntilMs: null,
      },
      nowMs,
      nextMs,
    )
    let rolled = 0n
    for (const effect of draft.effects) {
      if (effect.t !== 'credit_grant') continue
      this.names.set(effect.seq, effect.g.reason === 'rollover' ? step.rollover_id! : step.new_id!)
      if (effect.g.reason === 'rollover') rolled += BigInt(effect.g.q)
    }
    // The vectors' boundaries follow no cadence, so the account is not told to reset by itself.
    this.apply(draft.effects.filter(effect => effect.t !== 'credit_enrol'))
    return {
      unused: amountToNumber(unused),
      rolled_over: amountToNumber(rolled),
      discarded: amountToNumber(unused - rolled),
    }
  }

  moved(
    effects: readonly CreditEffect[],
    type: 'credit_transfer' | 'credit_hold' | 'credit_release',
  ): number {
    let sum = 0n
    for (const effect of effects) {
      if (effect.t !== type) continue
      if (effect.t === 'credit_transfer') sum += BigInt(effect.to[1])
      else for (const slice of effect.s) sum += BigInt(slice[1])
    }
    return amountToNumber(sum)
  }

  final(): Final {
    const left = new Map<string, bigint>()
    const kinds = new Map<string, bigint>()
    let amounts = 0n
    let consumed = 0n
    for (const name of this.names.values()) left.set(name, 0n)
    for (const entry of this.entries) {
      const grant = [...this.names].find(
        ([seq]) =>
          this.effects.some(e => e.t === 'credit_grant' && e.seq === seq) && idAt(seq) === entry.grantId,
      )
      const name = grant![1]
      left.set(name, left.get(name)! + entry.amount)
      const kind = entry.usageReason ?? entry.type
      kinds.set(kind, (kinds.get(kind) ?? 0n) + entry.amount)
      amounts += entry.amount
      consumed += entry.consumed
    }
    const numbers = (map: Map<string, bigint>) =>
      Object.fromEntries([...map].map(([name, amount]) => [name, amountToNumber(amount)]))
    return {
      grants_remaining: numbers(left),
      ledger_amount_sum: amountToNumber(amounts),
      ledger_amount_by_kind: numbers(kinds),
      quantity_consumed_sum: amountToNumber(consumed),
      uncovered_sum: amountToNumber(this.uncovered),
    }
  }
}

function idAt(seq: number): string {
  const [entry] = ledgerEntries(companyId, {
    t: 'credit_grant',
    c: creditId,
    seq,
    at: 0,
    g: { reason: 'free', q: 1 },
  })
  return entry!.grantId!
}
