// The chart, rendered by Go's text/template for one node and for three: valid YAML, and what each number of nodes needs.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { read, root } from '../house/source.js'
import { temporaryDirectory } from '../stores.js'

const skip = spawnSync('go', ['version']).status !== 0 && 'Go is not installed'
const chart = 'deploy/helm/tollgate'

t.test('the chart renders for one node and for three', { skip }, async t => {
  const directory = await temporaryDirectory(t)
  const program = join(directory, 'render')
  const env = { ...process.env, GO111MODULE: 'off', GOCACHE: join(directory, 'cache'), HOME: directory }
  const source = join(root, 'test', 'fixtures', 'chart', 'render.go')
  const built = spawnSync('go', ['build', '-o', program, source], { encoding: 'utf8', env })
  t.equal(built.status, 0, built.stderr)
  const values = parse(read(`${chart}/values.yaml`))
  const meta = parse(read(`${chart}/Chart.yaml`))

  /** The objects that the chart makes of these values, by kind. */
  function render(over: Readonly<Record<string, unknown>>) {
    const file = join(directory, 'data.json')
    const data = {
      Values: { ...values, ...over },
      Chart: { Name: meta.name, Version: meta.version, AppVersion: meta.appVersion },
      Release: { Name: 'tg', Namespace: 'ns', Service: 'Helm' },
    }
    writeFileSync(file, JSON.stringify(data))
    const { status, stdout, stderr } = spawnSync(program, [join(root, chart), file], { encoding: 'utf8' })
    t.equal(status, 0, stderr)
    // biome-ignore lint/suspicious/noExplicitAny: objects are looked at member by member in tests
    const kinds = new Map<string, any>()
    for (const part of stdout.split('\n---FILE ').slice(1)) {
      const [name, ...lines] = part.split('\n')
      if (name === 'NOTES.txt') continue
      for (const document of parseAllDocuments(lines.join('\n'))) {
        if (!('errors' in document)) continue
        t.same(document.errors, [], name!)
        const made = document.toJS()
        if (made) kinds.set(made.kind, made)
      }
    }
    return kinds
  }
  // biome-ignore lint/suspicious/noExplicitAny: objects are looked at member by member in tests
  const container = (kinds: Map<string, any>) => kinds.get('StatefulSet').spec.template.spec.containers[0]
  // biome-ignore lint/suspicious/noExplicitAny: objects are looked at member by member in tests
  const variables = (kinds: Map<string, any>): string[] =>
    container(kinds).env.map((one: { name: string }) => one.name)

  const one = render({})
  t.equal(one.get('StatefulSet').spec.replicas, 1)
  t.notOk(variables(one).includes('REDIS_URL_FILE'), 'a node alone needs no Redis')
  t.notOk(one.has('PodDisruptionBudget'), 'a budget of one node would keep it from being moved')
  t.notOk(one.get('StatefulSet').spec.template.spec.topologySpreadConstraints)

  const three = render({ nodes: 3 })
  t.equal(three.get('StatefulSet').spec.replicas, 3)
  for (const name of [
    'REDIS_URL_FILE',
    'TOLLGATE_CLUSTER_SECRET_FILE',
    'TOLLGATE_NODE_ID',
    'TOLLGATE_NODE_ADDRESS',
  ])
    t.ok(variables(three).includes(name), name)
  t.ok(three.has('PodDisruptionBudget'))
  t.ok(three.get('StatefulSet').spec.template.spec.topologySpreadConstraints, 'nodes are spread')

  const all = render({
    nodes: 3,
    ingress: { ...values.ingress, enabled: true },
    serviceMonitor: { ...values.serviceMonitor, enabled: true },
  })
  for (const kind of ['Ingress', 'ServiceMonitor', 'Service']) t.ok(all.has(kind), kind)
})
