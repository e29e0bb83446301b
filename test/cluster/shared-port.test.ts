// Two nodes on one machine and one port. The system spreads connections over both; when one is killed, the other has them
// all. A node that does not share its port keeps it to itself.
import { once } from 'node:events'
import { request } from 'node:http'
import t from 'tap'
import { clusterShards } from '../../src/cluster/leases.js'
import { Client } from '../harness.js'
import { freePort, skipped, TestCluster, until } from './nodes.js'

t.test('nodes share a port', { skip: skipped || cannotShare() }, async t => {
  const port = String(await freePort())
  const cluster = await TestCluster.start(t, 0, { TOLLGATE_SHARED_PORT: 'true', TOLLGATE_PORT: port })
  const metrics = [await freePort(), await freePort()]
  for (const one of metrics) await cluster.add({ TOLLGATE_METRICS_ADDRESS: `127.0.0.1:${one}` })
  const isHalf = async (one: number) => (await shardsOf(one)) === clusterShards / 2
  await until(async () => (await Promise.all(metrics.map(isHalf))).every(Boolean), 'each node has its share')
  const client = new Client(`http://127.0.0.1:${port}`, cluster.nodes[0]!.client.key)
  await client.ok('POST', '/companies', { keys: { slug: 'acme' } })

  for (let i = 0; i < 60; i++) t.equal(await lookup(client), 200)
  let served: readonly number[] = []
  const all = async () => {
    served = await Promise.all(metrics.map(lookups))
    return served.reduce((sum, count) => sum + count, 0) === 60
  }
  await until(all, () => `60 lookups show in the metrics; these do: ${served.join(' and ')}`)
  t.ok(Math.min(...served) > 0, `both served some: ${served.join(' and ')}`)

  await t.rejects(
    cluster.add({ TOLLGATE_SHARED_PORT: 'false' }),
    'a node that does not share its port is refused this one',
  )

  await cluster.nodes[0]!.process.end('SIGKILL')
  await until(async () => (await lookup(client)) === 200, 'the other node serves the company')
  for (let i = 0; i < 20; i++) t.equal(await lookup(client), 200)
})

/** The reason why the HTTP server of the run cannot share a port, or false. */
function cannotShare(): string | false {
  const [major, minor] = process.versions.node.split('.').map(Number) as [number, number]
  const nodeCan = major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12)
  if (process.platform !== 'linux') return 'only Linux spreads connections over processes that share a port'
  return process.env.TOLLGATE_HTTP === 'node' && !nodeCan ? 'http of this Node cannot share a port' : false
}

/** The status of a lookup over a connection of its own. */
async function lookup({ url, key }: Client): Promise<number> {
  const headers = { 'X-Service-Api-Key': key }
  const asked = request(`${url}/companies/lookup?slug=acme`, { agent: false, headers }).end()
  const [response] = await once(asked, 'response')
  response.resume()
  await once(response, 'end')
  return response.statusCode
}

/** Lookups that a node has answered, from its metrics. */
const lookups = (port: number) =>
  sumOf(port, /^tollgate_http_requests_total\{.*route="GET \/companies\/lookup",.*\} (\d+)$/gm)

/** Shards that a node has, from its metrics. */
const shardsOf = (port: number) => sumOf(port, /^tollgate_cluster_shards\{.*\} (\d+)$/gm)

async function sumOf(port: number, line: RegExp): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  return [...page.matchAll(line)].reduce((sum, [, count]) => sum + Number(count), 0)
}
