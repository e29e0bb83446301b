#!/usr/bin/env node
// Builds the packages under clients: for clients/typescript one bundle for each entry, with the code shared with the
// service inside; for clients/react one that imports it. `--types` writes the declarations too, for packing.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const entries = ['index', 'node-socket', 'openfeature-server', 'openfeature-web']
/** Packages whose code or types are inside; their licenses go with them. */
const inside = ['openapi-fetch', 'openapi-typescript-helpers']

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
    external: ['@openfeature/*', 'ws'],
    plugins: [besideIndex],
  })
  const licenses = inside.map(name => {
    const folder = join(root, 'node_modules', name)
    return `${name}\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8')}`
  })
  writeFileSync(join(from, 'dist', 'LICENSES.txt'), licenses.join('\n\n'))
  await buildReact(root, esbuild)
  return found.map(name => join(from, 'dist', `${name}.js`))
}

/** The hooks import the client by its package's name. */
async function buildReact(root, esbuild) {
  const from = join(root, 'clients', 'react')
  if (!existsSync(join(from, 'src', 'index.ts'))) return
  await esbuild.build({
    entryPoints: [join(from, 'src', 'index.ts')],
    outfile: join(from, 'dist', 'index.js'),
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    sourcemap: true,
    logLevel: 'warning',
    external: ['react'],
    plugins: [
      {
        name: 'client-by-name',
        setup(build) {
          build.onResolve({ filter: clientSource }, () => ({ path: '@tollgate/client', external: true }))
        },
      },
    ],
  })
}

const clientSource = /typescript\/src\/index\.js$/

/**
 * The entries import the client as `./index.js`, which stays an import, as does the socket of older Nodes, which is loaded
 * where it is needed alone. The client itself is bundled whole.
 */
const besideIndex = {
  name: 'beside-index',
  setup(build) {
    build.onResolve({ filter: /^\.\/(index|node-socket)\.js$/ }, ({ path, kind }) =>
      kind === 'entry-point' ? null : { path, external: true },
    )
  },
}

/** Write the declarations of the entries and of what they name. */
async function declare(root) {
  const { default: ts } = await import('typescript')
  const from = join(root, 'clients', 'typescript')
  const outDir = join(from, 'dist', 'types')
  rmSync(outDir, { recursive: true, force: true })
  const sources = entries.map(name => join(from, 'src', `${name}.ts`))
  const files = [...sources, join(root, 'clients', 'react', 'src', 'index.ts')]
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
  embedTypes(root, join(outDir, 'clients', 'typescript', 'src'))
  const hooks = readFileSync(join(outDir, 'clients', 'react', 'src', 'index.d.ts'), 'utf8')
  rmSync(join(outDir, 'clients', 'react'), { recursive: true })
  writeFileSync(
    join(root, 'clients', 'react', 'dist', 'index.d.ts'),
    hooks.replaceAll(/'[^']*typescript\/src\/index\.js'/g, "'@tollgate/client'"),
  )
  writeFileSync(join(outDir, '.made'), '')
}

/** The types of the calls come from packages that users need not install: they go into the package, too. */
function embedTypes(root, to) {
  for (const name of inside) {
    const types = readFileSync(join(root, 'node_modules', name, 'dist', 'index.d.mts'), 'utf8')
    writeFileSync(join(to, `${name}.d.ts`), beside(types.replace(/^\/\/# sourceMappingURL=.*$/m, '')))
  }
  for (const name of ['api.d.ts']) writeFileSync(join(to, name), beside(readFileSync(join(to, name), 'utf8')))
}

/** A text that imports these packages from files beside it. */
const beside = text => text.replaceAll(/(['"])(openapi-fetch|openapi-typescript-helpers)\1/g, "'./$2.js'")

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../', import.meta.url))
  await buildClient(root)
  if (process.argv.includes('--types')) await declare(root)
}
