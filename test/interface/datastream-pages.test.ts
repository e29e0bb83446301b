// Pages on the data stream: a publishable key with a signed context hears that its own checks changed, and nothing else.
import t from 'tap'
import { publishableKey } from '../clients/make.js'
import { bootstrapKey, startHere } from '../harness.js'
import { StreamClient } from '../stream-client.js'
import { makeFlag } from './flags.js'

t.setTimeout(120_000)

const { client } = await startHere(t, {
  TOLLGATE_STREAM_PAGES_MAX: '3',
  TOLLGATE_CORS_ORIGINS: 'https://app.example.com',
})
const publishable = await publishableKey(client)
const { environment_id: environmentId } = await client.ok('GET', '/whoami')
await client.ok('POST', `/environments/${environmentId}/context-secret`, {})
const company = { slug: 'acme' }
await client.ok('POST', '/companies', { keys: company })
await client.ok('POST', '/companies', { keys: { slug: 'other' } })

const sign = async (body: object): Promise<string> =>
  (await client.ok('POST', '/signed-contexts', body)).signed_context
const protocolOf = (prefix: string, text: string) => `${prefix}.${Buffer.from(text).toString('base64url')}`

/** Opens the stream as a page does: without headers of its own. */
async function open(context: string, origin = 'https://app.example.com') {
  const protocols = [
    'tollgate',
    protocolOf('key', publishable),
    ...(context === '' ? [] : [protocolOf('context', context)]),
  ]
  const page = await StreamClient.open(client.url, { key: '', protocols, headers: { Origin: origin } })
  t.teardown(() => page.ws.terminate())
  return page
}
const refusal = (opened: Promise<unknown>): Promise<{ status: number; body: string }> =>
  opened.then(
    () => Promise.reject(new Error('it was opened')),
    error => error,
  )

t.test('C6 a page hears of its own company, and of flags, and is sent no data', async t => {
  const page = await open(await sign({ company }))
  const changed = () => page.next(({ message_type: type }) => type === 'changed')
  await changed()
  await client.ok('POST', '/companies', { keys: { ...company, ref: '7' } })
  await changed()
  await makeFlag(client, 'fresh', true)
  await changed()
  page.ws.send('{"data":{"action":"ping"}}')
  await page.next(({ message_type: type }) => type === 'pong')
  for (const asked of [
    { entity_type: 'rulesengine.Flags' },
    { entity_type: 'rulesengine.Company', keys: company },
    { entity_type: 'rulesengine.Company', keys: { slug: 'other' } },
  ]) {
    page.ws.send(JSON.stringify({ data: asked }))
    t.match(await page.next(({ message_type: type }) => type === 'error'), {
      data: { error: /asks for nothing here/ },
    })
  }
  t.same(
    [...new Set(page.messages.map(({ message_type: type }) => type))].sort(),
    ['changed', 'error', 'pong'],
    'security 39 no flag, company or user is sent to a page',
  )
  for (const { data, message_type: type } of page.messages) if (type === 'changed') t.strictSame(data, {})
  page.ws.close()
  await page.closed
})

t.test('C6 a company that is not there yet', async t => {
  const page = await open(await sign({ company: { slug: 'later' } }))
  await page.next(({ message_type: type }) => type === 'changed')
  await client.ok('POST', '/companies', { keys: { slug: 'later' } })
  await page.next(({ message_type: type }) => type === 'changed')
  t.equal(page.messages.filter(({ message_type: type }) => type === 'changed').length, 2)
  page.ws.close()
  await page.closed
})

t.test('C6 a page needs a signed context of its environment', async t => {
  t.match(await refusal(open('')), { status: 403, body: /signed context that names a company or user/ })
  const token = await sign({ company })
  t.match(await refusal(open(`${token.slice(0, -4)}AAAA`)), { status: 403 })
  t.match(await refusal(open(token, 'https://elsewhere.example.com')), { status: 403, body: /origin/ })
  const secret = await StreamClient.open(client.url, { headers: { Origin: 'https://elsewhere.example.com' } })
  secret.ws.terminate()
})

t.test('C6 pages are bounded, and take no room from servers', async t => {
  const token = await sign({ company })
  const pages = [await open(token), await open(token), await open(token)]
  t.match(await refusal(open(token)), { status: 429, body: /3 pages/ })
  const server = await StreamClient.open(client.url)
  server.ws.terminate()
  for (const page of pages) page.ws.close()
  await Promise.all(pages.map(page => page.closed))
  const again = await open(token)
  again.ws.close()
  await again.closed
})

t.test('C6 a context whose secret is gone closes the page', async t => {
  const page = await open(await sign({ company }))
  await client.ok('POST', `/environments/${environmentId}/context-secret`, { overlap_seconds: 0 })
  t.same((await page.closed)[0], 4001)
})

t.test('C2 the stream’s address without an upgrade hears the refusal', async t => {
  const ask = (key: string) => fetch(`${client.url}/datastream`, { headers: { 'X-Service-Api-Key': key } })
  const opened = await ask(bootstrapKey)
  t.equal(opened.status, 400)
  t.match(await opened.text(), /ask for an upgrade/)
  t.equal((await ask('sk_dev_wrong')).status, 401)
  t.equal((await ask(publishable)).status, 403)
})
