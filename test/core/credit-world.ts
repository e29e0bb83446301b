// One credit account under test, and beside it what the ledger alone says; every law of CR-88 can be asked at any time.
import { isDeepStrictEqual } from 'node:util'
import { decideCredit } from '../../src/core/credits/account.js'
import { due, figures, nextDueMs } from '../../src/core/credits/balance.js'
import { inBurnOrder, usable } from '../../src/core/credits/burn-order.js'
import { drawForEvent, type Use, type UseDecision } from '../../src/core/credits/draw.js'
import { grantId } from '../../src/core/credits/grant.js'
import {
  applyCredit,
  debtOf,
  entryCount,
  grantChanges,
  type LedgerEntry,
  ledgerEntries,
} from '../../src/core/credits/ledger.js'
import {
  type CreditAccount,
  type CreditConfig,
  type CreditEffect,
  type CreditFigures,
  type CreditMessage,
  type CreditReply,
  emptyAccount,
} from '../../src/core/model/account-state.js'
import type { PlanCreditGrantDef } from '../../src/core/model/definitions.js'
import type { Refusal } from '../../src/core/model/requests.js'

/** A prepaid account's configuration, with changes. */
export function configOf(changes: Partial<CreditConfig> = {}): CreditConfig {
  return {
    burnStrategy: 'plan_first_then_credit_bundles_first_in_first_out',
    ledgerAuthority: 'service_authoritative',
    overdraft: null,
    topup: null,
    defaultExpiry: { type: 'no_expiry', unit: null, count: null },
    period: null,
    trialEndMs: null,
    maxPerDraw: null,
    ...changes,
  }
}

export function overdraftOf(limit: bigint | null): NonNullable<CreditConfig['overdraft']> {
  return { limit, arrearsCadence: 'end_of_billing_period', arrearsAnchor: 'billing_period_start' }
}

export function isSame(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(a, b)
}

export const companyId = 'comp_test'
export const creditId = 'bcrd_test'
export const hourMs = 3_600_000
export const dayMs = 24 * hourMs
/** When every account begins: 31 January, for the sake of short months. */
export const startMs = Date.UTC(2026, 0, 31, 9)

export function must(holds: boolean, law: string): void {
  if (!holds) throw new Error(law)
}

/** An account, and beside it what the ledger alone says. */
export class World {
  account: CreditAccount = emptyAccount(companyId, creditId)
  readonly effects: CreditEffect[] = []
  readonly entries: LedgerEntry[] = []
  nowMs = startMs
  limit: bigint | null = null
  /** Σ amount per grant; Σ of everything by kind. */
  readonly perGrant = new Map<string, bigint>()
  /** Rows of grants as a projector would keep them. */
  readonly rows = new Map<string, { left: bigint; quantity: bigint; over: string | null }>()
  sequence = 0
  granted = 0n
  refunded = 0n
  consumed = 0n
  writtenOff = 0n
  transferred = 0n
  /** Told by decisions: costs asked for, and the part nothing paid for. */
  asked = 0n
  uncovered = 0n
  refused = 0
  lastRefusal: Refusal | null = null
  /** Whether the environment has the credit. */
  known = true
  readonly holds = new Map<string, string>()

  constructor(public config: CreditConfig) {}

  apply(effects: readonly CreditEffect[]): void {
    for (const effect of effects) {
      const entries = ledgerEntries(companyId, effect)
      must(entries.length === entryCount(effect), `${effect.t}: as many entries as counted`)
      applyCredit(this.account, effect)
      this.effects.push(effect)
      this.project(effect)
      for (const entry of entries) {
        this.entries.push(entry)
        this.sequence++
        must(entry.seq === this.sequence, `${effect.t}: the sequence goes up by one (CR-89)`)
        const sum = (this.perGrant.get(entry.grantId!) ?? 0n) + entry.amount
        this.perGrant.set(entry.grantId!, sum)
        must(entry.left === null || entry.left === sum, `${effect.t}: an entry tells what its grant has left`)
        if (entry.consumed > 0n) this.consumed += entry.consumed
        else this.refunded -= entry.consumed
        if (entry.type === 'grant') this.granted += entry.amount
        if (entry.type === 'zero_out') this.writtenOff -= entry.amount
        if (entry.type === 'transfer') this.transferred += entry.amount
      }
      must(this.account.sequence === this.sequence, `${effect.t}: the account knows the sequence`)
    }
  }

