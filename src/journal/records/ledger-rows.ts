// Draws as rows of table credit_ledger, ready-made where they are decided: the projector only puts them together, and
// replay takes the draws from them. Tab-separated, as half the bytes and two thirds of the store's work are enough.

import { grantId } from '../../core/credits/grant.js'
import type { CreditEffect } from '../../core/model/account-state.js'
import type { Effect } from '../../core/model/message.js'
import { nanosToDecimal } from '../../core/values/amount.js'

export type Draw = Extract<CreditEffect, { readonly t: 'credit_draw' }>

/** Members of a row, in order: columns of the table, and last the grant's sequence, which is not one. */
export const drawColumns = [
  'environment_id',
  'company_id',
  'credit_id',
  'event_at',
  'feature_id',
  'quantity_consumed',
  'sequence',
  'grant_quantity_remaining',
  'grant_id',
  'user_id',
  'usage_event_id',
  'grant_sequence',
] as const

/** The columns of the table that rows of draws fill: these members but the grant's sequence, and what all rows have alike. */
export const fullDrawColumns = [
  'environment_id',
  'company_id',
  'credit_id',
  'event_at',
  'sequence',
  'event_type',
  'usage_reason',
  'amount',
  'quantity_consumed',
  'grant_id',
  'grant_quantity_remaining',
  'feature_id',
  'user_id',
  'usage_event_id',
] as const

/**
 * The rows of all draws among these effects, each with its newline: one for each slice. Amounts are credits, times
 * epoch ms; no id needs escaping.
 *
 * at       time of the fact
 * returns  '' when there are none, or when rows and fact together would miss one: it is only recorded for a ledger
 *          kept elsewhere, counts in a budget, or was journaled at another time than the fact's
 * source   CR-86…91
 */
export function drawRows(env: string, companyId: string, at: number, fx: readonly Effect[]): string {
  let rows = ''
  for (let i = 0; i < fx.length; i++) {
    const effect = fx[i]!
    if (effect.t !== 'credit_draw') continue
    if (effect.ext !== undefined || effect.b !== undefined || (effect.now ?? effect.at) !== at) return ''
    rows += rowsOf(env, companyId, effect)
  }
  return rows
}

function rowsOf(env: string, companyId: string, { c, seq, at, s, f = '', u = '', e = '' }: Draw): string {
  let rows = ''
  for (let i = 0; i < s.length; i++) {
    const [grant, moved, left] = s[i]!
    rows +=
      `${env}\t${companyId}\t${c}\t${at}\t${f}\t${nanosToDecimal(moved)}\t${seq + i}\t` +
      `${nanosToDecimal(left)}\t${grantId(companyId, c, grant)}\t${u}\t${e}\t${grant}\n`
  }
  return rows
}
