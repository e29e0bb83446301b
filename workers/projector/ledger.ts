// Credit movements of a fact as rows of table credit_ledger.

import { grantId } from '../../src/core/credits/grant.js'
import { type LedgerEntry, ledgerEntries } from '../../src/core/credits/ledger.js'
import type { CreditEffect } from '../../src/core/model/account-state.js'
import type { Effect, Fact } from '../../src/core/model/message.js'
import { type Amount, amountToDecimal, nanosToDecimal } from '../../src/core/values/amount.js'

/** A row as its line of JSONEachRow, and the entry's time, which is its partition. */
export interface LedgerRow {
  readonly atMs: number
  readonly line: string
}

/** Members of a fact that the ledger needs. */
type CreditFact = Pick<Fact, 'id' | 'env' | 'fx'>

/** Rows of a fact, in order; equal facts give equal rows. source: CR-86…91 */
export function ledgerRows(fact: CreditFact): LedgerRow[] {
  const rows: LedgerRow[] = []
  for (const effect of fact.fx)
    if (effect.t === 'credit_draw' && effect.ext === undefined) addDraw(rows, fact, effect)
    else if (isCreditEffect(effect))
      for (const entry of ledgerEntries(fact.id, effect))
        rows.push({ atMs: entry.atMs, line: JSON.stringify(columns(fact, entry)) })
  return rows
}

/** Draws are most of a ledger: their rows are put together from their parts. The text is what `columns` gives. */
function addDraw(
  rows: LedgerRow[],
  { id, env }: CreditFact,
  { c, seq, at, s, f, u, e }: Extract<CreditEffect, { readonly t: 'credit_draw' }>,
): void {
  let sequence = seq
  for (const [grant, moved, left] of s) {
    const amount = nanosToDecimal(moved)
    const line =
      `{"environment_id":"${env}","company_id":"${id}","credit_id":"${c}","event_at":${at},"sequence":${sequence++},` +
      `"event_type":"usage","usage_reason":"track","amount":"${amount === '0' ? '' : '-'}${amount}",` +
      `"quantity_consumed":"${amount}","grant_id":"${grantId(id, c, grant)}",` +
      `"grant_quantity_remaining":"${nanosToDecimal(left)}"` +
      (f === undefined ? '' : `,"feature_id":"${f}"`) +
      (u === undefined ? '' : `,"user_id":"${u}"`) +
      (e === undefined ? '}' : `,"usage_event_id":"${e}"}`)
    rows.push({ atMs: at, line })
  }
}

function isCreditEffect(effect: Effect): effect is CreditEffect {
  return effect.t.startsWith('credit_')
}

// Members that do not apply are left out: their columns have defaults.
function columns(fact: CreditFact, entry: LedgerEntry): Record<string, unknown> {
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
