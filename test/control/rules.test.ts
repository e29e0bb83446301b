import t from 'tap'
import { type ConditionWrite, parseRulesUpdate, type RuleWrite } from '../../schemas/flags.js'
import { composeRules, type Known, type StoredRule } from '../../src/control/flags/rules.js'

const early = '2026-01-01T00:00:00.000Z'
const late = '2026-01-02T00:00:00.000Z'

const known: Known = {
  traitOf: id => (id === 'trt_company' || id === 'trt_other' ? 'company' : id === 'trt_user' ? 'user' : null),
  hasCredit: id => id === 'bcrd_1',
  hasResource: (_, id) => id === 'comp_1' || id === 'plan_1',
}

function compose(rules: RuleWrite[], present: StoredRule[] = [], now = early): StoredRule[] {
  let made = 0
  return composeRules({ rules }, present, known, now, prefix => `${prefix}${present.length}${made++}`)
}

const rule = (over: Partial<RuleWrite> = {}): RuleWrite => ({
  name: 'r',
  priority: 0,
  value: true,
  conditions: [],
  condition_groups: [],
  ...over,
})
const condition = (
  over: Partial<ConditionWrite> & Pick<ConditionWrite, 'condition_type'>,
): ConditionWrite => ({
  operator: 'eq',
  resource_ids: [],
  ...over,
})
const written = (over: Partial<ConditionWrite> & Pick<ConditionWrite, 'condition_type'>) =>
  compose([rule({ conditions: [condition(over)] })])[0]!.conditions[0]!

t.test('a new set gets ids and times', async t => {
  t.strictSame(
    compose([
      rule({
        condition_groups: [
          { conditions: [condition({ condition_type: 'company', resource_ids: ['comp_1', 'comp_1'] })] },
        ],
      }),
    ]),
    [
      {
        id: 'rule_02',
        name: 'r',
        rule_type: 'standard',
        priority: 0,
        value: true,
        conditions: [],
        condition_groups: [
          {
            id: 'cgrp_01',
            conditions: [
              {
                id: 'cond_00',
                resource_ids: ['comp_1'],
                trait_id: null,
                trait_value: '',
                comparison_trait_id: null,
                event_subtype: null,
                metric_period: null,
                metric_period_month_reset: null,
                metric_value: null,
                credit_id: null,
                consumption_rate: null,
                condition_type: 'company',
                operator: 'eq',
                created_at: early,
                updated_at: early,
              },
            ],
            created_at: early,
            updated_at: early,
          },
        ],
        created_at: early,
        updated_at: early,
      },
    ],
  )
})

t.test('FE-69 a trait condition says how it compares; absent is unchanged, null clears', async t => {
  const of = { condition_type: 'trait', operator: 'gt', trait_id: 'trt_company', trait_value: '1.9' } as const
  t.notOk('comparable_type' in written(of))
  const present = compose([rule({ conditions: [condition({ ...of, comparable_type: 'version' })] })])
  const { id } = present[0]!.conditions[0]!
  t.equal(present[0]!.conditions[0]!.comparable_type, 'version')
  const again = (more: object) =>
    compose([rule({ id: present[0]!.id, conditions: [condition({ ...of, id, ...more })] })], present)[0]!
      .conditions[0]!
  t.equal(again({}).comparable_type, 'version')
  t.notOk('comparable_type' in again({ comparable_type: null }))
  t.notOk('comparable_type' in again({ condition_type: 'company' }))
})

t.test('an entry with an id keeps it and its creation; an equal entry keeps its times', async t => {
  const present = compose([
    rule({ conditions: [condition({ condition_type: 'company', resource_ids: ['comp_1'] })] }),
    rule({ name: 'second' }),
  ])
  const [first, second] = present
  const again = compose(
    [
      rule({ id: second!.id, name: 'renamed' }),
      rule({
        id: first!.id,
        conditions: [
          condition({ id: first!.conditions[0]!.id, condition_type: 'company', resource_ids: ['comp_1'] }),
        ],
      }),
    ],
    present,
    late,
  )
  t.match(again[0], { id: second!.id, name: 'renamed', created_at: early, updated_at: late })
  t.equal(again[1], first, 'untouched')
  const changed = compose([rule({ id: first!.id, value: false })], present, late)
  t.match(changed, [{ id: first!.id, value: false, conditions: [], created_at: early, updated_at: late }])
  t.equal(changed.length, 1, 'what is not named goes')
})

