// Decision 38: every list route gives and takes cursors.
import t from 'tap'
import { titleOf } from '../../src/front/http/routing/route.js'
import { identities } from '../../src/kit/cursor.js'
import { routes } from '../../src/serve/routes.js'
import { startHere } from '../harness.js'

const { client } = await startHere(t)

t.test('every list takes a cursor, and refuses what is none', async t => {
  // a preview is one answer that is worked out anew, not a list: its pages go by offset alone
  const lists = routes.filter(
    ({ method, query }) => method === 'get' && query?.parameters.some(({ name }) => name === 'offset'),
  )
  t.ok(lists.length > 40, `${lists.length} lists`)
  for (const route of lists)
    t.ok(
      route.query!.parameters.some(({ name }) => name === 'cursor'),
      titleOf(route),
    )
  const { paths } = (await client.get('/openapi.json')).body
  for (const title of lists.map(titleOf).filter(one => !one.endsWith('/count'))) {
    const { headers } = paths[title.slice('GET '.length)].get.responses[200]
    t.ok(headers['X-Next-Cursor'], `${title}: the document names the header`)
  }
  t.equal((await client.get('/companies?cursor=x')).status, 400)
  t.match((await client.get('/features?cursor=x')).body.error, /^cursor: take it as X-Next-Cursor/)
})

t.test('companies, features and plans page by page, while others are made and deleted', async t => {
  const makers: Readonly<Record<string, (n: number) => Promise<{ id: string }>>> = {
    '/companies': n => client.ok('POST', '/companies', { keys: { slug: `c${n}` } }),
    '/features': n =>
      client.ok('POST', '/features', { name: `F${n}`, description: '', feature_type: 'boolean' }),
    '/plans': n => client.ok('POST', '/plans', { name: `P${n}`, plan_type: 'plan' }),
    '/webhooks': n =>
      client.ok('POST', '/webhooks', {
        name: `W${n}`,
        url: `https://a.example/${n}`,
        request_types: ['company.updated'],
      }),
  }
  for (const [path, make] of Object.entries(makers)) {
    const stayed: string[] = []
    for (let n = 0; n < 9; n++) stayed.push((await make(n)).id)
    const seen: string[] = []
    let cursor: string | null = ''
    let n = 9
    while (cursor !== null) {
      const page = await client.get(`${path}?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      t.equal(page.status, 200, JSON.stringify(page.body))
      seen.push(...page.body.data.map((one: { id: string }) => one.id))
      cursor = page.headers.get('x-next-cursor')
      if (n < 14) await make(n++)
      // the last row seen goes: the page after it is found by those before
      if (n === 11) {
        const gone = seen.at(-1)!
        await client.ok('DELETE', `${path}/${gone}`)
        stayed.splice(stayed.indexOf(gone), 1)
      }
    }
    t.equal(new Set(seen).size, seen.length, `${path}: none twice`)
    t.same(
      stayed.filter(id => !seen.includes(id)),
      [],
      `${path}: none skipped`,
    )
    if (path !== '/webhooks') t.equal((await client.get(`/webhooks?cursor=${'x'.repeat(3_000)}`)).status, 400)
  }
})

/** Lists whose rows have no id, and the members that make each row of one another than all others. */
const rowsWithoutId: Readonly<Record<string, readonly string[]>> = {
  '/billing/credits/ledger': ['event_id'],
  '/billing/products': ['external_id'],
  '/companies/{company_id}/explain': ['flag_id'],
  '/company-subscriptions': ['subscription_external_id'],
  '/costs': ['company_id', 'model', 'user_id', 'day', 'currency'],
  '/denied-checks': ['flag_key', 'reason', 'company_id', 'minute'],
  '/entity-trait-values': ['value'],
  '/event-types': ['event_subtype'],
  '/feature-companies': ['company'],
  '/feature-usage': ['feature'],
  '/feature-usage-history': ['company_id', 'feature_id', 'period_start'],
  '/feature-users': ['user'],
  '/flag-checks': ['flag_key', 'reason'],
  '/v2/billing/credits/ledger': ['event_id'],
}

// biome-ignore lint/suspicious/noExplicitAny: a document is looked at member by member in tests
type Body = any

t.test(
  'decision 38: every row of a list is known again by its id, or by members that no other row has',
  async t => {
    const document = (await (await fetch(`${client.url}/openapi.json`)).json()) as Body
    const followed = (schema: Body): Body =>
      schema?.$ref === undefined
        ? schema
        : followed(
            schema.$ref
              .slice(2)
              .split('/')
              .reduce((at: Body, name: string) => at[name], document),
          )
    const lists = Object.entries<Body>(document.paths).filter(([path, { get }]) => {
      const names = (get?.parameters ?? []).map((one: Body) => followed(one).name)
      return names.includes('cursor') && names.includes('offset') && !path.endsWith('/count')
    })
    t.ok(lists.length > 40)
    const without: string[] = []
    for (const [path, { get }] of lists) {
      const answer = followed(followed(get.responses['200'])?.content['application/json'].schema)
      const { items } = followed(answer.properties.data)
      const row = followed(items)
      if (row === undefined || row.allOf !== undefined || row.properties?.id !== undefined) continue
      without.push(path)
      for (const name of rowsWithoutId[path] ?? []) t.ok(name in row.properties, `${path} ${name}`)
    }
    t.strictSame(without.sort(), Object.keys(rowsWithoutId).sort())
    const known: readonly string[] = [...identities, 'flag_id', 'company', 'feature', 'user']
    for (const [path, names] of Object.entries(rowsWithoutId))
      for (const name of names) t.ok(known.includes(name), `${path}: ${name} is looked at`)
  },
)

t.test('decision 38: lists without ids, row by row, are the whole list', async t => {
  const company = { slug: 'rows' }
  const { id } = await client.ok('POST', '/companies', { keys: company })
  for (let n = 0; n < 4; n++) {
    const feature = { name: `R${n}`, event_subtype: `r${n}`, flag: { key: `r${n}` } }
    const { id: feature_id } = await client.ok('POST', '/features', feature)
    const override = { company_id: id, feature_id, value_type: 'numeric', value_numeric: 9 }
    await client.ok('POST', '/company-overrides', override)
    for (let day = 1; day < 4; day++)
      await client.ok('POST', '/events', {
        event_type: 'track',
        sent_at: `2026-03-0${day}T10:00:00Z`,
        trusted_client_clock: true,
        backfill: true,
        body: { event: `r${n}`, company },
      })
    await client.ok('POST', `/flags/r${n}/check`, { company })
  }
  const march = 'start_time=2026-03-01T00:00:00Z&end_time=2026-03-05T00:00:00Z'
  for (const path of [
    `/companies/${id}/explain?`,
    `/feature-usage-history?granularity=daily&${march}`,
    `/feature-usage?company_id=${id}`,
    '/event-types?',
  ]) {
    const whole: Body[] = await client.ok('GET', path)
    t.ok(whole.length >= 4, `${path}: ${whole.length} rows`)
    const seen: Body[] = []
    for (let cursor: string | null = ''; cursor !== null && seen.length <= whole.length; ) {
      const page = await client.get(`${path}&limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`)
      t.equal(page.status, 200, JSON.stringify(page.body))
      seen.push(...page.body.data)
      cursor = page.headers.get('x-next-cursor')
    }
    const named = (rows: Body[]) =>
      rows.map(row => [row.flag, row.feature_id, row.feature?.id, row.event_subtype, row.period_start])
    t.strictSame(named(seen), named(whole), path)
  }
})
