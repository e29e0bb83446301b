// A stop keeps the counts of checks that were made just before it.
import { join } from 'node:path'
import t from 'tap'
import { openClickHouse } from '../../src/storage/clickhouse.js'
import { Process, storesOf } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

const flag = { key: 'f', name: 'f', description: '', flag_type: 'boolean', default_value: true }
const last = 20

t.test('FE-101 checks that were not reported yet are counted when the service stops', async t => {
  const root = await temporaryDirectory(t)
  const stores = await storesOf(root, {})
  const process = await Process.start(join(root, 'service'), stores)
  t.teardown(() => process.end('SIGKILL'))
  const { client } = process
  const clickhouse = openClickHouse({ url: stores.CLICKHOUSE_URL! })
  t.teardown(() => clickhouse.close())
  const counted = async () => {
    const [row] = await clickhouse.select<{ n: string }>('SELECT sum(checks) AS n FROM flag_checks')
    return Number(row!.n)
  }
  await client.ok('POST', '/flags', flag)
  const slugs = Array.from({ length: last }, (_, i) => `co${i}`)
  for (const slug of slugs) await client.ok('POST', '/companies', { keys: { slug } })
  // The first report comes at once, the next one after ten seconds.
  await Promise.all(slugs.map(slug => client.ok('POST', '/flags/f/check', { company: { slug } })))
  while ((await counted()) < last) await new Promise(resolve => setTimeout(resolve, 20))

  await Promise.all(slugs.map(slug => client.ok('POST', '/flags/f/check', { company: { slug, other: 'x' } })))
  t.equal(await process.end('SIGTERM'), 0)
  t.equal(await counted(), 2 * last)
})