  private project(effect: CreditEffect): void {
    for (const change of grantChanges(companyId, effect)) {
      const row = this.rows.get(change.grantId) ?? { left: 0n, quantity: 0n, over: null }
      this.rows.set(change.grantId, {
        left: change.left ?? row.left,
        quantity: change.grown?.quantity ?? change.birth?.quantity ?? row.quantity,
        over: change.zeroedOutReason ?? row.over,
      })
    }
  }

  figures(): CreditFigures {
    return figures(this.account, this.config, this.nowMs)
  }

  /** The invariants of CR-88 and of the state itself. */
  check(): void {
    const { account } = this
    const all = account.overdraft === null ? account.grants : [...account.grants, account.overdraft]
    let remaining = 0n
    let heldIn = 0n
    const open = new Map(all.map(grant => [grantId(companyId, creditId, grant.seq), grant]))
    for (const [id, grant] of open) {
      must((this.perGrant.get(id) ?? 0n) === grant.remaining, 'CR-88 a: Σ amount of a grant is its remaining')
      must(grant.held >= 0n, 'nothing negative is held')
      must(grant === account.overdraft || grant.remaining >= 0n, 'CR-88 d: only the overdraft is negative')
      must(grant.closed === null || grant.remaining === 0n, 'CR-88 d: a closed grant holds nothing')
      remaining += grant.remaining
      heldIn += grant.held
    }
    for (const [id, sum] of this.perGrant)
      must(sum === 0n || open.has(id), 'CR-88 a: what is put away is empty')
    for (const [id, row] of this.rows) {
      const grant = open.get(id)
      must(row.left === (grant?.remaining ?? 0n), 'a row of a grant has what the grant has left')
      must(grant === undefined || row.quantity === grant.quantity, 'and its quantity')
      must(grant === undefined || row.over === grant.closed, 'and why it is over')
    }
    let total = 0n
    for (const sum of this.perGrant.values()) total += sum
    must(total === remaining, 'CR-88 b: Σ amount is Σ remaining')
    this.checkHolds(heldIn)
    const have = remaining + heldIn + this.consumed + this.writtenOff
    must(this.transferred === 0n, 'CR-88 c: transfers cancel')
    must(
      this.granted + this.refunded === have,
      'CR-88 c: granted + refunded = settled + consumed + written off',
    )
    must(this.consumed + this.uncovered === this.asked, 'CR-88 e: consumed + uncovered is every cost')
    const overdraft = account.overdraft
    must(overdraft === null || overdraft.remaining <= 0n, 'the overdraft never owns credits')
    if (account.order !== null) {
      const { strategy } = account.order
      const anew = inBurnOrder({ grants: account.grants, order: null }, strategy)
      must(isSame(inBurnOrder(account, strategy), anew), 'the order kept is that of the grants')
    }
    must(debtOf(account) >= 0n, 'a debt is not negative')
    must(debtOf(account) > 0n === (account.overdrawnSinceMs !== null), 'a debt has a beginning')
    this.checkOrder()
  }

  checkHolds(heldIn: bigint): void {
    const { lease, reservations, grants, overdraft } = this.account
    const holds = lease === null ? reservations : [lease, ...reservations]
    const bySeq = new Map<number, bigint>()
    for (const hold of holds) {
      for (const slice of hold.slices) {
        must(slice.left > 0n, 'an empty slice is gone')
        bySeq.set(slice.seq, (bySeq.get(slice.seq) ?? 0n) + slice.left)
      }
    }
    for (const grant of overdraft === null ? grants : [...grants, overdraft]) {
      must((bySeq.get(grant.seq) ?? 0n) === grant.held, 'a grant knows what is held of it')
    }
    let sum = 0n
    for (const amount of bySeq.values()) sum += amount
    must(sum === heldIn, 'every slice is of a grant that is kept')
  }

  checkOrder(): void {
    const { grants } = this.account
    for (let i = 1; i < grants.length; i++) {
      const [a, b] = [grants[i - 1]!, grants[i]!]
      const later = b.createdAtMs > a.createdAtMs || (b.createdAtMs === a.createdAtMs && b.seq > a.seq)
      must(later, 'CR-23: grants lie oldest first')
    }
  }

