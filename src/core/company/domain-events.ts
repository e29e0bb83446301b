// Domain events that actors decide, for webhooks: limits crossed, entities made, changed and deleted, overrides,
// plans. They are computed from a record's effects and two readings, before and after, only in environments where a
// webhook asks for them.
import type { WebhookRequestType } from '../../../schemas/enums.js'
import { grantId } from '../credits/grant.js'
import { topupFailuresMax } from '../credits/topup.js'
import { type CompiledFeature, limitOf, resolveEntitlement, usageOf } from '../entitlements/entitlement.js'
import type { LiveCompany } from '../live/live-company.js'
import type { Company } from '../model/company-state.js'
import type { Watches } from '../model/definitions.js'
import type { Effect } from '../model/message.js'
import type {
  CreditCrossing,
  CreditReading,
  DatedDomainEvent,
  DomainEvent,
  LimitCrossing,
  LimitReading,
  Point,
} from '../model/notices.js'
import { amountToNumber, decodeAmount } from '../values/amount.js'
import { type Quantity, quantityOf } from '../values/quantity.js'

/** Types that actors decide; every other type is published by the handler that made the change. */
export const decidedByActors: readonly WebhookRequestType[] = [
  'auto.topup.hard.failure',
  'auto.topup.retry.exceeded',
  'auto.topup.success',
  'company.created',
  'company.deleted',
  'company.override.created',
  'company.override.deleted',
  'company.override.updated',
  'company.plan_changed',
  'company.updated',
  'credit.limit.reached',
  'credit.limit.warning',
  'credit.purchase.success',
  'entitlement.limit.reached',
  'entitlement.limit.warning',
  'entitlement.soft_limit.reached',
  'entitlement.soft_limit.warning',
  'entitlement.tier_limit.reached',
  'entitlement.tier_limit.warning',
  'spend_policy.reached',
  'user.created',
  'user.deleted',
  'user.updated',
]

/** Longest JSON text of a deleted company or user in an event; a longer one is replaced by its id. */
const lastBytesMax = 65_536

/**
 * The last state of a deleted entity, if it is short enough for an event. Quantities beyond ±(2^53 − 1) become text
 * (`StoredQuantity`).
 */
export function lastOf<T>(last: T): T | null {
  const text = JSON.stringify(last, (_, member: unknown) =>
    typeof member === 'bigint' ? String(member) : member,
  )
  return text.length > lastBytesMax ? null : last
}

/**
 * Limit events between two readings of one feature, before and after a change.
 *
 * A point is crossed when usage was below it and no longer is; so each fires once per period, and again only after a
 * reset or a negative event took usage below it.
 * source  EN-52, EN-53. A caller's own warning tier is published as `entitlement.limit.warning`: decision.
 */
export function crossings(before: LimitReading, after: LimitReading): LimitCrossing[] {
  const former = pointsOf(before)
  return pointsOf(after).flatMap((point, i) => {
    // a limit that was moved meanwhile is judged where it was before
    const was = former[i]?.type === point.type ? former[i] : point
    if (before.usage >= was.at || after.usage < point.at) return []
    const { featureId, entitlementId, usage, allocation, resetAtMs } = after
    const { type, limit, warningTier } = point
    return [{ type, featureId, entitlementId, usage, allocation, resetAtMs, limit, warningTier }]
  })
}

/** EN-53: 80 % and 100 % of hard and soft limits, 75 % and 100 % of tiers; EN-52: the caller's own. */
function pointsOf({ allocation, softLimit, tierLimits, warningTiers }: LimitReading): Point[] {
  const points: Point[] = []
  const add = (kind: 'limit' | 'soft_limit' | 'tier_limit', limit: Quantity, warningPercent: number) => {
    const of = { limit, warningTier: null }
    points.push({ ...of, type: `entitlement.${kind}.warning`, at: percentOf(limit, warningPercent) })
    points.push({ ...of, type: `entitlement.${kind}.reached`, at: limit })
  }
  if (allocation !== null) add('limit', allocation, 80)
  if (softLimit !== null) add('soft_limit', softLimit, 80)
  for (const limit of tierLimits) add('tier_limit', limit, 75)
  for (const warningTier of warningTiers)
    points.push({
      type: 'entitlement.limit.warning',
      at: warningTier.value,
      limit: warningTier.value,
      warningTier,
    })
  return points
}

