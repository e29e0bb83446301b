// What a company's actor tells of itself: its state, and what only the core can work out.
import { amountToNumber } from '../../src/core/amount.js'
import type { Catalog } from '../../src/core/catalog.js'
import type { Company } from '../../src/core/company.js'
import { reportEntitlement, resolveEntitlement } from '../../src/core/entitlement.js'
import { LiveCompany } from '../../src/core/snapshot.js'
import { type CompanyDescription, encodeCompany } from '../../src/core/state.js'
import { readAll } from '../../src/core/usage.js'

/**
 * Everything about a company at one instant, as plain data; its credits are settled by then.
 *
 * company  one that exists.
 * atMs     the environment's present, epoch ms: trials, overrides and holds that end by it have ended.
 * source   EN-23, EN-50, EN-93, US-1, CR-4.
 */
export function describeCompany(company: Company, catalog: Catalog, atMs: number): CompanyDescription {
  const live = new LiveCompany(company, catalog, atMs)
  const cycle = live.cycle()
  return {
    state: encodeCompany(company),
    plan: live.standing.plan,
    addOns: live.standing.addOns,
    metrics: [...company.counters].flatMap(([eventSubtype, counter]) =>
      readAll(counter, atMs, cycle).map(reading => ({ ...reading, eventSubtype })),
    ),
    entitlements: catalog.features.flatMap(feature => {
      const entitlement = resolveEntitlement(live, feature)
      return entitlement === null ? [] : [reportEntitlement(entitlement, live)]
    }),
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
