// The console in a real browser: a first start by clicking alone, every screen without a violation of accessibility in light
// and dark, nothing from other hosts, no error; by keyboard; behind a prefix; two tabs; a session that ends in mid-work.
import type { Page } from 'playwright-core'
import t from 'tap'
import { startHere } from '../harness.js'
import {
  desktop,
  go,
  launch,
  narrow,
  noBrowser,
  openPage,
  openScreen,
  overhang,
  phone,
  press,
  settled,
  sideways,
  signIn,
  violations,
} from './browser.js'
import { firstStart } from './first-start.js'
import { prefixed } from './prefixed.js'

t.setTimeout(900_000)

/** The page with its chart, as it is sent. */
const firstLoadBytesMax = 160_000

const screens = [
  'overview',
  'companies',
  'why',
  'plans',
  'features',
  'flags',
  'credits',
  'charges',
  'events',
  'webhooks',
  'keys',
  'audit',
  'system',
  'preview/plans',
  'ui',
]

/** Bytes of the page's own files, as they were sent. */
const loadedBytes = (page: Page): Promise<number> =>
  page.evaluate(
    `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
      .filter(({ name }) => !/console.(api|session)/.test(name))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
  )

t.test('the console in a browser', { skip: noBrowser }, async t => {
  const { client, tollgate } = await startHere(t)
  const browser = await launch(t)
  const { page, faults } = await openPage(browser, client.url)
  const { environment_id: env } = await client.ok('GET', '/whoami')

  await t.test('a first start by clicking alone', async t => {
    await page.goto(`${client.url}/console/`)
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
    t.same(await violations(page), [], 'sign in')
    await signIn(page, client)
    await firstStart(t, page)
  })

  const [{ id }] = await client.ok('GET', '/companies?view=summary')
  const [plan] = await client.ok('GET', '/plans?view=summary')
  const [flag] = await client.ok('GET', '/flags?view=summary')
  const tabs = ['credits', 'charges', 'events', 'flags', 'users', 'changes', 'more']
  const all = [
    ...screens,
    `companies/${id}`,
    ...tabs.map(tab => `companies/${id}?tab=${tab}`),
    `plans/${plan.id}`,
    `flags/${flag.id}`,
    `why?company=${id}&flag=${flag.key}`,
  ]

  await t.test(
    'every screen: no violation of WCAG 2.2 AA in light and dark; it fits the window and a phone',
    async t => {
      for (const screen of all) {
        await openScreen(page, client.url, env, screen)
        t.same(await violations(page), [], screen)
        t.equal(await overhang(page), 0, `${screen} fits the window`)
        t.same(await sideways(page), [], `${screen}: nothing is scrolled sideways in a window`)
        for (const size of [phone, narrow]) {
          await page.setViewportSize(size)
          t.same(await sideways(page), [], `${screen}: nothing is scrolled sideways at ${size.width} px`)
          t.equal(await overhang(page), 0, `${screen} fits ${size.width} px`)
        }
        await page.setViewportSize(desktop)
      }
    },
  )

  await t.test(
    'EX-6 why a company was denied at an instant: three clicks, and another answer now',
    async t => {
      await client.ok('POST', `/flags/${flag.key}/check`, { company: { slug: 'acme' } })
      await tollgate.services.shards.tellChecks()
      for (let tries = 0; tries < 120; tries++) {
        const rows = await client.ok('GET', `/events?value=false&company_id=${id}`)
        if (rows.length > 0) break
        await new Promise(resolve => setTimeout(resolve, 500))
      }
      await client.ok('PUT', `/flags/${flag.id}/rules`, {
        rules: [{ name: 'Everybody', priority: 1, value: true, rule_type: 'global_override' }],
      })
      await openScreen(page, client.url, env, 'overview')
      await go(page, 'Why?')
      await page.getByLabel('Company').fill('Acme')
      await page.getByRole('button', { name: 'Acme', exact: true }).click()
      await page.getByText('Denied lately').waitFor()
      await page.getByRole('table').getByRole('link', { name: 'Why?', exact: true }).first().click()
      await page.getByText('NO', { exact: true }).first().waitFor()
      t.match(await page.getByLabel('Instant').inputValue(), /^\d{4}-\d\d-\d\dT\d\d:\d\d/)
      t.same(await violations(page), [])
      await page.getByRole('button', { name: 'Same check now' }).click()
      await page.getByText('YES', { exact: true }).first().waitFor()
      await client.ok('PUT', `/flags/${flag.id}/rules`, { rules: [] })
    },
  )

  await t.test('the palette finds a company by keyboard, with a typing error', async t => {
    await openScreen(page, client.url, env, 'overview')
    await page.keyboard.press('Control+k')
    await page.locator('[role=combobox]:focus').waitFor()
    await page.keyboard.type('Acmee')
    await page.getByRole('option', { name: /Acme/ }).first().waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /Acme/ }).waitFor()
    await page.keyboard.press('Control+k')
    await page.locator('[role=combobox]:focus').waitFor()
    await page.keyboard.type('Add comp')
    await page.getByRole('option', { name: /Add company/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByLabel('Key value').waitFor()
    t.same(await violations(page), [], 'a command of the palette')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.locator('[role=combobox]:focus').waitFor()
    await page.keyboard.type('Dark')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Light colours' }).click()
    await page.getByRole('link', { name: 'Acme', exact: true }).first().click()
    await page.getByRole('heading', { name: /Acme/ }).waitFor()
  })

  await t.test('two tabs hold two environments', async t => {
    const other = await page.context().newPage()
    await other.goto(`${client.url}/console/`)
    await other.getByLabel('Environment').selectOption({ label: 'Production' })
    await other.getByText('PRODUCTION', { exact: true }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: /Acme/ }).waitFor()
    await other.reload()
    await other.getByText('PRODUCTION', { exact: true }).waitFor()
    t.match(await page.getByLabel('Environment').inputValue(), env)
    await other.close()
  })

  await t.test('a session that ends while somebody types loses nothing', async t => {
    await openScreen(page, client.url, env, 'companies')
    await page.getByRole('button', { name: 'Add company' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('Half typed')
    await page.getByLabel('Key value').fill('half')
    await page.context().clearCookies()
    await press(page, 'Continue')
    await press(page, 'Add')
    await page.getByText('Your session has ended').waitFor()
    t.same(await violations(page), [], 'signing in again')
    const { token } = await client.ok('POST', '/console-links', {})
    await page.getByLabel('Secret key or one-time link').fill(token)
    await press(page, 'Sign in')
    await page.getByText('Your session has ended').waitFor({ state: 'hidden' })
    await press(page, 'Add')
    await page.getByRole('heading', { name: /Half typed/ }).waitFor()
    t.pass('it was added after signing in again')
    // the refusals that began it
    for (let i = faults.length - 1; i >= 0; i--) if (/^401/.test(faults[i]!)) faults.splice(i, 1)
  })

  await t.test('behind a proxy with a prefix', async t => {
    const base = await prefixed(t, client.url)
    const behind = await openPage(browser, base)
    await signIn(behind.page, client, base)
    await go(behind.page, 'Companies')
    await behind.page.getByRole('link', { name: 'Acme', exact: true }).click()
    await behind.page.getByText('live', { exact: true }).waitFor()
    const [cookie] = await behind.page.context().cookies(`${base}/console/`)
    t.match(cookie, { path: '/some/prefix/console', httpOnly: true, sameSite: 'Strict' })
    t.same(behind.faults, [])
  })

  await t.test('the first load', async t => {
    const first = await openPage(browser, client.url)
    await signIn(first.page, client)
    await settled(first.page)
    const bytes = await loadedBytes(first.page)
    t.ok(bytes > 50_000 && bytes <= firstLoadBytesMax, `${bytes} bytes`)
    t.same(first.faults, [])
  })

  t.same(faults, [], 'no error, no other host')
})