  /** Time-driven changes up to now; before them the figures already say what they will be. */
  bringUp(): void {
    const before = this.figures()
    this.apply(due(this.account, this.config, this.nowMs))
    must(nextDueMs(this.account, this.config) > this.nowMs, 'nothing is left to do')
    must(isSame(before, this.figures()), 'CR-30, CR-76: figures are exact before any sweep')
    const { remaining, reserved, settled, total } = before
    let usableNow = this.account.overdraft?.remaining ?? 0n
    let quantity = 0n
    for (const grant of this.account.grants) {
      if (!usable(grant, this.nowMs)) continue
      usableNow += grant.remaining
      quantity += grant.quantity
    }
    must(remaining === usableNow && settled === remaining + reserved, 'CR-4: the three figures')
    must(total >= quantity, 'CR-5: the total counts every grant that is not over')
  }

  ask(message: CreditMessage): CreditReply | null {
    const accounts = new Map([[creditId, this.account]])
    const context = { companyId, accounts, configOf: () => (this.known ? this.config : null) }
    const decision = decideCredit(context, message, this.nowMs)
    if ('refused' in decision) {
      this.refused++
      this.lastRefusal = decision.refused
      return null
    }
    this.apply(decision.effects as readonly CreditEffect[])
    return decision.reply
  }

  use(cost: bigint, leaseId: string | null, reservationId: string | null): UseDecision {
    const names = { featureId: 'feat_1', eventId: `evnt_${this.effects.length}`, userId: null }
    // Now and then an event comes late (CR-89, CR-93).
    const atMs = this.nowMs - (this.effects.length % 3) * 1000
    return this.useAs({ cost, leaseId, reservationId, ...names, atMs })
  }

  useAs(use: Use): UseDecision {
    const before = this.figures().remaining
    const decision = drawForEvent(this.account, this.config, use, this.nowMs)
    this.apply(decision.effects)
    if (use.cost > 0n) this.asked += use.cost
    this.uncovered += decision.uncovered
    const { overdraft } = this.config
    if (overdraft?.limit !== null) {
      const floor = -(overdraft?.limit ?? 0n)
      must(
        this.figures().remaining >= (before < floor ? before : floor),
        'CR-50, CR-52: never below the floor',
      )
    }
    return decision
  }

  draw(cost: bigint): void {
    this.use(cost, null, null)
  }

  acquire(amount: bigint): void {
    const reply = this.ask({ type: 'credit_lease', creditId, amount, expiresAtMs: null })
    if (reply?.type === 'hold') this.holds.set('lease', reply.hold.id)
  }

  commit(cost: bigint): void {
    this.use(cost, this.holds.get('lease') ?? 'crlse_unknown', null)
  }

  release(): void {
    this.ask({ type: 'credit_release', leaseId: this.holds.get('lease') ?? 'crlse_unknown' })
  }

  reserve(name: string, amount: bigint): void {
    const reply = this.ask({
      type: 'credit_reserve',
      creditId,
      amount,
      expiresAtMs: null,
      key: name,
      featureId: null,
      userId: null,
    })
    if (reply?.type === 'hold') this.holds.set(name, reply.hold.id)
  }

  settle(name: string, cost: bigint): void {
    this.use(cost, null, this.holds.get(name) ?? 'crlse_unknown')
  }
}

export function debtIn(world: World): bigint {
  return debtOf(world.account)
}

export function planGrant(changes: Partial<PlanCreditGrantDef> = {}): PlanCreditGrantDef {
  return {
    id: 'pcgr_1',
    creditId,
    creditAmount: 50,
    companyCreditAmount: 0,
    scaling: 'fixed',
    licenseId: null,
    billingMode: 'granted',
    resetType: 'plan_period',
    resetCadence: 'monthly',
    resetStart: 'billing_period',
    rolloverPercentage: 0,
    expiryType: null,
    expiryUnit: null,
    expiryUnitCount: null,
    postpaidEnabled: false,
    overdraftLimit: null,
    arrearsCadence: null,
    arrearsAnchor: null,
    autoTopupAvailability: 'off',
    autoTopupAmount: null,
    autoTopupThresholdCredits: null,
    autoTopupThresholdPercent: null,
    autoTopupExpiryType: null,
    autoTopupExpiryUnit: null,
    autoTopupExpiryUnitCount: null,
    ...changes,
  }
}
