#!/usr/bin/env node
// Builds the package under clients/typescript: one bundle for each entry, with the code shared with the service
// inside. `--types` writes the declarations too, for packing.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const entries = ['index', 'openfeature-server', 'openfeature-web']

/** Bundle it; returns the paths of the bundles. Nothing happens without the bundler, which is for development. */
export async function buildClient(root) {
  const require = createRequire(join(root, 'package.json'))
  let esbuild
  try {
    esbuild = require('esbuild')
  } catch {
    return []
  }
  const from = join(root, 'clients', 'typescript')
  const found = entries.filter(name => existsSync(join(from, 'src', `${name}.ts`)))
  mkdirSync(join(from, 'dist'), { recursive: true })
  await esbuild.build({
    entryPoints: found.map(name => join(from, 'src', `${name}.ts`)),
    outdir: join(from, 'dist'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    target: 'es2022',
    minify: true,
    sourcemap: true,
    logLevel: 'warning',
    // the providers take the client from beside them
    external: ['@openfeature/*', './index.js'],
    plugins: [besideIndex],
  })
  return found.map(name => join(from, 'dist', `${name}.js`))
}

/** The entries import the client as `./index.js`, which stays an import; the client itself is bundled whole. */
const besideIndex = {
  name: 'beside-index',
  setup(build) {
    build.onResolve({ filter: /^\.\/index\.js$/ }, () => ({ path: './index.js', external: true }))
  },
}

/** Write the declarations of the entries and of what they name. */
async function declare(root) {
  const { default: ts } = await import('typescript')
  const from = join(root, 'clients', 'typescript')
  const outDir = join(from, 'dist', 'types')
  rmSync(outDir, { recursive: true, force: true })
  const files = entries.map(name => join(from, 'src', `${name}.ts`)).filter(existsSync)
  const program = ts.createProgram(files, {
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts'],
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    strict: true,
    skipLibCheck: true,
    declaration: true,
    emitDeclarationOnly: true,
    rootDir: root,
    outDir,
    types: ['node'],
  })
  program.emit()
  writeFileSync(join(outDir, '.made'), '')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../', import.meta.url))
  await buildClient(root)
  if (process.argv.includes('--types')) await declare(root)
}
