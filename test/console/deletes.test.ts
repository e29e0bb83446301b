// Deletions of the console, in a real browser: a plan, a flag, a feature, a key. Each is really gone; production
// feels it, so its name has to be typed; a refusal names companies, not ids.
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { eventFeature, publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { launch, noBrowser, openPage, openScreen, press, signIn, violations } from './browser.js'

t.setTimeout(900_000)

/** The dialog that asks before something is deleted: its button works only for the right name. */
async function typed(t: Test, page: Page, verb: string, name: string): Promise<void> {
  const asked = page.getByRole('dialog').last()
  const button = asked.getByRole('button', { name: verb, exact: true })
  const field = asked.getByLabel(`Production feels this: type ${name}`)
  await field.waitFor()
  t.same(await violations(page), [], `${verb} ${name}`)
  t.equal(await button.isDisabled(), true, 'nothing is typed')
  await field.fill(`${name}s`)
  t.equal(await button.isDisabled(), true, 'another name is typed')
  await field.fill(name)
  await button.click()
}

t.test('deletions of the console', { skip: noBrowser }, async t => {
  const { client } = await startHere(t)
  const { environment_id: env, environments } = await client.ok('GET', '/whoami')
  const production = environments.find(
    (one: { environment_type: string }) => one.environment_type === 'production',
  )
  const exports_ = await eventFeature(client, 'Exports', 'export')
  const team = await publishedPlan(client, 'Team', [
    { feature_id: exports_.id, value_type: 'numeric', value_numeric: 10, metric_period: 'current_month' },
  ])
  const acme = await client.ok('POST', '/companies', { name: 'Acme', keys: { slug: 'acme' } })
  const beta = { key: 'beta', name: 'Beta', description: '', flag_type: 'boolean', default_value: false }
  const flag = await client.ok('POST', '/flags', beta)
  await client.ok('PUT', `/company-plans/${acme.id}`, { base_plan_id: team.id })
  const browser = await launch(t)
  const { page, faults } = await openPage(browser, client.url)
  await signIn(page, client)
  const at = (screen: string, environment = env) => openScreen(page, client.url, environment, screen)
  const gone = async (path: string) => (await client.get(path)).status === 404

  await t.test('a plan with a company stays, and the refusal names the company', async t => {
    await at(`plans/${team.id}`)
    await press(page, 'Archive')
    await typed(t, page, 'Archive', 'Team')
    await page.getByText('Companies are on the plan: Acme', { exact: true }).waitFor()
    await press(page, 'Cancel')
    t.equal(await gone(`/plans/${team.id}`), false)
    // the refusal that was asked for
    const refused = faults.findIndex(fault => /^400 .*\/plans\//.test(fault))
    t.ok(refused >= 0)
    faults.splice(refused, 1)
  })

  await t.test('a feature that a company has by its plan stays, too', async t => {
    await at('features')
    await press(page, 'Delete Exports')
    await typed(t, page, 'Delete', 'Exports')
    await page.getByRole('alert').getByText(/Acme/).waitFor()
    await press(page, 'Cancel')
    t.equal(await gone(`/features/${exports_.id}`), false)
    faults.splice(
      faults.findIndex(fault => /^400 .*\/features\//.test(fault)),
      1,
    )
  })

  await t.test('PB-12 a plan is archived when nobody is on it, and leaves the list', async t => {
    await client.ok('PUT', `/company-plans/${acme.id}`, { base_plan_id: null })
    await at(`plans/${team.id}`)
    await press(page, 'Archive')
    await typed(t, page, 'Archive', 'Team')
    await page.getByText('Team was archived').waitFor()
    await page.getByRole('heading', { name: 'Plans', exact: true }).waitFor()
    await page.getByText('No plan yet').waitFor()
    t.same(await client.ok('GET', '/plans'), [])
  })

  await t.test('a flag is deleted from Development: production feels it, too', async t => {
    await at(`flags/${flag.id}`)
    await press(page, 'Delete')
    await typed(t, page, 'Delete', 'beta')
    await page.getByText('beta was deleted').waitFor()
    await page.getByRole('heading', { name: 'Flags', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Beta' }).waitFor({ state: 'hidden' })
    t.equal(await gone(`/flags/${flag.id}`), true)
  })

  await t.test('a feature is deleted', async t => {
    await at('features')
    await press(page, 'Delete Exports')
    await typed(t, page, 'Delete', 'Exports')
    await page.getByText('Exports was deleted').waitFor()
    await page.getByText('No feature yet').waitFor()
    t.equal(await gone(`/features/${exports_.id}`), true)
  })

  await t.test('a key is deleted: in production its name is typed, and it is refused at once', async t => {
    const add = (name: string, environment_id: string) =>
      client.ok('POST', '/api-keys', { name, environment_id, scopes: ['read'] })
    const worker = await add('Worker', production.id)
    const status = async (secret: string) => (await client.as(secret).get('/companies')).status
    t.equal(await status(worker.secret), 200)
    await at('keys', production.id)
    await press(page, 'Delete Worker')
    await typed(t, page, 'Delete', 'Worker')
    await page.getByText('Worker was deleted').waitFor()
    await page.getByRole('button', { name: 'Delete Worker' }).waitFor({ state: 'hidden' })
    t.equal(await status(worker.secret), 401)

    const trial = await add('Trial', env)
    await at('keys')
    await press(page, 'Delete Trial')
    await press(page, 'Delete')
    await page.getByText('Trial was deleted').waitFor()
    t.equal(await status(trial.secret), 401, 'in Development nothing is typed')
  })

  t.same(faults, [], 'no error, no other host')
})
