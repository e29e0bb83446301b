// A service that has the population: filled once, kept under data/, and copied for each use.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { caughtUp, type Started, startProduct, stop } from '../product.js'
import { root } from '../record.js'
import { type Size, seed } from './data.js'
import { type Filled, fill } from './fill.js'
import type { Population } from './streams.js'

/** Raised with every change of the filled data. */
const version = 2

/** A copy of the filled data directory in `work`; the population is made first where there is none. */
export async function populated(
  size: Size,
  work: string,
): Promise<{ readonly population: Population; readonly dataDir: string }> {
  const kept = join(root, 'data', `population-${size}-${version}-${seed}`)
  const file = join(kept, 'filled.json')
  if (!existsSync(file) || !isOfThisSchema(JSON.parse(readFileSync(file, 'utf8')))) await make(size, kept)
  mkdirSync(work, { recursive: true })
  const dataDir = join(work, 'data')
  // with the owners of its files: an embedded Postgres has an account of its own
  execFileSync('cp', ['-a', join(kept, 'data'), dataDir])
  const { filled } = JSON.parse(readFileSync(file, 'utf8')) as Kept
  return { population: { size, filled }, dataDir }
}

interface Kept {
  readonly filled: Filled
  /** Digests of the migrations it was filled under. */
  readonly migrations: Readonly<Record<string, string>>
}

/** A migration that was edited since starts no service; one that was added is run. */
function isOfThisSchema({ migrations: then }: Kept): boolean {
  const now = migrations()
  return Object.entries(then).every(([name, digest]) => now[name] === digest)
}

function migrations(): Readonly<Record<string, string>> {
  const files = ['postgres', 'clickhouse'].flatMap(store =>
    readdirSync(join(root, 'sql', store))
      .filter(name => name.endsWith('.sql'))
      .map(name => join('sql', store, name)),
  )
  return Object.fromEntries(
    files.map(name => [
      name,
      createHash('sha256')
        .update(readFileSync(join(root, name)))
        .digest('hex'),
    ]),
  )
}

async function make(size: Size, kept: string): Promise<void> {
  rmSync(kept, { recursive: true, force: true })
  mkdirSync(kept, { recursive: true })
  const begunMs = performance.now()
  const product = await startProduct(join(kept, 'data'))
  try {
    const filled = await fill(product.port, size)
    await caughtUp(product.port)
    await stop(product.child)
    writeFileSync(
      join(kept, 'filled.json'),
      JSON.stringify({ filled, migrations: migrations() } satisfies Kept),
    )
    console.log(`filled the ${size} in ${Math.round((performance.now() - begunMs) / 1_000)} s`)
  } finally {
    await stop(product.child)
  }
}

/** The service on a copy of the population. */
export async function startPopulated(
  size: Size,
  work: string,
  settings: Readonly<Record<string, string>> = {},
  flags: readonly string[] = [],
  from = root,
  node?: string,
): Promise<Started & { readonly population: Population }> {
  const { population, dataDir } = await populated(size, work)
  return { ...(await startProduct(dataDir, settings, flags, from, node)), population }
}
