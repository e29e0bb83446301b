// The portal's elements on a company's own page, in a real browser: another origin, a strict policy, a token that ends.
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { servePortalPage } from '../../examples/portal-page/server.js'
import { launch, noBrowser, violations } from '../console/browser.js'
import { bootstrapKey, startHere } from '../harness.js'

t.setTimeout(300_000)

t.test('a company sees its plan, usage and credits on its own page', { skip: noBrowser }, async t => {
  const { client } = await startHere(t)
  const company = await client.ok('POST', '/companies', { name: 'Acme', keys: { slug: 'acme' } })
  await client.ok('POST', '/companies', { name: 'Globex', keys: { slug: 'globex' } })
  const feature = await client.ok('POST', '/features', {
    name: 'Exports <b>',
    description: '',
    feature_type: 'event',
    event_subtype: 'export',
    flag: { key: 'exports', name: 'e', description: '', flag_type: 'boolean', default_value: false },
  })
  await client.ok('POST', '/company-overrides', {
    company_id: company.id,
    feature_id: feature.id,
    value_type: 'numeric',
    value_numeric: 1_200,
    metric_period: 'current_month',
  })
  const use = (quantity: number) =>
    client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'export', company: { slug: 'acme' }, quantity },
    })
  await use(1_000)
  const server = await servePortalPage({
    tollgateUrl: client.url,
    secretKey: bootstrapKey,
    signedIn: () => ({ slug: 'acme' }),
    tokenSeconds: 60,
  })
  t.teardown(() => server.close())
  const browser = await launch(t)
  const page = await browser.newPage()
  page.setDefaultTimeout(90_000)
  const faults: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load'))
      faults.push(message.text())
  })
  page.on('pageerror', error => faults.push(String(error)))
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)

  await page.getByText('1,000 of 1,200').waitFor()
  await page.getByText('Exports <b>').waitFor()
  await page.getByRole('heading', { name: 'This month' }).waitFor()
  await page.getByText('No plan').waitFor()
  await page.getByText('No credits').waitFor()
  t.same(await violations(page), [], 'WCAG 2.2 AA')

  await use(200)
  await page.getByText('1,200 of 1,200').waitFor()
  await page.getByText(/used up/).waitFor()

  // a token that is no longer accepted is renewed by the page's own server
  await page.evaluate("document.querySelector('tollgate-portal').setAttribute('token', 'over')")
  await page.locator('tollgate-portal:not([token=over])').waitFor({ state: 'attached' })
  await page.getByText('1,200 of 1,200').waitFor()
  t.not(await page.evaluate("document.querySelector('tollgate-portal').getAttribute('token')"), 'over')
  t.same(faults, [], 'no error; the strict policy of the page holds')
})
