// The page example: rendered on the server, taken over by a real browser, and changed by what the service pushes.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import t, { type Test } from 'tap'
import { type PageServer, servePage } from '../../examples/react-page/server.js'
import { publishableKey } from '../clients/make.js'
import { startHere } from '../harness.js'
import { root } from '../house/source.js'
import { makeFlag, rule } from '../interface/flags.js'
import { temporaryDirectory } from '../stores.js'

t.setTimeout(180_000)

const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
)

const bundled = async (
  name: string,
  platform: 'browser' | 'node',
  environment: string,
): Promise<Uint8Array> => {
  const { outputFiles } = await build({
    entryPoints: [`${root}examples/react-page/${name}`],
    bundle: true,
    write: false,
    format: platform === 'node' ? 'cjs' : 'esm',
    platform,
    jsx: 'automatic',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': JSON.stringify(environment) },
  })
  return outputFiles[0]!.contents
}

/** The page's renderer, as a server loads it. */
async function renderer(t: Test): Promise<PageServer['render']> {
  const file = join(await temporaryDirectory(t), 'render.cjs')
  await writeFile(file, await bundled('render.tsx', 'node', 'development'))
  return createRequire(import.meta.url)(file).render
}

t.test('the page compiles', async t => {
  const { status, stdout } = spawnSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'examples/react-page/tsconfig.json'],
    { cwd: root, encoding: 'utf8' },
  )
  t.equal(status, 0, stdout)
  t.ok((await bundled('page.tsx', 'browser', 'production')).length > 10_000)
})

t.test(
  'a page shows its company’s flags as the server rendered them, and as they change',
  { skip: browserPath === undefined && 'no Chromium is installed' },
  async t => {
    const { client } = await startHere(t)
    const company = { slug: 'acme' }
    const made = await client.ok('POST', '/companies', { keys: company })
    const isIt = { condition_type: 'company', operator: 'eq', resource_ids: [made.id] }
    const flag = await makeFlag(client, 'reports', false, [rule('chosen', [isIt])])
    await makeFlag(client, 'beta', false)
    const feature = await client.ok('POST', '/features', {
      name: 'Exports',
      description: '',
      feature_type: 'event',
      event_subtype: 'export',
      flag: { key: 'exports', name: 'e', description: '', flag_type: 'boolean', default_value: false },
    })
    await client.ok('POST', '/company-overrides', {
      company_id: made.id,
      feature_id: feature.id,
      value_type: 'numeric',
      value_numeric: 2,
      metric_period: 'all_time',
    })
    const { environment_id: environmentId } = await client.ok('GET', '/whoami')
    await client.ok('POST', `/environments/${environmentId}/context-secret`, {})
    const server = await servePage({
      tollgateUrl: client.url,
      secretKey: client.key,
      publishableKey: await publishableKey(client),
      // the development build of React tells when what it finds is not what it renders
      script: await bundled('page.tsx', 'browser', 'development'),
      render: await renderer(t),
      signedIn: () => company,
    })
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    const browser = await chromium.launch({ executablePath: browserPath!, args: ['--no-sandbox'] })
    t.teardown(() => browser.close())
    const page = await browser.newPage()
    const failures: string[] = []
    page.on('pageerror', error => failures.push(String(error)))
    page.on('console', message => {
      if (message.type() === 'error') failures.push(message.text())
    })
    let asked = 0
    page.on('request', request => {
      if (request.url().endsWith('/flags/check')) asked++
    })
    const opened = page.waitForEvent('websocket')
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const rendered = await (await fetch(address)).text()
    t.match(rendered, 'reports: on')
    t.match(rendered, 'Export (0 of 2)')
    await page.goto(address)
    t.match((await opened).url(), '/datastream')
    t.equal(await page.textContent('#flag-reports'), 'reports: on')
    t.equal(await page.textContent('#flag-beta'), 'beta: off')
    const shows = (text: string) =>
      page.waitForFunction(`document.querySelector('#export').textContent === ${JSON.stringify(text)}`)
    await page.click('#export')
    await shows('Export (1 of 2)')
    await page.click('#export')
    await shows('Export (2 of 2)')
    await page.waitForSelector('#export[disabled]')
    t.ok(asked <= 8, `${asked} questions: pushed, not polled`)
    await client.ok('PUT', `/flags/${flag.id}/rules`, { rules: [] })
    await page.waitForFunction("document.querySelector('#flag-reports').textContent === 'reports: off'")
    t.same(failures, [])
  },
)
