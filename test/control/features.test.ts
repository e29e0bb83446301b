import t from 'tap'
import type { EnvironmentDetail } from '../../schemas/environments.js'
import type { FeatureDetail, License } from '../../schemas/features.js'
import type { FlagDetail } from '../../schemas/flags.js'
import type { EntityTraitDefinition } from '../../schemas/traits.js'
import { traitId } from '../../src/catalog/traits.js'
import * as environments from '../../src/control/environments/handlers.js'
import * as features from '../../src/control/features/handlers.js'
import * as licenses from '../../src/control/features/licenses.js'
import { ensureUsageLimitTrait } from '../../src/control/features/write.js'
import * as flags from '../../src/control/flags/handlers.js'
import { slugOf } from '../../src/control/flags/write.js'
import * as traits from '../../src/control/traits/handlers.js'
import type { EntitlementDef, PlanDef } from '../../src/core/model/definitions.js'
import type { EnvironmentRecord } from '../../src/kit/call.js'
import { isoPattern, openHouse } from './house.js'

t.test('a name becomes a key', async t => {
  t.equal(slugOf('Audit Log'), 'audit-log')
  t.equal(slugOf('  Élan & Façade! '), 'elan-facade')
  t.equal(slugOf('日本'), 'feature')
  t.equal(slugOf('x'.repeat(512)).length, 200)
})

