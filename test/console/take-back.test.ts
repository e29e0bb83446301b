// The audit log takes changes back, in a real browser: each is as it was before, and the notice makes it so again.
import t from 'tap'
import { eventFeature, publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { launch, noBrowser, openPage, openScreen, press, signIn, violations } from './browser.js'

t.setTimeout(900_000)

t.test('changes are taken back', { skip: noBrowser }, async t => {
  const { client } = await startHere(t)
  const { environment_id: env, environments } = await client.ok('GET', '/whoami')
  const scans = await eventFeature(client, 'Scans', 'scan')
  const limit = { feature_id: scans.id, value_type: 'numeric', metric_period: 'current_month' }
  const team = await publishedPlan(client, 'Team', [{ ...limit, value_numeric: 10 }])
  const business = await publishedPlan(client, 'Business', [{ ...limit, value_numeric: 1_000 }])
  const credit = await client.ok('POST', '/billing/credits', {
    name: 'Tokens',
    description: '',
    currency: 'usd',
  })
  const { id: acme } = await client.ok('POST', '/companies', { name: 'Acme', keys: { slug: 'acme' } })
  const browser = await launch(t)
  const { page, faults } = await openPage(browser, client.url)
  await signIn(page, client)

  /** Open the newest entry of the audit log, and take it back. `undo`: and take that back, too. */
  const takeBack = async (notice: string, isUndone = false) => {
    // the page is loaded anew: notices of earlier changes are gone
    await page.goto('about:blank')
    await openScreen(page, client.url, env, 'audit')
    await page
      .getByRole('button', { name: /^Details of / })
      .first()
      .click()
    await press(page, 'Take this change back')
    await page.getByRole('button', { name: 'Put back', exact: true }).waitFor()
    const broken = await violations(page)
    await press(page, 'Put back')
    await page.getByText(notice, { exact: true }).waitFor()
    if (isUndone) {
      await press(page, 'Undo')
      await page.getByText('Undone').waitFor()
    }
    return broken
  }

  await t.test('a feature has its name again', async t => {
    const nameOf = async () => (await client.ok('GET', `/features/${scans.id}`)).name
    await client.ok('PUT', `/features/${scans.id}`, { name: 'Pages', description: 'of paper' })
    t.same(await takeBack('Scans is as it was'), [])
    t.equal(await nameOf(), 'Scans')
    await takeBack('Pages is as it was', true)
    t.equal(await nameOf(), 'Scans', 'the change that took it back was taken back, and that undone')
  })

  const overrideOf = async () => {
    const [one] = await client.ok('GET', `/company-overrides?company_id=${acme}`)
    return one === undefined ? null : [one.value_numeric, one.expiration_date]
  }
  const override = { company_id: acme, ...limit, value_numeric: 50 }

  await t.test('an override that was changed has its value again', async t => {
    const until = '2099-01-01T00:00:00.000Z'
    const { id } = await client.ok('POST', '/company-overrides', { ...override, expiration_date: until })
    await client.ok('PUT', `/company-overrides/${id}`, { value_numeric: 70, expiration_date: null })
    t.same(await takeBack('Scans of Acme is as it was'), [])
    t.same(await overrideOf(), [50, until])
    await client.ok('DELETE', `/company-overrides/${id}`)
  })

  await t.test('an override that has ended is made again, and one that was made is ended', async t => {
    await client.ok('POST', '/company-overrides', override)
    const [{ id }] = await client.ok('GET', `/company-overrides?company_id=${acme}`)
    await client.ok('DELETE', `/company-overrides/${id}`)
    await takeBack('Scans of Acme is as it was')
    t.same(await overrideOf(), [50, null])
    // the newest entry is the override that was made just now
    await takeBack('Scans of Acme is as it was', true)
    t.same(await overrideOf(), [50, null], 'ended, and made again by Undo')
    await takeBack('Scans of Acme is as it was')
    t.equal(await overrideOf(), null)
  })

  await t.test('a limit beyond 2^53 keeps its digits, put back and typed', async t => {
    const exact = async () => {
      const headers = { 'X-Service-Api-Key': client.key }
      const answer = await fetch(`${client.url}/company-overrides?company_id=${acme}`, { headers })
      return /"value_numeric":(\d+)/.exec(await answer.text())?.[1]
    }
    const large = '9007199254740993'
    const body = JSON.stringify(override).replace('"value_numeric":50', `"value_numeric":${large}`)
    const { id } = (await client.post('/company-overrides', body)).body.data
    await client.ok('PUT', `/company-overrides/${id}`, { value_numeric: 70 })
    await takeBack('Scans of Acme is as it was')
    t.equal(await exact(), large)
    await openScreen(page, client.url, env, `companies/${acme}`)
    await press(page, 'Change the override of Scans')
    await page.getByLabel('Limit').fill('9007199254740995')
    await press(page, 'Continue')
    await press(page, 'Override')
    await page.getByText('Scans is overridden').waitFor()
    t.equal(await exact(), '9007199254740995')
    await client.ok('DELETE', `/company-overrides/${id}`)
  })

  await t.test('an override of a company whose answer is too long to be kept in whole', async t => {
    const traits = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [`trait_${i}`, 'words and '.repeat(16)]),
    )
    const keys = { slug: 'long' }
    const { id: company_id } = await client.ok('POST', '/companies', { name: 'Long', keys, traits })
    const { id } = await client.ok('POST', '/company-overrides', { ...override, company_id })
    await client.ok('PUT', `/company-overrides/${id}`, { value_numeric: 70 })
    const [entry] = await client.ok('GET', '/audit-log?limit=1')
    const { before } = await client.ok('GET', `/audit-log/${entry.id}`)
    t.match(before, /…$/, 'it was cut')
    await takeBack('Scans of Long is as it was')
    const found = await client.ok('GET', `/company-overrides/${id}`)
    t.equal(found.value_numeric, 50)
  })

  const planOf = async () => (await client.ok('GET', `/companies/${acme}`)).plan?.name ?? null
  const put = (id: string) => client.ok('PUT', `/company-plans/${acme}`, { base_plan_id: id })

  await t.test('a company is on its former plan again, or on none', async t => {
    await put(team.id)
    await takeBack('The plan of Acme is as it was')
    t.equal(await planOf(), null)
    await put(team.id)
    await put(business.id)
    await takeBack('The plan of Acme is as it was')
    t.equal(await planOf(), 'Team')
    await takeBack('The plan of Acme is as it was', true)
    t.equal(await planOf(), 'Team')
  })

  await t.test('credits that were granted are taken back', async t => {
    const grant = { company_id: acme, credit_id: credit.id, quantity: 500, reason: 'free' }
    await client.ok('POST', '/billing/credits/grants/company', grant)
    await takeBack('The credits of Acme are taken back')
    const { billing_credit_balances: balances } = await client.ok('GET', `/companies/${acme}`)
    t.equal(balances[credit.id] ?? 0, 0)
  })

  await t.test('a key that was disabled works again', async t => {
    const { id, secret } = await client.ok('POST', '/api-keys', {
      name: 'Worker',
      environment_id: env,
      scopes: ['read'],
    })
    await client.ok('PUT', `/api-keys/${id}`, { disabled: true })
    t.equal((await client.as(secret).get('/companies')).status, 401)
    await takeBack('Worker is as it was')
    t.equal((await client.as(secret).get('/companies')).status, 200)
  })

  await t.test(
    'what is gone says so; another environment is named; production asks for the name',
    async t => {
      const openEntry = async (environment: string, id: string) => {
        await page.goto('about:blank')
        await page.goto(`${client.url}/console/#/${environment}/audit?entry=${id}`)
        await page.getByText('What was sent').waitFor()
      }
      const { id } = await client.ok('POST', '/company-overrides', override)
      const [made] = await client.ok('GET', '/audit-log?resource_type=company_override&limit=1')
      await client.ok('DELETE', `/company-overrides/${id}`)
      await openEntry(env, made.id)
      await press(page, 'Take this change back')
      await page.getByText('It is not there any more.').waitFor()
      t.same(await violations(page), [], 'an entry that cannot be taken back')
      faults.splice(
        faults.findIndex(fault => /^404 .*company-overrides/.test(fault)),
        1,
      )

      const production = environments.find(
        (one: { environment_type: string }) => one.environment_type === 'production',
      )
      const key = { name: 'Seller', environment_id: production.id, scopes: ['read', 'write'] }
      const there = client.as((await client.ok('POST', '/api-keys', key)).secret)
      const { id: other } = await there.ok('POST', '/companies', { name: 'Globex', keys: { slug: 'globex' } })
      await there.ok('POST', '/company-overrides', { ...override, company_id: other })
      const [entry] = await client.ok('GET', `/audit-log?environment_id=${production.id}&limit=1`)
      await openEntry(env, entry.id)
      await page.getByText('To take it back, choose Production: it was changed there.').waitFor()
      await openEntry(production.id, entry.id)
      await press(page, 'Take this change back')
      await page.getByLabel('Production feels this: type Globex').fill('Globex')
      await press(page, 'Put back')
      await page.getByText('Scans of Globex is as it was', { exact: true }).waitFor()
      t.same(await there.ok('GET', `/company-overrides?company_id=${other}`), [])
    },
  )

  t.same(faults, [], 'no error, no other host')
})
