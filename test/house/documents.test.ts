// Settings, metrics and log lines in the documents, against the code: both ways.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { numbersOf, type Results } from '../../bench/record.js'
import { readConfig } from '../../src/config.js'
import { createMetrics } from '../../src/metrics.js'
import { filesUnder, read, root } from './source.js'

const observing = read('deploy/observing.md')

/** The rows of the first table under a heading, cell by cell. */
function table(text: string, heading: string): readonly (readonly string[])[] {
  const after = text.slice(text.indexOf(`\n## ${heading}\n`))
  const rows = /(?:^\|.*\n)+/m.exec(after)?.[0] ?? ''
  return rows
    .trim()
    .split('\n')
    .slice(2)
    .map(row =>
      row
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim()),
    )
}

const words = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(match => match[1]!)

const deployed = readdirSync(join(root, 'deploy'), { withFileTypes: true, recursive: true })
  .filter(entry => entry.isFile())
  .map(entry => read(join(entry.parentPath, entry.name).slice(root.length)))
  .join('\n')

/** Every name that is asked of the environment. */
function settings(): readonly string[] {
  const asked = new Set<string>()
  readConfig(new Proxy({}, { get: (_, name) => void asked.add(String(name)) }))
  return [...asked].sort()
}

t.test('every metric is documented as it is, and none that is not', async t => {
  const families = createMetrics()
    .registry.getMetricsAsArray()
    .filter(({ name }) => name.startsWith('tollgate_')) as unknown as readonly {
    readonly name: string
    readonly type: string
    readonly labelNames: readonly string[]
  }[]
  const types = new Map(
    (await createMetrics().registry.getMetricsAsJSON()).map(({ name, type }) => [name, String(type)]),
  )
  const there = families.map(({ name, labelNames }) => [name, types.get(name), labelNames.join(' ')])
  const told = table(observing, 'Metrics').map(([name, type, labels]) => [
    words(name!)[0],
    type,
    words(labels!).join(' '),
  ])
  t.ok(there.length > 10)
  t.same(told.map(String).sort(), there.map(String).sort())
})

t.test('alerts, dashboard and texts ask for metrics there are', async t => {
  const known = new Set(
    (await createMetrics().registry.getMetricsAsJSON()).flatMap(({ name, type }) =>
      String(type) === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`, name] : [name],
    ),
  )
  const asked = new Set(
    [...deployed.matchAll(/(?<![$\w])(?:tollgate|nodejs|process)_[a-z0-9]+(?:_[a-z0-9]+)*/g)].map(
      ([name]) => name,
    ),
  )
  t.ok(asked.size > 10)
  t.same(
    [...asked].filter(name => !known.has(name)),
    [],
  )
})

t.test('a Service named tollgate does not set TOLLGATE_PORT in the pod', async t => {
  t.match(read('deploy/helm/tollgate/templates/workload.yaml'), /^ {6}enableServiceLinks: false$/m)
})

t.test('the chart mounts the files that its settings name', async t => {
  const chart = read('deploy/helm/tollgate/templates/workload.yaml')
  const mounted = [...chart.matchAll(/mountPath: (\S+)/g)].map(([, path]) => `${path}/`)
  const named = [...chart.matchAll(/^ +value: "?(\/[^\s"]+)/gm)].map(([, path]) => path!)
  t.ok(named.length >= 4)
  t.same(
    named.filter(path => !mounted.some(mount => path.startsWith(mount))),
    [],
  )
})

t.test('every setting is in docs/settings.md, and none that is not', async t => {
  const told = table(read('docs/settings.md'), 'Settings').flatMap(([names]) => words(names!))
  const asked = settings().filter(name => !name.startsWith('OTEL_') || name.endsWith('_ENDPOINT'))
  t.ok(asked.length > 20)
  t.same([...told].sort(), asked)
})

t.test('settings named in other documents exist, too', async t => {
  // A variable of the command line: it says where to find a running service.
  const known = new Set([...settings(), 'TOLLGATE_URL', 'TOLLGATE_KEY', 'TOLLGATE_KEY_FILE'])
  const texts = [deployed, ...['README.md', 'docs/settings.md', 'SECURITY.md', 'CHANGELOG.md'].map(read)]
  const named = new Set(
    texts.flatMap(text => [...text.matchAll(/\bTOLLGATE_[A-Z_]+|\b[A-Z]+_URL\b/g)].map(([name]) => name)),
  )
  t.same(
    [...named].filter(name => !known.has(name)),
    [],
  )
})

t.test('every field of a log line is documented', async t => {
  const told = table(observing, 'Log lines').flatMap(([names]) => words(names!))
  const calls = filesUnder(['src', 'workers'], '.ts').flatMap(path => [
    ...read(path).matchAll(/\blog\.(?:debug|info|warn|error|fatal)\(\s*\{([^}]*)\}/g),
  ])
  const written = calls.flatMap(([, members]) =>
    members!
      .split(',')
      .map(member => member.trim().split(':')[0]!)
      .filter(name => name !== '' && !name.startsWith('...')),
  )
  const line = /interface RequestLine \{(.*?)\n\}/s.exec(read('src/log.ts'))![1]!
  const ofRequests = [...line.matchAll(/readonly (\w+)/g)].map(match => match[1]!)
  // the last two come with the outcome of a webhook's delivery
  const there = new Set([...written, ...ofRequests, 'level', 'time', 'msg', 'status', 'reason'])
  t.ok(calls.length > 20)
  t.same([...told].sort(), [...there].sort())
})

t.test('the README’s numbers are those of the last benchmark', async t => {
  const kept = 'bench/results/town.json'
  const results = existsSync(join(root, kept)) ? (JSON.parse(read(kept)) as Results) : null
  t.match(read('README.md'), `<!-- numbers -->${numbersOf(results)}<!-- end of numbers -->`)
})

t.test('links between documents lead somewhere', async t => {
  const documents = ['README.md', 'SECURITY.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
  const pages = filesUnder(['docs', 'src'], '.md')
  const all = [
    ...documents,
    ...pages,
    ...filesUnder(['bench'], '.md'),
    'deploy/README.md',
    'deploy/observing.md',
  ]
  const broken = all.flatMap(path =>
    [...read(path).matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)]
      .map(match => join(path, '..', match[1]!))
      .filter(target => !existsSync(join(root, target)))
      .map(target => `${path}: ${target}`),
  )
  t.same(broken, [])
})
