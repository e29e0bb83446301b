// Description of a company by its actor: its state, and figures that only the core can compute.

import type { Catalog } from '../../src/core/catalog.js'
import type { Company } from '../../src/core/company/company-state.js'
import type { CompanyDescription } from '../../src/core/company/descriptions.js'
import { LiveCompany } from '../../src/core/company/facts.js'
import type { Question } from '../../src/core/company/message.js'
import { encodeCompany, encodeHead } from '../../src/core/company/state.js'
import { amountToNumber } from '../../src/core/credits/amount.js'
import {
  type EntitlementReport,
  reportEntitlement,
  resolveEntitlement,
} from '../../src/core/entitlements/entitlement.js'
import { featureUsages } from '../../src/core/entitlements/feature.js'
import { type Counter, lastUseMs, readAll } from '../../src/core/usage/counter.js'
import { entitlementsJson, MetricsJson, packOutline } from '../../src/protocol/company-outline.js'
import { packUsage } from '../../src/protocol/usage-rows.js'

/**
 * Everything about a company at one instant, as plain data; its credits are settled by then.
 *
 * company  one that exists.
 * atMs     the environment's present, epoch ms: trials, overrides and holds that end by it have ended.
 * eventNamesMax  figures of the names used last, at most so many.
 * source   EN-23, EN-50, EN-93, US-1, CR-4.
 */
export function describeCompany(
  company: Company,
  catalog: Catalog,
  atMs: number,
  eventNamesMax = Number.POSITIVE_INFINITY,
): CompanyDescription {
  const live = new LiveCompany(company, catalog, atMs)
  const cycle = live.cycle()
  return {
    state: encodeCompany(company),
    plan: live.inForce.plan,
    addOns: live.inForce.addOns,
    metrics: latest([...company.counters], eventNamesMax).flatMap(([eventSubtype, counter]) =>
      readAll(counter, atMs, cycle).map(reading => ({ ...reading, eventSubtype })),
    ),
    entitlements: reported(live, catalog),
    balances: Object.fromEntries(
      [...company.credits.keys()].map(creditId => {
        const { remaining, reserved, settled, total } = live.figures(creditId)
        return [
          creditId,
          {
            remaining: amountToNumber(remaining),
            reserved: amountToNumber(reserved),
            settled: amountToNumber(settled),
            total: amountToNumber(total),
          },
        ]
      }),
    ),
  }
}

/** The same in short, as a packed `CompanyOutline`: what views of companies show. */
export function outlineCompany(
  company: Company,
  catalog: Catalog,
  atMs: number,
  eventNamesMax = Number.POSITIVE_INFINITY,
): string {
  const live = new LiveCompany(company, catalog, atMs)
  const cycle = live.cycle()
  const metrics = new MetricsJson(catalog.data.accountId, company)
  for (const [eventSubtype, counter] of latest([...company.counters], eventNamesMax))
    for (const reading of readAll(counter, atMs, cycle)) metrics.add(eventSubtype, reading)
  const balances: Record<string, number> = {}
  for (const creditId of company.credits.keys())
    balances[creditId] = amountToNumber(live.figures(creditId).remaining)
  return packOutline({
    state: encodeHead(company),
    plan: live.inForce.plan,
    addOns: live.inForce.addOns,
    entitlements: entitlementsJson(reported(live, catalog)),
    metrics: metrics.end(),
    balances: JSON.stringify(balances),
  })
}

/** Its usage of the features it is entitled to, as `packUsage` writes it. source: US-5, US-8 */
export function usageOfFeatures(
  company: Company,
  catalog: Catalog,
  atMs: number,
  { withoutNegative, featureIds }: Extract<Question, { readonly type: 'feature_usage' }>,
): string {
  const live = new LiveCompany(company, catalog, atMs)
  const rows = featureUsages(live, { negative: withoutNegative }, featureIds)
  return packUsage(rows, company, catalog.data, atMs)
}

/** By feature, in the catalog's order (EN-23, EN-50). */
function reported(live: LiveCompany, catalog: Catalog): EntitlementReport[] {
  const reports: EntitlementReport[] = []
  for (const feature of catalog.features) {
    const entitlement = resolveEntitlement(live, feature)
    if (entitlement !== null) reports.push(reportEntitlement(entitlement, live))
  }
  return reports
}

/** In the order they came, those that were used last. */
function latest(
  counters: readonly (readonly [name: string, counter: Counter])[],
  max: number,
): readonly (readonly [name: string, counter: Counter])[] {
  if (counters.length <= max) return counters
  const used = counters.map(([, counter]) => lastUseMs(counter)).sort((a, b) => b - a)
  let equal = max - used.filter(ms => ms > used[max - 1]!).length
  return counters.filter(([, counter]) => {
    const ms = lastUseMs(counter)
    return ms > used[max - 1]! || (ms === used[max - 1]! && equal-- > 0)
  })
}
