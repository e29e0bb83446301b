// The filters of the company list against real rows: plans and their trials, overrides, credits, subscriptions.
import t from 'tap'
import { billingOf } from '../../src/control/companies/read.js'
import {
  type CompanyFilter,
  countCompanyRows,
  isFreePrice,
  listCompanyIds,
} from '../../src/control/companies/store.js'
import { listUserIds, type UserFilter } from '../../src/control/users/store.js'
import { SharedReads } from '../../src/kit/shared-reads.js'
import { catalogData, entitlement, holding, plan, planVersion } from '../core/make.js'
import { startStores } from '../stores.js'

const now = Date.parse('2026-03-15T10:00:00Z')
const environmentId = 'env_1'

const version = (id: string, over: Parameters<typeof planVersion>[1] = {}) => planVersion(id, over)
const catalog = catalogData({
  plans: [
    plan('pro', [], {
      versions: [
        version('pro_v1', {
          status: 'archived',
          entitlements: [entitlement('old')],
          billingProductId: 'paid',
          chargeType: 'recurring',
        }),
        version('pro_v2', {
          entitlements: [entitlement('new')],
          billingProductId: 'paid2',
          chargeType: 'recurring',
        }),
      ],
      publishedVersionId: 'pro_v2',
    }),
    plan('once', [], {
      versions: [version('once_v1', { billingProductId: 'once', chargeType: 'one_time' })],
    }),
    plan('gratis', [], {
      versions: [version('gratis_v1', { billingProductId: 'gratis', chargeType: 'free' })],
    }),
    plan('addon', [entitlement('extra')], { planType: 'add_on' }),
    plan('after', [entitlement('late')]),
    plan('base', [entitlement('common')]),
  ],
})
const withFallback = { ...catalog, fallbackPlanId: 'base', trialExpiryPlanId: 'after' }