/** Usage is a whole number, so a fractional threshold is rounded up to the next integer. */
function percentOf(limit: Quantity, percent: number): Quantity {
  return typeof limit === 'number'
    ? (limit * percent) / 100
    : quantityOf((limit * BigInt(percent) + 99n) / 100n)
}

/** Readings of some features, of those that are measured (EN-23). */
export function readLimits(live: LiveCompany, features: readonly CompiledFeature[]): LimitReading[] {
  return features.flatMap(feature => {
    const entitlement = resolveEntitlement(live, feature)
    const { valueType } = entitlement ?? {}
    if (!entitlement || (valueType !== 'numeric' && valueType !== 'trait' && valueType !== 'unlimited'))
      return []
    const { def, subtype, period, monthReset, override } = entitlement
    const tiers = def.priceBehavior === 'tier' ? (def.tiers ?? []) : []
    return [
      {
        featureId: feature.def.id,
        entitlementId: override?.id ?? def.id,
        usage: usageOf(entitlement, live) ?? 0,
        allocation: limitOf(entitlement, live),
        softLimit: def.priceBehavior === 'tier' ? null : def.softLimit,
        tierLimits: tiers.flatMap(({ upTo }) => upTo ?? []),
        warningTiers: def.warningTiers,
        resetAtMs: subtype !== null && period !== null ? live.resetsAt(period, monthReset) : null,
      },
    ]
  })
}

/** The features whose usage some effects move: by events counted and by traits written. */
export function touchedFeatures(
  live: LiveCompany,
  fx: readonly Effect[],
  { featureIds }: Watches,
): CompiledFeature[] {
  const { featuresBySubtype, features } = live.catalog
  const found = new Set<CompiledFeature>()
  for (const effect of fx) {
    if (effect.t === 'used')
      for (const feature of featuresBySubtype.get(effect.subtype) ?? []) found.add(feature)
    if (effect.t === 'trait')
      for (const feature of features)
        if (feature.usageTrait?.entityType === 'company' && feature.usageTrait.name === effect.name)
          found.add(feature)
  }
  return [...found].filter(({ def }) => featureIds === null || featureIds.includes(def.id))
}

/** Use of the credits that some effects move. */
export function readCredits(
  live: LiveCompany,
  fx: readonly Effect[],
  { creditIds }: Watches,
): ReadonlyMap<string, CreditReading> {
  const found = new Map<string, CreditReading>()
  for (const effect of fx) {
    if (!('c' in effect) || found.has(effect.c)) continue
    if (creditIds !== null && !creditIds.includes(effect.c)) continue
    const { total, settled, remaining } = live.figures(effect.c)
    found.set(effect.c, { used: total - settled, total, remaining })
  }
  return found
}

/**
 * Credit events between two readings of one credit: 80 % and 100 % of the credits granted.
 *
 * source  EN-53.
 */
export function creditCrossings(
  creditId: string,
  before: CreditReading,
  after: CreditReading,
): CreditCrossing[] {
  const reaches = ({ used, total }: CreditReading, percent: bigint) =>
    total > 0n && used * 100n >= total * percent
  const points = [
    ['credit.limit.warning', 80n],
    ['credit.limit.reached', 100n],
  ] as const
  return points
    .filter(([, percent]) => !reaches(before, percent) && reaches(after, percent))
    .map(([type]) => ({
      type,
      creditId,
      balance: amountToNumber(after.remaining),
      limit: amountToNumber(after.total),
    }))
}

/** Events that follow from the effects alone, for a company that they are about to change. */
export function companyNotices(
  company: Pick<Company, 'id' | 'overrides' | 'credits'>,
  fx: readonly Effect[],
): DomainEvent[] {
  const notices: DomainEvent[] = []
  const made = entityNotice('company', fx)
  if (made) notices.push({ subject: 'entity', type: made })
  for (const effect of fx) {
    if (effect.t === 'plan_changed')
      notices.push({ subject: 'plans', type: 'company.plan_changed', change: effect.change })
    if (effect.t === 'override') {
      const had = company.overrides.some(({ id }) => id === effect.override.id)
      const type = had ? 'company.override.updated' : 'company.override.created'
      notices.push({ subject: 'override', type, override: effect.override })
    }
    if (effect.t === 'override_removed') {
      const override = company.overrides.find(({ id }) => id === effect.overrideId)
      if (override) notices.push({ subject: 'override', type: 'company.override.deleted', override })
    }
    if (effect.t === 'credit_grant') notices.push(...boughtNotices(company.id, effect))
    if (effect.t === 'credit_topup') notices.push(...failureNotices(company, effect))
  }
  notices.push(...budgetNotices(company, fx))
  return notices
}

