// Bundles what runs into dist/served: a few files for the programs and for each thread, in place of some 400 modules.
// That saves a third of a start's CPU time. Packages stay imports, as they are installed beside it.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

/**
 * Places of the compiled entries in dist. A bundle has the last name of its entry. Entries of one line share parts. Threads
 * share no code in memory, so parts common to them would only be more files to load.
 */
const groups = [
  ['src/main', 'src/cli', 'src/index'],
  ['src/cli/mcp'],
  ['src/storage/embedded/bridge'],
  ['workers/shard/shard'],
  ['workers/shard/node-shards'],
  ['workers/front/front'],
  ['workers/parser/parser'],
  ['workers/projector/projector'],
  ['workers/sealer/sealer'],
]
/**
 * Entries whose packages are inside: they are for development alone, and installations without this command carry a file in
 * place of ninety packages.
 */
const whole = ['src/cli/mcp']
/** A file named by its place beside the module that names it. */
const besideModule = /new URL\((['"`])(\.[^'"`]*)\1, import\.meta\.url\)/g

/** Do it, from the output of a compilation; again does no harm. */
export async function bundleServed(root, dist) {
  const { build } = createRequire(join(root, 'package.json'))('esbuild')
  const outdir = join(dist, 'served')
  const nameOf = entry => entry.replace(/^.*\//, '')
  const made = new Map(groups.flat().map(entry => [join(dist, `${entry}.js`), nameOf(entry)]))
  rmSync(outdir, { recursive: true, force: true })
  const bundle = group =>
    build({
      entryPoints: group.map(entry => ({ in: join(dist, `${entry}.js`), out: nameOf(entry) })),
      outdir,
      chunkNames: 'part-[hash]',
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      ...(group.some(entry => whole.includes(entry)) ? inside : { packages: 'external' }),
      sourcemap: true,
      sourcesContent: false,
      logLevel: 'warning',
      plugins: [fromServed(made, outdir)],
    }).then(({ metafile }) => {
      if (metafile !== undefined)
        writeLicenses(root, metafile, join(outdir, `${nameOf(group[0])}.licenses.txt`))
    })
  await Promise.all(groups.map(bundle))
}

/** Packages of CommonJS inside a module still ask for Node's own modules by `require`. */
const inside = {
  packages: 'bundle',
  minify: true,
  metafile: true,
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
}

/** The licenses of the packages in a bundle. */
function writeLicenses(root, { inputs }, to) {
  const names = new Set(
    Object.keys(inputs).flatMap(
      path => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.slice(0, 2).at(1) ?? [],
    ),
  )
  const texts = [...names].sort().map(name => {
    const folder = join(root, 'node_modules', name)
    const file = existsSync(folder) && readdirSync(folder).find(one => /^licen[cs]e/i.test(one))
    if (!file) throw new Error(`${name} goes into a bundle and has no license file`)
    return `${name}\n\n${readFileSync(join(folder, file), 'utf8')}`
  })
  writeFileSync(to, texts.join('\n\n'))
}

/** Modules that name a file by its place beside them name it by its place beside dist/served, where their bundle is. */
const fromServed = (made, outdir) => ({
  name: 'from-served',
  setup(build) {
    build.onLoad({ filter: /\/dist\/(src|workers)\/.*\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.url')) return null
      const contents = text.replaceAll(besideModule, (_, quote, near) => {
        const target = join(dirname(path), near)
        const entry = made.get(target)
        // `join` keeps a slash at the end, which `relative` drops
        const place =
          entry === undefined
            ? `${relative(outdir, target)}${target.endsWith('/') ? '/' : ''}`
            : `${entry}.js`
        const named = place.startsWith('.') ? place : `./${place}`
        return `new URL(${quote}${named}${quote}, import.meta.url)`
      })
      return { contents, loader: 'js', resolveDir: dirname(path) }
    })
  },
})