t.test('filters of companies and users', async t => {
  const { sql } = await startStores(t)
  const at = new Date(now)
  const company = (id: string) =>
    sql`insert into companies ${sql({
      id,
      environment_id: environmentId,
      name: id,
      created_at: at,
      updated_at: at,
      last_seen_at: null,
    })}`
  const assign = (company_id: string, plan_id: string, version_id: string, over: object = {}) =>
    sql`insert into company_plans ${sql({
      company_id,
      plan_id,
      kind: 'base',
      environment_id: environmentId,
      version_id,
      price_id: null,
      added_at: at,
      trial_end_at: null,
      trial_end_setting: null,
      trial_status: null,
      ...over,
    })}`
  const trial = (endMs: number, over: object = {}) => ({
    trial_end_at: new Date(endMs),
    trial_end_setting: 'cancel',
    trial_status: 'active',
    ...over,
  })
  for (const id of ['archived', 'published', 'adding', 'trialing', 'ended', 'converting', 'planless'])
    await company(id)
  await assign('archived', 'pro', 'pro_v1')
  await assign('published', 'pro', 'pro_v2')
  await assign('adding', 'base', 'base_v1')
  await assign('adding', 'addon', 'addon_v1', { kind: 'add_on' })
  await assign('trialing', 'pro', 'pro_v2', trial(now + 1))
  await assign('ended', 'pro', 'pro_v2', trial(now))
  await assign('converting', 'pro', 'pro_v2', trial(now - 1, { trial_end_setting: 'subscribe' }))

  const byName = { column: 'name', direction: 'asc' } as const
  const list = async (filter: CompanyFilter, data = withFallback) => {
    const page = { limit: 100, offset: 0 }
    await sql`select list_again(array(select id from companies))`
    const ids = await listCompanyIds(sql, data, filter, byName, page, now)
    t.equal(await countCompanyRows(sql, data, filter, now), ids.length, 'the count agrees')
    const walking = { glancedMax: 0, gatheredMax: 0, walkedMax: 100 }
    const walked = await listCompanyIds(sql, data, filter, byName, page, now, walking)
    t.same(walked, ids, 'gathered by indexes or met along the order')
    const first = { limit: Math.max(1, ids.length), offset: 0 }
    t.same(await listCompanyIds(sql, data, filter, byName, first, now, walking), ids, 'a full page')
    return ids
  }
  const all = ['adding', 'archived', 'converting', 'ended', 'planless', 'published', 'trialing']

  await t.test('plans, with EN-82, EN-91 and EN-93 applied', async t => {
    t.same(await list({}), all)
    t.same(await list({ planIds: [['pro']] }), ['archived', 'converting', 'published', 'trialing'])
    t.same(await list({ planIds: [['after']] }), ['ended'], 'the trial is over')
    t.same(await list({ planIds: [['base']] }), ['adding', 'planless'], 'the fallback plan')
    t.same(await list({ planIds: [['base']] }, { ...withFallback, trialExpiryPlanId: null! }), [
      'adding',
      'ended',
      'planless',
    ])
    t.same(await list({ planIds: [['base']] }, catalog as typeof withFallback), ['adding'])
    t.same(await list({ planIds: [['addon', 'after']] }), ['adding', 'ended'], 'values with OR, add-ons too')
    t.same(await list({ planIds: [['pro'], ['addon']] }), [], 'filters with AND')
    t.same(await list({ planIds: [['base'], ['addon']] }), ['adding'])
    t.same(await list({ planVersionIds: ['pro_v1'] }), ['archived'])
    t.same(await list({ planVersionIds: ['pro_v1', 'after_v1', 'addon_v1'] }), [
      'adding',
      'archived',
      'ended',
    ])
    t.same(await list({ planVersionUnpublished: true }), ['archived'], 'PB-8')
    t.same(
      await list({ planVersionUnpublished: false }),
      all.filter(id => id !== 'archived'),
    )
    t.same(await list({ withoutPlan: true }), [], 'the fallback plan leaves nobody without')
    t.same(await list({ withoutPlan: false }), all)
    t.same(await list({ withoutPlan: true }, catalog as typeof withFallback), ['ended', 'planless'])
  })

  await t.test('entitlements and overrides', async t => {
    const override = (company_id: string, feature_id: string, expires_at: Date | null) =>
      sql`insert into company_overrides ${sql({
        id: `${company_id} ${feature_id}`,
        environment_id: environmentId,
        company_id,
        feature_id,
        entitlement: sql.json({}),
        expires_at,
        created_at: at,
        updated_at: at,
      })}`
    await override('planless', 'old', null)
    await override('published', 'old', new Date(now + 1))
    await override('trialing', 'old', at)
    t.same(
      await list({ withEntitlementFor: 'old' }),
      ['archived', 'planless', 'published'],
      'an expired override grants nothing',
    )
    t.same(await list({ withEntitlementFor: 'extra' }), ['adding'], 'by an add-on')
    t.same(await list({ withEntitlementFor: 'late' }), ['ended'])
    t.same(await list({ withEntitlementFor: 'nothing' }), [])
    t.same(
      await list({ withoutFeatureOverrideFor: 'old' }),
      ['adding', 'archived', 'converting', 'ended', 'trialing'],
      'EN-4 an expired override makes room for a new one',
    )
  })

  await t.test('credits', async t => {
    for (const credit_id of ['gold', 'silver'])
      await sql`insert into company_credits ${sql({
        company_id: credit_id === 'gold' ? 'adding' : 'ended',
        credit_id,
        environment_id: environmentId,
        created_at: at,
      })}`
    t.same(await list({ creditIds: ['gold'] }), ['adding'])
    t.same(await list({ creditIds: ['silver', 'gold'] }), ['adding', 'ended'])
  })

  await t.test('subscriptions', async t => {
    const subscribe = (company_id: string, status: string, productIds: string[]) =>
      sql`insert into company_subscriptions ${sql({
        id: company_id,
        environment_id: environmentId,
        company_id,
        external_id: company_id,
        status,
        state: sql.json({ productIds }),
        updated_at: at,
      })}`
    await subscribe('published', 'active', ['paid2'])
    await subscribe('archived', 'canceled', ['paid'])
    await subscribe('trialing', 'trialing', ['paid2'])
    await subscribe('adding', 'past_due', ['once'])
    await subscribe('converting', 'active', ['gratis'])
    t.same(await list({ subscriptionStatuses: ['active', 'canceled'] }), [
      'archived',
      'converting',
      'published',
    ])
    t.same(
      await list({ subscriptionTypes: ['paid'] }),
      ['published'],
      'CU-61 one that is canceled is not paid',
    )
    t.same(await list({ subscriptionTypes: ['trial', 'one_time'] }), ['adding', 'trialing'])
    t.same(await list({ subscriptionTypes: ['free'] }), ['archived', 'converting'])
    t.same(await list({ subscriptionTypes: ['free', 'trial'] }), ['archived', 'converting', 'trialing'])
    t.same(await list({ monetized: true }), ['adding', 'published'])
    t.same(await list({ monetized: false }), ['archived', 'converting', 'ended', 'planless', 'trialing'])
    t.same(await list({ withSubscription: true }), ['adding', 'converting', 'published', 'trialing'])
    t.same(await list({ withoutSubscription: true }), ['archived', 'ended', 'planless'])
    t.same(await list({ hasScheduledDowngrade: true }), [])
    t.same(await list({ hasScheduledDowngrade: false }), all)
    const becomes = (state: object, status = 'active') =>
      sql`update company_subscriptions set status = ${status},
        state = ${sql.json({ productIds: ['paid2'], ...state })} where company_id = 'published'`
    const typesNow = async () => {
      const found: string[] = []
      for (const type of ['free', 'one_time', 'paid', 'trial'] as const)
        if ((await list({ subscriptionTypes: [type] })).includes('published')) found.push(type)
      t.equal((await list({ monetized: true })).includes('published'), found.includes('paid'))
      return found
    }
    for (const [title, end, status] of [
      ['PB-56 canceled at the end of its period', { cancelAtPeriodEnd: true, periodEndMs: now }, 'active'],
      ['PB-56 canceled at an instant', { cancelAtMs: now }, 'active'],
      ['PB-58 its trial ended unpaid', { trialEndSetting: 'cancel', trialEndMs: now }, 'trialing'],
      ['its payment is overdue for too long', { gatedAtMs: now }, 'past_due'],
    ] as const) {
      await becomes(end, status)
      t.same(await typesNow(), ['free'], `CU-61 ${title}, not recorded yet`)
      const later = Object.entries(end).map(([name, value]) => [name, value === now ? now + 1 : value])
      await becomes(Object.fromEntries(later), status)
      t.same(await typesNow(), status === 'trialing' ? ['trial'] : ['paid'], `${title}, a moment before`)
    }
    await becomes({ trialEndSetting: 'subscribe', trialEndMs: now, anchorMs: now }, 'trialing')
    t.same(await typesNow(), ['paid'], 'CU-61 a trial that went over into payment by itself')
    await becomes({ trialEndSetting: 'subscribe', trialEndMs: now }, 'trialing')
    t.same(await typesNow(), ['trial'], 'a provider reports the end of its trial')
    for (const status of ['expired', 'incomplete', 'incomplete_expired', 'paused', 'unpaid']) {
      await becomes({}, status)
      t.same(await typesNow(), ['free'], `CU-61 ${status}`)
    }
    await becomes({})
  })

  await t.test('users by the plans of their companies', async t => {
    const join = async (user: string, ...companies: string[]) => {
      await sql`insert into users ${sql({
        id: user,
        environment_id: environmentId,
        name: user,
        created_at: at,
        updated_at: at,
        last_seen_at: null,
      })}`
      for (const company_id of companies)
        await sql`insert into memberships ${sql({
          id: `${user} ${company_id}`,
          environment_id: environmentId,
          company_id,
          user_id: user,
          created_at: at,
          updated_at: at,
        })}`
    }
    await join('u1', 'published')
    await join('u2', 'planless', 'gone')
    await join('u3', 'ended', 'adding')
    await join('u4')
    await sql`select list_again(array(select id from users))`
    const users = async (filter: UserFilter) =>
      (await listUserIds(sql, withFallback, filter, { limit: 100, offset: 0 }, now)).sort()
    t.same(await users({ planId: 'pro' }), ['u1'])
    t.same(await users({ planId: 'base' }), ['u2', 'u3'])
    t.same(await users({ planId: 'after', companyId: 'adding' }), [], 'one company has to be both')
    t.same(await users({ planId: 'addon', companyId: 'adding' }), ['u3'])
    t.same(await users({ companyId: 'gone' }), [], 'a membership that outlived its company')
  })

  await t.test('EN-81 free prices, and what billing knows of held plans', async t => {
    await sql`insert into accounts ${sql({ id: 'acct_1', name: 'a', created_at: at, updated_at: at })}`
    await sql`insert into environments ${sql({
      id: environmentId,
      account_id: 'acct_1',
      name: 'e',
      environment_type: 'development',
      created_at: at,
      updated_at: at,
    })}`
    const product = (id: string) =>
      sql`insert into billing_products ${sql({
        id,
        environment_id: environmentId,
        external_id: `ext ${id}`,
        name: id,
        provider_type: 'psp',
        created_at: at,
        updated_at: at,
      })}`
    const price = (id: string, over: object) =>
      sql`insert into billing_prices ${sql({
        id,
        environment_id: environmentId,
        product_id: 'paid2',
        external_id: id,
        provider_type: 'psp',
        currency: 'usd',
        interval: 'month',
        interval_count: 1,
        price: 0,
        created_at: at,
        updated_at: at,
        ...over,
      })}`
    await product('paid2')
    await price('free', {})
    await price('cents', { price_decimal: '0.4' })
    await price('dear', { price: 900, interval_count: 3 })
    await price('yearly', { price: 900, interval: 'year' })
    await price('off', { is_active: false })
    await price('tiered', { billing_scheme: 'tiered' })
    for (const id of ['free', 'cents', 'dear', 'off', 'tiered', 'unknown'])
      t.equal(await isFreePrice(sql, environmentId, 'paid2', id), id === 'free', id)
    t.notOk(await isFreePrice(sql, 'env_2', 'paid2', 'free'), 'of another environment')
    t.notOk(await isFreePrice(sql, environmentId, 'once', 'free'), 'of another product')
    const billing = await billingOf({ sql, reads: new SharedReads() }, catalog, 'acct_1', [
      holding('pro', { versionId: 'pro_v2', priceId: 'dear' }),
      holding('once', { priceId: 'yearly' }),
    ])
    t.strictSame(
      [...billing.prices],
      [
        ['dear', { price: 900, period: 'quarter' }],
        ['yearly', { price: 900, period: 'year' }],
      ],
    )
    t.strictSame([...billing.externalProductIds], [['paid2', 'ext paid2']])
  })
})
