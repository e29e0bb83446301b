// `tollgate mcp`, started as an assistant starts it and asked with the protocol's own client, against a real Tollgate.
import { spawn } from 'node:child_process'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import t, { type Test } from 'tap'
import { bootstrapKey, startHere } from '../harness.js'
import { root } from '../house/source.js'
import { makeFlag } from '../interface/flags.js'

t.setTimeout(300_000)

const { client } = await startHere(t)
const company = { slug: 'acme' }
const made = await client.ok('POST', '/companies', { keys: company, name: 'Acme' })
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
  value_numeric: 5,
  metric_period: 'all_time',
})
await client.ok('POST', '/events', { event_type: 'track', body: { event: 'export', company, quantity: 3 } })
await client.ok('POST', '/plans', { name: 'Pro', plan_type: 'plan' })
await makeFlag(client, 'beta', true)

/** An assistant with its server. */
async function assistant(t: Test, key: string, ...options: readonly string[]) {
  const asking = new Client({ name: 'test', version: '1' })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [`${root}bin/tollgate`, 'mcp', ...options],
    env: { ...(process.env as Record<string, string>), TOLLGATE_URL: client.url, TOLLGATE_KEY: key },
    stderr: 'inherit',
  })
  await asking.connect(transport)
  t.teardown(() => asking.close())
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await asking.callTool({ name, arguments: given })
    const [{ text }] = content as [{ text: string }]
    return { text, isError: isError === true, value: isError ? null : JSON.parse(text) }
  }
  const names = (await asking.listTools()).tools.map(tool => tool.name)
  return { asking, call, names }
}

t.test('an assistant looks things up, and has no tool that changes anything', async t => {
  const { asking, call, names } = await assistant(t, bootstrapKey)
  t.match(asking.getServerVersion(), { name: 'tollgate', version: /^\d+\.\d+\.\d+/ })
  t.match(asking.getInstructions(), 'No tool changes anything')
  t.notOk(names.some(name => /^(upsert|set|override|grant|track)_/.test(name)))
  for (const tool of (await asking.listTools()).tools) {
    t.ok(tool.description, `${tool.name} says what it does`)
    t.equal(tool.annotations?.readOnlyHint, true, tool.name)
  }
  t.match((await call('find_companies', { q: 'Acm' })).value, [{ id: made.id }])
  t.match((await call('get_company', { keys: company })).value, { id: made.id, name: 'Acme' })
  t.match((await call('get_company', { id: made.id })).value, { name: 'Acme' })
  t.match((await call('explain_access', { flag: 'exports', company })).value, {
    value: true,
    feature_allocation: 5,
    feature_usage: 3,
    entitlement: { feature_key: String },
  })
  t.match((await call('explain_access', { flag: 'exports', company, quantity: 3 })).value, { value: false })
  const { value: standing } = await call('company_standing', { company })
  t.same(
    standing.flags.map((one: { flag: string }) => one.flag),
    ['beta', 'exports'],
  )
  t.match((await call('read_usage', { company })).value, [{ usage: 3, allocation: 5 }])
  const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString()
  const window = { company_id: made.id, feature_id: feature.id, from: day(-1), to: day(1) }
  t.notOk((await call('read_usage_over_time', window)).isError)
  t.match((await call('list_plans')).value, [{ name: 'Pro' }])
  t.match((await call('list_features')).value, [{ id: feature.id }])
  t.equal((await call('list_flags')).value.length, 2)
  t.same((await call('list_credits')).value, [])
  t.match((await call('whoami')).value, { environment_id: String })
  t.match(await call('get_plan', { id: 'plan_none' }), { isError: true, text: /^404: / })
  t.match(await call('explain_access', { flag: 'none' }), { isError: true, text: /not_found/ })
  t.match(await call('get_company'), { isError: true, text: /keys or id/ })
  t.match(await call('upsert_company', { keys: company }), { isError: true, text: /not found/i })
})

t.test('with --write it changes what its key may change', async t => {
  const { call, names } = await assistant(t, bootstrapKey, '--write')
  t.ok(names.includes('upsert_company'))
  const { value: other } = await call('upsert_company', {
    keys: { slug: 'other' },
    name: 'Other',
    traits: { seats: 3 },
  })
  t.match(await client.ok('GET', '/companies/lookup?slug=other'), { id: other.id, name: 'Other' })
  const override = { company_id: other.id, feature_id: feature.id, value_type: 'unlimited' }
  t.notOk((await call('override_entitlement', override)).isError)
  t.match((await call('explain_access', { flag: 'exports', company: { slug: 'other' } })).value, {
    value: true,
  })
  for (const _ of [1, 2])
    await call('track_usage', {
      event: 'export',
      company: { slug: 'other' },
      quantity: 4,
      idempotency_key: 'once',
    })
  t.match((await call('read_usage', { company: { slug: 'other' } })).value, [{ usage: 4 }])
})

