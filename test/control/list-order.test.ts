// Pages of lists, however they are found: along the order, along an index of a plan, from few or from many. Random
// companies are listed with every bound between these ways, and each page is compared with what plain sorting gives.
// The seed is printed; TOLLGATE_SEED repeats a run.
import t from 'tap'
import { type CompanyFilter, countCompanyRows, listCompanyIds } from '../../src/control/companies/store.js'
import type { Bounds, Sort } from '../../src/control/entities/list.js'
import { listUserIds } from '../../src/control/users/store.js'
import { catalogData, entitlement, plan, planVersion } from '../core/make.js'
import { Random } from '../random.js'
import { startStores } from '../stores.js'

const now = Date.parse('2026-03-15T10:00:00Z')
const environmentId = 'env_1'
const random = new Random()

const catalog = catalogData({
  plans: [
    plan('pro', [], {
      versions: [
        planVersion('pro_v1', { status: 'archived', entitlements: [entitlement('old')] }),
        planVersion('pro_v2'),
      ],
      publishedVersionId: 'pro_v2',
    }),
    plan('addon', [entitlement('extra')], { planType: 'add_on' }),
    plan('after', []),
    plan('base', []),
  ],
})
const withFallback = { ...catalog, fallbackPlanId: 'base', trialExpiryPlanId: 'after' }

/** A company as the test thinks of it. */
interface Made {
  readonly id: string
  readonly name: string
  readonly text: string
  readonly atMs: number
  readonly seenMs: number | null
  readonly version: string | null
  readonly over: boolean
  readonly addOn: boolean
  readonly credit: boolean
  readonly status: string | null
}

const planOf = (version: string) => version.slice(0, version.indexOf('_'))

function made(n: number): Made {
  const name = `${random.pick(['Acme', 'Lumen', 'Zeta'])} ${random.pick(['Labs', 'Media'])} ${n % 50}`
  const id = `comp_${String(random.below(1e9))}_${n}`
  // oldest first: a plan, a credit and a status that no company among the newest has
  const old = n < 100
  return {
    id,
    name,
    text: `${name}\u001fslug-${n}.example`.toLowerCase(),
    atMs: now - 1e9 + Math.floor(n / 3) * 1_000,
    seenMs: random.chance(0.6) ? now - random.below(50) * 1_000 : null,
    version: random.chance(0.3) ? null : old ? random.pick(['pro_v1', 'pro_v2', 'lost_v1']) : 'pro_v2',
    over: random.chance(0.1),
    addOn: random.chance(0.2),
    credit: old && random.chance(0.5),
    status: random.chance(0.5) ? null : old ? 'canceled' : 'active',
  }
}

/** The plans a company is on: EN-82, EN-91, EN-93. */
function versionsOf(company: Made, { fallbackPlanId, trialExpiryPlanId }: typeof withFallback): string[] {
  const over = company.version !== null && company.over
  const afterTrial = trialExpiryPlanId === null ? null : `${trialExpiryPlanId}_v1`
  const fallback = fallbackPlanId === null ? null : `${fallbackPlanId}_v1`
  const base = (over ? afterTrial : company.version) ?? fallback
  return [...(base === null ? [] : [base]), ...(company.addOn ? ['addon_v1'] : [])]
}

type Meets = (company: Made, data: typeof withFallback) => boolean
const onPlan =
  (...plans: string[]): Meets =>
  (company, data) =>
    versionsOf(company, data).some(version => plans.includes(planOf(version)))
const onVersion =
  (...versions: string[]): Meets =>
  (company, data) =>
    versionsOf(company, data).some(version => versions.includes(version))
const says =
  (text: string): Meets =>
  company =>
    company.text.includes(text.toLowerCase())
const both =
  (...all: Meets[]): Meets =>
  (company, data) =>
    all.every(one => one(company, data))
const without: Meets = (company, data) => versionsOf(company, data).every(version => version === 'addon_v1')
const active: Meets = company => company.status === 'active'

