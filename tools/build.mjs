#!/usr/bin/env node
// Compiles the project when a source is newer than the last successful build; says nothing when none is.
// Run by npm install, start, test, bench and demo, so none of them ever runs an old build.
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundled.mjs'
import { buildClient } from './client.mjs'
import { bundlePrices } from './model-prices.mjs'
import { bundleServed } from './served.mjs'

const root = fileURLToPath(new URL('../', import.meta.url))
// An older Node fails later, and in other words.
const wanted = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node
if (!fits(process.versions.node, wanted)) {
  console.error(`Tollgate runs on Node ${wanted}; this is ${process.versions.node}.`)
  process.exit(1)
}

const dist = join(root, 'dist')
const stamp = join(dist, '.built')
const folders = JSON.parse(readFileSync(join(root, 'tsconfig.json'), 'utf8')).include
const settings = [
  'tsconfig.json',
  'package-lock.json',
  'tools/build.mjs',
  'tools/bundled.mjs',
  'tools/client.mjs',
  'tools/model-prices.mjs',
  'tools/served.mjs',
]

const sources = folders.flatMap(folder => filesUnder(join(root, folder), /\.ts$/))
const state = digest([...sources, ...settings.map(name => join(root, name))])
const consoleIsBuilt = buildConsole()
if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) {
  await consoleIsBuilt
  process.exit(0)
}

const compiler = findCompiler()
if (compiler === null) {
  // Installed without development dependencies: the existing build is used.
  if (existsSync(join(dist, 'served', 'main.js')) || process.env.npm_lifecycle_event === 'prepare')
    process.exit(0)
  console.error(
    'Not built yet, and the compiler is not installed: run npm install with development dependencies.',
  )
  process.exit(1)
}

const began = performance.now()
rmSync(stamp, { force: true })
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.json'], {
  cwd: root,
  stdio: 'inherit',
})
if (status !== 0) process.exit(status ?? 1)
removeOrphans()
bundle(root, dist)
await bundlePrices(root, dist)
await bundleServed(root, dist)
await buildClient(root)
writeFileSync(stamp, state)
await consoleIsBuilt
console.error(`built in ${((performance.now() - began) / 1_000).toFixed(1)} s`)

/** Build the console beside the rest, when one of its sources is newer than its last build. */
async function buildConsole() {
  const made = join(dist, 'console')
  const consoleStamp = join(dist, '.console-built')
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js')
  const inputs = [
    ...filesUnder(join(root, 'console'), /\.(tsx?|css|html|mjs|json)$/),
    ...['api-types.ts', 'exact.ts'].map(name => join(root, 'clients', 'typescript', 'src', name)),
    join(root, 'src', 'core', 'entitlements', 'generosity.ts'),
    join(root, 'package-lock.json'),
  ]
  // Installed without development dependencies, or from the tarball: the existing build is used.
  if (!existsSync(vite) || !existsSync(join(root, 'console'))) return
  const now = digest(inputs)
  const isThere = existsSync(join(made, 'index.html')) && existsSync(consoleStamp)
  if (isThere && readFileSync(consoleStamp, 'utf8') === now) return
  const child = spawn(process.execPath, [vite, 'build', 'console', '--logLevel', 'warn'], {
    cwd: root,
    stdio: 'inherit',
  })
  const code = await new Promise(resolve => child.once('exit', resolve))
  if (code !== 0) process.exit(code ?? 1)
  const { build } = await import('esbuild')
  await build({
    entryPoints: [join(root, 'console', 'portal', 'elements.ts')],
    outfile: join(made, 'portal.js'),
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
  })
  writeFileSync(consoleStamp, now)
}

/** Whether a version is in a range such as `>=20.19`; src/cli/version.ts reads the same line. */
function fits(version, range) {
  const [, least, minorLeast] = /^>=(\d+)\.(\d+)$/.exec(range).map(Number)
  const [major, minor] = version.split('.').map(Number)
  return major > least || (major === least && minor >= minorLeast)
}

/** @returns {string[]} absolute paths, in the same order every time */
function filesUnder(folder, wanted) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile() && wanted.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name))
    .sort()
}

/** A digest that changes if any file is edited, added or removed. */
function digest(files) {
  const hash = createHash('sha256')
  for (const file of files) {
    const { mtimeMs, size } = statSync(file)
    hash.update(`${relative(root, file)}\0${mtimeMs}\0${size}\n`)
  }
  return hash.digest('hex')
}

function findCompiler() {
  try {
    return createRequire(import.meta.url).resolve('ts-patch/bin/tspc.js')
  } catch {
    return null
  }
}

/** Output whose source is gone: a removed test would go on running. */
function removeOrphans() {
  for (const folder of folders) {
    for (const output of filesUnder(join(dist, folder), /\.js(\.map)?$/)) {
      const source = join(root, relative(dist, output)).replace(/\.js(\.map)?$/, '.ts')
      if (!existsSync(source)) rmSync(output)
    }
  }
}