t.test('a key that may only read, and a wrong one', async t => {
  const { environment_id } = await client.ok('GET', '/whoami')
  const { secret } = await client.ok('POST', '/api-keys', { name: 'reads', environment_id, readonly: true })
  const reader = await assistant(t, secret, '--write')
  t.notOk((await reader.call('find_companies')).isError)
  t.match(await reader.call('upsert_company', { keys: { slug: 'no' } }), { isError: true, text: /^403: / })
  const nobody = await assistant(t, 'sk_dev_wrong')
  t.match(await nobody.call('find_companies'), { isError: true, text: /^401: / })
})

/** Write to a server of its own, with no client between; give back so many answers, and what it says until it ends. */
async function raw(input: readonly string[], answersMax: number) {
  const child = spawn(process.execPath, [`${root}bin/tollgate`, 'mcp'], {
    env: { ...process.env, TOLLGATE_URL: client.url, TOLLGATE_KEY: bootstrapKey },
  })
  let [out, err] = ['', '']
  child.stdout.on('data', chunk => {
    out += chunk
  })
  child.stderr.on('data', chunk => {
    err += chunk
  })
  child.stdin.on('error', () => {}) // it may end before it has read all
  const ended = new Promise<number | null>(resolve => {
    child.on('close', resolve)
  })
  for (const text of input) child.stdin.write(text)
  while (child.exitCode === null && out.split('\n').length <= answersMax)
    await new Promise(resolve => setTimeout(resolve, 50))
  child.stdin.end()
  const code = await ended
  const answers = out
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line))
  return { code, answers, err }
}

t.test('security 42 messages that are none change nothing for those that follow', async t => {
  const of = (id: number, method: string, params: object = {}) =>
    `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
  const call = (id: number, name: string, given: unknown) => of(id, 'tools/call', { name, arguments: given })
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } }
  const none = [
    '',
    'x',
    '[]',
    'null',
    '{}',
    '"',
    '[[[[',
    '{"jsonrpc":"1.0","id":1,"method":"ping"}',
    '\u0000',
  ]
  const { code, answers, err } = await raw(
    [
      ...none.map(text => `${text}\n`),
      of(1, 'initialize', hello),
      `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`,
      `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"__proto__":{"x":1},"x":"${'y'.repeat(5_000_000)}"}}\n`,
      of(2, 'tools/nothing'),
      of(3, 'resources/read', { uri: 'file:///etc/passwd' }),
      call(4, 'constructor', {}),
      call(5, 'get_plan', { id: 7 }),
      call(6, 'get_company', { id: '../api-keys' }),
      call(8, 'upsert_company', { keys: { slug: 'sly' } }),
      of(9, 'ping'),
    ],
    9,
  )
  const answer = (id: number) => answers.find(one => one.id === id)
  t.equal(code, 0)
  t.match(answer(1), { result: { serverInfo: { name: 'tollgate' } } })
  t.ok(answer(7)?.result.tools.length > 5, 'a long message is read')
  t.match(answer(2), { error: { code: -32601 } }, 'no such method')
  t.ok(answer(3)?.error)
  for (const id of [4, 5, 6, 8]) {
    const refused = answer(id)
    t.ok(refused?.error !== undefined || refused?.result.isError === true, `${id} is refused`)
  }
  t.match(answer(9), { result: {} })
  t.equal((await client.send('GET', '/companies/lookup?slug=sly')).status, 404)
  t.ok(
    err.split('\n').filter(line => line.startsWith('A message was not read')).length >= none.length - 1,
    err,
  )
  for (const line of err.split('\n')) t.ok(line.length < 300)
})

t.test('security 42 a message without an end is bounded', async t => {
  const { code, err } = await raw(
    Array.from({ length: 12 }, () => 'x'.repeat(1 << 20)),
    1,
  )
  t.equal(code, 0)
  t.match(err, /not read: .*exceeded maximum size/)
})

t.test('GET /llms.txt names operations that are served', async t => {
  const response = await fetch(`${client.url}/llms.txt`)
  t.equal(response.status, 200)
  t.match(response.headers.get('content-type'), 'text/plain')
  const text = await response.text()
  t.match(text, /^# Tollgate\n\n> /)
  for (const [, link] of text.matchAll(/\]\((\/[^)]*)\)/g))
    t.equal((await fetch(client.url + link)).status, 200, link!)
  const { paths } = (await (await fetch(`${client.url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, object>>
  }
  const named = [...text.matchAll(/\b(GET|POST|PUT) (\/[\w{}/-]+)/g)]
  t.ok(named.length > 10)
  for (const [, method, path] of named)
    if (path !== '/datastream') t.ok(paths[path!]?.[method!.toLowerCase()], `${method} ${path}`)
})
