// Acts of the console that its other tests leave out, in a real browser: prices, webhooks, moves of companies, keys and members,
// rules by company, overrides that change nothing. Each act has its effect in the service; no dialog violates WCAG 2.2 AA.
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { eventFeature, publishDraftOf, publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { receiver } from '../interface/receiver.js'
import { launch, noBrowser, openPage, openScreen, press, signIn, violations } from './browser.js'

t.setTimeout(900_000)

/** Wait for a dialog by its title, and look at it. */
async function dialog(t: Test, page: Page, title: string | RegExp) {
  // a notice is a dialog, too, but not a modal one
  const dialogs = page.locator('[role=dialog]:not([aria-modal=false])')
  const shown = dialogs.filter({ has: page.getByRole('heading', { name: title }) }).last()
  await shown.waitFor()
  t.same(await violations(page), [], `dialog ${title}`)
  return shown
}

/** Confirm what the dialog on top shows, and wait for the notice. */
async function confirm(page: Page, verb: string, notice: string | RegExp): Promise<void> {
  await press(page, verb)
  await page.getByText(notice).first().waitFor()
  await page.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'hidden' })
}

t.test('acts of the console', { skip: noBrowser }, async t => {
  const { client, tollgate } = await startHere(t, {
    TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true',
    TOLLGATE_WEBHOOK_PLAIN_HTTP: 'true',
    TOLLGATE_WEBHOOK_RETRY_MS: '5',
  })
  const { environment_id: env } = await client.ok('GET', '/whoami')
  const calls = await eventFeature(client, 'Calls', 'call', {
    flag: { key: 'calls', name: 'Calls', description: '', flag_type: 'boolean', default_value: false },
  })
  const entitled = { feature_id: calls.id, value_type: 'numeric', metric_period: 'current_month' }
  const plan = await publishedPlan(client, 'Team', [{ ...entitled, value_numeric: 100 }])
  const company = async (name: string) => {
    const { id } = await client.ok('POST', '/companies', { name, keys: { slug: name.toLowerCase() } })
    await client.ok('PUT', `/company-plans/${id}`, { base_plan_id: plan.id })
    return id as string
  }
  const acme = await company('Acme')
  const globex = await company('Globex')
  await client.ok('POST', '/users', {
    keys: { email: 'jane@globex.example' },
    name: 'Jane Doe',
    company: { slug: 'globex' },
  })
  await client.ok('POST', '/events', {
    event_type: 'track',
    body: { event: 'call', company: { slug: 'globex' }, quantity: 70 },
  })
  const browser = await launch(t)
  const { page, faults } = await openPage(browser, client.url)
  await signIn(page, client)
  const at = (screen: string) => openScreen(page, client.url, env, screen)

  await t.test('a feature is renamed', async t => {
    await at('features')
    await page.getByRole('button', { name: 'Change Calls' }).click()
    const form = await dialog(t, page, 'Change Calls')
    await form.getByLabel('Description (optional)').fill('Requests of servers')
    await press(page, 'Continue')
    await dialog(t, page, 'Change Calls')
    await confirm(page, 'Change', 'Calls was changed')
    t.equal((await client.ok('GET', `/features/${calls.id}`)).description, 'Requests of servers')
    await page.getByRole('button', { name: 'Most use of Calls' }).click()
    const most = await dialog(t, page, 'Most use of Calls')
    await most.getByRole('link', { name: 'Globex' }).waitFor()
  })

  await t.test('the palette leads from a user to their company', async t => {
    await at('overview')
    await page.keyboard.press('Control+k')
    await page.locator('[role=combobox]:focus').waitFor()
    await page.keyboard.type('Jane')
    await page.getByRole('option', { name: /Jane Doe/ }).click()
    await page.getByRole('heading', { name: /Globex/ }).waitFor()
    await page.getByRole('cell', { name: 'Jane Doe' }).waitFor()
    t.pass('the users of the company are shown')
  })

  await t.test('a rule by company names companies', async t => {
    const flag = await client.ok('POST', '/flags', {
      key: 'beta',
      name: 'Beta',
      description: '',
      flag_type: 'boolean',
      default_value: false,
    })
    await at(`flags/${flag.id}`)
    await press(page, 'Add rule')
    await page.getByLabel('Name of rule 1').fill('Friends')
    await page.getByLabel('Kind of the next condition of Friends').selectOption('company')
    await press(page, 'Add condition')
    for (const name of ['Acme', 'Globex']) {
      await page.getByLabel(/ompany of condition 1 of Friends/).fill(name)
      await page.getByRole('button', { name, exact: true }).click()
      await page.getByRole('button', { name: `Take ${name} out of condition 1 of Friends` }).waitFor()
    }
    t.same(await violations(page), [], 'companies in a rule')
    await press(page, 'Save')
    const form = await dialog(t, page, 'Save the rules of Beta')
    await form.getByText('1. Friends: company is Acme or Globex → on').waitFor()
    await confirm(page, 'Save', 'The rules of Beta are saved')
    const { rules } = await client.ok('GET', `/flags/${flag.id}`)
    t.same(new Set(rules[0].conditions[0].resource_ids), new Set([acme, globex]))
  })

  await t.test('rules are dragged to other places, and their order is saved', async t => {
    const rule = { value: true, rule_type: 'standard', conditions: [], condition_groups: [] }
    const flag = await client.ok('POST', '/flags', {
      key: 'order',
      name: 'Order',
      description: '',
      flag_type: 'boolean',
      default_value: false,
    })
    await client.ok('PUT', `/flags/${flag.id}/rules`, {
      rules: ['First', 'Second', 'Third'].map((name, i) => ({ ...rule, name, priority: i + 1 })),
    })
    const saved = async () =>
      (await client.ok('GET', `/flags/${flag.id}`)).rules.map(({ name }: { name: string }) => name)
    const shown = () =>
      Promise.all([1, 2, 3].map(place => page.getByLabel(`Name of rule ${place}`).inputValue()))
    const drag = async (from: number, to: number) => {
      const handle = (await page.getByTitle('Drag to another place').nth(from).boundingBox())!
      const target = (await page.getByTitle('Drag to another place').nth(to).boundingBox())!
      await page.mouse.move(handle.x + handle.width / 2, handle.y + handle.height / 2)
      await page.mouse.down()
      await page.mouse.move(target.x + target.width / 2, target.y + target.height / 2, { steps: 10 })
      await page.mouse.up()
    }
    await at(`flags/${flag.id}`)
    await drag(0, 2)
    await page.getByText('Unsaved changes').waitFor()
    t.same(await shown(), ['Second', 'Third', 'First'])
    t.same(await saved(), ['First', 'Second', 'Third'], 'nothing is saved yet')
    await drag(1, 0)
    t.same(await shown(), ['Third', 'Second', 'First'])
    await press(page, 'Save')
    const form = await dialog(t, page, 'Save the rules of Order')
    await form.getByText('1. Third: always → on').waitFor()
    await confirm(page, 'Save', 'The rules of Order are saved')
    t.same(await saved(), ['Third', 'Second', 'First'])
  })

  await t.test('EX-8 a flag shows what its checks answered, and how many each rule decided', async t => {
    for (const slug of ['acme', 'globex', 'acme', 'nobody'])
      await client.ok('POST', '/flags/beta/check', { company: { slug } })
    await tollgate.services.shards.tellChecks()
    let checks = 0
    for (let i = 0; i < 120 && checks < 4; i++) {
      // the length differs, so that each is worked out anew
      const [row] = await client.ok('GET', `/flag-checks?flag_key=beta&limit=${100 + i}`)
      checks = row?.checks ?? 0
      if (checks < 4) await new Promise(resolve => setTimeout(resolve, 250))
    }
    await at('flags')
    await page.getByRole('row', { name: /Beta/ }).getByText('1 (25 %)').waitFor()
    await page.getByRole('link', { name: 'Beta', exact: true }).click()
    await page.getByText('4 checks in 24 h, 25 % denied').waitFor()
    await page.getByText('decided 75 %').waitFor()
    t.same(await violations(page), [], 'a flag that was checked')
  })

  await t.test('EX-1 why, for a user of the company: the rule sees the user’s trait', async t => {
    const user = { keys: { email: 'jane@globex.example' }, company: { slug: 'globex' } }
    await client.ok('POST', '/users', { ...user, traits: { tier: 'gold' } })
    const [trait] = await client.ok('GET', '/entity-trait-definitions?entity_type=user')
    const flag = await client.ok('POST', '/flags', {
      key: 'pilot',
      name: 'Pilot',
      description: '',
      flag_type: 'boolean',
      default_value: false,
    })
    const gold = {
      condition_type: 'trait',
      operator: 'eq',
      trait_id: trait.id,
      trait_value: 'gold',
      resource_ids: [],
    }
    await client.ok('PUT', `/flags/${flag.id}/rules`, {
      rules: [{ name: 'Gold', priority: 1, value: true, rule_type: 'standard', conditions: [gold] }],
    })
    await at(`why?company=${globex}&flag=pilot`)
    await page.getByText('NO', { exact: true }).waitFor()
    await page.getByText('Would be YES if user trait tier is gold.').waitFor()
    await page.getByLabel('User (optional)').fill('Jane')
    await page.getByRole('button', { name: 'Jane Doe', exact: true }).click()
    await page.getByText('YES', { exact: true }).waitFor()
    await page.getByText('saw gold').waitFor()
    await page.getByText(/Globex · Jane Doe · pilot/).waitFor()
    t.same(await violations(page), [], 'an answer for a user')
    t.equal(
      (await client.ok('POST', '/flags/pilot/check', { user: user.keys, company: user.company })).value,
      true,
      'as a check says',
    )
  })

  await t.test('a feature that is taken out of a draft is put back by Undo', async t => {
    await at(`plans/${plan.id}`)
    await page.getByRole('button', { name: 'Remove Calls' }).click()
    await dialog(t, page, 'Remove Calls from the draft')
    await confirm(page, 'Remove', 'Calls was removed from the draft')
    await press(page, 'Undo')
    await page.getByText('Undone').waitFor()
    await page.getByText('The draft is the same as the published version').waitFor()
    const { draft_version: draft } = await client.ok('GET', `/plans/${plan.id}`)
    const rows = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}&plan_version_id=${draft.id}`)
    t.match(rows, [{ feature_id: calls.id, value_numeric: 100, metric_period: 'current_month' }])
  })

  await t.test(
    'EN-22 an override below the plan is said to change nothing; "Not allowed" denies',
    async t => {
      await at(`companies/${acme}`)
      await page.getByRole('button', { name: 'Override Calls' }).click()
      const form = await dialog(t, page, 'Override Calls')
      await form.getByLabel('Limit').fill('10')
      await press(page, 'Continue')
      const check = await dialog(t, page, 'Override Calls of Acme')
      await check.getByText(/changes nothing now: the plan allows 100 a month/).waitFor()
      await confirm(page, 'Override', 'Calls is overridden')
      await page.getByText('The override of 10 a month is lower, so it changes nothing').waitFor()
      await page.getByText('0 / 100').first().waitFor()
      t.same(await violations(page), [], 'an override that changes nothing')
      await page.getByRole('button', { name: 'Change the override of Calls' }).click()
      const again = await dialog(t, page, 'Override Calls')
      await again.getByLabel('Value').selectOption({ label: 'Not allowed' })
      await press(page, 'Continue')
      await confirm(page, 'Override', 'Calls is overridden')
      const checked = await client.ok('POST', '/flags/calls/check', { company: { slug: 'acme' } })
      t.equal(checked.value, false, 'EN-25')
      await page.getByRole('button', { name: 'End now: the override of Calls' }).click()
      await confirm(page, 'End now', 'The override has ended')
      await page.getByRole('tab', { name: 'Changes' }).click()
      for (const verb of ['Added', 'Changed', 'Deleted'])
        await page
          .getByRole('link', { name: new RegExp(`^${verb}: company override`) })
          .first()
          .waitFor()
      t.pass('the changes of a company include its overrides, and their ends')
    },
  )

  await t.test('a webhook is tested, and signs with another secret', async t => {
    const here = await receiver(t)
    await client.ok('POST', '/webhooks', {
      name: 'Ledger',
      url: here.url,
      request_types: ['company.created'],
    })
    await at('webhooks')
    await page.getByRole('button', { name: 'Test Ledger' }).click()
    await dialog(t, page, 'Test Ledger')
    here.answers.push(500)
    await press(page, 'Send')
    await page.getByRole('alert').waitFor()
    t.same(await violations(page), [], 'a test that was refused')
    await confirm(page, 'Send', 'Ledger took the test')
    t.equal(here.received.length, 2)
    await page.getByRole('button', { name: 'New secret for Ledger' }).click()
    await dialog(t, page, 'New secret for Ledger')
    await press(page, 'Make secret')
    const shown = await dialog(t, page, 'Secret of Ledger')
    t.match(await shown.getByRole('textbox').inputValue(), /^whsec_/)
    await press(page, 'Done')
    await client.ok('POST', '/companies', { name: 'Initech', keys: { slug: 'initech' } })
    const row = page.getByRole('row').filter({ hasText: 'company.created' }).last()
    await row.getByRole('button', { name: /^Payload of/ }).click()
    await (await dialog(t, page, 'Payload')).getByText(/company\.created/).waitFor()
    await page.keyboard.press('Escape')
  })

  await t.test('keys and members: their dialogs', async t => {
    await at('keys')
    await press(page, 'Add key')
    await (await dialog(t, page, 'Add key')).getByLabel('Name').fill('Worker')
    await press(page, 'Continue')
    await dialog(t, page, 'Add the key Worker')
    await press(page, 'Add')
    await dialog(t, page, 'Value of Worker')
    const shown = page.getByRole('textbox', { name: 'Value of Worker' })
    const former = await shown.inputValue()
    await press(page, 'Done')
    await page.getByRole('button', { name: 'New value of Worker' }).click()
    const overlap = (await dialog(t, page, 'New value of Worker')).getByLabel(/^The present value/)
    await overlap.selectOption({ label: 'for an hour' })
    await press(page, 'Continue')
    await dialog(t, page, 'New value of Worker')
    await press(page, 'Make value')
    await dialog(t, page, 'Value of Worker')
    const made = await shown.inputValue()
    t.not(made, former)
    for (const value of [former, made])
      t.equal((await client.as(value).ok('GET', '/whoami')).environment_id, env, 'both are accepted')
    await press(page, 'Done')
    await press(page, 'Invite')
    const form = await dialog(t, page, /Invite/)
    await form.getByLabel(/^Name/).fill('Jim Roe')
    await form.getByLabel(/^E-?mail/i).fill('jim@example.com')
    await press(page, 'Continue')
    await dialog(t, page, /Jim Roe/)
    await page.keyboard.press('Escape')
  })

  await t.test(
    'a price is changed; moves that fail for it say why and are tried again; it is sold',
    async t => {
      await at(`plans/${plan.id}`)
      await press(page, 'Change price')
      const form = await dialog(t, page, 'Change price')
      await form.getByLabel(/^A month/).fill('49.5')
      await form.getByLabel(/^A year/).fill('490')
      await press(page, 'Continue')
      const check = await dialog(t, page, 'Change the price of Team in the draft')
      await check.getByText('$49.50 a month or $490 a year').waitFor()
      await confirm(page, 'Change', 'The price of Team was changed in the draft')
      await press(page, 'Publish')
      const publish = await dialog(t, page, 'Publish v2 of Team')
      await publish.getByText('2 companies that a move would reach:').waitFor()
      await publish.getByText('“Change plan” on its page can move it').waitFor()
      await publish.getByRole('link', { name: 'Globex' }).waitFor()
      t.same(await violations(page), [], 'publishing, with companies that cannot be moved')
      await publish.getByLabel('Companies on an older version').selectOption('immediate')
      await press(page, 'Continue')
      await confirm(page, 'Publish', 'v2 of Team is published')
      await page.getByText('2 failed').waitFor()
      t.same(await violations(page), [], 'moves that failed')
      await press(page, 'Try again')
      await dialog(t, page, 'Try failed companies again')
      await confirm(page, 'Try again', 'They are tried again')

      for (const [id, name] of [
        [acme, 'Acme'],
        [globex, 'Globex'],
      ]) {
        await at(`companies/${id}`)
        await press(page, 'Change plan')
        const sell = await dialog(t, page, 'Change plan')
        await sell.getByLabel('Price').selectOption({ label: '$49.50 a month' })
        await press(page, 'Continue')
        const sold = await dialog(t, page, `Put ${name} on Team`)
        await sold.getByText('billing begins at this price').waitFor()
        await confirm(page, 'Change plan', `${name} is on Team`)
      }
      await page.getByRole('tab', { name: 'Charges' }).click()
      await page.getByText('$49.50').first().waitFor()
      const { lines } = await client.ok('GET', `/companies/${globex}/charges`)
      t.match(lines, [{ kind: 'recurring', amount: 4950 }])
    },
  )

  await t.test('customers see the price of the period that they choose', async t => {
    await at('preview/plans')
    const team = page.getByRole('heading', { name: 'Team', exact: true }).locator('..')
    const period = page.getByLabel('Period')
    for (const [chosen, words] of [
      ['Monthly', '$49.50 a month'],
      ['Yearly', '$490 a year'],
      ['Quarterly', 'Not sold this way'],
    ] as const) {
      await period.selectOption({ label: chosen })
      await team.getByText(words, { exact: true }).waitFor()
    }
    await team.getByText('100 Calls a month').waitFor()
    t.same(await violations(page), [], 'plans as customers see them')
  })

  await t.test('companies are moved at the end of their period: held, gone on with, moved now', async t => {
    const [row] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}`)
    await client.ok('PUT', `/plan-entitlements/${row.id}`, { value_numeric: 60 })
    await at(`plans/${plan.id}`)
    await press(page, 'Publish')
    const form = await dialog(t, page, 'Publish v3 of Team')
    await form.getByText('2 companies that a move would reach:').waitFor()
    await form.getByText('used 70 of 60 Calls').waitFor()
    t.same(await violations(page), [], 'publishing, with sums')
    await form.getByLabel('Companies on an older version').selectOption('end_of_billing_period')
    await press(page, 'Continue')
    await dialog(t, page, 'Publish v3 of Team')
    await confirm(page, 'Publish', 'v3 of Team is published')
    await page.getByText('At the end of their period').waitFor()
    await press(page, 'Pause')
    await dialog(t, page, 'Pause moving companies')
    await confirm(page, 'Pause', 'Moving is paused')
    await page.getByText('paused', { exact: true }).waitFor()
    t.same(await violations(page), [], 'a move that is paused')
    await press(page, 'Go on')
    await confirm(page, 'Go on', 'Moving goes on')
    await press(page, 'Move now')
    await dialog(t, page, 'Move the rest now')
    await confirm(page, 'Move now', 'The rest is moved now')
    await page.getByText('2 of 2 companies moved').waitFor()
    await at(`companies/${globex}`)
    await page.getByText('70 / 60').first().waitFor()
    await at(`plans/${plan.id}`)
    await page.getByRole('button', { name: 'Take back' }).first().click()
    await dialog(t, page, 'Take this move back')
    await confirm(page, 'Take back', 'The move is taken back')
    await page.getByText(/Taken back since .*: 2 of 2 companies/).waitFor()
    t.same(await violations(page), [], 'a move that was taken back')
    const { entitlements } = await client.ok('GET', `/companies/${globex}`)
    t.equal(entitlements[0].allocation, 100, 'MI-30')
  })

  await t.test('a move that waits is stopped', async t => {
    const [row] = await client.ok('GET', `/plan-entitlements?plan_id=${plan.id}`)
    await client.ok('PUT', `/plan-entitlements/${row.id}`, { value_numeric: 80 })
    await publishDraftOf(client, plan.id, {
      migration_strategy: 'end_of_billing_period',
      excluded_company_ids: [],
    })
    await at(`plans/${plan.id}`)
    await press(page, 'Stop')
    await dialog(t, page, 'Stop moving companies')
    await confirm(page, 'Stop', 'Moving has stopped')
    await page.getByText('stopped', { exact: true }).waitFor()
    const { entitlements } = await client.ok('GET', `/companies/${globex}`)
    t.equal(entitlements[0].allocation, 100, 'they stay on their version')
  })

  t.same(faults, [], 'no error, no other host')
})
