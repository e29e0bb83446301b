// Snapshots for clients that evaluate by themselves: what is in them (FE-4, FE-5, FE-14, FE-52, EN-5).
import t from 'tap'
import { compileCatalog } from '../../../src/core/catalog.js'
import { newUser } from '../../../src/core/company/user.js'
import { engineCompany, engineFlag, engineUser } from '../../../src/core/evaluator/engine-shapes.js'
import { evaluate } from '../../../src/core/evaluator/evaluate-snapshot.js'
import { LiveCompany } from '../../../src/core/live/live-company.js'
import { emptyAccount } from '../../../src/core/model/account-state.js'
import { addUsage, newCounter } from '../../../src/core/usage/counter.js'
import {
  catalogData,
  company,
  condition,
  credit,
  entitlement,
  feature,
  flag,
  holding,
  override,
  plan,
  planVersion,
  postpaid,
  rule,
  subscription,
  trait,
} from '../make.js'

const now = Date.UTC(2026, 2, 15, 10)
const numeric = { valueType: 'numeric', valueNumeric: 5, metricPeriod: 'current_month' } as const
const catalog = compileCatalog(
  catalogData({
    traits: [trait('seats'), trait('role', { entityType: 'user', traitType: 'string' })],
    features: [feature('f')],
    flags: [
      flag('f', {
        rules: [
          rule('own', { conditions: [condition({ traitId: 'trt_seats', operator: 'gt', traitValue: '1' })] }),
        ],
      }),
    ],
    plans: [
      plan('extra', [entitlement('f', { id: 'x', valueType: 'unlimited' })], { planType: 'add_on' }),
      plan('pro', [], {
        versions: [
          planVersion('pro_v1', {
            entitlements: [entitlement('f', { id: 'p', ...numeric })],
            creditGrants: [postpaid('c1', '2.5')],
          }),
        ],
      }),
    ],
    credits: [credit('c1')],
  }),
)

t.test(
  'FE-4 a company: plans, balances, rolled counters, a period that runs, its overrides as rules',
  async t => {
    const counter = newCounter(now - 40 * 86_400_000)
    addUsage(counter, 3, now - 40 * 86_400_000, now - 40 * 86_400_000, null)
    const live = new LiveCompany(
      company({
        plan: holding('pro'),
        addOns: [holding('extra')],
        traits: { seats: '7', unknown: 'x' },
        counters: new Map([['f', counter]]),
        credits: new Map([['c1', emptyAccount('comp_1', 'c1')]]),
        overrides: [override('f', numeric), override('f', numeric, now)],
        subscriptions: [
          subscription({
            periodStartMs: Date.UTC(2026, 0, 20),
            periodEndMs: Date.UTC(2026, 1, 20),
            productIds: ['prod_1'],
          }),
          subscription({ id: 'bilsub_2', status: 'canceled', productIds: ['prod_2'] }),
        ],
      }),
      catalog,
      now,
    )
    const told = engineCompany(live)
    t.match(told, {
      account_id: 'acct_1',
      environment_id: 'env_1',
      id: 'comp_1',
      base_plan_id: 'pro',
      plan_ids: ['pro', 'extra'],
      plan_version_ids: ['pro_v1', 'extra_v1'],
      billing_product_ids: ['prod_1'],
      credit_balances: { c1: 0 },
      credit_postpaid: { c1: { overdraft_limit: 2.5 } },
      keys: { id: 'acme' },
      subscription: {
        id: 'bilsub_1',
        period_start: '2026-01-20T00:00:00.000Z',
        period_end: '2026-03-20T00:00:00.000Z',
      },
    })
    t.same(told.traits, [
      { value: '7', trait_definition: { id: 'trt_seats', comparable_type: 'int', entity_type: 'company' } },
    ])
    t.same(
      told.metrics.map(({ period, month_reset, value, valid_until }) => [
        period,
        month_reset,
        value,
        valid_until,
      ]),
      [
        ['all_time', 'first_of_month', 3, null],
        ['current_day', 'first_of_month', 0, '2026-03-16T00:00:00.000Z'],
        ['current_week', 'first_of_month', 0, '2026-03-22T00:00:00.000Z'],
        ['current_month', 'first_of_month', 0, '2026-04-01T00:00:00.000Z'],
        ['current_month', 'billing_cycle', 0, '2026-03-20T00:00:00.000Z'],
      ],
      'FE-5 ended windows are 0',
    )
    t.same(
      told.rules.map(({ flag_id, rule_type }) => [flag_id, rule_type]),
      [
        ['flag_f', 'company_override'],
        ['flag_f', 'company_override_usage_exceeded'],
      ],
      'FE-14 with the flag’s id; EN-61 the one that has ended is gone',
    )
    t.match(told.entitlements, [{ feature_key: 'f', value_type: 'unlimited' }])
  },
)

t.test('FE-4 without running subscription there is none', async t => {
  const told = engineCompany(new LiveCompany(company(), catalog, now))
  t.same([told.subscription, told.base_plan_id, told.plan_ids], [null, null, []])
})

t.test('EN-5 a flag: its own rules, then those of base plans, then of add-ons', async t => {
  const told = engineFlag(catalog, catalog.flags[0]!)
  t.same(
    told.rules.map(({ id }) => id),
    ['own', 'rule_p', 'rule_p_over', 'rule_x'],
  )
  t.same(told.rules[0]?.conditions[0]?.trait_definition, {
    id: 'trt_seats',
    comparable_type: 'int',
    entity_type: 'company',
  })
  t.match(told.rules[1]?.conditions, [
    { condition_type: 'plan_version', resource_ids: ['pro_v1'] },
    { condition_type: 'metric', metric_value: 5, metric_period_month_reset: 'first_of_month' },
  ])
})

t.test('a user: keys and traits that have a definition', async t => {
  const user = newUser('user_1', 'env_1')
  user.keys.put('email', 'a@b.c', 0, 0)
  user.traits.put('role', 'admin', 0, 0)
  user.traits.put('seats', '9', 0, 0)
  t.match(engineUser(user, catalog), {
    id: 'user_1',
    keys: { email: 'a@b.c' },
    traits: [{ value: 'admin', trait_definition: { id: 'trt_role', entity_type: 'user' } }],
    rules: [],
  })
  t.equal(engineUser(user, catalog).traits.length, 1)
})

t.test('FE-69 a snapshot says how a condition compares, and is decided so', async t => {
  const versions = compileCatalog(
    catalogData({
      traits: [trait('v', { traitType: 'string' })],
      flags: [
        flag('gate', {
          featureId: null,
          rules: [
            rule('newer', {
              conditions: [
                condition({ operator: 'gt', traitId: 'trt_v', traitValue: '1.9', comparableType: 'version' }),
              ],
            }),
          ],
        }),
      ],
    }),
  )
  const told = engineFlag(versions, versions.flags[0]!)
  t.match(told.rules[0]?.conditions, [
    { comparable_type: 'version', trait_definition: { comparable_type: 'string' } },
  ])
  for (const [v, value] of [
    ['1.10', true],
    ['1.8', false],
  ] as const) {
    const live = engineCompany(new LiveCompany(company({ traits: { v } }), versions, now))
    t.equal(evaluate(told, live, null, null, now).value, value, v)
  }
})
