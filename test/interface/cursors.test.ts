// Decision 38: every list route gives and takes cursors.
import t from 'tap'
import { titleOf } from '../../src/front/http/routing/route.js'
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