t.test('EN-5 rules of entitlements are generated, never written', async t => {
  for (const type of [
    'plan_entitlement',
    'plan_entitlement_usage_exceeded',
    'company_override',
    'company_override_usage_exceeded',
  ] as const)
    t.throws(() => compose([rule(), rule({ rule_type: type })]), {
      status: 400,
      message: /^rules\[1\]\.rule_type: /,
    } as never)
  for (const type of ['standard', 'default', 'global_override'] as const)
    t.equal(compose([rule({ rule_type: type })])[0]!.rule_type, type)
})

t.test('ids that are foreign, unknown or there twice are refused by name', async t => {
  const present = compose([rule({ condition_groups: [{ conditions: [] }] })])
  const [{ id, condition_groups: groups }] = present as [StoredRule]
  const refused = (rules: RuleWrite[], member: string) =>
    t.throws(() => compose(rules, present), { status: 400, message: member } as never)
  refused([rule({ id: 'rule_foreign' })], 'rules[0].id: no such entry among the present rules of the flag')
  refused([rule({ id: groups[0]!.id })], 'rules[0].id: no such entry among the present rules of the flag')
  refused([rule({ id }), rule({ id })], 'rules[1].id: is there twice')
  refused(
    [rule({ condition_groups: [{ id: 'cgrp_x', conditions: [] }] })],
    'rules[0].condition_groups[0].id: no such entry among the present rules of the flag',
  )
  refused(
    [rule({ conditions: [condition({ id: 'cond_x', condition_type: 'company' })] })],
    'rules[0].conditions[0].id: no such entry among the present rules of the flag',
  )
})

t.test('a condition without a required member is refused, by name', async t => {
  const refused = (over: Parameters<typeof written>[0], member: RegExp) =>
    t.throws(() => written(over), { status: 400, message: member } as never)
  refused({ condition_type: 'trait' }, /^rules\[0\]\.conditions\[0\]\.trait_id: needed/)
  refused({ condition_type: 'trait', trait_id: 'trt_none' }, /\.trait_id: this environment has no such trait/)
  refused({ condition_type: 'metric', metric_value: 1 }, /\.event_subtype: needed/)
  refused({ condition_type: 'metric', event_subtype: '', metric_value: 1 }, /\.event_subtype: needed/)
  refused({ condition_type: 'metric', event_subtype: 'call' }, /\.metric_value: needed/)
  refused({ condition_type: 'credit' }, /\.credit_id: needed/)
  refused(
    { condition_type: 'credit', credit_id: 'bcrd_2' },
    /\.credit_id: this environment has no such credit/,
  )
  refused(
    { condition_type: 'company', resource_ids: ['comp_1', 'comp_2'] },
    /\.resource_ids\[1\]: this environment has no such company/,
  )
  refused({ condition_type: 'base_plan', resource_ids: ['plan_2'] }, /\.resource_ids\[0\]: .* base plan/)
})

t.test(
  'FE-62 FE-44 a comparison trait is of the same entity; a metric compares with a company trait',
  async t => {
    const trait = { condition_type: 'trait', trait_id: 'trt_company' } as const
    t.match(written({ ...trait, comparison_trait_id: 'trt_other' }), { comparison_trait_id: 'trt_other' })
    t.throws(
      () => written({ ...trait, comparison_trait_id: 'trt_user' }),
      /comparison_trait_id: must be a company trait/,
    )
    const metric = { condition_type: 'metric', event_subtype: 'call' } as const
    t.match(written({ ...metric, comparison_trait_id: 'trt_company' }), {
      comparison_trait_id: 'trt_company',
      metric_value: 0,
    })
    t.throws(() => written({ ...metric, comparison_trait_id: 'trt_user' }), /must be a company trait/)
  },
)

