// A company as it was at a past instant, put together from what the stores keep of it (EX-6).
import { usable } from '../credits/burn-order.js'
import { emptyAccount, type GrantState } from '../model/account-state.js'
import type { Company, OverrideState, SubscriptionState } from '../model/company-state.js'
import { effective, type HistoryEntry } from '../rating/history.js'
import { addUsage } from '../usage/counter.js'
import type { Cycle } from '../values/period.js'
import type { Quantity } from '../values/quantity.js'
import { NamedTexts } from '../values/text-map.js'
import { newCompany } from './company.js'

/** Facts about a company at an instant, its use apart. */
interface PastFacts {
  readonly id: string
  readonly environmentId: string
  readonly traits: readonly (readonly [name: string, value: string])[]
  /** All that was recorded, in order, later entries too: one may say when an earlier change took effect. */
  readonly history: readonly HistoryEntry[]
  readonly overrides: readonly OverrideState[]
  /** Credits as decimal text; null: none of its own. */
  readonly overdraftLimit: string | null
  readonly grants: readonly PastGrantState[]
}

/** A grant with what was left of it. */
export interface PastGrantState {
  readonly creditId: string
  readonly isOverdraft: boolean
  readonly grant: GrantState
}

/** A company from its facts, as it was at an instant. Its counters are empty: see `countPast`. */
export function pastCompany(facts: PastFacts, atMs: number): Company {
  const company = newCompany(facts.id, facts.environmentId)
  company.exists = true
  company.timeMs = atMs
  company.traits = NamedTexts.from(facts.traits.map(([name, value]) => [name, value, atMs, atMs]))
  const subscriptions = new Map<string, SubscriptionState>()
  for (const entry of effective(facts.history)) {
    if (entry.atMs > atMs) break
    if (entry.kind === 'plan') company.plan = entry.plan
    else if (entry.kind === 'add_ons') company.addOns = entry.addOns
    else if (entry.kind === 'subscription') {
      if (entry.state === null) subscriptions.delete(entry.id)
      else subscriptions.set(entry.id, entry.state)
    }
  }
  company.subscriptions = [...subscriptions.values()]
  company.overrides = facts.overrides
  company.overdraftLimit = facts.overdraftLimit
  for (const { creditId, isOverdraft, grant } of facts.grants) {
    let account = company.credits.get(creditId)
    if (account === undefined) {
      account = emptyAccount(company.id, creditId)
      company.credits.set(creditId, account)
    }
    if (isOverdraft) account.overdraft = grant
    else if (usable(grant, atMs)) account.grants = [...account.grants, grant]
  }
  return company
}

/** Count use that a company had at an instant. `fromMs`: when it counts from; 0: before every window. */
export function countPast(
  company: Company,
  uses: readonly { readonly subtype: string; readonly fromMs: number; readonly quantity: Quantity }[],
  cycle: Cycle | null,
  atMs: number,
): void {
  for (const { subtype, fromMs, quantity } of uses) {
    const counter = company.counters.get(subtype) ?? company.counters.add(subtype, atMs)
    addUsage(counter, quantity, fromMs, atMs, cycle)
  }
}
