// Builds webhook payloads from the events that actors record.

import { headOf } from '../../core/company/state.js'
import type { TopupFailure } from '../../core/model/account-state.js'
import type { CompanyDescription } from '../../core/model/descriptions.js'
import type { DatedDomainEvent } from '../../core/model/notices.js'
import { quantityOrNull } from '../../core/values/quantity.js'
import type { EntityPlace } from '../../kit/entities.js'
import { storedLong } from '../../kit/long.js'
import type { Services } from '../../kit/services.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { type CompanyOutline, outlineOf } from '../../wire/company-outline.js'
import { companyDetails, companyDetailsOf } from '../companies/read.js'
import { companyBriefs } from '../entities/read.js'
import { type OverrideRow, overrideViews } from '../entitlements/override-view.js'
import { featureViews } from '../flags/feature-view.js'
import { planChangeView } from '../plan-changes/view.js'
import { userDetails, userDetailsOf } from '../users/read.js'

/**
 * The payload of a recorded event.
 *
 * text     JSON of DatedDomainEvent, as stored in the outbox.
 * returns  null when its environment is deleted.
 * source   interface document.
 */
export async function composeHappened(services: Services, text: string): Promise<unknown> {
  const happened = JSON.parse(text) as DatedDomainEvent
  const environment = services.keys.environment(happened.env)
  if (environment === null) return null
  return bodyOf({ services, environment, nowMs: services.clock.now(happened.env) }, happened)
}

async function bodyOf(place: EntityPlace, happened: DatedDomainEvent): Promise<unknown> {
  const { id } = happened
  switch (happened.subject) {
    case 'entity': {
      const [detail] = happened.k === 'c' ? await companyDetails(place, [id]) : await userDetails(place, [id])
      // deleted in the meantime
      return detail ?? { id }
    }
    case 'company_gone':
      return happened.last === null
        ? { id, truncated: true }
        : (await companyDetailsOf(place, [outlineOfLast(place, withQuantities(happened.last))]))[0]
    case 'user_gone':
      return happened.last === null
        ? { id, truncated: true }
        : (await userDetailsOf(place, [{ state: happened.last, seenAtMs: null }]))[0]
    case 'plans':
      return planChangeView(place, id, happened.change)
    case 'override':
      return (await overrideViews(place.services.sql, place.environment.id, [overrideRow(happened)]))[0]
    case 'limit':
      return usageBody(place, id, happened.limit)
    case 'credit': {
      const { creditId, balance, limit } = happened.credit
      return { ...(await ofCredit(place, id, creditId)), balance, limit }
    }
    case 'budget': {
      const { creditId, policyId, spent, max, resetAtMs } = happened.budget
      const of = await ofCredit(place, id, creditId)
      return { ...of, spend_policy_id: policyId, spent, max_spend: max, resets_at: isoTime(resetAtMs) }
    }
    case 'granted':
      return boughtBody(place, happened)
    case 'topup_failed':
      return failedBody(place, happened)
  }
}

/** A company before its deletion, with quantities converted back: the journal stores those beyond ±(2^53 − 1) as text. */
function withQuantities(last: CompanyDescription): CompanyDescription {
  return {
    ...last,
    metrics: last.metrics.map(one => ({ ...one, value: quantityOrNull(one.value)! })),
    entitlements: last.entitlements.map(one => ({
      ...one,
      allocation: quantityOrNull(one.allocation),
      usage: quantityOrNull(one.usage),
      softLimit: quantityOrNull(one.softLimit),
    })),
  }
}

function outlineOfLast({ environment }: EntityPlace, last: CompanyDescription): CompanyOutline {
  return outlineOf(headOf(last.state), last, environment.accountId)
}

function overrideRow({
  env,
  id,
  override,
}: Extract<DatedDomainEvent, { readonly subject: 'override' }>): OverrideRow {
  return {
    id: override.id,
    environment_id: env,
    company_id: id,
    feature_id: override.entitlement.featureId,
    entitlement: override.entitlement,
    expires_at: override.expiresAtMs === null ? null : new Date(override.expiresAtMs),
    created_at: new Date(override.createdAtMs),
    updated_at: new Date(override.updatedAtMs),
  }
}

/** WebFeatureUsageWebhookOutput; a custom warning tier is added to it (source: decision). */
async function usageBody(
  place: EntityPlace,
  companyId: string,
  limit: Extract<DatedDomainEvent, { readonly subject: 'limit' }>['limit'],
) {
  const { sql } = place.services
  const [features, [company]] = await Promise.all([
    featureViews(sql, [limit.featureId], place.environment.id),
    companyDetails(place, [companyId]),
  ])
  const feature = features.get(limit.featureId)
  return {
    Entitlement: limit.entitlementId,
    Allocation: storedLong(limit.limit),
    Usage: storedLong(limit.usage),
    MetricResetAt: isoTimeOrNull(limit.resetAtMs),
    ...(feature && { Feature: feature }),
    ...(company && { company }),
    ...(limit.warningTier && { WarningTier: limit.warningTier }),
  }
}

/** The company and credit that every payload about credits begins with. source: decision */
async function ofCredit(place: EntityPlace, companyId: string, creditId: string) {
  const company = (await companyBriefs(place, [companyId])).get(companyId)
  const credit = place.services.catalogs.get(place.environment.id).credits.find(one => one.id === creditId)
  return {
    company: { id: companyId, name: company?.name ?? '' },
    credit: { id: creditId, name: credit?.name ?? '' },
  }
}

/**
 * CreditsAutoTopupHardFailure, or CreditsAutoTopupRetryFailure. Provider codes are empty: no provider is connected.
 */
async function failedBody(
  place: EntityPlace,
  { type, id, creditId, failures, hard }: Extract<DatedDomainEvent, { readonly subject: 'topup_failed' }>,
) {
  const of = await ofCredit(place, id, creditId)
  const message = hard && failureTexts[hard]
  if (type === 'auto.topup.hard.failure') return { ...of, error_message: message, psp_error_code: null }
  return { ...of, consecutive_failures: failures, last_error_message: message, psp_error_code: null }
}

const failureTexts: Readonly<Record<TopupFailure, string>> = {
  no_price: 'The credit has no unit price',
  payment_refused: 'The payment was refused',
}

/** CreditsAutoTopupSuccess, or CreditsCreditPurchaseSuccess for credits of a bundle. */
async function boughtBody(
  place: EntityPlace,
  { id, creditId, grantId, quantity, bundleId }: Extract<DatedDomainEvent, { readonly subject: 'granted' }>,
) {
  const of = await ofCredit(place, id, creditId)
  if (bundleId === null) return { ...of, grant_id: grantId, quantity }
  const [bundle] = await place.services.sql<{ name: string }[]>`
    select name from credit_bundles where id = ${bundleId}`
  return { ...of, bundle_id: bundleId, bundle_name: bundle?.name ?? '', grant_ids: [grantId], quantity }
}
