// Pages of the console in a browser: signed in, and opened until nothing is loading.
import type { Browser, Page } from 'playwright-core'
import { post } from '../product.js'

/** A service whose console is looked at. */
export interface Place {
  readonly port: number
  readonly pid: number
  readonly base: string
  readonly env: string
}

/** A page of a context of its own, signed in as an admin. */
export async function signedIn(browser: Browser, { port, base }: Place): Promise<Page> {
  const { data } = JSON.parse(await post(port, '/console-links', '{}')) as { data: { token: string } }
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  await context.addInitScript(noting)
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  await page.goto(`${base}#/sign-in?token=${data.token}`)
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  return page
}

/** Instants that a page notes itself: a question from outside would come late, and cost its thread time. ms since it was asked for. */
interface Noted {
  /** Its heading is there: it can be used, while tables may still be loading. */
  readonly usable: number
  /** Since when nothing says that it is loading; 0: something does. */
  readonly loaded: number
}
const noting = `
  globalThis.noted = { usable: 0, loaded: 0 }
  new MutationObserver(() => {
    if (noted.usable === 0 && document.querySelector('h1')) noted.usable = performance.now()
    const isLoading = [...document.querySelectorAll('[role=status]')].some(one => one.textContent.trim() === 'Loading')
    if (isLoading || noted.usable === 0) noted.loaded = 0
    else if (noted.loaded === 0) noted.loaded = performance.now()
  }).observe(document, { childList: true, subtree: true, characterData: true })`

/** How long nothing must be loading before a screen is taken as whole. */
const quietMs = 500

/** Open a screen as from a link in a mail: all of the page is loaded. */
export async function open(page: Page, { base, env }: Place, path: string): Promise<Noted> {
  await page.goto(`${base}#/${env}/${path}`)
  for (;;) {
    await new Promise(resolve => setTimeout(resolve, quietMs / 4))
    const { now, ...noted } = await page.evaluate<Noted & { now: number }>(
      '({ ...noted, now: performance.now() })',
    )
    if (noted.loaded > 0 && now - noted.loaded > quietMs) return noted
  }
}
