#!/usr/bin/env node
// Run by npm in a clone after an install and before a pack, never where the package is installed from its tarball: patches
// the Postgres driver, which the tarball carries patched, removes what a clone does not need, and builds.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../', import.meta.url))
const patches = join('tools', 'patches')

const patcher = findPatcher()
if (patcher !== null) run([patcher, '--patch-dir', patches, '--error-on-fail'])
const missing = notPatched()
if (missing !== null) {
  console.error(
    `${missing} is not patched, and the tool that patches it is a development dependency: run npm install with ` +
      'development dependencies, then npm prune --omit=dev.',
  )
  process.exit(1)
}
run([join('tools', 'slim.mjs'), '--clone'])
run([join('tools', 'build.mjs')])

function run(program) {
  const { status } = spawnSync(process.execPath, program, { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

function findPatcher() {
  try {
    return createRequire(import.meta.url).resolve('patch-package/index.js')
  } catch {
    return null
  }
}

/** The first file that lacks a line which its patch adds, or null. */
function notPatched() {
  for (const name of readdirSync(join(root, patches)))
    for (const [path, added] of additions(readFileSync(join(root, patches, name), 'utf8'))) {
      const text = readFileSync(join(root, path), 'utf8')
      if (added.some(line => !text.includes(line))) return path
    }
  return null
}

/** Path of each file in a patch, and the lines that are added to it. */
function additions(patch) {
  return patch
    .split(/^\+\+\+ b\//m)
    .slice(1)
    .map(part => {
      const [path, ...lines] = part.split('\n')
      return [path.trim(), lines.filter(line => /^\+[^+]/.test(line)).map(line => line.slice(1))]
    })
}
