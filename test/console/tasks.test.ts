// The commonest tasks, each from one sentence, as somebody new to the console does them: with the links, buttons and fields
// that the pages show. A task must not need more clicks than its bound.
import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { eventFeature, publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { launch, noBrowser, openPage, openScreen, signIn } from './browser.js'

t.setTimeout(600_000)

/** Clicks of one task. A field that is typed into and a list that is chosen from count as one. */
class Hand {
  clicks = 0

  constructor(readonly page: Page) {}

  async click(what: Locator): Promise<void> {
    this.clicks++
    await what.click()
  }

  /** A link of the list of pages. */
  goTo(name: string): Promise<void> {
    return this.click(this.page.getByRole('navigation').getByRole('link', { name, exact: true }))
  }

  /** A link of the page itself. */
  link(name: string | RegExp): Promise<void> {
    return this.click(this.page.getByRole('main').getByRole('link', { name, exact: true }).first())
  }

  /** A button; of the dialog on top where there is one. */
  button(name: string | RegExp): Promise<void> {
    return this.click(this.page.getByRole('button', { name, exact: true }).last())
  }

  tab(name: string): Promise<void> {
    return this.click(this.page.getByRole('tab', { name, exact: true }))
  }

  async type(label: string | RegExp, text: string): Promise<void> {
    this.clicks++
    await this.page.getByLabel(label, { exact: true }).last().fill(text)
  }

  async choose(label: string, option: string): Promise<void> {
    this.clicks++
    await this.page.getByLabel(label, { exact: true }).last().selectOption({ label: option })
  }

  see(text: string | RegExp): Promise<void> {
    return this.page.getByText(text).first().waitFor()
  }
}

t.test('tasks', { skip: noBrowser }, async t => {
  const { client, tollgate } = await startHere(t, {
    TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true',
    TOLLGATE_WEBHOOK_RETRY_MS: '5',
  })
  const { environment_id: env } = await client.ok('GET', '/whoami')
  const exports_ = await eventFeature(client, 'Exports', 'export', {
    flag: { key: 'exports', name: 'Exports', description: '', flag_type: 'boolean', default_value: false },
  })
  const scans = await eventFeature(client, 'Scans', 'scan')
  const entitled = { feature_id: exports_.id, value_type: 'numeric', metric_period: 'current_month' }
  const team = await publishedPlan(client, 'Team', [{ ...entitled, value_numeric: 10 }])
  await publishedPlan(client, 'Business', [{ ...entitled, value_numeric: 1_000 }])
  await client.ok('POST', '/billing/credits', { name: 'Tokens', description: '', currency: 'usd' })
  const beta = { key: 'beta', name: 'Beta', description: '', flag_type: 'boolean', default_value: false }
  await client.ok('POST', '/flags', beta)
  await client.ok('POST', '/webhooks', {
    name: 'Ledger',
    url: 'http://127.0.0.1:9/',
    request_types: ['company.created'],
  })
  const company = async (name: string) => {
    const { id } = await client.ok('POST', '/companies', { name, keys: { slug: name.toLowerCase() } })
    await client.ok('PUT', `/company-plans/${id}`, { base_plan_id: team.id })
    return id as string
  }
  const acme = await company('Acme')
  const globex = await company('Globex')
  await client.ok('POST', '/events', {
    event_type: 'track',
    body: { event: 'export', company: { slug: 'acme' }, quantity: 10 },
  })
  await client.ok('POST', '/flags/exports/check', { company: { slug: 'acme' } })
  await tollgate.services.shards.tellChecks()
  for (let tries = 0; tries < 120; tries++) {
    // A busy store answers with a request to wait.
    const { status, body } = await client.get(`/events?value=false&company_id=${acme}`)
    if (status === 200 && body.data.length > 0) break
    await new Promise(resolve => setTimeout(resolve, 500))
  }

  const browser = await launch(t)
  const { page, faults } = await openPage(browser, client.url)
  await signIn(page, client)

  const task = (sentence: string, most: number, work: (hand: Hand) => Promise<void>) =>
    t.test(sentence, async t => {
      await openScreen(page, client.url, env, 'overview')
      const hand = new Hand(page)
      await work(hand)
      t.ok(hand.clicks <= most, `${hand.clicks} clicks, at most ${most}`)
    })

  await task('Why was Acme denied at 14:05?', 4, async hand => {
    await hand.goTo('Why?')
    await hand.type('Company', 'Acme')
    await hand.button('Acme')
    await hand.click(page.getByRole('table').getByRole('link', { name: 'Why?', exact: true }).first())
    await hand.see('NO')
    await hand.see('saw 10')
  })
  await task('Let Acme make 500 exports until next week.', 7, async hand => {
    await hand.goTo('Companies')
    await hand.link('Acme')
    await hand.button('Override Exports')
    await hand.type('Limit', '500')
    await hand.choose('Holds', 'for a week')
    await hand.button('Continue')
    await hand.button('Override')
    await hand.see('10 / 500')
  })
  await task('Put Globex on the plan Business.', 6, async hand => {
    await hand.goTo('Companies')
    await hand.link('Globex')
    await hand.button('Change plan')
    await hand.choose('Plan', 'Business')
    await hand.button('Continue')
    await hand.button('Change plan')
    await hand.see('0 / 1,000')
  })
  await task('Give Globex 500 more exports until this month ends.', 8, async hand => {
    await hand.goTo('Companies')
    await hand.link('Globex')
    await hand.button('Override Exports')
    await hand.choose('Value', 'More than its plan allows')
    await hand.see('The plan allows 1,000 a month.')
    await hand.type('How many more', '500')
    await hand.choose('Holds', 'until this month ends')
    await hand.button('Continue')
    await hand.see('1,500 a month')
    await hand.button('Override')
    await hand.see('0 / 1,500')
    // the limit is told by the data stream, which may be before Postgres has the override
    await hand.see('Exports is overridden')
    const [override] = await client.ok('GET', `/company-overrides?company_id=${globex}`)
    const now = new Date()
    t.equal(
      Date.parse(override.expiration_date),
      Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1),
      'the month of UTC, as use is counted',
    )
  })
  await task('Globex does not need them any more.', 4, async hand => {
    await hand.goTo('Companies')
    await hand.link('Globex')
    await hand.button('End now: the override of Exports')
    await hand.button('End now')
    await hand.see('0 / 1,000')
  })
  await task('What was it called, Glbex?', 3, async hand => {
    await hand.goTo('Companies')
    await hand.type('Search companies', 'Glbex')
    await hand.see('Did you mean')
    await hand.link('Globex')
    await page.getByRole('heading', { name: /Globex/ }).waitFor()
  })
  await task('Grant Globex 100 tokens that end with this month.', 7, async hand => {
    await hand.goTo('Companies')
    await hand.link('Globex')
    await hand.button('Grant credits')
    await hand.type('Credits', '100')
    await hand.choose('Holds', 'until this month ends')
    await hand.button('Continue')
    await hand.button('Grant')
    await hand.see('100 / 100')
  })
  await task('Give Acme 1,000 tokens for their trouble.', 6, async hand => {
    await hand.goTo('Companies')
    await hand.link('Acme')
    await hand.button('Grant credits')
    await hand.type('Credits', '1000')
    await hand.button('Continue')
    await hand.button('Grant')
    await hand.see('1,000 / 1,000')
  })
  await task('Who is about to reach a limit?', 1, async hand => {
    await hand.click(page.getByRole('main').getByRole('link', { name: 'Acme', exact: true }).first())
    await page.getByRole('heading', { name: /Acme/ }).waitFor()
  })
  const isBetaOn = async () =>
    (await client.ok('POST', '/flags/beta/check', { company: { slug: 'acme' } })).value as boolean
  await task('Turn Beta on for Acme alone.', 5, async hand => {
    await hand.goTo('Companies')
    await hand.link('Acme')
    await hand.tab('Flags')
    await hand.button('Turn on beta')
    await hand.button('Turn on')
    await hand.see('beta is on for Acme')
    t.equal(await isBetaOn(), true)
  })
  await task('No, Acme shall not have Beta.', 6, async hand => {
    await hand.goTo('Flags')
    await hand.link('Beta')
    await hand.type('Company', 'Acme')
    await hand.button('Acme')
    await hand.button('Turn off beta')
    await hand.button('Turn off')
    await hand.see('beta is off for Acme')
    t.equal(await isBetaOn(), false)
  })
  await task('Who changed Beta? Take that back.', 6, async hand => {
    await hand.goTo('Flags')
    await hand.link('Beta')
    await hand.link('Changes')
    await hand.click(page.getByRole('button', { name: /^Details of .*rules/ }).first())
    await hand.see('operator')
    await hand.button('Take this change back')
    await hand.button('Put back')
    await hand.see('The rules of Beta are as they were')
    t.equal(await isBetaOn(), true)
  })
  await task(
    'Team shall have 50 scans a month, companies get them when their period ends.',
    11,
    async hand => {
      await hand.goTo('Plans')
      await hand.link('Team')
      await hand.button('Add feature')
      await hand.choose('Feature', 'Scans')
      await hand.type('Limit', '50')
      await hand.button('Continue')
      await hand.button('Add')
      await hand.see('What publishing v2 would change')
      await hand.button('Publish')
      await hand.choose('Companies on an older version', 'Move each at the end of its period')
      await hand.button('Continue')
      await hand.button('Publish')
      await hand.see('v2 of Team is published')
      const [limit] = await client.ok('GET', `/plan-entitlements?plan_id=${team.id}&feature_id=${scans.id}`)
      t.equal(limit.value_numeric, 50)
    },
  )
  await task('Team shall have 20 exports a month from now on, for everybody.', 9, async hand => {
    await hand.goTo('Plans')
    await hand.link('Team')
    await hand.button('Change Exports')
    await hand.type('Limit', '20')
    await hand.button('Continue')
    await hand.button('Change')
    await hand.see('What publishing v3 would change')
    await hand.button('Publish')
    await page.getByText('that a move would reach:').waitFor()
    await hand.button('Continue')
    await hand.button('Publish')
    await hand.see('v3 of Team is published')
  })
  await task('A key for the reports, which must change nothing.', 6, async hand => {
    await hand.goTo('Keys and members')
    await hand.button('Add key')
    await hand.type('Name', 'Reports')
    await hand.choose('May', 'only check and read')
    await hand.button('Continue')
    await hand.button('Add')
    const value = await page.getByRole('textbox', { name: 'Value of Reports' }).inputValue()
    const who = await client.as(value).ok('GET', '/whoami')
    t.equal(who.readonly, true)
  })
  await task('Did the ledger hear of the new company? If not, send it again.', 4, async hand => {
    await hand.goTo('Webhooks')
    await hand.choose('Status of deliveries', 'Failed')
    await hand.button(/^Send again/)
    await hand.button('Send')
    await hand.see('It is sent again')
  })
  await task('Who changed what Acme may use?', 3, async hand => {
    await hand.goTo('Companies')
    await hand.link('Acme')
    await hand.tab('Changes')
    await hand.see(/company override/)
    await hand.see('operator')
  })
  await task('What does Globex owe this month?', 3, async hand => {
    await hand.goTo('Companies')
    await hand.link('Globex')
    await hand.tab('Charges')
    await hand.see(/No billing period yet|Nothing is charged/)
  })

  await task('Let Jim, who supports customers, into the console.', 6, async hand => {
    await hand.goTo('Keys and members')
    await hand.button('Invite')
    await hand.type('Name', 'Jim')
    await hand.choose('Role everywhere', 'Support: overrides and grants, too')
    await hand.button('Continue')
    await hand.button('Invite')
    await hand.see('The link works once')
    const link = await page.getByRole('textbox', { name: 'Invitation of Jim' }).inputValue()
    const invited = await openPage(browser, client.url)
    await invited.page.goto(link)
    await invited.page.getByRole('heading', { name: 'Overview' }).waitFor()
    await invited.page.getByRole('button', { name: 'Sign out Jim' }).waitFor()
    t.same(invited.faults, [])
    await invited.page.context().close()
  })

  const { plan } = await client.ok('GET', `/companies/${globex}`)
  t.equal(plan.name, 'Business')
  t.same(faults, [], 'no error, no other host')
})
