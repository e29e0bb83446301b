// The console by keyboard alone, in a real browser: the ten commonest acts. The focus is seen, its order is the
// page's, Escape closes a dialog and gives the focus back. Every dialog on the way has no violation of WCAG 2.2 AA.
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { eventFeature, publishedPlan } from '../control/planned.js'
import { bootstrapKey, startHere } from '../harness.js'
import { launch, noBrowser, openPage, openScreen, violations } from './browser.js'

t.setTimeout(900_000)

/** More stops than any page has before what a person looks for. */
const stopsMax = 150

interface Focus {
  readonly name: string
  readonly isSeen: boolean
}

/** Wait until an expression of the page holds. Its policy allows no text as a program, so it is asked from outside. */
async function until(page: Page, expression: string): Promise<void> {
  const end = Date.now() + 30_000
  while (!(await page.evaluate<boolean>(expression))) {
    if (Date.now() > end) throw new Error(`never: ${expression}`)
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

/** Wait until something with this name, in a dialog or not, has the focus: a dialog that closes gives it back a moment later. */
const focused = (page: Page, name: string, inDialog = false) =>
  until(
    page,
    `(document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent).trim() ===
      ${JSON.stringify(name)} && (document.activeElement.closest('[role=dialog]') !== null) === ${inDialog}`,
  )

/** The element with the focus: its name for people, and whether an outline shows it. */
const focusOf = (page: Page): Promise<Focus> =>
  page.evaluate(`(() => {
    const node = document.activeElement
    const style = getComputedStyle(node)
    const labels = node.labels ? [...node.labels].map(one => one.textContent).join(' ') : ''
    const name = node.getAttribute('aria-label') || labels || node.textContent || node.tagName
    const isSeen = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0
    return { name: name.trim(), isSeen }
  })()`)

/** Press Tab until something with this name has the focus. */
async function tabTo(t: Test, page: Page, name: string | RegExp): Promise<void> {
  const is = (found: string) => (typeof name === 'string' ? found === name : name.test(found))
  const passed: string[] = []
  for (let stops = 0; stops < stopsMax; stops++) {
    const { name: found, isSeen } = await focusOf(page)
    if (is(found)) {
      t.ok(isSeen, `${found}: the focus is seen`)
      return
    }
    passed.push(found)
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab never comes to ${name}: ${passed.slice(0, 60).join(' | ')}`)
}

/** Go to something and press Enter on it. */
async function enterOn(t: Test, page: Page, name: string | RegExp): Promise<void> {
  await tabTo(t, page, name)
  await page.keyboard.press('Enter')
}

/** Choose an option of the list that has the focus, by typing the beginning of its text. */
async function choose(t: Test, page: Page, label: string | RegExp, text: string): Promise<void> {
  await tabTo(t, page, label)
  await page.keyboard.type(text)
}

/** Wait for a dialog by its title, look at it, and see that the focus is inside it. */
async function dialog(t: Test, page: Page, title: string | RegExp): Promise<void> {
  await page.getByRole('dialog').getByText(title).first().waitFor()
  await until(page, "document.activeElement.closest('[role=dialog]') !== null")
  t.same(await violations(page), [], `dialog ${title}`)
}

/** The notice that follows an act; its Undo is a few keys away. */
async function undo(t: Test, page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  t.same(await violations(page), [], 'a notice')
  await page.keyboard.press('F6')
  await enterOn(t, page, 'Undo')
  await page.getByText('Undone').waitFor()
}

t.test('the console by keyboard', { skip: noBrowser }, async t => {
  const { client } = await startHere(t, {
    TOLLGATE_WEBHOOK_PRIVATE_ADDRESSES: 'true',
    TOLLGATE_WEBHOOK_RETRY_MS: '5',
  })
  const { environment_id: env } = await client.ok('GET', '/whoami')
  const calls = await eventFeature(client, 'calls', 'call')
  const entitled = { feature_id: calls.id, value_type: 'numeric', value_numeric: 2 }
  const plan = await publishedPlan(client, 'Team', [{ ...entitled, metric_period: 'current_month' }])
  const { id } = await client.ok('POST', '/companies', { name: 'Acme', keys: { slug: 'acme' } })
  await client.ok('POST', '/companies', { name: 'Globex', keys: { slug: 'globex' } })
  await client.ok('POST', '/billing/credits', { name: 'Tokens', description: '', currency: 'usd' })
  const flag = await client.ok('POST', '/flags', {
    key: 'beta',
    name: 'Beta',
    description: '',
    flag_type: 'boolean',
    default_value: false,
  })
  const rule = { value: true, rule_type: 'standard', conditions: [], condition_groups: [] }
  await client.ok('PUT', `/flags/${flag.id}/rules`, {
    rules: ['First', 'Second'].map((name, i) => ({ ...rule, name, priority: i + 1 })),
  })
  const browser = await launch(t)
  const { page, faults } = await openPage(browser, client.url)
  const at = (screen: string) => openScreen(page, client.url, env, screen)

  await t.test('1 sign in', async t => {
    await page.goto(`${client.url}/console/`)
    await page.getByLabel('Secret key or one-time link').waitFor()
    await tabTo(t, page, 'Secret key or one-time link')
    await page.keyboard.type(bootstrapKey)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
  })

  await t.test('2 go to a page, past the list of pages', async t => {
    await enterOn(t, page, 'Companies')
    await page.getByRole('heading', { name: 'Companies' }).waitFor()
    await page.evaluate('document.activeElement.blur()')
    await enterOn(t, page, 'Skip to the page')
    await page.keyboard.press('Tab')
    t.equal((await focusOf(page)).name, 'Add company', 'the first thing of the page follows')
  })

  await t.test('3 find a company and open it', async t => {
    await tabTo(t, page, 'Search companies')
    await page.keyboard.type('Acm')
    await page.getByText('1 found').waitFor()
    await at('companies')
    await choose(t, page, 'Sort', 'Most')
    await page.getByText('No company used it in this time').waitFor()
    await tabTo(t, page, 'Feature')
    await choose(t, page, 'Period', 'Today')
    await page.getByText('No company used it in this time').waitFor()
    await at('companies?sort=usage&q=Acm')
    t.equal(await page.getByLabel('Search companies').inputValue(), 'Acm', 'the text of the address')
    await page.getByText('None of them used it in this time').waitFor()
    await at('companies?q=Acm')
    await page.getByText('1 found').waitFor()
    await enterOn(t, page, 'Acme')
    await page.getByRole('heading', { name: /Acme/ }).waitFor()
  })

  await t.test('4 the palette: Escape closes it and gives the focus back', async t => {
    await tabTo(t, page, 'Why denied?')
    await page.keyboard.press('Control+k')
    await page.locator('[role=combobox]:focus').waitFor()
    t.same(await violations(page), [], 'the palette')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await focused(page, 'Why denied?')
    await page.keyboard.press('Control+k')
    await page.locator('[role=combobox]:focus').waitFor()
    await page.keyboard.type('globx')
    await page.getByRole('option', { name: /Globex/ }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /Globex/ }).waitFor()
  })

  await t.test('5 put a company on a plan', async t => {
    await at(`companies/${id}`)
    await enterOn(t, page, 'Change plan')
    await dialog(t, page, 'Change plan')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await focused(page, 'Change plan')
    await page.keyboard.press('Space')
    await dialog(t, page, 'Change plan')
    t.equal((await focusOf(page)).name, 'Plan', 'the first field has the focus')
    await enterOn(t, page, 'Continue')
    await dialog(t, page, 'Put Acme on Team')
    await focused(page, 'Change plan', true)
    await page.keyboard.press('Enter')
    await page.getByText('0 / 2').first().waitFor()
    await focused(page, 'Change plan')
    await undo(t, page)
    await page.getByText('It may use nothing yet').waitFor()
    await client.ok('PUT', `/company-plans/${id}`, { base_plan_id: plan.id })
  })

  await t.test('6 tabs by arrows; an override for a week, and its undo', async t => {
    await at(`companies/${id}`)
    await tabTo(t, page, 'Entitlements')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.getByText('No credits were granted').waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Enter')
    await enterOn(t, page, 'Override calls')
    await dialog(t, page, 'Override calls')
    await tabTo(t, page, 'Limit')
    await page.keyboard.type('50')
    await choose(t, page, 'Holds', 'for a w')
    await tabTo(t, page, 'Why (optional)')
    await page.keyboard.type('a trial')
    await page.keyboard.press('Enter')
    await dialog(t, page, 'Override calls of Acme')
    await page.keyboard.press('Enter')
    await page.getByText('0 / 50').first().waitFor()
    await page.getByText(/until .* a trial/).waitFor()
    await undo(t, page)
    await page.getByText('0 / 2').first().waitFor()
  })

  await t.test('7 why a company is denied', async t => {
    await client.ok('POST', '/events', {
      event_type: 'track',
      body: { event: 'call', company: { slug: 'acme' }, quantity: 2 },
    })
    await at('why')
    await tabTo(t, page, 'Company')
    await page.keyboard.type('Acme')
    await page.getByRole('button', { name: 'Acme', exact: true }).waitFor()
    await enterOn(t, page, 'Acme')
    await choose(t, page, 'Flag', 'calls')
    await page.getByText('NO', { exact: true }).first().waitFor()
    await page.getByText('a limit of at least 3').waitFor()
  })

  await t.test('8 the order of rules', async t => {
    await at(`flags/${flag.id}`)
    await enterOn(t, page, 'Move First down')
    t.equal(await page.getByLabel('Name of rule 1').inputValue(), 'Second')
    await enterOn(t, page, 'Save')
    await dialog(t, page, 'Save the rules of Beta')
    await page.keyboard.press('Enter')
    await page.getByText('The rules of Beta are saved').waitFor()
    const { rules } = await client.ok('GET', `/flags/${flag.id}`)
    t.same(
      rules.map(({ name }: { name: string }) => name),
      ['Second', 'First'],
    )
  })

  await t.test('9 grant credits', async t => {
    await at(`companies/${id}`)
    await enterOn(t, page, 'Grant credits')
    await dialog(t, page, 'Grant credits')
    await tabTo(t, page, 'Credits')
    await page.keyboard.type('500')
    await page.keyboard.press('Enter')
    await dialog(t, page, 'Grant Acme 500 Tokens')
    await page.keyboard.press('Enter')
    await page.getByText('500 / 500').waitFor()
  })

  await t.test('10 a notification that failed is sent again', async t => {
    await at('webhooks')
    await enterOn(t, page, 'Add webhook')
    await dialog(t, page, 'Add webhook')
    await tabTo(t, page, 'Name')
    await page.keyboard.type('Ledger')
    await tabTo(t, page, 'Address')
    await page.keyboard.type('http://127.0.0.1:9/')
    await page.keyboard.press('Enter')
    await dialog(t, page, 'Add Ledger')
    await page.keyboard.press('Enter')
    await dialog(t, page, 'Secret of Ledger')
    t.match(await page.getByRole('textbox', { name: 'Secret of Ledger' }).inputValue(), /^whsec_/)
    await enterOn(t, page, 'Done')
    await client.ok('POST', '/companies', { name: 'Initech', keys: { slug: 'initech' } })
    await choose(t, page, 'Status of deliveries', 'Failed')
    await page
      .getByRole('button', { name: /^Send again/ })
      .first()
      .waitFor()
    await enterOn(t, page, /^Send again/)
    await dialog(t, page, 'Send again')
    await page.keyboard.press('Enter')
    await page.getByText('It is sent again').waitFor()
  })

  t.same(faults, [], 'no error, no other host')
})
