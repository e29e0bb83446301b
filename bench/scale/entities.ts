// node dist/bench/scale/entities.js [millions]: how long a start takes with so many companies of one key each, and its memory.
// The rows are copied into the embedded Postgres without their indexes, which a start does not read.
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pino } from 'pino'
import { derivedId, encodeId } from '../../src/core/values/id.js'
import { startEmbeddedPostgres } from '../../src/storage/embedded/postgres.js'
import { closePostgres, openPostgres } from '../../src/storage/postgres.js'
import { memoryOf, processUs, residentMiB } from '../cpu.js'
import { inWork } from '../interrupted.js'
import { Client } from '../population/fill.js'
import { startProduct, stop } from '../product.js'
import { root } from '../record.js'

const millions = Number(process.argv[2] ?? 50)
const count = millions * 1e6
const rowsAtOnce = 10_000
const tables = ['companies', 'entity_keys'] as const
const at = '2026-01-01 00:00:00+00'

const idOf = (prefix: string, n: number): string => encodeId(prefix, Math.imul(n, 0x9e3779b9) >>> 0, n)

/** Lines of COPY, some thousands at a time. */
function* rows(line: (n: number) => string): Generator<Buffer> {
  for (let n = 0; n < count; n += rowsAtOnce) {
    let text = ''
    for (let i = n; i < Math.min(count, n + rowsAtOnce); i++) text += `${line(i)}\n`
    yield Buffer.from(text)
  }
}

async function fill(directory: string, environmentId: string): Promise<void> {
  const postgres = await startEmbeddedPostgres({ directory, log: pino({ level: 'error' }), durable: false })
  const sql = openPostgres(postgres.address, { max: 1, statementTimeoutMs: 0 })
  try {
    for (const table of tables) {
      const indexes = await sql<{ name: string; of: string | null }[]>`
        select c.relname as name, k.conname as of from pg_index i join pg_class c on c.oid = i.indexrelid
        left join pg_constraint k on k.conindid = i.indexrelid where i.indrelid = ${table}::regclass`
      for (const { name, of } of indexes)
        await (of === null
          ? sql`drop index ${sql(name)}`
          : sql`alter table ${sql(table)} drop constraint ${sql(of)}`)
      await sql`alter table ${sql(table)} set (autovacuum_enabled = false)`
    }
    const definition = derivedId('ekey_', environmentId, 'company', 'slug')
    const columns = 'id, environment_id, name, created_at, updated_at'
    await pipeline(
      Readable.from(rows(n => `${idOf('comp_', n)}\t${environmentId}\tC${n}\t${at}\t${at}`)),
      await sql.unsafe(`copy companies (${columns}) from stdin`).writable(),
    )
    console.log('companies are filled')
    await pipeline(
      Readable.from(
        rows(n => {
          const [id, key] = [idOf('comp_', n), idOf('eky_', n)]
          return `${key}\t${environmentId}\tcompany\t${id}\t${definition}\tslug\tcompany-${n}\t${at}\t${at}`
        }),
      ),
      await sql
        .unsafe(
          'copy entity_keys (id, environment_id, entity_type, entity_id, definition_id, name, value, created_at, updated_at) from stdin',
        )
        .writable(),
    )
    console.log('keys are filled')
  } finally {
    await closePostgres(sql)
    await postgres.stop()
  }
}

const work = join(root, 'data', `bench-entities-${process.pid}`)
await inWork(work, async () => {
  const first = await startProduct(work)
  const { environment_id: environmentId } = await new Client(first.port).ask('GET', '/whoami')
  await stop(first.child)
  await fill(join(work, 'postgres'), environmentId)

  const settings = { TOLLGATE_LOG_LEVEL: 'info' }
  const { child, port, readyMs } = await startProduct(work, settings, ['--max-old-space-size=4096'])
  const seconds = processUs(child.pid!) / 1e6
  console.log(
    `${count.toLocaleString('en')} companies: ready after ${(readyMs / 1_000).toFixed(1)} s, ${seconds.toFixed(1)} s of CPU`,
  )
  console.log(`resident ${residentMiB(child.pid!)} MiB;`, Object.fromEntries(memoryOf(child.pid!)), 'MiB')
  const client = new Client(port)
  for (const n of [0, 1, count >> 1, count - 1]) {
    // its actor has no state: a write to its key names it
    const found = await client.ask('POST', '/companies', { keys: { slug: `company-${n}` } })
    if (found.id !== idOf('comp_', n)) throw new Error(`company-${n} is ${found.id}`)
  }
  console.log('the first, the last and one between are found by their keys')
  await stop(child)
})
