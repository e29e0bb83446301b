// Conditions and groups where the conformance cases are silent, and what a preflight may be (FE).
import t from 'tap'
import type { ComparableOperator, ConditionType } from '../../../schemas/enums.js'
import type { ConditionDef } from '../../../src/core/model/definitions.js'
import type { Preflight } from '../../../src/core/model/requests.js'
import {
  type CompanyFacts,
  compileCondition,
  compileRule,
  groupRules,
  hypothesis,
  matches,
  nothingAsked,
  preflightError,
} from '../../../src/core/rules/rule.js'
import { amountFromNumber } from '../../../src/core/values/amount.js'
import type { TraitRef } from '../../../src/core/values/trait.js'
import { condition, rule } from '../make.js'

const facts = (some: Partial<CompanyFacts> & { readonly balance?: number } = {}): CompanyFacts => ({
  id: 'comp_1',
  basePlanId: null,
  onPlan: () => false,
  onVersion: () => false,
  hasProduct: () => false,
  counter: () => 0,
  test: (counter, more, than) => counter.holds(0, more, than),
  resetsAt: () => null,
  traitText: () => null,
  traitType: ({ comparableType }) => comparableType,
  remaining: () => amountFromNumber(some.balance ?? 0),
  figures: () => ({ remaining: 0n, reserved: 0n, settled: 0n, total: 0n }),
  overdraft: () => null,
  spendCap: () => null,
  ...some,
})
const traits: Record<string, TraitRef> = {
  seats: { id: 'seats', entityType: 'company', name: 'seats', comparableType: 'int' },
}
const compile = (some: Partial<ConditionDef>) => compileCondition(condition(some), id => traits[id] ?? null)
const preflight = (some: Partial<Preflight>): Preflight => ({
  usage: null,
  eventUsage: null,
  creditCost: null,
  ...some,
})
const holds = (some: Partial<ConditionDef>, company: CompanyFacts | null, asked: Preflight | null = null) =>
  compile(some)({ company, user: null, asked: asked ? hypothesis(asked) : nothingAsked })

t.test('FE-48 quantity rates price a request at 0 unless said, and need a balance above zero', async t => {
  const inference = {
    conditionType: 'credit',
    operator: 'lt',
    creditId: 'c1',
    quantityRates: { input_tokens: 0.001 },
  } as const
  t.equal(holds(inference, facts({ balance: 0.000000001 })), true)
  t.equal(holds(inference, facts({ balance: 0 })), false, 'the tokens to come are not known')
  t.equal(holds({ ...inference, operator: 'gte' }, facts({ balance: 0 })), true, 'its twin then holds')
  t.equal(holds({ ...inference, consumptionRate: 2 }, facts({ balance: 1.5 })), false)
  t.equal(holds({ ...inference, consumptionRate: 2 }, facts({ balance: 2 })), true)
  const requests = preflight({ usage: 3 })
  t.equal(
    holds({ ...inference, consumptionRate: 2 }, facts({ balance: 5 }), requests),
    false,
    'requests = usage',
  )
  t.equal(holds({ ...inference, consumptionRate: 2 }, facts({ balance: 6 }), requests), true)
  const free = preflight({ creditCost: { c1: 0 } })
  t.equal(holds(inference, facts({ balance: 0 }), free), true, 'FE-81 a cost that is given is known')
  const limit = (credits: number) => ({ overdraft: () => ({ limit: amountFromNumber(credits) }) })
  t.equal(holds(inference, facts({ balance: 0, ...limit(1) })), true, 'overdraft room counts')
  t.equal(holds(inference, facts({ balance: -1, ...limit(1) })), false)
  t.equal(holds({ ...inference, quantityRates: {} }, facts({ balance: 0.5 })), false, 'no rates: as without')
})

t.test('FE-45, CR-2 need is exact: three at 0.1 fit into 0.3', async t => {
  const credit = { conditionType: 'credit', operator: 'lt', creditId: 'c1', consumptionRate: 0.1 } as const
  t.equal(holds(credit, facts({ balance: 0.3 }), preflight({ usage: 3 })), true)
  t.equal(holds(credit, facts({ balance: 0.299999999 }), preflight({ usage: 3 })), false)
})

t.test('FE-82 an event without subtype in the condition falls to usage', async t => {
  const credit = { conditionType: 'credit', operator: 'lt', creditId: 'c1' } as const
  const used = preflight({ usage: 2, eventUsage: { eventSubtype: 'a', quantity: 9 } })
  t.equal(holds(credit, facts({ balance: 2 }), used), true)
})

t.test('FE-31 without company no condition on one holds, with any operator', async t => {
  for (const conditionType of ['company', 'plan', 'plan_version', 'billing_product', 'base_plan'] as const)
    for (const operator of ['eq', 'ne', 'is_empty', 'not_empty'] as const)
      t.equal(holds({ conditionType, operator }, null), false, `${conditionType} ${operator}`)
  t.equal(holds({ conditionType: 'metric', eventSubtype: 'a', metricValue: 0, operator: 'gte' }, null), false)
  t.equal(holds({ conditionType: 'credit', creditId: 'c1', operator: 'gte' }, null), false)
  t.equal(holds({ conditionType: 'user', operator: 'ne' }, facts()), false)
  t.equal(holds({ conditionType: 'trait', traitId: 'seats', operator: 'ne' }, null), false, 'FE-61')
})

