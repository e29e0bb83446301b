// Budgets: how much of a credit may be spent in an hour, day, week or month by a company, a user or a group (BU-1). The
// amounts spent are part of the account: each draw and hold says which windows it counts in, so that replay needs no definitions.
import type { BudgetPeriod } from '../../../schemas/enums.js'
import type {
  BudgetPart,
  BudgetWindow,
  CreditAccount,
  HoldState,
  SpentWindow,
} from '../model/account-state.js'
import type { SpendPolicyDef } from '../model/definitions.js'
import {
  type Amount,
  amountFromDecimal,
  amountToDecimal,
  decodeAmount,
  encodeAmount,
  lesser,
} from '../values/amount.js'
import { dayMs, dayStart, hourMs, monthStart, nextMonthStart, weekMs, weekStart } from '../values/period.js'

/** The owner of a use. `trait`: of the event, else of the company. */
interface BudgetSubject {
  readonly companyId: string
  readonly userId: string | null
  trait(name: string): string | null
}

/** Whether any policy has a budget. */
export const haveBudgets = (policies: readonly SpendPolicyDef[]): boolean =>
  policies.some(({ window }) => window != null)

/** Whether any policy has a group, which traits decide. */
export const haveGroups = (policies: readonly SpendPolicyDef[]): boolean =>
  policies.some(({ group }) => group != null)

const none: readonly never[] = []
/** A window older than this is forgotten when use counts in a new one of any policy. */
const keptMs = 62 * dayMs

/** Windows in which a use counts now. source: BU-1, BU-2 */
export function budgetWindows(
  policies: readonly SpendPolicyDef[],
  creditId: string,
  subject: BudgetSubject,
  nowMs: number,
): readonly BudgetWindow[] {
  let windows: BudgetWindow[] | null = null
  for (const policy of policies) {
    const { window } = policy
    if (window == null || policy.creditId !== creditId || !concerns(policy, subject)) continue
    windows ??= []
    windows.push({
      policyId: policy.id,
      label: window.label,
      period: window.period,
      ...boundsOf(window.period, nowMs),
      max: amountFromDecimal(window.max) ?? 0n,
      hard: window.hard,
    })
  }
  return windows ?? none
}

/** Whether a policy is about a use. */
export function concerns({ companyId, userId, group }: SpendPolicyDef, subject: BudgetSubject): boolean {
  if (group != null) return subject.trait(group.trait) === group.value
  if (companyId !== null) return companyId === subject.companyId
  return userId !== null && userId === subject.userId
}

function boundsOf(period: BudgetPeriod, nowMs: number): { startMs: number; endMs: number } {
  switch (period) {
    case 'hour': {
      const startMs = Math.floor(nowMs / hourMs) * hourMs
      return { startMs, endMs: startMs + hourMs }
    }
    case 'day':
      return { startMs: dayStart(nowMs), endMs: dayStart(nowMs) + dayMs }
    case 'week':
      return { startMs: weekStart(nowMs), endMs: weekStart(nowMs) + weekMs }
    case 'month':
      return { startMs: monthStart(nowMs), endMs: nextMonthStart(nowMs) }
  }
}

/** Credits spent and held in a window so far. */
function spentIn({ spending }: Readonly<CreditAccount>, { policyId, startMs }: BudgetWindow): Amount {
  const had = spending.find(one => one.policyId === policyId)
  return had?.startMs === startMs ? had.spent : 0n
}

/** The hard window that an amount would exceed, as a sentence; null: none. source: BU-3 */
export function overBudget(
  account: Readonly<CreditAccount>,
  windows: readonly BudgetWindow[] | undefined,
  amount: Amount,
): string | null {
  if (windows === undefined || amount <= 0n) return null
  for (const window of windows) {
    if (!window.hard) continue
    const spent = spentIn(account, window)
    if (spent + amount <= window.max) continue
    const name = window.label === null ? window.policyId : `${window.label} (${window.policyId})`
    const most = `${amountToDecimal(window.max)} credits in ${window.period === 'hour' ? 'an' : 'a'} ${window.period}`
    const resets = new Date(window.endMs).toISOString()
    return `Spend policy ${name} allows ${most}, of which ${amountToDecimal(spent)} are spent; it resets at ${resets}`
  }
  return null
}

/** The most that hard windows leave; null: no window is hard. */
export function budgetRoom(
  account: Readonly<CreditAccount> | undefined,
  windows: readonly BudgetWindow[],
): Amount | null {
  let room: Amount | null = null
  for (const window of windows) {
    if (!window.hard) continue
    const left = window.max - (account === undefined ? 0n : spentIn(account, window))
    if (room === null || left < room) room = left
  }
  return room !== null && room < 0n ? 0n : room
}

/** Windows that an amount counts in, for the effect that spends it; undefined: none. */
export function budgetParts(
  windows: readonly BudgetWindow[] | undefined,
  amount: Amount,
): readonly BudgetPart[] | undefined {
  if (windows === undefined || windows.length === 0 || amount === 0n) return undefined
  const moved = encodeAmount(amount)
  return windows.map(
    ({ policyId, startMs, max, endMs }): BudgetPart => [policyId, startMs, moved, encodeAmount(max), endMs],
  )
}

/**
 * Windows in which a hold was not counted: what it pays counts there when it is used. A lease belongs to a company, so it is
 * counted in no window of a user or a group. source: BU-3, BU-4
 */
export function windowsBeside(
  windows: readonly BudgetWindow[] | undefined,
  { budget }: Readonly<HoldState>,
): readonly BudgetWindow[] | undefined {
  if (windows === undefined || budget === undefined) return windows
  return windows.filter(({ policyId }) => !budget.some(([counted]) => counted === policyId))
}

/** Credits that a hold gives back leave the windows they were counted in, the latest first. source: BU-4 */
export function budgetBack(
  { budget }: Readonly<HoldState>,
  amount: Amount,
): readonly BudgetPart[] | undefined {
  if (budget === undefined || amount === 0n) return undefined
  const left = new Map<string, Amount>()
  const parts: BudgetPart[] = []
  for (const [policyId, startMs, moved, max, endMs] of [...budget].reverse()) {
    const rest = left.get(policyId) ?? amount
    const back = lesser(rest, decodeAmount(moved))
    left.set(policyId, rest - back)
    if (back > 0n) parts.push([policyId, startMs, encodeAmount(-back), max, endMs])
  }
  return parts
}

/** Count parts of an effect. A return to a window that is over changes nothing. */
export function countSpending(account: CreditAccount, parts: readonly BudgetPart[]): void {
  for (const [policyId, startMs, moved] of parts) {
    const amount = decodeAmount(moved)
    const had = account.spending.find(one => one.policyId === policyId)
    if (had?.startMs !== startMs && amount <= 0n) continue
    const spent = had?.startMs === startMs ? had.spent + amount : amount
    const others = account.spending.filter(one => one.policyId !== policyId && one.startMs > startMs - keptMs)
    const window: SpentWindow = { policyId, startMs, spent: spent < 0n ? 0n : spent }
    account.spending = [...others, window]
  }
}