/** Windows of spend policies that these effects bring to their bound or past it. source: BU-6 */
function budgetNotices({ credits }: Pick<Company, 'credits'>, fx: readonly Effect[]): DomainEvent[] {
  const notices: DomainEvent[] = []
  const moved = new Map<string, bigint>()
  for (const effect of fx) {
    if (!('b' in effect) || effect.b === undefined) continue
    for (const [policyId, startMs, part, most, endMs] of effect.b) {
      const had = credits.get(effect.c)?.spending.find(one => one.policyId === policyId)
      const before = (moved.get(policyId) ?? 0n) + (had?.startMs === startMs ? had.spent : 0n)
      const after = before + decodeAmount(part)
      moved.set(policyId, (moved.get(policyId) ?? 0n) + decodeAmount(part))
      const max = decodeAmount(most)
      if (before >= max || after < max) continue
      const budget = {
        policyId,
        creditId: effect.c,
        spent: amountToNumber(after),
        max: amountToNumber(max),
        resetAtMs: endMs,
      }
      notices.push({ subject: 'budget', type: 'spend_policy.reached', budget })
    }
  }
  return notices
}

/** source: CR-56 */
function failureNotices(
  company: Pick<Company, 'credits'>,
  { c: creditId, failures, hard }: Extract<Effect, { readonly t: 'credit_topup' }>,
): DomainEvent[] {
  const before = company.credits.get(creditId)?.topup.failures ?? 0
  const failed = { subject: 'topup_failed', creditId, failures, hard: hard ?? null } as const
  return [
    ...(hard === undefined ? [] : [{ ...failed, type: 'auto.topup.hard.failure' } as const]),
    ...(failures === topupFailuresMax && before < topupFailuresMax
      ? [{ ...failed, type: 'auto.topup.retry.exceeded' } as const]
      : []),
  ]
}

/** source: CR-55, CR-56 */
function boughtNotices(
  companyId: string,
  { c: creditId, seq, g }: Extract<Effect, { readonly t: 'credit_grant' }>,
): DomainEvent[] {
  const bundleId = g.bundle ?? null
  const grant = {
    subject: 'granted',
    creditId,
    grantId: grantId(companyId, creditId, seq),
    quantity: amountToNumber(decodeAmount(g.q)),
    bundleId,
  } as const
  if (g.reason === 'billing_credit_auto_topup') return [{ ...grant, type: 'auto.topup.success' }]
  return g.reason === 'purchased' && bundleId !== null ? [{ ...grant, type: 'credit.purchase.success' }] : []
}

const changing: ReadonlySet<Effect['t']> = new Set<Effect['t']>([
  'key',
  'key_removed',
  'named',
  'trait',
  'touched',
  'seen_set',
  'joined',
  'left',
])

/** Made or changed, by effects on an entity; null for neither. Use and being seen are no change of it. */
export function entityNotice<Kind extends 'company' | 'user'>(
  kind: Kind,
  fx: readonly Effect[],
): `${Kind}.created` | `${Kind}.updated` | null {
  if (fx.some(({ t }) => t === 'created')) return `${kind}.created`
  return fx.some(({ t }) => changing.has(t)) ? `${kind}.updated` : null
}

/** The feature a notice is about, or null. */
export function featureOf(happened: DatedDomainEvent): string | null {
  if (happened.subject === 'limit') return happened.limit.featureId
  return happened.subject === 'override' ? happened.override.entitlement.featureId : null
}

/** The credit a notice is about, or null. */
export function creditOf(happened: DatedDomainEvent): string | null {
  if (happened.subject === 'credit') return happened.credit.creditId
  if (happened.subject === 'budget') return happened.budget.creditId
  return happened.subject === 'granted' || happened.subject === 'topup_failed' ? happened.creditId : null
}
