// The page example in a real browser: what it shows is what the company may do, and a change shows without a reload.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'
import t from 'tap'
import { servePage } from '../../examples/react-page/server.js'
import { publishableKey } from '../clients/make.js'
import { startHere } from '../harness.js'
import { root } from '../house/source.js'
import { makeFlag, rule } from '../wire/flags.js'

t.setTimeout(180_000)

const browserPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
)

const bundled = async (): Promise<Uint8Array> => {
  const { outputFiles } = await build({
    entryPoints: [`${root}examples/react-page/page.tsx`],
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  return outputFiles[0]!.contents
}

t.test('the page compiles', async t => {
  const { status, stdout } = spawnSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '-p', 'examples/react-page/tsconfig.json'],
    { cwd: root, encoding: 'utf8' },
  )
  t.equal(status, 0, stdout)
  t.ok((await bundled()).length > 10_000)
})

t.test(
  'a page shows its company’s flags',
  { skip: browserPath === undefined && 'no Chromium is installed' },
  async t => {
    const { client } = await startHere(t)
    const company = { slug: 'acme' }
    const made = await client.ok('POST', '/companies', { keys: company })
    const isIt = { condition_type: 'company', operator: 'eq', resource_ids: [made.id] }
    const flag = await makeFlag(client, 'reports', false, [rule('chosen', [isIt])])
    await makeFlag(client, 'beta', false)
    const { environment_id: environmentId } = await client.ok('GET', '/whoami')
    await client.ok('POST', `/environments/${environmentId}/context-secret`, {})
    const server = await servePage({
      tollgateUrl: client.url,
      secretKey: client.key,
      publishableKey: await publishableKey(client),
      script: await bundled(),
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
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await page.waitForSelector('#flag-reports')
    t.equal(await page.textContent('#flag-reports'), 'reports: on')
    t.equal(await page.textContent('#flag-beta'), 'beta: off')
    await client.ok('PUT', `/flags/${flag.id}/rules`, { rules: [] })
    await page.waitForFunction("document.querySelector('#flag-reports').textContent === 'reports: off'")
    t.same(failures, [])
  },
)