t.test('section 4: an unknown type or operator does not hold', async t => {
  t.equal(holds({ conditionType: 'weather' as ConditionType, operator: 'ne' }, facts()), false)
  for (const conditionType of ['company', 'plan', 'base_plan', 'metric', 'credit', 'trait'] as const)
    t.equal(
      holds(
        {
          conditionType,
          operator: 'like' as ComparableOperator,
          resourceIds: ['comp_1'],
          eventSubtype: 'a',
          metricValue: 0,
          creditId: 'c1',
          traitId: 'seats',
        },
        facts({ balance: 9 }),
      ),
      false,
      conditionType,
    )
})

t.test('FE-60 the stored trait’s type decides over the condition’s', async t => {
  const stored = facts({ traitText: () => '10', traitType: () => 'string' })
  const less = { conditionType: 'trait', traitId: 'seats', operator: 'lt', traitValue: '9' } as const
  t.equal(holds(less, stored), true, 'as strings')
  t.equal(holds(less, facts({ traitText: () => '10' })), false, 'as numbers')
})

t.test('FE-84 usage reaches int traits whose stored type says so', async t => {
  const limit = { conditionType: 'trait', traitId: 'seats', operator: 'lt', traitValue: '10' } as const
  t.equal(holds(limit, facts({ traitText: () => '9' }), preflight({ usage: 1 })), false)
  t.equal(
    holds(limit, facts({ traitText: () => '9', traitType: () => 'string' }), preflight({ usage: 1 })),
    false,
  )
  t.equal(
    holds(limit, facts({ traitText: () => '09', traitType: () => 'string' }), preflight({ usage: 9 })),
    true,
  )
})

t.test('FE-86 what a preflight may not be', async t => {
  const negative = 'preflight usage cannot be negative'
  t.equal(preflightError(preflight({ usage: -1 })), negative)
  t.equal(preflightError(preflight({ eventUsage: { eventSubtype: 'x', quantity: -1 } })), negative)
  t.equal(
    preflightError(preflight({ creditCost: { a: 1, b: -0.5 } })),
    'preflight credit cost cannot be negative',
  )
  t.equal(preflightError(preflight({ usage: 1.5 })), 'preflight usage must be an integer')
  t.equal(
    preflightError(preflight({ creditCost: { a: Number.NaN } })),
    'preflight credit cost must be a number',
  )
  t.equal(preflightError(preflight({ usage: 0, creditCost: { a: 0 } })), null)
})

t.test('FE-83 zero usage and quantity are as if absent, a zero cost is not', async t => {
  const asked = hypothesis(
    preflight({ usage: 0, eventUsage: { eventSubtype: 'a', quantity: 0 }, creditCost: { c1: 0 } }),
  )
  t.equal(asked.usage, 0)
  t.equal(asked.costs?.get('c1'), 0n)
  const metric = compile({ conditionType: 'metric', eventSubtype: 'a', metricValue: 1, operator: 'lt' })
  t.equal(metric({ company: facts(), user: null, asked }), true)
})

t.test('FE-20, FE-21 all conditions and of every group at least one; an empty group never', async t => {
  const yes = condition({ conditionType: 'company', resourceIds: ['comp_1'] })
  const no = condition({ conditionType: 'company' })
  const check = { company: facts(), user: null, asked: nothingAsked }
  const match = (conditions: ConditionDef[], ...conditionGroups: ConditionDef[][]) =>
    matches(
      compileRule(rule('r', { conditions, conditionGroups }), () => null),
      check,
    )
  t.equal(match([]), true)
  t.equal(match([yes, no]), false)
  t.equal(match([yes], [no, yes], [yes]), true)
  t.equal(match([yes], [no], [yes]), false)
  t.equal(match([yes], []), false)
})

t.test('FE-11…13 groups: priority for standard alone, true before false for entitlement types', async t => {
  const made = (
    [
      ['s2', 'standard', 2, true],
      ['s0', 'standard', 0, true],
      ['s0b', 'standard', 0, false],
      ['s-1', 'standard', -1, false],
      ['p-no', 'plan_entitlement', 0, false],
      ['p-yes', 'plan_entitlement', 9, true],
      ['d2', 'default', 2, true],
      ['d1', 'default', 1, false],
      ['g2', 'global_override', 2, false],
      ['g1', 'global_override', 1, true],
    ] as const
  ).map(([id, ruleType, priority, value]) => ({
    rule: compileRule(rule(id, { ruleType, value }), () => null),
    priority,
  }))
  const groups = groupRules(made)
  const ids = (type: keyof typeof groups) => groups[type].map(({ id }) => id)
  t.same(ids('standard'), ['s-1', 's0', 's0b', 's2'])
  t.same(ids('plan_entitlement'), ['p-yes', 'p-no'])
  t.same(ids('default'), ['d2', 'd1'])
  t.same(ids('global_override'), ['g2', 'g1'])
})

t.test('FE-75 the reason quotes the rule as it is named', async t => {
  const made = compileRule(
    rule('rule_1', { name: 'A "b" \\', ruleType: 'company_override_usage_exceeded', value: false }),
    () => null,
  )
  t.equal(made.reason, 'Matched company override usage exceeded rule "A "b" \\" (rule_1)')
  t.same(JSON.parse(`{${made.json}}`), {
    value: false,
    reason: made.reason,
    rule_id: 'rule_1',
    rule_type: 'company_override_usage_exceeded',
  })
})
