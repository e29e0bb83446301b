import t from 'tap'
import type { FeatureDetail } from '../../schemas/features.js'
import type { FlagDetail, RuleDetail, RulesDetail } from '../../schemas/flags.js'
import type { EntityTraitDefinition } from '../../schemas/traits.js'
import * as features from '../../src/control/features/handlers.js'
import * as flags from '../../src/control/flags/handlers.js'
import * as members from '../../src/control/members/handlers.js'
import * as traits from '../../src/control/traits/handlers.js'
import type { EntitlementDef, PlanDef } from '../../src/core/model/definitions.js'
import { CheckedFlags } from '../../src/entities/directory/last-seen.js'
import { isoPattern, openHouse } from './house.js'

t.test('flags, rules and traits', async t => {
  const house = await openHouse(t)
  const { services, development, production, accountId } = house
  const { sql } = services
  const body = (over: object = {}) => ({
    key: 'exports',
    name: 'Exports',
    description: 'may export',
    default_value: false,
    flag_type: 'boolean',
    ...over,
  })
  const create = (over: object = {}) => house.data<FlagDetail>(flags.createFlag, { body: body(over) })
  const get = (id: string, environment = development) =>
    house.data<FlagDetail>(flags.getFlag, { params: { flag_id: id }, environment })
  const put = (id: string, rules: object[], environment = development) =>
    house.data<RulesDetail>(flags.putRules, { params: { flag_id: id }, body: { rules }, environment })
  const rule = (over: object = {}) => ({
    name: 'r',
    priority: 0,
    value: true,
    conditions: [],
    condition_groups: [],
    ...over,
  })
  const defined = (id: string) => services.catalogs.get(development.id).flags.find(flag => flag.id === id)

  await sql`insert into account_members ${sql({
    id: 'acme_1',
    account_id: accountId,
    email: 'ann@example.com',
    name: 'Ann',
    role: 'admin',
    permissions: sql.json({ account: ['flags_edit'] }),
    created_at: new Date(0),
    updated_at: new Date(0),
  })}`
  const ann = {
    id: 'acme_1',
    email: 'ann@example.com',
    name: 'Ann',
    first_name: null,
    last_name: null,
    image_url: null,
    role: 'admin',
    permissions: { account: ['flags_edit'] },
    console_roles: { '*': 'admin' },
    disabled: false,
    source: 'file',
    signed_in_at: null,
    created_at: '1970-01-01T00:00:00.000Z',
    updated_at: '1970-01-01T00:00:00.000Z',
  }

  await t.test('members of the account', async t => {
    t.strictSame(await house.data(members.listAccountMembers), [ann])
    t.strictSame(await house.data(members.getAccountMember, { params: { account_member_id: 'acme_1' } }), ann)
    t.match(await house.fails(members.getAccountMember, { params: { account_member_id: 'acme_2' } }), {
      status: 404,
    })
    for (const [query, count] of [
      [{ q: 'EXAMPLE' }, 1],
      [{ q: '%' }, 0],
      [{ role: 'member' }, 0],
      [{ role: 'admin', ids: ['acme_1', 'x'] }, 1],
    ] as const)
      t.same(await house.data(members.countAccountMembers, { query }), { count }, JSON.stringify(query))
    const foreign = { ...house.admin, accountId: 'acct_other' }
    t.same(await house.data(members.listAccountMembers, { key: foreign }), [])
  })

  await t.test('a flag is shown whole', async t => {
    const answer = await house.ask(flags.createFlag, {
      body: body({ maintainer_account_member_id: 'acme_1' }),
    })
    const made = answer.data as FlagDetail
    t.equal(answer.status, 201)
    t.match(made.id, /^flag_\w{11}$/)
    t.match(made.created_at, isoPattern)
    t.strictSame(made, {
      id: made.id,
      key: 'exports',
      name: 'Exports',
      description: 'may export',
      flag_type: 'boolean',
      default_value: false,
      feature_id: null,
      maintainer_account_member_id: 'acme_1',
      created_at: made.created_at,
      updated_at: made.created_at,
      rules: [],
      maintainer: ann as never,
      last_checked_at: null,
    })
    t.strictSame(await get(made.id), made)
    t.match(defined(made.id), { key: 'exports', defaultValue: false, rules: [] })
    t.ok(
      services.catalogs.get(production.id).flags.some(flag => flag.id === made.id),
      'PB-1 in every environment',
    )
    t.match(await house.fails(flags.createFlag, { body: body() }), { status: 400, error: /^key: / })
    t.match(await house.fails(flags.createFlag, { body: body({ key: 'x', feature_id: 'feat_none' }) }), {
      status: 404,
    })
    t.match(
      await house.fails(flags.createFlag, { body: body({ key: 'x', maintainer_account_member_id: 'a' }) }),
      { status: 404 },
    )

    const params = { flag_id: made.id }
    const change = (over: object) => house.data<FlagDetail>(flags.changeFlag, { params, body: body(over) })
    t.match(await change({ default_value: true, name: 'N' }), {
      name: 'N',
      default_value: true,
      maintainer_account_member_id: 'acme_1',
    })
    t.match(await change({ maintainer_account_member_id: null }), { maintainer_account_member_id: null })
    t.match(defined(made.id), { name: 'Exports', defaultValue: false })
    t.match(await house.fails(flags.changeFlag, { params: { flag_id: 'flag_none' }, body: body() }), {
      status: 404,
    })
    services.checkedFlags.note(development.id, 'exports', 2_000)
    services.checkedFlags.note(development.id, 'exports', 1_000)
    services.checkedFlags.note(development.id, 'gone', 3_000)
    t.equal(
      (await get(made.id)).last_checked_at,
      '1970-01-01T00:00:02.000Z',
      'FE-102 monotonic, and seen at once',
    )
    await services.checkedFlags.flush(sql)
    const restarted = new CheckedFlags()
    restarted.note(development.id, 'exports', 1_500)
    await restarted.flush(sql)
    const [row] = await sql<{ at: Date }[]>`select last_checked_at as at from flag_last_checks`
    t.equal(row!.at.getTime(), 2_000, 'it survives a restart')
    t.equal((await get(made.id, production)).last_checked_at, null)
  })

  await t.test('flags are listed newest first, filtered and counted', async t => {
    const second = await create({ key: 'imports', name: 'Imports 100%' })
    const list = (query: object) => house.data<FlagDetail[]>(flags.listFlags, { query })
    t.same(
      (await list({})).map(flag => flag.key),
      ['imports', 'exports'],
    )
    t.same(
      (await list({ limit: 1, offset: 1 })).map(flag => flag.key),
      ['exports'],
    )
    for (const [query, keys] of [
      [{ q: 'IMPORT' }, ['imports']],
      [{ q: second.id }, ['imports']],
      [{ q: '0%' }, ['imports']],
      [{ q: 'exp_rts' }, []],
      [{ ids: [second.id] }, ['imports']],
      [{ feature_id: 'feat_x' }, []],
    ] as const) {
      t.same(
        (await list(query)).map(flag => flag.key),
        keys,
        JSON.stringify(query),
      )
      t.same(await house.data(flags.countFlags, { query }), { count: keys.length })
    }
    const foreign = { ...house.admin, accountId: 'acct_other' }
    t.match(await house.fails(flags.getFlag, { key: foreign, params: { flag_id: second.id } }), {
      status: 404,
    })
    t.match(await house.fails(flags.deleteFlag, { key: foreign, params: { flag_id: second.id } }), {
      status: 404,
    })
    t.same(await house.data(flags.deleteFlag, { params: { flag_id: second.id } }), { deleted: true })
    t.match(await house.fails(flags.deleteFlag, { params: { flag_id: second.id } }), { status: 404 })
    t.equal(defined(second.id), undefined)
  })

  await t.test('trait definitions: made, found, retyped, counted', async t => {
    const post = (over: object, environment = development) =>
      house.data<EntityTraitDefinition>(traits.getOrCreateTraitDefinition, {
        body: { entity_type: 'company', trait_type: 'number', hierarchy: ['plan', 'seats'], ...over },
        environment,
      })
    const made = await post({})
    t.strictSame(made, {
      id: made.id,
      display_name: 'plan.seats',
      entity_type: 'company',
      hierarchy: ['plan', 'seats'],
      trait_type: 'number',
      created_at: made.created_at,
      updated_at: made.created_at,
    })
    t.strictSame(await post({ trait_type: 'string' }), made, 'CU-31 an existing one keeps its type')
    t.not((await post({}, production)).id, made.id)
    const params = { entity_trait_definition_id: made.id }
    const update = { trait_type: 'currency', display_name: 'Seats' }
    t.match(await house.data(traits.updateTraitDefinition, { params, body: update }), update)
    t.match(services.catalogs.get(development.id).traits, [{ id: made.id, traitType: 'currency' }])
    t.equal(services.traits.byId(development.id, made.id)!.traitType, 'currency')
    t.match(await house.fails(traits.getTraitDefinition, { params, environment: production }), {
      status: 404,
    })

    services.traits.introduce(development.id, 'user', 'age', ['age'], 'number')
    const age = services.traits.find(development.id, 'user', 'age')!
    t.match(
      await house.data(traits.getTraitDefinition, { params: { entity_trait_definition_id: age.id } }),
      { display_name: 'age', entity_type: 'user', trait_type: 'number' },
      'one that was only seen so far is there too',
    )
    for (const [query, count] of [
      [{}, 2],
      [{ entity_type: 'user' }, 1],
      [{ q: 'SEATS' }, 1],
      [{ trait_type: 'number' }, 1],
      [{ trait_types: ['number', 'currency'] }, 2],
      [{ ids: [made.id] }, 1],
    ] as const) {
      t.same(await house.data(traits.countTraitDefinitions, { query }), { count }, JSON.stringify(query))
      t.equal((await house.data<unknown[]>(traits.listTraitDefinitions, { query })).length, count)
    }
    const unused = { params: { entity_trait_definition_id: age.id } }
    t.same(await house.data(traits.deleteTraitDefinition, unused), { deleted: true })
    t.equal(services.traits.byId(development.id, age.id), null)
    t.notOk(services.catalogs.get(development.id).traits.some(trait => trait.id === age.id))
    t.match(await house.fails(traits.deleteTraitDefinition, unused), { status: 404 })
  })

  await t.test('rules are shown whole, with what they name', async t => {
    const flag = await create({ key: 'ruled' })
    const seats = services.traits.find(development.id, 'company', 'plan.seats')!
    services.directory.load(development.id, 'comp_acmeacmeacm')
    await sql`insert into companies ${sql({ id: 'comp_acmeacmeacm', environment_id: development.id, name: 'Acme', created_at: new Date(), updated_at: new Date() })}`
    const { rules, flag: shown } = await put(flag.id, [
      rule({
        name: 'big',
        priority: -1,
        conditions: [{ condition_type: 'company', operator: 'ne', resource_ids: ['comp_acmeacmeacm'] }],
        condition_groups: [
          {
            conditions: [
              {
                condition_type: 'trait',
                operator: 'gte',
                resource_ids: [],
                trait_id: seats.id,
                trait_value: '10',
              },
            ],
          },
        ],
      }),
    ])
    const [made] = rules
    const at = made!.created_at
    const common = {
      account_id: house.accountId,
      environment_id: development.id,
      flag_id: flag.id,
      rule_id: made!.id,
      comparison_trait_id: null,
      event_subtype: null,
      metric_period: null,
      metric_period_month_reset: null,
      metric_value: null,
      credit_id: null,
      consumption_rate: null,
      created_at: at,
      updated_at: at,
    }
    const expected: RuleDetail = {
      id: made!.id,
      account_id: house.accountId,
      environment_id: development.id,
      flag_id: flag.id,
      name: 'big',
      rule_type: 'standard',
      priority: -1,
      value: true,
      conditions: [
        {
          ...common,
          id: made!.conditions[0]!.id,
          condition_group_id: null,
          condition_type: 'company',
          operator: 'ne',
          resource_ids: ['comp_acmeacmeacm'],
          resources: [{ id: 'comp_acmeacmeacm', name: 'Acme', description: null, image_url: null }],
          trait_id: null,
          trait_entity_type: null,
          trait_value: '',
        },
      ],
      condition_groups: [
        {
          id: made!.condition_groups[0]!.id,
          environment_id: development.id,
          flag_id: flag.id,
          rule_id: made!.id,
          conditions: [
            {
              ...common,
              id: made!.condition_groups[0]!.conditions[0]!.id,
              condition_group_id: made!.condition_groups[0]!.id,
              condition_type: 'trait',
              operator: 'gte',
              resource_ids: [],
              resources: [],
              trait_id: seats.id,
              trait: await house.data<EntityTraitDefinition>(traits.getTraitDefinition, {
                params: { entity_trait_definition_id: seats.id },
              }),
              trait_definition: { id: seats.id, entity_type: 'company', comparable_type: 'int' },
              trait_entity_type: 'company',
              trait_value: '10',
            },
          ],
          created_at: at,
          updated_at: at,
        },
      ],
      created_at: at,
      updated_at: at,
    }
    t.strictSame(rules, [expected])
    const { rules: _, last_checked_at: __, ...brief } = flag
    t.strictSame(shown, brief)
    t.strictSame((await get(flag.id)).rules, [expected])
    t.same((await get(flag.id, production)).rules, [], 'rules are of one environment')
    const account = await house.data<FlagDetail>(flags.getFlag, {
      params: { flag_id: flag.id },
      environment: null,
    })
    t.same(
      account.rules.map(({ id }) => id),
      [made!.id],
      'and of all at the level of the account',
    )
    t.match(defined(flag.id)!.rules, [
      {
        id: made!.id,
        priority: -1,
        conditionGroups: [[{ traitId: seats.id, traitValue: '10', operator: 'gte' }]],
      },
    ])

    const params = { entity_trait_definition_id: seats.id }
    t.match(await house.data(traits.getTraitDefinitionUsage, { params }), {
      rule_condition_count: 1,
      feature_count: 0,
    })
    t.match(await house.fails(traits.deleteTraitDefinition, { params }), {
      status: 400,
      error: /rule_condition_count 1/,
    })
    t.match(await house.fails(flags.putRules, { params: { flag_id: 'flag_none' }, body: { rules: [] } }), {
      status: 404,
    })
    t.match(
      await house.fails(flags.putRules, {
        params: { flag_id: flag.id },
        body: { rules: [] },
        environment: null,
      }),
      { status: 400 },
    )
    const refused = await house.fails(flags.putRules, {
      params: { flag_id: flag.id },
      body: { rules: [rule({ id: made!.id })] },
      environment: production,
    })
    t.match(refused, { status: 400, error: /^rules\[0\]\.id/ }, 'a rule of another environment is foreign')
    t.strictSame((await get(flag.id)).rules, [expected], 'a refused set changes nothing')

    const reordered = await put(flag.id, [
      rule({ name: 'new' }),
      { ...rule({ name: 'big', priority: -1 }), id: made!.id },
    ])
    t.same(
      reordered.rules.map(({ name }) => name),
      ['new', 'big'],
      'FE-12 in the order written',
    )
    t.same(
      (await get(flag.id)).rules.map(({ name }) => name),
      ['new', 'big'],
    )
    t.equal((await put(flag.id, [])).rules.length, 0)
  })

  await t.test('two who write the rules of one flag at once: one order, no update lost', async t => {
    const flag = await create({ key: 'contended' })
    const { rules } = await put(flag.id, [rule({ name: 'shared' })])
    const base = rules[0]!
    // Everyone keeps the shared rule by its id: a set built on a half-written one would lose it.
    const writers = Array.from({ length: 12 }, (_, i) =>
      put(flag.id, [
        { ...rule({ name: 'shared', value: i % 2 === 0 }), id: base.id },
        rule({ name: `w${i}` }),
      ]),
    )
    const results = await Promise.all(writers)
    t.ok(results.every(result => result.rules[0]!.id === base.id))
    const final = (await get(flag.id)).rules
    t.equal(final.length, 2)
    t.match(final[0], { id: base.id, created_at: base.created_at })
    t.ok(
      results.some(result => result.rules[1]!.id === final[1]!.id),
      'the last of one order',
    )
    t.same(
      defined(flag.id)!.rules.map(({ id }) => id),
      final.map(({ id }) => id),
      'and what the shards have',
    )

    const edits = Array.from({ length: 10 }, (_, i) =>
      i % 2 === 0
        ? house.ask(flags.changeFlag, {
            params: { flag_id: flag.id },
            body: body({ key: 'contended', name: `n${i}` }),
          })
        : put(flag.id, [{ ...rule({ name: 'shared' }), id: base.id }]),
    )
    t.equal((await Promise.all(edits)).length, 10)
    const taken = await Promise.allSettled(Array.from({ length: 5 }, () => create({ key: 'same key' })))
    t.equal(taken.filter(each => each.status === 'fulfilled').length, 1)
    t.ok(taken.every(each => each.status === 'fulfilled' || each.reason.status === 400))
  })

  await t.test('EN-5 the rules of plan entitlements are on the flag, beside the written ones', async t => {
    const feature = await house.data<FeatureDetail>(features.createFeature, {
      body: { name: 'Calls', description: 'd', feature_type: 'event', event_subtype: 'call' },
    })
    const flag = feature.flags[0]!
    await put(flag.id, [rule({ name: 'written' })])
    const entitlement = {
      id: 'pltl_1',
      featureId: feature.id,
      ruleId: 'rule_grant',
      ruleIdUsageExceeded: 'rule_exceeded',
      valueType: 'numeric',
      valueNumeric: 10,
      metricPeriod: 'current_day',
      priceBehavior: null,
    } as EntitlementDef
    const version = { id: 'plvr_1', version: 3, status: 'published', entitlements: [entitlement] }
    const plan = { id: 'plan_1', name: 'Pro', description: 'p', versions: [version] } as unknown as PlanDef
    // Plans are another room's: the catalog is made to show one.
    const catalogs = services.catalogs as unknown as { get: unknown }
    const real = services.catalogs.get.bind(services.catalogs)
    catalogs.get = (id: string) => ({ ...real(id), plans: id === development.id ? [plan] : [] })
    const { rules } = await get(flag.id)
    catalogs.get = real
    t.same(rules.map(each => [each.id, each.rule_type, each.value]).slice(1), [
      ['rule_grant', 'plan_entitlement', true],
      ['rule_exceeded', 'plan_entitlement_usage_exceeded', false],
    ])
    t.match(rules[1]!.conditions, [
      {
        condition_type: 'plan_version',
        resource_ids: ['plvr_1'],
        resources: [{ id: 'plvr_1', name: 'Pro' }],
        plan_versions: [{ id: 'plvr_1', name: 'Pro', status: 'published', version: 3 }],
      },
      {
        condition_type: 'metric',
        event_subtype: 'call',
        operator: 'lt',
        metric_value: 10,
        metric_period: 'current_day',
      },
    ])
    const refused = await house.fails(flags.putRules, {
      params: { flag_id: flag.id },
      body: { rules: [{ ...rule(), id: 'rule_grant' }] },
    })
    t.match(refused, { status: 400, error: /^rules\[0\]\.id/ })
  })

  await t.test('EN-1 a flag and its feature', async t => {
    const feature = await house.data<FeatureDetail>(features.createFeature, {
      body: { name: 'Audit', description: 'd', feature_type: 'boolean' },
    })
    const own = feature.flags[0]!
    t.match(own, { key: 'audit', feature: { id: feature.id, name: 'Audit' } })
    t.match(await house.fails(flags.createFlag, { body: body({ key: 'second', feature_id: feature.id }) }), {
      status: 400,
      error: /^feature_id: /,
    })
    await house.ask(flags.deleteFlag, { params: { flag_id: own.id } })
    const after = await house.data<FeatureDetail>(features.getFeature, { params: { feature_id: feature.id } })
    t.same(after.flags, [], 'a deleted flag leaves its feature')
    const second = await create({ key: 'second', feature_id: feature.id })
    t.match(second, { feature_id: feature.id, feature: { id: feature.id } })
    t.same(
      (await house.data<FlagDetail[]>(flags.listFlags, { query: { feature_id: feature.id } })).map(
        ({ id }) => id,
      ),
      [second.id],
    )
  })
})
