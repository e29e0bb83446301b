// Checks on several nodes: shards of one thread count and record them together, and nothing of it is lost when nodes
// stop.
import t from 'tap'
import { openClickHouse } from '../../src/storage/clickhouse.js'
import { skipped, TestCluster } from './nodes.js'

const flag = { key: 'f', name: 'f', description: '', flag_type: 'boolean', default_value: true }
const slugs = Array.from({ length: 60 }, (_, i) => `co${i}`)
const nodes = 2

t.test('checks of companies in many shards', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, nodes, { TOLLGATE_FLAG_CHECK_ROWS_PER_SECOND: '1' })
  const [one, other] = cluster.nodes.map(({ client }) => client)
  await one!.ok('POST', '/flags', flag)
  await Promise.all(slugs.map(slug => one!.ok('POST', '/companies', { keys: { slug } })))
  const beganMs = performance.now()
  const asked = slugs.flatMap(slug =>
    [one!, other!].map(client => client.post('/flags/f/check', { company: { slug } })),
  )
  const statuses = (await Promise.all(asked)).map(({ status }) => status)
  const seconds = (performance.now() - beganMs) / 1_000
  t.same([...new Set(statuses)], [200])
  for (const { process } of cluster.living) t.equal(await process.end('SIGTERM'), 0)

  const clickhouse = openClickHouse({ url: cluster.clickhouseUrl })
  t.teardown(() => clickhouse.close())
  const [counted] = await clickhouse.select<{ n: number }>('SELECT sum(checks) AS n FROM flag_checks')
  t.equal(
    Number(counted!.n),
    asked.length,
    'FE-101 every check is counted once, those of a node that stops too',
  )
  const [kept] = await clickhouse.select<{ n: number }>(
    `SELECT count() AS n FROM events WHERE type = 'flag_check'`,
  )
  // a thread begins anew every second, and when its shards are asked for all they have
  const most = nodes * (2 + Math.ceil(seconds))
  t.ok(Number(kept!.n) >= 1, 'FE-101 single checks are recorded')
  t.ok(Number(kept!.n) <= most, `FE-101 all shards of a thread have one rate: ${kept!.n} of ${most} records`)
})