const filters: readonly (readonly [CompanyFilter, Meets])[] = [
  [{}, () => true],
  [{ planIds: [['pro']] }, onPlan('pro')],
  [{ planIds: [['lost']] }, onPlan('lost')],
  [{ planIds: [['base']] }, onPlan('base')],
  [{ planIds: [['after', 'addon', 'after']] }, onPlan('after', 'addon')],
  [{ planIds: [['pro'], ['addon']] }, both(onPlan('pro'), onPlan('addon'))],
  [{ planVersionIds: ['pro_v1'] }, onVersion('pro_v1')],
  [{ planVersionIds: ['pro_v1', 'addon_v1', 'base_v1'] }, onVersion('pro_v1', 'addon_v1', 'base_v1')],
  [{ planVersionIds: ['lost_v1'] }, onVersion('lost_v1')],
  [{ planVersionUnpublished: true }, onVersion('pro_v1', 'lost_v1')],
  [{ withoutPlan: true }, without],
  [{ withoutPlan: false }, (company, data) => !without(company, data)],
  [{ withEntitlementFor: 'old' }, onVersion('pro_v1')],
  [{ creditIds: ['gold'] }, company => company.credit],
  [{ subscriptionStatuses: ['canceled'] }, company => company.status === 'canceled'],
  [{ withSubscription: true }, active],
  [{ withoutSubscription: true }, company => company.status !== 'active'],
  [{ q: 'LUMEN' }, says('lumen')],
  [{ q: 'lumen labs' }, says('lumen labs')],
  // every text has one of its pieces, one has the other
  [{ q: 'slug-277.example' }, says('slug-277.example')],
  [{ q: '277.example' }, says('277.example')],
  [{ q: 'example slug' }, () => false],
  [{ q: 'slug-1%' }, () => false],
  [{ q: 'zeta', planIds: [['pro']], withSubscription: true }, both(says('zeta'), onPlan('pro'), active)],
]

const sorts: readonly Sort[] = (['created_at', 'name', 'last_seen_at'] as const).flatMap(column =>
  (['asc', 'desc'] as const).map(direction => ({ column, direction })),
)

const ways: readonly (Bounds | undefined)[] = [
  undefined,
  { glancedMax: 0, gatheredMax: 0, walkedMax: 0 },
  { glancedMax: 0, gatheredMax: 1_000, walkedMax: 0 },
  { glancedMax: 0, gatheredMax: 12, walkedMax: 0 },
  { glancedMax: 0, gatheredMax: 0, walkedMax: 1_000 },
  { glancedMax: 40, gatheredMax: 12, walkedMax: 60 },
  { glancedMax: 40, gatheredMax: 0, walkedMax: 100 },
]

/** `order by`: nulls last, ties by id in the same direction (AL-51). */
function inOrder(companies: readonly Made[], { column, direction }: Sort): string[] {
  const sign = direction === 'asc' ? 1 : -1
  const of = (company: Made) =>
    column === 'name' ? company.name : column === 'created_at' ? company.atMs : company.seenMs
  const compared = (a: string | number, b: string | number) => (a < b ? -sign : a > b ? sign : 0)
  return [...companies]
    .sort((a, b) => {
      const [left, right] = [of(a), of(b)]
      if (left === null || right === null)
        return Number(left === null) - Number(right === null) || compared(a.id, b.id)
      return compared(left, right) || compared(a.id, b.id)
    })
    .map(({ id }) => id)
}

