// Debian's Chromium for tests of pages: a page that notes its errors, violations of its policy and requests to other hosts.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Test } from 'tap'
import type { Client } from '../harness.js'

const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
)

/** For `skip` of a test. */
export const noBrowser = browserPath === undefined && 'no Chromium is installed'

export const desktop = { width: 1280, height: 800 }
export const phone = { width: 390, height: 844 }
/** The narrowest window that WCAG 1.4.10 names: 1280 pixels at 400 %. */
export const narrow = { width: 320, height: 640 }

export async function launch(t: Test): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: browserPath!,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
  t.teardown(() => browser.close())
  return browser
}

/** A page in a context of its own, and its faults so far. */
export interface Watched {
  readonly page: Page
  readonly faults: string[]
}

/** Open a blank page that may ask nothing but `origin`. */
export async function openPage(browser: Browser, origin: string, viewport = desktop): Promise<Watched> {
  const context = await browser.newContext({ viewport })
  const faults: string[] = []
  context.on('page', page => watch(page, new URL(origin).origin, faults))
  const page = await context.newPage()
  return { page, faults }
}

function watch(page: Page, origin: string, faults: string[]): void {
  page.setDefaultTimeout(30_000)
  page.on('console', message => {
    const { type, text } = { type: message.type(), text: message.text() }
    // the answer itself says more
    if (text.startsWith('Failed to load resource')) return
    if (type === 'error' || type === 'warning') faults.push(text)
  })
  page.on('response', answer => {
    if (answer.status() >= 400) faults.push(`${answer.status()} ${answer.url()}`)
    // A member or parameter that the service does not know is a mistake of the page: it changes nothing, and nobody notices.
    const warning = answer.headers()['x-service-warning']
    if (warning !== undefined) faults.push(`${warning} ${answer.url()}`)
  })
  page.on('pageerror', error => faults.push(String(error)))
  page.on('request', asked => {
    const url = new URL(asked.url())
    if (/^(http|ws)/.test(url.protocol) && url.host !== new URL(origin).host)
      faults.push(`another host: ${asked.url()}`)
  })
}

/** Sign in with a new one-time link, as an admin. `base`: the address that the browser knows. */
export async function signIn(page: Page, client: Client, base = client.url): Promise<void> {
  const { token } = await client.ok('POST', '/console-links', {})
  await page.goto(`${base}/console/#/sign-in?token=${token}`)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
}

/** Press a button; where a dialog is over the page, the one of the topmost. */
export const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).last().click()

/** Follow a link of the list of pages. */
export const go = (page: Page, name: string) =>
  page.getByRole('navigation').getByRole('link', { name, exact: true }).click()

/** Open a screen of an environment by its address and wait until nothing on it is loading. */
export async function openScreen(
  page: Page,
  base: string,
  environmentId: string,
  screen: string,
): Promise<void> {
  await page.goto(`${base}/console/#/${environmentId}/${screen}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await settled(page)
  if (picturesDir !== undefined) await picture(page, screen)
}

/** Where pictures of screens that were opened or looked at are kept, for a person. */
const picturesDir = process.env.TOLLGATE_TEST_PICTURES
let pictures = 0

/** Three pictures: light, dark, and on a phone. */
async function picture(page: Page, screen: string): Promise<void> {
  const name = `${++pictures} ${screen.replaceAll(/[^\w=-]+/g, ' ')}`
  const root = 'document.documentElement.dataset'
  const size = page.viewportSize() ?? desktop
  const was = await page.evaluate<string | undefined>(`${root}.theme`)
  for (const theme of ['light', 'dark']) {
    await page.evaluate(`${root}.theme = '${theme}'`)
    await page.screenshot({ path: `${picturesDir}/${name} ${theme}.png` })
  }
  await page.evaluate(was === undefined ? `delete ${root}.theme` : `${root}.theme = '${was}'`)
  await page.setViewportSize(phone)
  await page.screenshot({ path: `${picturesDir}/${name} phone.png` })
  await page.setViewportSize(size)
}

/** Nothing says that it is loading. */
export async function settled(page: Page): Promise<void> {
  const loading = page.getByRole('status').filter({ hasText: /^Loading$/ })
  while ((await loading.count()) > 0) await loading.first().waitFor({ state: 'hidden' })
}

let axeText: string | undefined

// The page has the same elements in light and in dark: there only colours are looked at again.
const axeInBothThemes = `(async () => {
  const all = []
  const root = document.documentElement
  const was = root.dataset.theme
  for (const theme of ['light', 'dark']) {
    root.dataset.theme = theme
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
    const runOnly = theme === 'light' ? { type: 'tag', values: tags } : { type: 'rule', values: ['color-contrast'] }
    const { violations } = await axe.run(document, { runOnly, resultTypes: ['violations'] })
    for (const { id, nodes } of violations)
      for (const { html } of nodes) all.push(theme + ' ' + id + ': ' + html.slice(0, 200))
  }
  root.dataset.theme = was
  return all
})()`

/** Violations of WCAG 2.2 AA of the page in light, then those of its colours in dark. */
export async function violations(page: Page): Promise<readonly string[]> {
  if (picturesDir !== undefined) await picture(page, 'looked at')
  axeText ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axeText)
  return page.evaluate(axeInBothThemes)
}

/** Pixels by which the page is wider than its window. */
export const overhang = (page: Page): Promise<number> =>
  page.evaluate('document.documentElement.scrollWidth - innerWidth')

// Elements that can be scrolled sideways, after a frame in which tables find out how much room they have.
const scrolledSideways = `(async () => {
  const frame = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)))
  await frame()
  await frame()
  return [...document.querySelectorAll('*')]
    .filter(node => node.scrollWidth > node.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(node).overflowX))
    .map(node => (node.getAttribute('aria-label') ?? (node.id || node.tagName)) + ': ' + node.scrollWidth)
})()`

/** Parts of the page that a person has to scroll sideways, by name and width (WCAG 1.4.10). */
export async function sideways(page: Page): Promise<readonly string[]> {
  let found: readonly string[] = []
  // a chart follows its place a moment later
  for (let tries = 0; tries < 20; tries++) {
    found = await page.evaluate<readonly string[]>(scrolledSideways)
    if (found.length === 0) break
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  return found
}
