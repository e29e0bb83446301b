// `tollgate cluster` and `tollgate cluster drain`: who the nodes are, who owns which shard, and emptying a node.
import { setTimeout as sleep } from 'node:timers/promises'
import type { NodeOverview, ShardLag } from '../cluster/overview.js'
import { Overview } from '../cluster/overview.js'
import { linkSecurity } from '../cluster/security.js'
import { type Config, ConfigError } from '../config.js'
import { prefixesOf } from '../redis/slots.js'
import { closePostgres, openPostgres } from '../storage/postgres.js'
import { type Exit, exit, Failure, type Io } from './io.js'

const lookAgainMs = 200

/**
 * Print nodes and shards.
 *
 * returns  `findings` when a shard is nobody's, or a node does not answer.
 * errors   Failure without a cluster; those of the stores.
 */
export async function showCluster(config: Config, json: boolean, io: Io): Promise<Exit> {
  const overview = await open(config)
  try {
    const { nodes, owners } = await overview.look()
    const names = new Map(nodes.map(({ id, name }) => [id, name]))
    const lags = new Map(nodes.flatMap(node => node.lags ?? []).map(lag => [lag.shard, lag]))
    const shards = owners.map(({ epoch, node }, shard) => ({
      shard,
      epoch,
      node: names.get(node) ?? null,
      ...behind(lags.get(shard)),
    }))
    if (json) io.print(JSON.stringify({ nodes: nodes.map(shown(shards)), shards }))
    else {
      table(
        io,
        ['NODE', 'ADDRESS', 'STATE', 'SHARDS', 'LEASE MS', 'SINCE', 'ANSWERS'],
        nodes
          .map(shown(shards))
          .map(one => [one.name, one.address, one.state, one.shards, one.lease_ms, one.since, one.answers]),
      )
      io.print('')
      table(
        io,
        ['SHARD', 'EPOCH', 'NODE', 'TO CHECKPOINT', 'TO POSTGRES', 'TO CLICKHOUSE', 'MOVES'],
        shards.map(one => [
          one.shard,
          one.epoch,
          one.node ?? 'nobody',
          one.checkpoint,
          one.postgres,
          one.clickhouse,
          one.moves,
        ]),
      )
      io.print('')
      table(
        io,
        ['NODE', 'OLD KEYS', 'BYTES', 'RECEIVED BEFORE'],
        nodes
          .map(shown(shards))
          .map(({ name, old_keys: old }) => [
            name,
            old?.keys ?? null,
            old?.bytes ?? null,
            old === null ? null : (old.before ?? 'none'),
          ]),
      )
    }
    const whole = shards.every(({ node }) => node !== null) && nodes.every(({ lags }) => lags !== null)
    return whole ? exit.done : exit.findings
  } finally {
    await overview.close()
  }
}

/**
 * Have a node give its shards to others; ends when it has none. It goes on passing requests on until it is stopped.
 *
 * errors  Failure: no such node, no other one serves, or it still has some after `timeoutMs`.
 */
export async function drainNode(config: Config, name: string, timeoutMs: number, io: Io): Promise<Exit> {
  const overview = await open(config)
  try {
    const untilMs = performance.now() + timeoutMs
    for (let told = -1, asked = false; ; await sleep(lookAgainMs)) {
      const { nodes, owners } = await overview.look()
      const node = nodes.find(one => one.name === name)
      if (node === undefined && asked) throw new Failure(`${name} ended before it had given all shards`)
      if (node === undefined)
        throw new Failure(`There is no node ${name}: there are ${nodes.map(one => one.name).join(', ')}`)
      if (!asked) await ask(overview, node)
      asked = true
      const left = owners.filter(owner => owner.node === node.id).length
      if (left !== told) io.note(`${name} has ${left} shards`)
      told = left
      if (left === 0) return exit.done
      if (performance.now() > untilMs) throw new Failure(`${name} still has ${left} shards`)
    }
  } finally {
    await overview.close()
  }
}

async function ask(overview: Overview, node: NodeOverview): Promise<void> {
  try {
    await overview.drain(node)
  } catch (error) {
    throw new Failure(`${node.name}: ${(error as Error).message}`)
  }
}

async function open(config: Config): Promise<Overview> {
  const { redisUrl, databaseUrl, clusterSecret, postgresPooler: pooled } = config
  if (redisUrl === null || databaseUrl === null || clusterSecret === null)
    throw new ConfigError('REDIS_URL: name the Redis of the nodes, and set what else they have set')
  const sql = openPostgres({ url: databaseUrl, pooled }, { max: 1 })
  try {
    const [row] = await sql<{ generation: string }[]>`select generation from cluster`
    if (row === undefined) throw new Failure('No node was ever started on this Postgres with REDIS_URL')
    const address = { url: redisUrl, ...prefixesOf(row.generation, 1), replicas: 0 }
    return await Overview.open(address, linkSecurity(config))
  } finally {
    await closePostgres(sql, 1_000)
  }
}

function behind(lag: ShardLag | undefined) {
  if (lag === undefined) return { checkpoint: null, postgres: null, clickhouse: null, moves: false }
  const { committed, checkpointed, postgres, clickhouse, moves } = lag
  const to = (position: number) => Math.max(0, committed - position)
  return { checkpoint: to(checkpointed), postgres: to(postgres), clickhouse: to(clickhouse), moves }
}

const shown = (shards: readonly { readonly node: string | null }[]) => (node: NodeOverview) => ({
  name: node.name,
  address: `${node.host}:${node.port}`,
  state: node.state,
  shards: shards.filter(one => one.node === node.name).length,
  lease_ms: node.leaseMs,
  since: new Date(node.sinceMs).toISOString(),
  answers: node.lags !== null,
  old_keys: node.oldKeys && {
    keys: node.oldKeys.keys,
    bytes: node.oldKeys.bytes,
    before: node.oldKeys.untilMs === null ? null : new Date(node.oldKeys.untilMs).toISOString(),
  },
})

type Cell = string | number | boolean | null

/** Columns as wide as their widest cell. */
function table(io: Io, heads: readonly string[], rows: readonly (readonly Cell[])[]): void {
  const text = (cell: Cell): string =>
    cell === null ? '?' : typeof cell === 'boolean' ? (cell ? 'yes' : 'no') : String(cell)
  const lines = [heads, ...rows.map(row => row.map(text))]
  const widths = heads.map((_, column) => Math.max(...lines.map(line => line[column]!.length)))
  for (const line of lines)
    io.print(
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
}
