// The console on Node's HTTP server: the first start by clicking alone, live values, and the headers of the page.
import t from 'tap'
import { startHere } from '../harness.js'
import { launch, noBrowser, openPage, openScreen, signIn } from './browser.js'
import { firstStart } from './first-start.js'

t.setTimeout(300_000)

t.test('the console on Node’s HTTP server', { skip: noBrowser }, async t => {
  const { client } = await startHere(t, { TOLLGATE_HTTP: 'node' })
  const headers = (await fetch(`${client.url}/console/`)).headers
  t.match(headers.get('content-security-policy'), /default-src 'self'/)
  t.match(headers.get('cache-control'), /no-cache/)
  const browser = await launch(t)
  const { page, faults } = await openPage(browser, client.url)
  await signIn(page, client)
  await firstStart(t, page)
  const { environment_id: env } = await client.ok('GET', '/whoami')
  const [{ id }] = await client.ok('GET', '/companies?view=summary')
  await openScreen(page, client.url, env, `companies/${id}`)
  await page.getByText('live', { exact: true }).waitFor()
  await client.ok('POST', '/events', {
    event_type: 'track',
    body: { event: 'api_call', company: { slug: 'acme' }, quantity: 5 },
  })
  await page.getByText('7 / 2').first().waitFor()
  await page.getByRole('button', { name: /^Sign out/ }).click()
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
  t.same(faults, [], 'no error, no other host')
})
