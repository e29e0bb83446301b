// A node without Redis and two nodes with Redis, on the same external stores, each side with its own databases and the
// same population.
import { join } from 'node:path'
import { Members } from '../../src/cluster/leases.js'
import { shardOf } from '../../src/core/values/id.js'
import { RedisClient } from '../../src/redis/redis.js'
import { openClickHouse } from '../../src/storage/clickhouse.js'
import { closePostgres, openPostgres } from '../../src/storage/postgres.js'
import type { Size } from '../population/data.js'
import { Client, fill } from '../population/fill.js'
import { type Prepared, tag } from '../population/prepared.js'
import type { Population } from '../population/streams.js'
import { caughtUp, type Started, startProduct, stop } from '../product.js'
import { type Redis, type Stores, startRedis, startStores } from '../stores.js'

/** Everything that runs. */
export interface Sides {
  readonly stores: Stores
  readonly redis: Redis
  readonly alone: Started
  /** Two nodes of one cluster. */
  readonly nodes: readonly [Started, Started]
  readonly population: Population
  /** Whether every company and user that a request names lives on the first node. */
  isOfFirst(request: Prepared): boolean
  stop(): Promise<void>
}

/** A lease is long: no shard moves while other work of the machine holds a node up. */
export const nodeSettings = {
  TOLLGATE_LEASE_MS: '60000',
  TOLLGATE_CLUSTER_SECRET: 'only the nodes of this benchmark know this',
  TOLLGATE_PEPPER: 'a pepper that is the same on all nodes of it',
}

/** Start all of it in a directory, filled. A start that fails stops everything. */
export async function startSides(size: Size, directory: string): Promise<Sides> {
  const closing: (() => Promise<unknown>)[] = []
  const stopAll = async (): Promise<void> => {
    for (const close of closing.splice(0).reverse()) await close()
  }
  try {
    const [stores, redis] = await Promise.all([startStores(directory, true), startRedis(directory)])
    closing.push(stores.stop, redis.stop)
    const begin = async (name: string, settings: Readonly<Record<string, string>>): Promise<Started> => {
      const started = await startProduct(join(directory, name), { ...stores.client, ...settings })
      closing.push(() => stop(started.child))
      return started
    }
    const alone = await begin('alone', await databases(stores, 'alone'))
    await fill(alone.port, size)
    await caughtUp(alone.port)
    const shared = { ...(await databases(stores, 'cluster')), REDIS_URL: redis.url, ...nodeSettings }
    const first = await begin('first', { ...shared, TOLLGATE_NODE_ID: 'first' })
    const second = await begin('second', { ...shared, TOLLGATE_NODE_ID: 'second' })
    const owned = await shardsOf('first', 2, shared.DATABASE_URL, redis)
    const filled = await fill(first.port, size)
    await Promise.all([caughtUp(first.port), caughtUp(second.port)])
    const ids = await idsByKey(first.port)
    return {
      stores,
      redis,
      alone,
      nodes: [first, second],
      population: { size, filled },
      isOfFirst: request =>
        namedBy(request).every(key => {
          const id = ids.get(key)
          return id !== undefined && owned.has(id)
        }),
      stop: stopAll,
    }
  } catch (error) {
    await stopAll()
    throw error
  }
}

/** New databases on both stores. */
export async function databases({ client, postgresUrl, clickhouseUrl }: Stores, name: string) {
  Object.assign(process.env, client)
  const sql = openPostgres({ url: postgresUrl }, { max: 1 })
  const clickhouse = openClickHouse({ url: clickhouseUrl })
  await sql`create database ${sql(name)}`
  await clickhouse.command('CREATE DATABASE {name: Identifier}', { name })
  await Promise.all([closePostgres(sql), clickhouse.close()])
  const inside = (url: string) => String(Object.assign(new URL(url), { pathname: name }))
  return { DATABASE_URL: inside(postgresUrl), CLICKHOUSE_URL: inside(clickhouseUrl) }
}

/** The ids that lie at a node, in one of its shards. */
export interface Owned {
  has(id: string): boolean
}

/** Resolves with the shards of a node when each of so many nodes has its share. */
export async function shardsOf(
  name: string,
  count: number,
  url: string,
  redis: Pick<Redis, 'url'>,
): Promise<Owned> {
  const sql = openPostgres({ url }, { max: 1 })
  const [row] = await sql<{ generation: string }[]>`select generation from cluster`
  await closePostgres(sql)
  const client = await RedisClient.open({
    url: redis.url,
    prefix: `tollgate:{${row!.generation}}:`,
    replicas: 0,
  })
  try {
    for (let tries = 0; tries < 600; tries++) {
      const { nodes, owners } = await Members.look(client)
      const ofFirst = owners.flatMap(({ node }, shard) => (nodes.get(node)?.name === name ? [shard] : []))
      const isFair = Math.abs(ofFirst.length - owners.length / count) < 1
      if (owners.length > 0 && isFair && owners.every(({ node }) => node !== '')) {
        const shards = new Set(ofFirst)
        return { has: id => shards.has(shardOf(id, owners.length)) }
      }
      await new Promise(resolve => setTimeout(resolve, 100))
    }
    throw new Error('the nodes do not have their shares of the shards after a minute')
  } finally {
    await client.close()
  }
}

/** Ids of all companies and users by each of their keys. */
export async function idsByKey(port: number): Promise<ReadonlyMap<string, string>> {
  const client = new Client(port)
  const ids = new Map<string, string>()
  for (const path of ['/companies', '/users'])
    for (let offset = 0, more = true; more; offset += 250) {
      const page = (await client.ask('GET', `${path}?limit=250&offset=${offset}`)) as readonly {
        readonly id: string
        readonly keys: readonly { readonly key: string; readonly value: string }[]
      }[]
      for (const { id, keys } of page) for (const { key, value } of keys) ids.set(`${key}:${value}`, id)
      more = page.length > 0
    }
  client.close()
  return ids
}

/** Keys that a check or an event names, as `key:value`. */
export function namedBy({ body }: Prepared): readonly string[] {
  const sent = JSON.parse(body.replaceAll(tag, '')) as Named & { readonly body?: Named }
  const { company = {}, user = {} } = sent.body ?? sent
  return [...Object.entries(company), ...Object.entries(user)].map(([key, value]) => `${key}:${value}`)
}

interface Named {
  readonly company?: Readonly<Record<string, string>>
  readonly user?: Readonly<Record<string, string>>
}