t.test('features and licences', async t => {
  const house = await openHouse(t)
  const { services, development, production } = house
  const { sql } = services
  const body = (over: object = {}) => ({
    name: 'Audit Log',
    description: 'who did what',
    feature_type: 'boolean',
    ...over,
  })
  const create = (over: object = {}, environment: EnvironmentRecord | null = development) =>
    house.data<FeatureDetail>(features.createFeature, { body: body(over), environment })
  const get = (id: string, environment: EnvironmentRecord | null = development) =>
    house.data<FeatureDetail>(features.getFeature, { params: { feature_id: id }, environment })
  const update = (id: string, over: object) =>
    house.data<FeatureDetail>(features.changeFeature, { params: { feature_id: id }, body: over })
  const refused = (over: object) => house.fails(features.createFeature, { body: body(over) })
  const notUpdated = (id: string, over: object) =>
    house.fails(features.changeFeature, { params: { feature_id: id }, body: over })
  const defined = (id: string, environment = development) =>
    services.catalogs.get(environment.id).features.find(feature => feature.id === id)

  await t.test('a feature is shown whole, with the flag made with it', async t => {
    const answer = await house.ask(features.createFeature, {
      body: body({ icon: 'log', lifecycle_phase: 'beta' }),
    })
    t.equal(answer.status, 201)
    const made = answer.data as FeatureDetail
    const [flag] = made.flags
    const feature = {
      id: made.id,
      name: 'Audit Log',
      description: 'who did what',
      icon: 'log',
      feature_type: 'boolean',
      event_source: 'track',
      event_subtype: null,
      license_id: null,
      lifecycle_phase: 'beta',
      maintainer_account_member_id: null,
      plural_name: null,
      singular_name: null,
      trait_id: null,
      usage_limit_trait_id: null,
      created_at: made.created_at,
      updated_at: made.created_at,
    }
    t.match(made.id, /^feat_\w{11}$/)
    t.match(made.created_at, isoPattern)
    t.strictSame(made as object, {
      ...feature,
      flags: [
        {
          id: flag!.id,
          key: 'audit-log',
          name: 'Audit Log',
          description: 'who did what',
          flag_type: 'boolean',
          default_value: false,
          feature_id: made.id,
          maintainer_account_member_id: null,
          created_at: made.created_at,
          updated_at: made.created_at,
          rules: [],
          feature,
          last_checked_at: null,
        },
      ],
      plans: [],
    })
    t.strictSame(await get(made.id), made)
    t.match(
      defined(made.id, production),
      { name: 'Audit Log', featureType: 'boolean' },
      'PB-1 in every environment',
    )
    t.match(services.catalogs.get(development.id).flags, [{ id: flag!.id, featureId: made.id }])
  })

  await t.test('the flag’s key: a free slug, or the one given', async t => {
    t.equal((await create()).flags[0]!.key, 'audit-log-2')
    t.equal((await create()).flags[0]!.key, 'audit-log-3')
    const [flag] = (await create({ flag: { key: 'given', name: 'F', default_value: true } })).flags
    t.match(flag, { key: 'given', name: 'F', description: 'who did what', default_value: true })
    t.match(await refused({ flag: { key: 'given' } }), { status: 400, error: /^key: flag flag_/ })
    t.match(await refused({ flag: { id: 'flag_none' } }), { status: 404, error: /flag\.id/ })
    t.match(await refused({ flag: { id: flag!.id } }), { status: 400, error: /another feature/ })
    const loose = await house.data<FlagDetail>(flags.createFlag, {
      body: { key: 'loose', name: 'L', description: '', default_value: true, flag_type: 'boolean' },
    })
    const taker = await create({ flag: { id: loose.id } })
    t.match(taker.flags, [
      { id: loose.id, key: 'loose', name: 'L', default_value: true, feature_id: taker.id },
    ])
    const count = await house.data(features.countFeatures, { query: { q: 'Audit Log' } })
    t.same(count, { count: 5 }, 'a refused one leaves nothing behind')
  })

  await t.test('EN-2 an event feature names the event it counts, before any data', async t => {
    t.match(await refused({ feature_type: 'event' }), { status: 400, error: /^event_subtype/ })
    t.match(await refused({ feature_type: 'event', event_subtype: '' }), { status: 400 })
    t.match(await refused({ feature_type: 'boolean', event_source: 'inference' }), {
      status: 400,
      error: /^event_source/,
    })
    const made = await create({
      name: 'Tokens',
      feature_type: 'event',
      event_subtype: 'ai',
      event_source: 'inference',
    })
    t.match(made, { feature_type: 'event', event_subtype: 'ai', event_source: 'inference', trait_id: null })
    t.match(defined(made.id), { eventSubtype: 'ai', eventSource: 'inference', traitId: null })
    t.match(await notUpdated(made.id, { event_subtype: null }), { status: 400 })
    const summary = {
      environment_id: development.id,
      event_subtype: 'ai',
      company_count: 0,
      event_count: 0,
      user_count: 0,
      last_seen_at: null,
    }
    t.strictSame((await get(made.id)).event_summary, summary)
    const columns = '(id, environment_id, type, subtype, company_id, status, captured_at)'
    const values = ['comp_1', 'comp_1', 'comp_2'].map(
      (company, i) => `('evt_${i}', '${development.id}', 'track', 'ai', '${company}', 'enriched', 1000)`,
    )
    await services.clickhouse.command(`insert into events ${columns} values ${values}`)
    const counted = { company_count: 2, event_count: 3, last_seen_at: '1970-01-01T00:00:01.000Z' }
    t.strictSame((await get(made.id)).event_summary, { ...summary, ...counted })
    const [found] = await house.data<FeatureDetail[]>(features.listFeatures, { query: { ids: [made.id] } })
    t.match(found!.event_summary, counted)
    t.match((await get(made.id, production)).event_summary, { event_count: 0 })
    const away = { select: () => Promise.reject(new Error('away')) }
    const without = { ...services, clickhouse: away } as unknown as typeof services
    const { data } = await house.ask(features.getFeature, {
      params: { feature_id: made.id },
      services: without,
    })
    t.match(data, { id: made.id }, 'ClickHouse may be away')
    t.notOk('event_summary' in (data as object))
    t.match(await notUpdated(made.id, { event_source: 'track' }), { status: 400 })
    t.match(await update(made.id, { event_subtype: 'llm' }), { event_subtype: 'llm' })
  })

  await t.test('EN-1 the type is fixed; absent stays, null clears', async t => {
    const made = await create({ name: 'Fixed', plural_name: 'fixes', singular_name: 'fix' })
    t.match(await notUpdated(made.id, { feature_type: 'event', event_subtype: 'x' }), {
      status: 400,
      error: /^feature_type/,
    })
    const changed = await update(made.id, { feature_type: 'boolean', name: 'Renamed', plural_name: null })
    t.match(changed, {
      name: 'Renamed',
      plural_name: null,
      singular_name: 'fix',
      description: 'who did what',
    })
    t.match(changed.flags, [{ key: 'fixed', name: 'Fixed' }], 'its flag is another thing')
    t.match((await update(made.id, { flag: { default_value: true, key: 'k2' } })).flags, [
      { key: 'k2', default_value: true },
    ])
    t.match(await notUpdated(made.id, { maintainer_account_member_id: 'acme_none' }), { status: 404 })
    t.match(await notUpdated('feat_none', {}), { status: 404 })
  })

  await t.test('EN-2 a trait feature makes its trait in every environment, or names one', async t => {
    const made = await create({ name: 'Seat Count', feature_type: 'trait' })
    t.match(made.trait, { entity_type: 'company', hierarchy: ['seat_count'], trait_type: 'number' })
    t.equal(made.trait_id, traitId(development.id, 'company', 'seat_count'))
    const there = await get(made.id, production)
    t.equal(there.trait_id, traitId(production.id, 'company', 'seat_count'))
    t.equal(there.trait!.id, there.trait_id)
    t.equal(defined(made.id, production)!.traitId, there.trait_id)
    t.match(await get(made.id, null), { trait_id: null }, 'no environment, no trait')
    for (const environment of [development, production])
      t.match(
        services.catalogs.get(environment.id).traits.find(trait => trait.name === 'seat_count'),
        { traitType: 'number' },
        'the shards know it',
      )

    const post = (over: object) =>
      house.data<EntityTraitDefinition>(traits.getOrCreateTraitDefinition, {
        body: { entity_type: 'company', trait_type: 'number', hierarchy: ['usage', 'seats'], ...over },
      })
    const nested = await post({})
    const naming = await create({ name: 'Nested', feature_type: 'trait', trait_id: nested.id })
    t.equal(naming.trait_id, nested.id)
    t.equal((await get(naming.id, production)).trait_id, traitId(production.id, 'company', 'usage.seats'))
    t.match(await refused({ feature_type: 'trait', trait_id: (await post({ entity_type: 'user' })).id }), {
      status: 400,
      error: /company trait/,
    })
    t.match(await refused({ feature_type: 'trait', trait_id: 'trt_none' }), {
      status: 404,
      error: /^trait_id/,
    })
    const moved = await update(naming.id, { trait_id: made.trait_id })
    t.equal(moved.trait_id, made.trait_id)
    const uses = await house.data(traits.getTraitDefinitionUsage, {
      params: { entity_trait_definition_id: made.trait_id! },
    })
    t.match(uses, { feature_count: 2 })

    services.traits.introduce(development.id, 'company', 'seen_first', ['seen_first'], 'string')
    const seen = await create({ name: 'Seen First', feature_type: 'trait' })
    t.equal(seen.trait!.trait_type, 'string', 'CU-31 a name seen before keeps its type')

    const later = await house.data<EnvironmentDetail>(environments.createEnvironment, {
      body: { name: 'Later', environment_type: 'staging' },
    })
    t.match(
      services.traits.find(later.id, 'company', 'seat_count'),
      { traitType: 'number' },
      'also in environments made later',
    )
    await house.ask(environments.removeEnvironment, { params: { environment_id: later.id } })
  })

  await t.test('EN-2 EN-71 a license feature has its licence and its limit trait from the start', async t => {
    const made = await create({ name: 'Editor seats', feature_type: 'license' })
    t.match(made, { license_id: /^lice_/, trait_id: /^trt_/, usage_limit_trait_id: /^trt_/ })
    t.not(made.trait_id, made.usage_limit_trait_id)
    const license = await house.data<License>(licenses.getLicense, {
      params: { license_id: made.license_id! },
    })
    t.strictSame(license, {
      id: made.license_id!,
      name: 'Editor seats',
      created_at: made.created_at,
      updated_at: made.created_at,
    })
    t.match(defined(made.id), { licenseId: made.license_id, usageLimitTraitId: made.usage_limit_trait_id })
    t.equal(services.traits.byId(development.id, made.usage_limit_trait_id!)!.name, 'editor_seats_limit')
    const twin = await create({ name: 'Editor seats', feature_type: 'license' })
    t.not(twin.usage_limit_trait_id, made.usage_limit_trait_id, 'two features never share a quantity')
    await update(made.id, { name: 'Writer seats' })
    for (const [query, count] of [
      [{}, 2],
      [{ name: 'WRITER' }, 1],
      [{ feature_ids: [twin.id] }, 1],
      [{ ids: [made.license_id!] }, 1],
      [{ ids: ['lice_none'] }, 0],
    ] as const) {
      t.equal(
        (await house.data<License[]>(licenses.listLicenses, { query })).length,
        count,
        JSON.stringify(query),
      )
      t.same(await house.data(licenses.countLicenses, { query }), { count })
    }
    t.match(await house.fails(licenses.getLicense, { params: { license_id: 'lice_none' } }), { status: 404 })
  })

  await t.test('EN-2 other features get a limit trait when they are first sold in advance', async t => {
    const made = await create({ name: 'Builds', feature_type: 'event', event_subtype: 'build' })
    t.equal(made.usage_limit_trait_id, null)
    const sell = () =>
      services.catalogs.change({ accountId: house.accountId, environmentId: null }, tx =>
        ensureUsageLimitTrait(tx, services, house.accountId, made.id, Date.now()),
      )
    await sell()
    const sold = await get(made.id)
    t.match(sold.usage_limit_trait_id, /^trt_/)
    await sell()
    t.equal((await get(made.id)).usage_limit_trait_id, sold.usage_limit_trait_id, 'once')
    t.equal((await update(made.id, { name: 'B' })).usage_limit_trait_id, sold.usage_limit_trait_id)
  })

  await t.test('billing-linked features are found again by their resource', async t => {
    const put = (over: object) =>
      house.data<FeatureDetail>(features.putBillingLinkedFeature, {
        body: body({ name: 'Linked', billing_provider: 'psp', external_resource_id: 'prod_1', ...over }),
      })
    const made = await put({})
    t.match(made.billing_linked_resource, {
      billing_provider: 'psp',
      external_resource_id: 'prod_1',
      originator: 'psp',
    })
    t.match(await put({ name: 'Linked again' }), { id: made.id, name: 'Linked again' })
    t.not((await put({ external_resource_id: 'prod_2' })).id, made.id)
    const managed = await house.data<FeatureDetail[]>(features.listFeatures, { query: { managed_by: 'psp' } })
    t.equal(managed.length, 2)
  })

  await t.test('the list and its filters', async t => {
    const all = await house.data<FeatureDetail[]>(features.listFeatures, { query: { limit: 250 } })
    const times = all.map(feature => feature.created_at)
    t.same(times, [...times].sort().reverse(), 'AL-51 newest first')
    const tied = await create({ name: 'Tied', event_subtype: 'click' })
    await sql`insert into company_overrides ${sql({
      id: 'cmov_1',
      environment_id: development.id,
      company_id: 'comp_1',
      feature_id: tied.id,
      entitlement: sql.json({}),
      created_at: new Date(),
      updated_at: new Date(),
    })}`
    const planOf = (): PlanDef => ({
      id: 'plan_1',
      name: 'Pro',
      description: 'p',
      planType: 'plan',
      companyId: null,
      publishedVersionId: 'plvr_2',
      versions: [versionOf('plvr_1', 'archived', all[0]!.id), versionOf('plvr_2', 'published', tied.id)],
    })
    const versionOf = (
      id: string,
      status: 'archived' | 'published',
      featureId: string,
    ): PlanDef['versions'][number] => ({
      id,
      version: 1,
      status,
      billingProductId: null,
      chargeType: 'free',
      isTrialable: false,
      trialDays: null,
      entitlements: [{ featureId } as EntitlementDef],
      creditGrants: [],
    })
    // Plans are another room's: the catalog is made to show one.
    const catalogs = services.catalogs as unknown as { get: unknown }
    const real = services.catalogs.get.bind(services.catalogs)
    catalogs.get = (id: string) => ({ ...real(id), plans: [planOf()] })
    const count = async (query: object) => {
      const found = await house.data<FeatureDetail[]>(features.listFeatures, {
        query: { limit: 250, ...query },
      })
      t.same(
        await house.data(features.countFeatures, { query }),
        { count: found.length },
        JSON.stringify(query),
      )
      return found.length
    }
    const total = all.length + 1
    const booleans = await count({ feature_type: ['boolean'] })
    t.ok(booleans > 1 && booleans < total)
    t.equal(await count({ feature_type: ['boolean'], boolean_require_event: true }), 1)
    t.equal(await count({ boolean_require_event: false }), total)
    t.equal(await count({ feature_type: ['license', 'trait'] }), 5)
    t.equal(await count({ ids: [tied.id, 'feat_none'] }), 1)
    t.equal(await count({ q: 'tIeD' }), 1)
    t.equal(await count({ q: tied.id }), 1)
    t.equal(await count({ managed_by: 'native' }), total - 2)
    t.equal(await count({ without_company_override_for: 'comp_1' }), total - 1)
    t.equal(await count({ without_company_override_for: 'comp_2' }), total)
    t.equal(await count({ plan_version_id: 'plvr_1' }), 1)
    t.equal(await count({ plan_version_id: 'plvr_2', ids: [all[0]!.id] }), 0)
    t.equal(await count({ plan_version_id: 'plvr_none' }), 0)
    t.equal(await count({ without_plan_entitlement_for: 'plan_1' }), total - 1)
    t.equal(await count({ without_plan_entitlement_for: 'plan_none' }), total)
    t.match(await get(tied.id), { plans: [{ id: 'plan_1', name: 'Pro', description: 'p', image_url: null }] })
    t.match((await get(all[0]!.id)).plans, [], 'an archived version grants nothing new')
    catalogs.get = real
    t.match(
      await house.fails(features.listFeatures, { query: { plan_version_id: 'x' }, environment: null }),
      { status: 400, error: /environment required/ },
    )
  })

  await t.test('EN-64 a deleted feature takes its licence and its flag', async t => {
    const made = await create({ name: 'Doomed', feature_type: 'license' })
    await sql`insert into company_overrides ${sql({
      id: 'cmov_2',
      environment_id: production.id,
      company_id: 'comp_9',
      feature_id: made.id,
      entitlement: sql.json({}),
      created_at: new Date(),
      updated_at: new Date(),
    })}`
    house.asked.length = 0
    t.same(await house.data(features.deleteFeature, { params: { feature_id: made.id } }), { deleted: true })
    t.match(house.asked, [['c', production.id, 'comp_9', { type: 'delete_override', overrideId: 'cmov_2' }]])
    t.equal(defined(made.id), undefined)
    t.match(await house.fails(licenses.getLicense, { params: { license_id: made.license_id! } }), {
      status: 404,
    })
    t.match(await house.fails(flags.getFlag, { params: { flag_id: made.flags[0]!.id } }), { status: 404 })
    t.match(await house.fails(features.deleteFeature, { params: { feature_id: made.id } }), { status: 404 })
    const foreign = { ...house.admin, accountId: 'acct_other' }
    t.match(await house.fails(features.deleteFeature, { key: foreign, params: { feature_id: made.id } }), {
      status: 404,
    })
  })
})
