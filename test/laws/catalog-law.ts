// The law of the catalogue document: what was exported, applied where nothing is, exports as the same text (CA-2, CA-8).
import type { Test } from 'tap'
import type { Catalog } from '../../schemas/catalog.js'
import { catalogText } from '../../src/cli/catalog.js'
import { type Client, startHere } from '../harness.js'
import { Random, seed } from '../random.js'
import { CatalogWorld } from './catalog-world.js'

/** Nothing at all. The plan group of an environment stays, without members. */
const nothing: Catalog = {
  catalog: 1,
  traits: [],
  features: [],
  flags: [],
  credits: [],
  plans: [],
  bundles: [],
  plan_group: {},
  model_prices: [],
  publishable_limits: {},
}

/** Apply a document, again while a store is behind: it goes on from there (CA-6). */
async function applied(client: Client, body: object): Promise<void> {
  for (;;) {
    const answer = await client.post('/catalog/apply', body)
    if (answer.status < 300) return
    if (answer.status !== 503) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  }
}

async function emptied(client: Client): Promise<void> {
  await applied(client, { catalog: nothing, prune: true })
}

/** Run the law over some random documents. */
export async function catalogLaw(t: Test, runs: number): Promise<void> {
  const { client } = await startHere(t)
  const text = async () => catalogText(await client.ok('GET', '/catalog'), 'yaml')
  await emptied(client)
  t.same(await client.ok('GET', '/catalog'), nothing, 'CA-5 with prune nothing is left')
  for (let run = 0; run < runs; run++) {
    const from = seed + run
    const catalog = new CatalogWorld(new Random(from)).document()
    const said = `seed ${from}`
    await applied(client, { catalog }).catch(error => {
      throw new Error(`${said}: ${error.message}\n${catalogText(catalog, 'yaml')}`)
    })
    const first = await text()
    const again = await client.ok('POST', '/catalog/diff', { catalog })
    const left = again.changes.filter((one: { action: string }) => one.action !== 'keep')
    t.same(left, [], `CA-8 ${said}: a document that was applied differs in nothing`)
    const exported = await client.ok('GET', '/catalog')
    await emptied(client)
    await applied(client, { catalog: exported })
    t.equal(await text(), first, `CA-2 ${said}: the same text`)
    await emptied(client)
    if (!t.passing()) throw new Error(`${said}\n${catalogText(catalog, 'yaml')}`)
  }
}
