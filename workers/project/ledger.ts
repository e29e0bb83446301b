// Credit movements of a fact as rows of table credit_ledger.
import { type Amount, amountToDecimal } from '../../src/core/amount.js'
import type { CreditEffect } from '../../src/core/credit.js'
import { type LedgerEntry, ledgerEntries } from '../../src/core/ledger.js'
import type { Effect, Fact } from '../../src/core/message.js'

/** A row as its line of JSONEachRow, and the entry's time, which is its partition. */
export interface LedgerRow {
  readonly atMs: number
  readonly line: string
}

/** Rows of a fact, in order; equal facts give equal rows. source: CR-86…91 */
export function ledgerRows(fact: Fact): LedgerRow[] {
  return fact.fx
    .filter(isCreditEffect)
    .flatMap(effect => ledgerEntries(fact.id, effect))
    .map(entry => ({ atMs: entry.atMs, line: JSON.stringify(columns(fact, entry)) }))
}

function isCreditEffect(effect: Effect): effect is CreditEffect {
  return effect.t.startsWith('credit_')
}

// Members that do not apply are left out: their columns have defaults.
function columns(fact: Fact, entry: LedgerEntry): Record<string, unknown> {
  const { grant } = entry
  return {
    environment_id: fact.env,
    company_id: fact.id,
    credit_id: entry.creditId,
    event_at: entry.atMs,
    sequence: entry.seq,
    event_type: entry.type,
    usage_reason: entry.usageReason ?? undefined,
    amount: amountToDecimal(entry.amount),
    quantity_consumed: amountToDecimal(entry.consumed),
    grant_id: entry.grantId ?? undefined,
    grant_quantity_remaining: decimal(entry.left),
    from_grant_id: entry.fromGrantId ?? undefined,
    to_grant_id: entry.toGrantId ?? undefined,
    transfer_reason: entry.transferReason ?? undefined,
    zeroed_out_reason: entry.zeroedOutReason ?? undefined,
    feature_id: entry.featureId ?? undefined,
    user_id: entry.userId ?? undefined,
    usage_event_id: entry.eventId ?? undefined,
    hold_id: entry.holdId ?? undefined,
    ...(grant === null
      ? {}
      : {
          grant_reason: grant.reason,
          grant_quantity: amountToDecimal(grant.quantity),
          grant_valid_from: grant.validFromMs,
          grant_expires_at: grant.expiresAtMs ?? undefined,
          plan_id: grant.planId ?? undefined,
          plan_grant_id: grant.planGrantId ?? undefined,
          billing_credit_bundle_id: grant.bundleId ?? undefined,
          source_grant_id: grant.sourceGrantId ?? undefined,
        }),
  }
}

const decimal = (amount: Amount | null): string | undefined =>
  amount === null ? undefined : amountToDecimal(amount)
