// npm run bench [town] [servers] [core] [shards] [console [part]] [http] [mixed] [start] [outages] [refused] [stream [part]] [nodes] [nodes-quiet]
// [attacks [kind]] [long [minutes]] [halves [minutes]] [ingest [minutes]] [lists [companies]] [scale [rounds]]: runs the
// benchmarks of the areas named, or of all, and keeps the results.
// npm run bench -- village|town|city ROW…: rows of one population.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { benchConsole, consoleParts } from './console/screens.js'
import { attackWords, benchAttacks } from './http/attacks.js'
import { benchLists } from './http/lists.js'
import { benchOutages } from './http/outages.js'
import { benchHttp, benchOnlyMixed } from './http/run.js'
import { benchRefused } from './http/unauthorized.js'
import { benchRates } from './nodes/rates.js'
import { benchQuietNodes } from './nodes/run.js'
import { type Size, sizes } from './population/data.js'
import { benchIngest } from './population/ingest.js'
import { allAtOnce, benchLong, halvesInTurn } from './population/long.js'
import { benchPopulation, benchServers, rowKeys } from './population/run.js'
import { record, root } from './record.js'
import { benchScale } from './scale/run.js'
import { benchStream, streamParts } from './stream/run.js'

const areas: Readonly<Record<string, () => Promise<void>>> = {
  village: () => benchPopulation('village', []),
  town: () => benchPopulation('town', []),
  city: () => benchPopulation('city', []),
  servers: benchServers,
  core: () => runFiles('core'),
  shards: () => runFiles('shards'),
  console: () => benchConsole(given.filter(one => consoleParts.includes(one))),
  http: benchHttp,
  mixed: benchOnlyMixed,
  lists: () => benchLists(numbers),
  outages: benchOutages,
  refused: benchRefused,
  attacks: () => benchAttacks(attacks),
  nodes: benchRates,
  'nodes-quiet': benchQuietNodes,
  long: () => benchLong(Number(numbers[0] ?? 30), allAtOnce),
  halves: () => benchLong(Number(numbers[0] ?? 30), halvesInTurn),
  ingest: () => benchIngest(Number(numbers[0] ?? 30)),
  scale: () => benchScale(Number(numbers[0] ?? 5)),
  stream: () => benchStream(parts.filter(one => streamParts.includes(one))),
  start: async () => {
    await runFile(join(root, 'dist', 'bench', 'shards', 'start.bench.js'))
  },
}

// Each file measures in a process of its own, so that none warms up or litters for the next.
async function runFiles(area: string): Promise<void> {
  const folder = join(root, 'dist', 'bench', area)
  const files = existsSync(folder) ? readdirSync(folder).filter(name => name.endsWith('.bench.js')) : []
  const printed: Record<string, readonly string[]> = {}
  for (const file of files.sort())
    printed[`${area}/${file.replace(/js$/, 'ts')}`] = await runFile(join(folder, file))
  if (files.length > 0) record(area, [], printed)
}

function runFile(path: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--enable-source-maps', '--expose-gc', path], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => {
      process.stdout.write(chunk)
      text += chunk.toString()
    })
    child.on('error', reject)
    child.on('exit', code => {
      if (code === 0) resolve(text.trimEnd().split('\n'))
      else reject(new Error(`${path} left with ${code}`))
    })
  })
}

const given = process.argv.slice(2)
const size = given.find((one): one is Size => one in sizes)
const picked = given.filter(one => one !== size)
if (size !== undefined && picked.length > 0) await ofPopulation(size, picked)
const numbers = given.filter(one => /^\d+$/.test(one))
const parts = given.filter(one => streamParts.includes(one) || consoleParts.includes(one))
const attacks = given.filter(one => attackWords.includes(one))
const asked = given.filter(one => ![...numbers, ...parts, ...attacks].includes(one))
const unknown = asked.find(area => areas[area] === undefined)
if (unknown !== undefined) {
  console.error(`No such benchmarks: ${unknown}. There are: ${Object.keys(areas).join(', ')}`)
  process.exit(2)
}
try {
  // a start is one of the shards' benchmarks, mixed one of http's, other sizes than the town are long: when asked for
  const all = Object.keys(areas).filter(
    area =>
      ![
        'start',
        'mixed',
        'village',
        'city',
        'servers',
        'console',
        'nodes',
        'nodes-quiet',
        'long',
        'halves',
        'ingest',
        'scale',
        'attacks',
      ].includes(area),
  )
  for (const area of asked.length > 0 ? asked : all) await areas[area]!()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}

async function ofPopulation(size: Size, keys: readonly string[]): Promise<never> {
  const wrong = keys.find(key => !rowKeys.includes(key))
  if (wrong !== undefined) {
    console.error(`No such row: ${wrong}. There are: ${rowKeys.join(', ')}`)
    process.exit(2)
  }
  await benchPopulation(size, keys)
  process.exit(0)
}
