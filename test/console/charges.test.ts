// Charges in the console, in a real browser: a closed and an open period of a company, and the lines of all companies.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { eventFeature } from '../control/planned.js'
import { startHere } from '../harness.js'
import { ChargesWorld, metered } from '../interface/charges-world.js'
import { launch, noBrowser, openPage, openScreen, overhang, phone, signIn, violations } from './browser.js'

t.setTimeout(300_000)

t.test('RA-20, RA-23 charges are shown as they are told', { skip: noBrowser }, async t => {
  const { client } = await startHere(t)
  const world = await ChargesWorld.of(client)
  await world.clock('2031-01-01T00:00:00.000Z')
  const calls = await eventFeature(client, 'calls', 'call')
  const paid = { ...metered, feature_id: calls.id, price_behavior: 'pay_as_you_go', monthly_unit_price: 3 }
  const plan = await world.sold('Basic', [paid], { monthly_price: 1000 })
  const id = await world.subscribed('acme', plan)
  await world.use('acme', 'call', 10)
  await world.clock('2031-02-10T00:00:00.000Z')
  const closed = await world.closed(id)
  const open = await world.charges(id)
  t.same(
    [closed.next_period_start, open.previous_period_start, open.next_period_start],
    [open.period.start_time, closed.period.start_time, null],
    'a period names those beside it',
  )
  const invoices = `/billing/invoices?customer_external_id=${id}&subscription_external_id=${id}`
  const all = [...(await client.ok('GET', invoices)), ...(await client.ok('GET', `${invoices}&view=summary`))]
  for (const one of all.slice(all.length / 2)) t.notOk('lines' in one, 'a summary has no lines')

  const browser = await launch(t)
  const { page, faults } = await openPage(browser, client.url)
  page.setDefaultTimeout(60_000)
  await signIn(page, client)
  await openScreen(page, client.url, world.environmentId, `companies/${id}?tab=charges`)
  await page.getByText('$10.00').first().waitFor()
  await page.getByRole('button', { name: 'Earlier period' }).click()
  await page.getByText('$10.30').first().waitFor()
  await page.getByText(closed.period.hash).waitFor()
  await page.getByRole('button', { name: /^More of line 2/ }).click()
  await page.getByText('1 event with 10 in all').waitFor()
  t.same(await violations(page), [], 'a closed period')
  await page.setViewportSize(phone)
  t.equal(await overhang(page), 0, 'it fits a phone')

  await openScreen(page, client.url, world.environmentId, 'charges')
  await page.getByText('$0.30').first().waitFor()
  t.same(await violations(page), [], 'charges of all companies')
  t.equal(await overhang(page), 0, 'they fit a phone')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download CSV' }).click(),
  ])
  t.match(readFileSync(await file.path(), 'utf8'), /^"company_id",[\s\S]*,"usd",/, 'the lines as a file')
  t.same(faults, [], 'no error')
})
