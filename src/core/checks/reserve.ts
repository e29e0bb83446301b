// A check that takes the hold for the use it allows in the same step (CR-84), so that nothing comes between.

import type { Catalog } from '../catalog.js'
import { decideCredit } from '../credits/account.js'
import { holdSize, isReservationKey } from '../credits/hold.js'
import { type CheckResult, checkWith, denied, inContext, writeCheck } from '../flags/flag.js'
import { configFor, creditContext } from '../live/company-accounts.js'
import { LiveCompany, userOf } from '../live/live-company.js'
import type { CreditReply, HoldView } from '../model/account-state.js'
import type { Company } from '../model/company-state.js'
import type { Decision } from '../model/message.js'
import type { CheckAndReserve, CheckContext, Preflight } from '../model/requests.js'
import { isEntitlementRule, type UserFacts } from '../rules/rule.js'
import { amountToNumber } from '../values/amount.js'
import type { Quantity } from '../values/quantity.js'

/** The hold taken, in the shape of the wire (FlagCheckReservation). Times are epoch ms, amounts JSON numbers. */
interface TakenHold {
  readonly id: string
  readonly companyId: string
  readonly creditId: string
  readonly creditsReserved: number
  readonly quantityReserved: Quantity
  readonly consumptionRate: number
  readonly eventSubtype: string | null
  readonly expiresAtMs: number
}

export interface CheckedAndReserved {
  readonly checked: CheckResult
  /** null: denied, or nothing to hold. */
  readonly reservation: TakenHold | null
}

/** The reason when the credits do not suffice (CR-84). */
const insufficient = 'Insufficient credits'

/**
 * Check one flag and, where it allows use that costs credits, hold them.
 *
 * company  its credits settled.
 * reply    CheckedAndReserved; null for an unknown flag.
 * errors   expiry_invalid; idempotency_reused for a key that held another amount, idempotency_over for one whose hold
 *          is forgotten.
 * source   CR-84, CR-85; FE-80…86 for the preflight. No hold where the ledger is kept elsewhere (CR-6), nor where the
 *          use costs nothing. A known key answers with its reservation even when nothing is left: decision.
 */
export function checkAndReserve(
  company: Company,
  catalog: Catalog,
  message: CheckAndReserve,
  nowMs: number,
): Decision<CheckedAndReserved | null> {
  const { context, preflight } = message
  const flag = catalog.flagsByKey.get(message.flagKey)
  if (flag === undefined) return { reply: null, effects: [] }
  const live = company.exists ? new LiveCompany(company, catalog, nowMs) : null
  const user = userFacts(context)
  const check = (asked: Preflight | null) => inContext(checkWith(flag, live, user, asked), context)
  const checked = check(preflight)
  const report = checked.entitlement
  const creditId = report?.creditId ?? null
  if (checked.error !== null || live === null || report === null || creditId === null) return only(checked)
  if (checked.ruleType === null || !isEntitlementRule(checked.ruleType)) return only(checked)
  const config = configFor(live, creditId, context.userId)
  if (config === null || config.ledgerAuthority !== 'service_authoritative') return only(checked)
  const size = holdSize({ ...report, creditId }, message.quantity, preflight)
  if (size.credits === 0n) return only(checked)
  const costing = (credits: number) => check(withCost(preflight, creditId, credits))
  const isReplay = message.key !== null && isKnownKey(company, message.key)
  if (!checked.value && !isReplay) return only(denied(checked, live.overBudget ?? insufficient))

  const decided = decideCredit(
    creditContext(company, catalog, context.userId, nowMs),
    {
      type: 'credit_reserve',
      creditId,
      amount: size.credits,
      expiresAtMs: message.expiresAtMs,
      key: message.key,
      ...(message.used && { used: true }),
      featureId: report.featureId,
      userId: context.userId,
    },
    nowMs,
  )
  if ('refused' in decided) {
    const short = decided.refused === 'insufficient_credits' || decided.refused === 'spend_cap'
    const why = decided.detail ?? insufficient
    return short ? only(denied(costing(amountToNumber(size.credits)), why)) : decided
  }
  const { hold } = decided.reply as Extract<CreditReply, { readonly type: 'hold' }>
  return {
    reply: {
      checked: checked.value ? checked : costing(0),
      reservation: {
        ...taken(company.id, hold),
        quantityReserved: size.quantity,
        consumptionRate: report.consumptionRate ?? 0,
        eventSubtype: report.eventSubtype,
      },
    },
    effects: decided.effects,
  }
}

function taken(companyId: string, hold: HoldView) {
  return {
    id: hold.id,
    companyId,
    creditId: hold.creditId,
    creditsReserved: amountToNumber(hold.granted),
    expiresAtMs: hold.expiresAtMs,
  }
}

function only(checked: CheckResult): Decision<CheckedAndReserved> {
  return { reply: { checked, reservation: null }, effects: [] }
}

function isKnownKey(company: Company, key: string): boolean {
  for (const account of company.credits.values()) if (isReservationKey(account, key)) return true
  return false
}

function withCost(preflight: Preflight | null, creditId: string, credits: number): Preflight {
  return {
    usage: preflight?.usage ?? null,
    eventUsage: preflight?.eventUsage ?? null,
    creditCost: { ...preflight?.creditCost, [creditId]: credits },
  }
}

/** The user of a check as its context carries it. */
export function userFacts({ userId, userTraits }: CheckContext): UserFacts | null {
  if (userId === null) return null
  const traits = new Map(userTraits ?? [])
  return userOf(userId, name => traits.get(name) ?? null)
}

/** A result with its hold as the wire spells it (`CheckAndReserveFlag`), serialised. */
export function writeCheckAndReserve({ checked, reservation }: CheckedAndReserved): string {
  const check = writeCheck(checked)
  if (reservation === null) return check
  const hold = JSON.stringify({
    id: reservation.id,
    company_id: reservation.companyId,
    credit_type_id: reservation.creditId,
    credits_reserved: reservation.creditsReserved,
    consumption_rate: reservation.consumptionRate,
    event_subtype: reservation.eventSubtype,
    expires_at: new Date(reservation.expiresAtMs).toISOString(),
  })
  // JSON.stringify refuses a bigint
  const quantity = `"quantity_reserved":${reservation.quantityReserved}`
  return `${check.slice(0, -1)},"reservation":${hold.slice(0, -1)},${quantity}}}`
}
