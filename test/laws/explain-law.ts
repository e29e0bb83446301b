// An explanation promises, for any flag and company: the evaluator's value, reason and rule; and a change that, when it is
// made, gives the other value. Used by flag.test.ts on its random histories.
import { type Catalog, compileCatalog } from '../../src/core/catalog.js'
import { checkFlag } from '../../src/core/checks/check.js'
import { type Explanation, explainFlag } from '../../src/core/checks/explain.js'
import type { ExplainedRule } from '../../src/core/checks/explained.js'
import type { Company } from '../../src/core/model/company-state.js'
import type { CatalogData, ConditionDef, FlagDef } from '../../src/core/model/definitions.js'
import type { CheckContext, Preflight } from '../../src/core/model/requests.js'
import type { UserFacts } from '../../src/core/rules/rule.js'
import * as make from '../core/make.js'

/** How many changes were made and tried. */
export interface Tried {
  told: number
  byRules: number
  byLimits: number
  byTime: number
}

export interface Asked {
  readonly company: Company | null
  readonly facts: UserFacts | null
  readonly user: { readonly id: string; readonly traits: object } | null
  readonly preflight: Preflight | null
  readonly nowMs: number
}

/** The same definitions with a name of its own for each condition of a flag's own rules. */
export function withConditionIds(data: CatalogData): CatalogData {
  let n = 0
  const named = (one: ConditionDef): ConditionDef => ({ ...one, id: `cond_${++n}` })
  return {
    ...data,
    flags: data.flags.map(flag => ({
      ...flag,
      rules: flag.rules.map(rule => ({
        ...rule,
        conditions: rule.conditions.map(named),
        conditionGroups: rule.conditionGroups.map(group => group.map(named)),
      })),
    })),
  }
}

/** Explain each flag and compare. Throws with the first difference. */
export function explainsAll(data: CatalogData, catalog: Catalog, asked: Asked, tried: Tried): void {
  const { company, user } = asked
  const context: CheckContext = {
    companyGiven: company !== null,
    userGiven: user !== null,
    asked: '{}',
    userId: user?.id ?? null,
    userTraits:
      user === null ? null : Object.entries(user.traits).map(([name, text]) => [name, String(text)] as const),
  }
  const explain = (among: Catalog, flagKey: string, atMs: number) =>
    explainFlag(among, company, { flagKey, preflight: asked.preflight, context }, atMs)!
  const check = (among: Catalog, flagKey: string) =>
    checkFlag(among, flagKey, company, asked.facts, asked.preflight, asked.nowMs)!
  for (const flag of data.flags) {
    const told = explain(catalog, flag.key, asked.nowMs)
    const checked = check(catalog, flag.key)
    const fail = (words: string): never => {
      throw new Error(`${flag.key}: ${words}\n${JSON.stringify(told, null, 1)}`)
    }
    if (told.value !== checked.value || told.ruleId !== checked.ruleId || told.error !== checked.error)
      fail(`the evaluator says ${checked.value} by ${checked.ruleId}`)
    if (checked.ruleId !== null && told.reason !== checked.reason) fail(`the reason is ${checked.reason}`)
    if (told.error !== null) continue
    const decided = told.rules.filter(rule => rule.decided).map(({ id }) => id)
    if (String(decided) !== String(checked.ruleId ?? '')) fail(`decided by ${checked.ruleId}`)
    if (told.change === null) continue
    tried.told++
    const { change } = told
    const owners = told.rules.filter(rule =>
      conditionsOf(rule).some(({ id }) => change.conditionIds.includes(id)),
    )
    if (company !== null && owners.every(({ origin }) => origin === 'flag')) {
      tried.byRules++
      const turned = turnedRules(flag, told, company.id)
      const flags = data.flags.map(one => (one === flag ? turned : one))
      if (check(compileCatalog({ ...data, flags }), flag.key).value === told.value)
        fail('the change leaves the value as it is')
    }
    if (change.atMs !== null) {
      tried.byTime++
      const later = conditionsOf(
        explain(catalog, flag.key, change.atMs).rules.find(({ id }) => id === change.ruleId),
      )
      const before = conditionsOf(told.rules.find(({ id }) => id === change.ruleId))
      for (const { id, held, subject } of before)
        if (change.conditionIds.includes(id) && later.some(one => one.id === id && one.held === held))
          fail(`time does not turn ${subject}`)
    }
    triedLimit(data, told, limit => {
      const value = (n: bigint) => check(compileCatalog(withLimit(data, change.ruleId, n)), flag.key).value
      tried.byLimits++
      if (value(limit) === told.value) fail('the limit is not enough')
      if (limit > 1n && value(limit - 1n) !== told.value) fail('a lower limit is enough')
    })
  }
}

const conditionsOf = (rule: ExplainedRule | undefined) =>
  rule === undefined ? [] : [...rule.conditions, ...rule.conditionGroups.flat()]

/** The flag with the conditions of the change replaced by ones that come out the other way. */
function turnedRules(flag: FlagDef, { rules, change }: Explanation, companyId: string): FlagDef {
  const held = new Map(rules.flatMap(conditionsOf).map(one => [one.id, one.held]))
  const turn = (one: ConditionDef): ConditionDef =>
    change!.conditionIds.includes(one.id)
      ? make.condition({
          id: one.id,
          conditionType: 'company',
          operator: held.get(one.id) ? 'ne' : 'eq',
          resourceIds: [companyId],
        })
      : one
  return {
    ...flag,
    rules: flag.rules.map(rule => ({
      ...rule,
      conditions: rule.conditions.map(turn),
      conditionGroups: rule.conditionGroups.map(group => group.map(turn)),
    })),
  }
}

/** Calls with the limit, where the change is a higher one in a plan. */
function triedLimit(
  data: CatalogData,
  { change, rules }: Explanation,
  attempt: (limit: bigint) => void,
): void {
  const limit = /a limit of at least (\d+)$/.exec(change!.text)?.[1]
  const rule = rules.find(({ id }) => id === change!.ruleId)
  if (limit === undefined || rule?.origin !== 'plan' || change!.conditionIds.length !== 1) return
  const isLiteral = data.plans.some(plan =>
    plan.versions.some(({ entitlements }) =>
      entitlements.some(
        one => one.ruleId === rule.id && one.valueType === 'numeric' && one.priceBehavior === null,
      ),
    ),
  )
  if (isLiteral && BigInt(limit) < 2n ** 53n) attempt(BigInt(limit))
}

const withLimit = (data: CatalogData, ruleId: string, limit: bigint): CatalogData => ({
  ...data,
  plans: data.plans.map(plan => ({
    ...plan,
    versions: plan.versions.map(version => ({
      ...version,
      entitlements: version.entitlements.map(one =>
        one.ruleId === ruleId ? { ...one, valueNumeric: Number(limit) } : one,
      ),
    })),
  })),
})
