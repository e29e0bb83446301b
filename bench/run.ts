// npm run bench [core] [shards] [http] [mixed] [start] [outages] [refused] [lists [companies]]: runs the benchmarks of the areas
// named, or of all, and keeps the results.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { benchLists } from './http/lists.js'
import { benchOutages } from './http/outages.js'
import { benchHttp, benchOnlyMixed } from './http/run.js'
import { benchRefused } from './http/unauthorized.js'
import { record, root } from './record.js'

const areas: Readonly<Record<string, () => Promise<void>>> = {
  core: () => runFiles('core'),
  shards: () => runFiles('shards'),
  http: benchHttp,
  mixed: benchOnlyMixed,
  lists: () => benchLists(numbers),
  outages: benchOutages,
  refused: benchRefused,
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
const numbers = given.filter(one => /^\d+$/.test(one))
const asked = given.filter(one => !numbers.includes(one))
const unknown = asked.find(area => areas[area] === undefined)
if (unknown !== undefined) {
  console.error(`No such benchmarks: ${unknown}. There are: ${Object.keys(areas).join(', ')}`)
  process.exit(2)
}
try {
  // a start is one of the shards' benchmarks, mixed one of http's: by themselves only when asked for
  const all = Object.keys(areas).filter(area => area !== 'start' && area !== 'mixed')
  for (const area of asked.length > 0 ? asked : all) await areas[area]!()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
