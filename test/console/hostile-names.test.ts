// Names that others wrote, in the console and on a company's own page, in a real browser: they are shown as texts, and nothing of
// them runs or is loaded (security 43).
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { servePortalPage } from '../../examples/portal-page/server.js'
import { eventFeature, publishedPlan } from '../control/planned.js'
import { bootstrapKey, type Client, startHere } from '../harness.js'
import { makeFlag } from '../interface/flags.js'
import { launch, noBrowser, openPage, openScreen, signIn } from './browser.js'

t.setTimeout(600_000)

const run = 'taken=1'
const hostile = [
  `<img src=x onerror="${run}">`,
  `"><script>${run}</script>`,
  `'};${run};//\${${run}}{{constructor.constructor('${run}')()}}`,
  `<svg onload=${run}><a xlink:href="javascript:${run}">b</a></svg>`,
]
/** All of them in one text, as long as a name may be. */
const name = hostile.join(' ')

/** Elements and values that such a text would have made. */
const harm = `({
  taken: globalThis.taken ?? null,
  elements: document.querySelectorAll(
    '[onerror], [onload], svg a, img[src="x"], a[href^="javascript:"], body script:not([src])'
  ).length,
})`

async function isUnharmed(t: Test, page: Page, where: string): Promise<void> {
  t.same(await page.evaluate(harm), { taken: null, elements: 0 }, where)
}

/** One of everything that has a name. */
async function makeWorld(client: Client) {
  const company = await client.ok('POST', '/companies', {
    name,
    keys: { slug: 'sly', label: name },
    traits: { note: name, link: `javascript:${run}` },
  })
  await client.ok('POST', '/users', { name, keys: { mail: name }, company: { slug: 'sly' } })
  const feature = await eventFeature(client, name, 'call', { description: name })
  const flag = await makeFlag(client, 'sly', false)
  await client.ok('PUT', `/flags/${flag.id}`, {
    key: 'sly',
    name: name,
    description: name,
    flag_type: 'boolean',
    default_value: false,
  })
  const plan = await publishedPlan(
    client,
    name,
    [
      {
        feature_id: feature.id,
        value_type: 'numeric',
        value_numeric: 100,
        metric_period: 'current_month',
      },
    ],
    { description: name },
  )
  await client.ok('PUT', `/company-plans/${company.id}`, { base_plan_id: plan.id })
  const credit = await client.ok('POST', '/billing/credits', {
    name: name,
    description: name,
    currency: 'usd',
  })
  await client.ok('POST', '/billing/credits/grants/company', {
    company_id: company.id,
    credit_id: credit.id,
    quantity: 5,
    reason: 'free',
  })
  for (const event of ['call', hostile[0]!])
    await client.ok('POST', '/events', { event_type: 'track', body: { event, company: { slug: 'sly' } } })
  await client.ok('POST', '/webhooks', { name, url: 'https://example.com/', request_types: [] })
  await client.ok('POST', '/api-keys', { name })
  await client.ok('POST', '/account-members', { name: name, console_roles: { '*': 'viewer' } })
  await client.ok('POST', '/flags/sly/check', { company: { slug: 'sly' } })
  return { company, plan, flag }
}

t.test('security 43 names of others are texts', { skip: noBrowser }, async t => {
  const { client } = await startHere(t)
  const { environment_id: env } = await client.ok('GET', '/whoami')
  const { company, plan, flag } = await makeWorld(client)
  const browser = await launch(t)
  const { page, faults } = await openPage(browser, client.url)
  await signIn(page, client)
  const tabs = ['credits', 'charges', 'events', 'flags', 'users', 'changes', 'more']
  const screens = [
    ...['overview', 'companies', 'why', 'plans', 'features', 'flags', 'credits', 'charges', 'events'],
    ...['webhooks', 'keys', 'audit', 'system', 'preview/plans', `plans/${plan.id}`, `flags/${flag.id}`],
    ...[`companies/${company.id}`, ...tabs.map(tab => `companies/${company.id}?tab=${tab}`)],
    `why?company=${company.id}&flag=sly`,
  ]
  let shown = 0
  for (const screen of screens) {
    await openScreen(page, client.url, env, screen)
    await isUnharmed(t, page, screen)
    shown += await page.getByText(hostile[0]!.slice(0, 12)).count()
  }
  t.ok(shown > 10, `the names are there, ${shown} times`)
  t.same(faults, [], 'no error, no breach of the policy, no other host')

  await t.test('an address that somebody else made shows text at most', async t => {
    const other = await page.context().newPage()
    const text = encodeURIComponent(hostile[0]!)
    for (const hash of [
      `sign-in?error=${text}`,
      `${text}/companies`,
      `${env}/companies/${text}`,
      `${env}/why?company=${text}&flag=${text}`,
      `${env}/companies?q=${text}`,
      `${env}/javascript:${run}`,
      `//evil.example/${env}`,
    ]) {
      await other.goto(`${client.url}/console/#/${hash}`)
      await other.waitForTimeout(500)
      await isUnharmed(t, other, hash)
      t.equal(new URL(other.url()).origin, client.url)
    }
    await other.close()
    const stranger = await page.context().browser()!.newPage()
    await stranger.goto(`${client.url}/console/#/sign-in?error=Call+us`)
    await stranger.getByLabel('Secret key or one-time link').waitFor()
    t.equal(await stranger.getByText('Call us').count(), 0, 'no words of a link')
    await stranger.close()
  })

  await t.test('a company’s own page', async t => {
    const server = await servePortalPage({
      tollgateUrl: client.url,
      secretKey: bootstrapKey,
      signedIn: () => ({ slug: 'sly' }),
      tokenSeconds: 60,
    })
    t.teardown(() => server.close())
    const own = await browser.newPage()
    const errors: string[] = []
    own.on('console', message => {
      if (message.type() === 'error') errors.push(message.text())
    })
    own.on('pageerror', error => errors.push(String(error)))
    await own.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await own.getByText('1 of 100').waitFor()
    await own.getByText('5 of 5 left').waitFor()
    t.ok((await own.getByText(hostile[0]!.slice(0, 12)).count()) >= 3, 'plan, feature and credit are named')
    await isUnharmed(t, own, 'portal')
    const inside = `[...document.querySelectorAll('tollgate-portal *')].reduce((sum, { shadowRoot }) =>
      sum + (shadowRoot?.querySelectorAll('img, svg, script, a').length ?? 0), 0)`
    t.equal(await own.evaluate(inside), 0)
    t.same(errors, [])
  })
})
