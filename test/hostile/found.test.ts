// Faults that hostile runs have found, each with a test of its own.
import t from 'tap'
import { startHere } from '../harness.js'

t.test('bodies that are no UTF-8 are refused on every way in, and end nothing (security 22)', async t => {
  const { client } = await startHere(t)
  for (const path of ['/batch', '/events', '/event-batch', '/flags/check'])
    for (const length of [100, 20_000, 300_000]) {
      const body = Buffer.concat([
        Buffer.from('{"events":["'),
        Buffer.alloc(length, 0xff),
        Buffer.from('"]}'),
      ])
      const headers = { 'X-Service-Api-Key': client.key, 'Content-Type': 'application/json' }
      const { status } = await fetch(`${client.url}${path}`, { method: 'POST', headers, body })
      t.equal(status, 400, `${path}, ${length} bytes`)
    }
  t.match(await client.get('/whoami'), { status: 200 }, 'the service goes on')
})

t.test('names and ids that belong nowhere', async t => {
  const { client, tollgate, dataDir } = await startHere(t)
  const company = await client.ok('POST', '/companies', { keys: { slug: 'a' } })
  const user = await client.ok('POST', '/users', { keys: { mail: 'a' }, company: { slug: 'a' } })
  const [, production] = (await client.ok('GET', '/whoami')).environments
  const account = client.as((await client.ok('POST', '/api-keys', { name: 'account' })).secret)
  const other = account.as(account.key, { 'X-Service-Environment-Id': production.id })

  t.match(await client.get(`/reconcile?company_id=${user.id}`), { status: 404 }, 'a user is no company')
  t.match(await other.get(`/reconcile?company_id=${company.id}`), { status: 404 }, 'of another environment')
  t.match(await client.get(`/users/${user.id}`), { status: 200 }, 'the user is as it was')
  t.match(await client.get('/audit-log?start_time=0000-01-01T00:00:00Z'), { status: 400 }, 'no such year')

  const limits = { toString: null, constructor: 'x', global: [1_000_000, 1_000_000] }
  t.match(await account.put('/limits', { limits }), { status: 200 })
  t.same((await account.ok('GET', '/limits')).limits, { global: [1_000_000, 1_000_000] })
  await tollgate.stop()
  const again = await startHere(t, { TOLLGATE_DATA_DIR: dataDir })
  t.match(await again.client.get('/whoami'), { status: 200 }, 'what was kept is read again')
})
