// Tollgate inside another program: started by `import 'tollgate'`, asked over its URL, stopped.

import t from 'tap'
import { start } from 'tollgate'
import { storesOf } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

t.test('start() serves with its settings, returns its first key, and stops', async t => {
  const dataDir = await temporaryDirectory(t)
  const settings = {
    ...(await storesOf(dataDir)),
    TOLLGATE_DATA_DIR: dataDir,
    TOLLGATE_PORT: 0,
    TOLLGATE_SHARDS: 1,
    TOLLGATE_LOG_LEVEL: 'silent',
  } as const
  const tollgate = await start(settings)
  t.equal(tollgate.url, `http://127.0.0.1:${tollgate.port}`)
  const key = tollgate.bootstrapKey!
  t.match(key, /^sk_/)
  const headers = { 'X-Service-Api-Key': key, 'Content-Type': 'application/json' }
  const body = JSON.stringify({ name: 'Acme', keys: { slug: 'acme' } })
  t.equal((await fetch(`${tollgate.url}/companies`, { method: 'POST', headers, body })).status, 200)
  await Promise.all([tollgate.stop(), tollgate.stop()])
  await t.rejects(fetch(`${tollgate.url}/health/live`), 'nobody listens any more')

  const again = await start(settings)
  t.teardown(() => again.stop())
  t.equal(again.bootstrapKey, key, 'the key that the data directory keeps')
  const found = await fetch(`${again.url}/companies/lookup?slug=acme`, { headers })
  t.equal(found.status, 200)
})
