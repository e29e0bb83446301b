// The console over 10,000 companies in a real browser: each screen, then screens after a migration, an override and a
// notification that failed, then behind a prefix; no error of the page, no other host.
import t, { type Test } from 'tap'
import { publishDraftOf, publishedPlan } from '../control/planned.js'
import { type Client, startHere } from '../harness.js'
import {
  desktop,
  launch,
  noBrowser,
  openPage,
  openScreen,
  overhang,
  phone,
  settled,
  sideways,
  signIn,
  violations,
} from './browser.js'
import { prefixed } from './prefixed.js'

t.setTimeout(900_000)

const companies = 10_000
/** Companies with a plan and use. */
const planned = 100
const perBatch = 250
const longName =
  'Gesellschaft für Schwertransport, Lagerhaltung und internationale Spedition Nord-Ost mbH & Co. KG'

const nameOf = (i: number): string => (i === 0 ? longName : `Company ${i}`)
const slugOf = (i: number): string => `company-${i}`

/** Do something with each number below `count`, 8 at a time. */
async function each(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

/** `data` of a request; one that is told to wait is asked again, as a town is more at once than stores take. */
async function ask(client: Client, method: string, path: string, body?: object) {
  for (;;) {
    const { status, body: answer } = await client.send(method, path, body)
    if (status < 300) return answer.data
    if (status !== 503) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`)
    await new Promise(resolve => setTimeout(resolve, 500))
  }
}

/** Companies in batches, a plan for some of them, use up to a limit, and flags. */
async function town(client: Client) {
  const batches = Array.from({ length: companies / perBatch }, (_, i) => i * perBatch)
  for (const from of batches)
    await ask(client, 'POST', '/event-batch', {
      events: Array.from({ length: perBatch }, (_, i) => ({
        event_type: 'identify',
        body: {
          keys: { email: `user-${from + i}@example.com` },
          company: { keys: { slug: slugOf(from + i) }, name: nameOf(from + i), traits: { seats: i } },
        },
      })),
    })
  const features: string[] = []
  for (const name of ['exports', 'api_call', 'scan']) {
    const feature = await ask(client, 'POST', '/features', {
      name,
      description: '',
      feature_type: 'event',
      event_subtype: name,
      flag: { key: name, name, description: '', flag_type: 'boolean', default_value: false },
    })
    features.push(feature.id)
  }
  const plan = await publishedPlan(
    client,
    'Team',
    features.map(id => ({
      feature_id: id,
      value_type: 'numeric',
      value_numeric: 100,
      metric_period: 'current_month',
    })),
  )
  const ids: string[] = []
  while (ids.length < planned) {
    const page = await ask(client, 'GET', `/companies?view=summary&limit=250&offset=${ids.length}`)
    ids.push(...page.map(({ id }: { id: string }) => id))
    if (page.length === 0) await new Promise(resolve => setTimeout(resolve, 200))
  }
  const [long] = await ask(client, 'GET', `/companies?view=summary&q=${encodeURIComponent(longName)}`)
  await each(planned, i => ask(client, 'PUT', `/company-plans/${ids[i]}`, { base_plan_id: plan.id }))
  await ask(client, 'PUT', `/company-plans/${long.id}`, { base_plan_id: plan.id })
  await each(planned / 50, i =>
    ask(client, 'POST', '/event-batch', {
      events: Array.from({ length: 50 }, (_, n) => ({
        event_type: 'track',
        body: {
          event: 'exports',
          // the newest companies are those with a plan
          company: { slug: slugOf(companies - 1 - i * 50 - n) },
          quantity: 1 + ((i * 37 + n) % 120),
        },
      })),
    }),
  )
  return { plan, features, id: long.id as string }
}

const tabs = ['credits', 'charges', 'events', 'flags', 'users', 'changes', 'more']

t.test('the console over a town', { skip: noBrowser }, async t => {
  const { client } = await startHere(t, {
    TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true',
    TOLLGATE_WEBHOOK_RETRY_MS: '5',
  })
  const { plan, features, id } = await town(client)
  const { environment_id: env } = await client.ok('GET', '/whoami')
  const [flag] = await client.ok('GET', '/flags?view=summary')
  const screens = [
    ...['overview', 'companies', 'companies?sort=closest_limit', 'companies?sort=usage', 'why', 'plans'],
    ...[
      'companies?q=transport',
      'features',
      'flags',
      'credits',
      'charges',
      'charges?period=current',
      'events',
      'webhooks',
      'keys',
    ],
    ...['audit', 'system', 'preview/plans', `companies/${id}`, `plans/${plan.id}`, `flags/${flag.id}`],
    ...tabs.map(tab => `companies/${id}?tab=${tab}`),
    `why?company=${id}&flag=${flag.key}`,
  ]
  const browser = await launch(t)
  const { page, faults } = await openPage(browser, client.url)
  page.setDefaultTimeout(60_000)
  await signIn(page, client)

  const openAll = async (t: Test, of: readonly string[], at = page, base = client.url) => {
    for (const screen of of) {
      await openScreen(at, base, env, screen)
      // a busy machine may ask for a moment: what it asks for is asked again by itself
      await at.getByRole('alert').first().waitFor({ state: 'hidden' })
      t.same(await at.getByRole('alert').allTextContents(), [], `${screen}: nothing failed`)
      t.equal(await overhang(at), 0, `${screen} fits the window`)
      t.same(await sideways(at), [], `${screen}: nothing is scrolled sideways`)
      await at.setViewportSize(phone)
      t.same(await sideways(at), [], `${screen}: nothing is scrolled sideways on a phone`)
      await at.setViewportSize(desktop)
    }
  }

  await t.test('each screen', async t => {
    await openAll(t, screens)
    await openScreen(page, client.url, env, 'companies')
    await page.getByText('10,000 in all').waitFor()
    // by use, from the list of sorts on: the most used feature in the last 30 days
    await page.getByLabel('Sort').selectOption({ label: 'Most use' })
    const usedMost = page.getByRole('region', { name: 'Companies' }).getByRole('listitem').first()
    await usedMost.getByText('87', { exact: true }).waitFor()
    t.equal(await page.getByLabel('Feature').locator('option:checked').textContent(), 'exports')
    const asked = page.waitForRequest(/usage_start_time/)
    await page.getByLabel('Period').selectOption({ label: 'Today' })
    const since = new URL((await asked).url()).searchParams.get('usage_start_time')
    t.equal(since, `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`)
    await settled(page)
    await usedMost.getByText('87', { exact: true }).waitFor()
    await page.getByLabel('Feature').selectOption({ label: 'scan' })
    await page.getByText('No company used it in this time').waitFor()
    t.same(await violations(page), [], 'companies by use, of which nobody has any')
    await openScreen(page, client.url, env, 'companies')
    await page.getByText('10,000 in all').waitFor()
    await page.getByRole('region', { name: 'Companies' }).evaluate('node => node.scrollTo(0, 4_000)')
    await page
      .getByRole('link', { name: /^Company \d+$/ })
      .first()
      .waitFor()
    t.same(await violations(page), [], 'a long list that was scrolled')
    await openScreen(page, client.url, env, `companies/${id}`)
    await page.setViewportSize(phone)
    t.equal(await overhang(page), 0, 'a very long name fits a phone')
    await page.setViewportSize(desktop)
  })

  await t.test('after a migration, an override and a notification that failed', async t => {
    await client.ok('POST', '/webhooks', {
      name: 'Ledger',
      url: 'http://127.0.0.1:9/',
      request_types: ['company.override.created'],
    })
    await client.ok('POST', '/company-overrides', {
      company_id: id,
      feature_id: features[0],
      value_type: 'numeric',
      value_numeric: 5_000,
      metric_period: 'current_month',
      note: 'agreed until the renewal',
    })
    const [entitlement] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}`)
    await client.ok('PUT', `/plan-entitlements/${entitlement.id}`, { value_numeric: 80 })
    await publishDraftOf(client, plan.id, {
      migration_strategy: 'end_of_billing_period',
      excluded_company_ids: [],
    })
    const [next] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}`)
    await client.ok('PUT', `/plan-entitlements/${next.id}`, { value_numeric: 60 })
    await openAll(t, [
      ...['overview', 'companies', 'plans', 'charges', 'webhooks', 'audit', `companies/${id}?tab=changes`],
      `why?company=${id}&flag=${flag.key}`,
    ])
    await openScreen(page, client.url, env, `companies/${id}`)
    await page.getByText('agreed until the renewal').waitFor()
    await openScreen(page, client.url, env, `plans/${plan.id}`)
    await page.getByText('At the end of their period').waitFor()
    t.same(await violations(page), [], 'a plan while companies move')
    await openScreen(page, client.url, env, 'webhooks?status=failure')
    await page.getByText('company.override.created').nth(1).waitFor()
    t.same(await violations(page), [], 'a notification that failed')
  })

  await t.test('behind a prefix', async t => {
    const base = await prefixed(t, client.url)
    const behind = await openPage(browser, base)
    await signIn(behind.page, client, base)
    await openAll(t, ['overview', 'companies', `companies/${id}`, `plans/${plan.id}`], behind.page, base)
    t.same(behind.faults.filter(isFault), [])
  })

  t.same(faults.filter(isFault), [], 'no error, no other host')
})

/** All but refusals that ask to come again, as a busy machine gives them. */
const isFault = (fault: string): boolean => !/^503 /.test(fault)