t.test('FE-42 a metric condition always carries a value, also where the operator takes none', async t => {
  const metric = { condition_type: 'metric', event_subtype: 'call' } as const
  t.match(written({ ...metric, operator: 'is_empty' }), { metric_value: 0 })
  t.match(written({ ...metric, operator: 'not_empty' }), { metric_value: 0 })
  t.match(written({ ...metric, metric_value: -3 }), { metric_value: -3 })
})

t.test('FE-43 periods and resets are normalised', async t => {
  const metric = { condition_type: 'metric', event_subtype: 'call', metric_value: 1 } as const
  const settled = (over: Partial<ConditionWrite>) => {
    const { metric_period, metric_period_month_reset } = written({ ...metric, ...over })
    return [metric_period, metric_period_month_reset]
  }
  t.same(settled({}), ['all_time', null])
  t.same(settled({ metric_period: 'current_month' }), ['current_month', 'first_of_month'])
  t.same(settled({ metric_period: 'current_month', metric_period_month_reset: 'billing_cycle' }), [
    'current_month',
    'billing_cycle',
  ])
  t.same(settled({ metric_period: 'current_week', metric_period_month_reset: 'billing_cycle' }), [
    'current_week',
    'first_of_month',
  ])
})

t.test('credit_cost is the consumption rate; members of other types are dropped', async t => {
  const full = {
    trait_id: 'trt_company',
    trait_value: 'x',
    event_subtype: 'call',
    metric_period: 'current_day',
    metric_value: 5,
    credit_id: 'bcrd_1',
    credit_cost: 2.5,
    resource_ids: ['comp_1'],
  } as const
  const given = (type: ConditionWrite['condition_type']) =>
    Object.entries(written({ ...full, resource_ids: ['comp_1'], condition_type: type }))
      .filter(([name, value]) =>
        name in full || name === 'consumption_rate' ? value !== null && value !== '' : false,
      )
      .filter(([, value]) => !Array.isArray(value) || value.length > 0)
      .map(([name]) => name)
      .sort()
  t.same(given('company'), ['resource_ids'])
  t.same(given('trait'), ['trait_id', 'trait_value'])
  t.same(given('metric'), ['event_subtype', 'metric_period', 'metric_value'])
  t.same(given('credit'), ['consumption_rate', 'credit_id', 'event_subtype'])
  t.equal(written({ ...full, resource_ids: [], condition_type: 'credit' }).consumption_rate, 2.5)
})

t.test(
  'section 4 an unknown operator, type or period does not pass the parser, and it names the member',
  async t => {
    const body = (over: object) =>
      JSON.stringify({
        rules: [{ ...rule(), conditions: [{ ...condition({ condition_type: 'company' }), ...over }] }],
      })
    const faults = (text: string) => {
      const parsed = parseRulesUpdate(text)
      return parsed.success ? [] : parsed.errors.map(error => error.path)
    }
    t.same(faults(body({})), [])
    t.same(faults(body({ operator: 'like' })), ['$input.rules[0].conditions[0].operator'])
    t.same(faults(body({ condition_type: 'weather' })), ['$input.rules[0].conditions[0].condition_type'])
    t.same(faults(body({ metric_period: 'current_year' })), ['$input.rules[0].conditions[0].metric_period'])
    const many = (count: number) => JSON.stringify({ rules: Array.from({ length: count }, () => rule()) })
    t.same(faults(many(100)), [])
    t.same(faults(many(101)), ['$input.rules'])
    const conditions = (count: number) =>
      JSON.stringify({
        rules: [
          rule({ conditions: Array.from({ length: count }, () => condition({ condition_type: 'company' })) }),
        ],
      })
    t.same(faults(conditions(100)), [])
    t.same(faults(conditions(101)), ['$input.rules[0].conditions'])
  },
)
