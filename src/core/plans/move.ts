// Moves of a base plan to another plan: who cannot go, and what the record keeps for the way back (MI-12…14, MI-30).
import type { Catalog } from '../catalog.js'
import type { Company, MigrationTerms, Moved, PlanHolding } from '../model/company-state.js'
import type { Effect } from '../model/message.js'
import type { Migrated, MigrationReply, MigrationWanted } from '../model/plan-messages.js'

/** Why a company is not moved, apart from its billing (`billingBlock`). */
type Problem = Required<Pick<MigrationReply, 'outcome' | 'reason'>>

/**
 * The reason that keeps a company from a move, whatever it pays; null: nothing.
 *
 * source  MI-11: who has left the plan that was listed is skipped; MI-15 for add-ons; PB-13.
 */
export function moveProblem(
  company: Readonly<Company>,
  catalog: Catalog,
  { planId, toPlanId, versionId, incompatible = [] }: MigrationWanted,
): Problem | null {
  const { plan, addOns } = company
  if (plan?.planId === toPlanId && plan?.versionId === versionId)
    return { outcome: 'skipped', reason: 'already_there' }
  if ((plan?.planId ?? '') !== planId) return { outcome: 'skipped', reason: 'left_plan' }
  const def = catalog.plans.get(toPlanId!)?.def
  if (!def?.versions.some(one => one.id === versionId)) return { outcome: 'failed', reason: 'not_assignable' }
  if (def.companyId !== null && def.companyId !== company.id)
    return { outcome: 'failed', reason: 'not_assignable' }
  // plans that are held together may stay together
  const stays = planId === toPlanId
  if (!stays && addOns.some(one => incompatible.includes(one.planId)))
    return { outcome: 'failed', reason: 'incompatible_add_on' }
  return null
}

/** The changes that a migration or move makes to a company, for the way back. `next`: its plans and payment afterwards. */
export function movedBy(
  { plan, addOns, subscriptions }: Pick<Company, 'plan' | 'addOns' | 'subscriptions'>,
  next: Migrated,
  { planId, priceIds, ended = [] }: MigrationTerms & { readonly planId: string },
): Moved {
  const isBase = plan?.planId === planId
  const was = isBase ? plan : (addOns.find(one => one.planId === planId) ?? null)
  const is: PlanHolding | null = isBase
    ? next.plan
    : (next.addOns[addOns.findIndex(one => one.planId === planId)] ?? null)
  const subscription = subscriptions.find(one => one.id === was?.subscriptionId) ?? null
  const after = next.subscriptions.find(one => one.id === subscription?.id)
  const prices: Record<string, string | null> = {}
  for (const { priceId } of after === undefined ? [] : (subscription?.items ?? []))
    if (ended.includes(priceId)) prices[priceId] = null
    else if (priceIds[priceId] !== undefined) prices[priceId] = priceIds[priceId]!
  const known = new Set([...(subscription?.items ?? []).map(one => one.priceId), ...Object.values(prices)])
  const added = (after?.items ?? []).map(one => one.priceId).filter(id => !known.has(id))
  return { was, is, subscription, prices, added }
}

/** These effects, whose record of the change keeps what was moved. */
export function withMoved(effects: readonly Effect[], moved: Moved): Effect[] {
  return effects.map(effect =>
    effect.t === 'plan_changed' ? { ...effect, change: { ...effect.change, moved } } : effect,
  )
}
