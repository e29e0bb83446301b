// The console over two fronts, in a real browser: pages that are connected to either show a change at once, one session
// opens them all, and it ends on all.
import t from 'tap'
import { eventFeature, publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { launch, noBrowser, openPage, openScreen, signIn } from './browser.js'

t.setTimeout(900_000)

/** So many pages that each front surely has the data stream of one. */
const pagesOpen = 8

t.test('live values over the data stream of two fronts', { skip: noBrowser }, async t => {
  const { client } = await startHere(t, { TOLLGATE_FRONTS: '2', TOLLGATE_HTTP: 'auto' })
  const { environment_id: env } = await client.ok('GET', '/whoami')
  const { fronts } = await client.ok('GET', '/system')
  t.same(
    fronts.map(({ answers }: { answers: boolean }) => answers),
    [true, true],
  )
  const calls = await eventFeature(client, 'Calls', 'call')
  const plan = await publishedPlan(client, 'Team', [
    { feature_id: calls.id, value_type: 'numeric', value_numeric: 100, metric_period: 'current_month' },
  ])
  const { id } = await client.ok('POST', '/companies', { name: 'Acme', keys: { slug: 'acme' } })
  await client.ok('PUT', `/company-plans/${id}`, { base_plan_id: plan.id })
  const browser = await launch(t)
  const { page: first, faults } = await openPage(browser, client.url)
  await signIn(first, client)
  const pages = [first]
  while (pages.length < pagesOpen) pages.push(await first.context().newPage())
  for (const page of pages) await openScreen(page, client.url, env, `companies/${id}`)
  for (const page of pages) await page.getByText('live', { exact: true }).waitFor()
  t.equal((await client.ok('GET', '/system')).stream_connections, pagesOpen, 'each has a stream of its own')

  for (const used of [7, 14]) {
    await client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'call', company: { slug: 'acme' }, quantity: 7 },
    })
    for (const page of pages) await page.getByText(`${used} / 100`).first().waitFor()
  }
  t.pass('an event is shown on every page')

  await client.ok('POST', '/company-overrides', {
    company_id: id,
    feature_id: calls.id,
    value_type: 'numeric',
    value_numeric: 500,
    metric_period: 'current_month',
    note: 'agreed by phone',
  })
  for (const page of pages) {
    await page.getByText('14 / 500').first().waitFor()
    await page.getByText('agreed by phone').waitFor()
  }
  t.pass('an override is shown on every page, with its reason')

  t.same(faults, [], 'no error, no other host')
  await first.getByRole('button', { name: /^Sign out/ }).click()
  await first.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
  for (const page of pages.slice(1))
    await page.getByText('live', { exact: true }).waitFor({ state: 'hidden' })
  t.equal(
    (await client.ok('GET', '/system')).stream_connections,
    0,
    'a session that is ended ends its streams',
  )
})
