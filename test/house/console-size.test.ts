// The first load of the console: Overview with its chart and the palette, as gzip sends their files.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { root } from './source.js'

const directory = join(root, 'dist/console')
const assets = join(directory, 'assets')
const bytesMax = 160_000

/** The built file of a screen. */
const built = (name: string): string => {
  const found = readdirSync(assets).filter(file => file.startsWith(`${name}-`) && file.endsWith('.js'))
  if (found.length !== 1) throw new Error(`dist/console/assets has ${found.length} files of ${name}`)
  return found[0]!
}

/** Add a file, and all that it imports statically, to the files of the first load. */
function load(file: string, loaded: Map<string, number>): void {
  if (loaded.has(file)) return
  const bytes = readFileSync(join(assets, file))
  loaded.set(file, gzipSync(bytes).byteLength)
  if (!file.endsWith('.js')) return
  for (const [, next] of bytes.toString().matchAll(/\b(?:from|import)\s?["'`]\.\/([^"'`]+\.js)["'`]/g))
    load(next!, loaded)
}

t.test(`the first load of the console has at most ${bytesMax} bytes`, async t => {
  const page = readFileSync(join(directory, 'index.html'))
  const loaded = new Map([['index.html', gzipSync(page).byteLength]])
  const named = [...page.toString().matchAll(/(?:src|href)="\.\/assets\/([^"]+)"/g)].map(match => match[1]!)
  t.ok(named.some(file => file.endsWith('.js')) && named.some(file => file.endsWith('.css')))
  for (const file of [...named, ...['overview', 'chart', 'palette'].map(built)]) load(basename(file), loaded)
  const sum = [...loaded.values()].reduce((all, one) => all + one, 0)
  t.ok(sum <= bytesMax, `${sum} bytes in ${loaded.size} files`)
})
