// The console in a real browser while ClickHouse, Postgres or the service itself is away: each screen says so in plain words,
// keeps what it can show, and comes back by itself.
import type { Browser, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { eventFeature, publishedPlan } from '../control/planned.js'
import { type Road, road } from '../faults/road.js'
import { startHere } from '../harness.js'
import { startStores } from '../stores.js'
import { launch, noBrowser, openPage, openScreen, overhang, settled, signIn, violations } from './browser.js'

t.setTimeout(600_000)

const storeAway = 'A part of the service does not answer. It is tried again.'
const serviceAway = 'Tollgate does not answer. It is tried again.'

t.test('the console while something is away', { skip: noBrowser }, async t => {
  const { postgres, clickhouseAddress } = await startStores(t, { migrated: false, own: true })
  if ('url' in postgres) throw new Error('the embedded Postgres listens on a socket')
  const { user, password, socketPath } = clickhouseAddress
  const toPostgres = await road(t, { path: `${postgres.host}/.s.PGSQL.${postgres.port}` })
  const toClickHouse = await road(t, { path: socketPath! })
  const { client } = await startHere(t, {
    DATABASE_URL: `postgres://${postgres.user}:${postgres.password}@127.0.0.1:${toPostgres.port}/${postgres.database}`,
    CLICKHOUSE_URL: `http://${user}:${password}@127.0.0.1:${toClickHouse.port}`,
  })
  const { hostname, port } = new URL(client.url)
  const toService = await road(t, { host: hostname, port: Number(port) })
  const base = `http://127.0.0.1:${toService.port}`

  const { environment_id: env } = await client.ok('GET', '/whoami')
  const calls = await eventFeature(client, 'Calls', 'call', {
    flag: { key: 'calls', name: 'Calls', description: '', flag_type: 'boolean', default_value: false },
  })
  const plan = await publishedPlan(client, 'Team', [
    { feature_id: calls.id, value_type: 'numeric', value_numeric: 100, metric_period: 'current_month' },
  ])
  const { id } = await client.ok('POST', '/companies', { name: 'Acme', keys: { slug: 'acme' } })
  await client.ok('PUT', `/company-plans/${id}`, { base_plan_id: plan.id })
  const track = { event: 'call', company: { slug: 'acme' }, quantity: 70 }
  await client.ok('POST', '/events', { event_type: 'track', body: track })
  const screens = [
    ...['companies', `companies/${id}`, `companies/${id}?tab=charges`, `why?company=${id}&flag=calls`],
    ...[`plans/${plan.id}`, 'charges', 'events', 'webhooks', 'system', 'overview'],
  ]
  const browser = await launch(t)
  const degraded = async (): Promise<readonly string[]> =>
    (await client.get('/health/ready')).body.degraded ?? []

  const away = async (t: Test, name: string, way: Road) => {
    const { page, faults } = await opened(browser, base, client)
    way.cut()
    // Nothing is written meanwhile: the page shows what the service finds out by asking.
    await openScreen(page, base, env, 'system')
    const store = page.getByRole('region', { name: 'Stores' }).getByRole('row').filter({ hasText: name })
    await store.getByText('no', { exact: true }).waitFor()
    await page.getByText('degraded', { exact: true }).waitFor()
    // Something to write into the store, so that the service notices.
    await client.ok('POST', '/events', { event_type: 'track', body: track })
    while (!(await degraded()).some(part => part.startsWith(name)))
      await new Promise(resolve => setTimeout(resolve, 50))
    const told = new Map<string, readonly string[]>()
    for (const screen of screens) {
      await openScreen(page, base, env, screen)
      t.equal(await overhang(page), 0, `${screen} fits the window while ${name} is away`)
      told.set(screen, await page.getByRole('alert').locator('span').allTextContents())
      t.same(
        told.get(screen)!.filter(text => text !== storeAway),
        [],
        `${screen} says it plainly`,
      )
    }
    t.ok(
      [...told.values()].some(texts => texts.length > 0),
      'what is missing is said',
    )
    t.same(await violations(page), [], `overview while ${name} is away`)
    way.mend()
    while ((await degraded()).length > 0) await new Promise(resolve => setTimeout(resolve, 50))
    await comesBack(t, page)
    await openScreen(page, base, env, 'system')
    await store.getByText('yes', { exact: true }).waitFor()
    t.same(faults.filter(isFault), [], 'nothing but refusals that say so')
    await page.context().close()
  }
  await t.test('ClickHouse is away', t => away(t, 'ClickHouse', toClickHouse))
  await t.test('Postgres is away', t => away(t, 'Postgres', toPostgres))

  await t.test('the service is away', async t => {
    const { page } = await opened(browser, base, client)
    toService.cut()
    await page.getByRole('navigation').getByRole('link', { name: 'Companies', exact: true }).click()
    await page.getByText(serviceAway).first().waitFor()
    t.equal(await overhang(page), 0)
    t.same(await violations(page), [], 'companies while the service is away')
    toService.mend()
    await comesBack(t, page)
    await page.getByRole('link', { name: 'Acme' }).waitFor()
    await page.context().close()
  })

  await t.test('System says nothing of the present while the service does not answer', async t => {
    const { page } = await opened(browser, base, client)
    await openScreen(page, base, env, 'system')
    await page.getByText('ready', { exact: true }).waitFor()
    toService.cut()
    await page.getByText('ready', { exact: true }).waitFor({ state: 'hidden' })
    await page.getByText(/^figures of /).waitFor()
    const stores = page.getByRole('region', { name: 'Stores' })
    t.same(await stores.getByText('yes', { exact: true }).count(), 0, 'no store is said to answer')
    t.same(await violations(page), [], 'System while the service is away')
    toService.mend()
    await page.getByText('ready', { exact: true }).waitFor()
    await comesBack(t, page)
    await page.context().close()
  })
})

async function opened(browser: Browser, base: string, client: Parameters<typeof signIn>[1]) {
  const watched = await openPage(browser, base)
  await signIn(watched.page, client, base)
  await settled(watched.page)
  return watched
}

/** All that the page said was away is shown again, though nobody touches it. */
async function comesBack(t: Test, page: Page): Promise<void> {
  await page.getByRole('alert').first().waitFor({ state: 'hidden', timeout: 60_000 })
  await settled(page)
  t.same(await page.getByRole('alert').allTextContents(), [], 'it comes back by itself')
}

/** All but refusals that ask to come again. */
const isFault = (fault: string): boolean => !/^503 /.test(fault)