t.test('AL-51, CU-60, CU-61 every way to a page shows the same page', async t => {
  t.comment(`seed ${random.seed}`)
  const { sql } = await startStores(t)
  const companies = Array.from({ length: 400 }, (_, n) => made(n))
  const at = (ms: number) => new Date(ms)
  const rows = (of: (company: Made, n: number) => object | null) =>
    companies.flatMap((one, n) => of(one, n) ?? [])
  const entity = ({ id, name, atMs, seenMs }: Made) => ({
    id,
    environment_id: environmentId,
    name,
    created_at: at(atMs),
    updated_at: at(atMs),
    last_seen_at: seenMs === null ? null : at(seenMs),
  })
  await sql`insert into companies ${sql(rows(entity))}`
  await sql`insert into companies ${sql({ ...entity(companies[0]!), id: 'comp_other', environment_id: 'env_2' })}`
  // users are listed beside companies: their texts and times are alike
  await sql`insert into users ${sql(rows(company => ({ ...entity(company), id: `user_${company.id}` })))}`
  const key = (kind: string, id: string, n: number) => ({
    id: `${id} slug`,
    environment_id: environmentId,
    entity_type: kind,
    entity_id: id,
    definition_id: `slug of ${kind}`,
    name: 'slug',
    value: `slug-${n}.example`,
    created_at: at(now),
    updated_at: at(now),
  })
  await sql`insert into entity_keys ${sql(rows(({ id }, n) => key('company', id, n)))}`
  await sql`insert into entity_keys ${sql(rows(({ id }, n) => key('user', `user_${id}`, n)))}`
  const holding = { environment_id: environmentId, price_id: null, added_at: at(now) }
  const base = ({ id, version, over }: Made) =>
    version === null
      ? null
      : {
          ...holding,
          company_id: id,
          plan_id: planOf(version),
          kind: 'base',
          version_id: version,
          trial_end_at: over ? at(now - 1) : null,
          trial_end_setting: over ? 'cancel' : null,
          trial_status: over ? 'active' : null,
        }
  const addOn = { ...holding, plan_id: 'addon', kind: 'add_on', version_id: 'addon_v1' }
  await sql`insert into company_plans ${sql(rows(base))}`
  await sql`insert into company_plans ${sql(rows(one => (one.addOn ? { ...addOn, company_id: one.id } : null)))}`
  const credit = { credit_id: 'gold', environment_id: environmentId, created_at: at(now) }
  await sql`insert into company_credits ${sql(rows(one => (one.credit ? { ...credit, company_id: one.id } : null)))}`
  await sql`insert into company_subscriptions ${sql(
    rows(({ id, status }) =>
      status === null
        ? null
        : {
            id,
            environment_id: environmentId,
            company_id: id,
            external_id: id,
            status,
            state: sql.json({ productIds: [] }),
            updated_at: at(now),
          },
    ),
  )}`
  await sql`select list_again(array(select id from companies union all select id from users))`

  const pageOf = (all: readonly string[], { limit, offset }: { limit: number; offset: number }) =>
    all.slice(offset, offset + limit)
  for (const data of [withFallback, catalog as typeof withFallback])
    for (const [filter, meets] of filters) {
      const meeting = companies.filter(company => meets(company, data))
      const wrong: unknown[] = []
      for (const sort of sorts)
        for (const bounds of ways) {
          const page = {
            limit: 1 + random.below(30),
            offset: random.below(4) * random.below(meeting.length + 2),
          }
          const ids = await listCompanyIds(sql, data, filter, sort, page, now, bounds)
          const expected = pageOf(inOrder(meeting, sort), page)
          if (ids.join() !== expected.join()) wrong.push({ sort, bounds, page, ids, expected })
        }
      const fallback = data.fallbackPlanId === null ? '' : ', with a fallback plan'
      t.same(wrong, [], `${JSON.stringify(filter)}${fallback}: ${meeting.length}`)
      t.equal(await countCompanyRows(sql, data, filter, now), meeting.length, 'counted')
    }

  const newest = { column: 'created_at', direction: 'desc' } as const
  for (const q of ['lumen', 'slug-277.example', 'nobody'])
    t.same(
      await listUserIds(sql, catalog, { q }, { limit: 250, offset: 0 }, now),
      inOrder(
        companies.filter(company => says(q)(company, withFallback)),
        newest,
      )
        .slice(0, 250)
        .map(id => `user_${id}`),
      `users that say ${q}`,
    )
})
