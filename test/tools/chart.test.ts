// The chart, rendered by Go's text/template for one node and for three: valid YAML, what each needs, and the sentences of mistakes.
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

  /** Runs the renderer with these values, in a cluster that has these objects. */
  function run(over: Readonly<Record<string, unknown>>, found: Readonly<Record<string, unknown>> = {}) {
    const file = join(directory, 'data.json')
    const data = {
      Values: { ...values, ...over },
      Chart: { Name: meta.name, Version: meta.version, AppVersion: meta.appVersion },
      Release: { Name: 'tg', Namespace: 'ns', Service: 'Helm' },
      Found: found,
    }
    writeFileSync(file, JSON.stringify(data))
    return spawnSync(program, [join(root, chart), file], { encoding: 'utf8' })
  }

  /** The objects that the chart makes of these values, by kind. */
  function render(over: Readonly<Record<string, unknown>>) {
    const { status, stdout, stderr } = run(over)
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
  const variables = (workload: any): string[] =>
    workload.spec.template.spec.containers[0].env.map((one: { name: string }) => one.name)
  // biome-ignore lint/suspicious/noExplicitAny: objects are looked at member by member in tests
  const mounts = (workload: any): string[] =>
    workload.spec.template.spec.containers[0].volumeMounts.map((one: { name: string }) => one.name)

  const one = render({})
  const set = one.get('StatefulSet')
  t.equal(set.spec.replicas, 1)
  t.equal(set.spec.volumeClaimTemplates[0].metadata.name, 'data', 'its journal has a disk')
  t.notOk(one.has('Deployment'))
  t.notOk(variables(set).includes('REDIS_URL_FILE'), 'a node alone needs no Redis')
  t.notOk(one.has('PodDisruptionBudget'), 'a budget of one node would keep it from being moved')
  t.notOk(set.spec.template.spec.topologySpreadConstraints)

  const three = render({ nodes: 3, journal: 'redis' })
  const deployment = three.get('Deployment')
  t.notOk(three.has('StatefulSet'), 'no disks where Redis holds the journal')
  t.notOk(deployment.spec.volumeClaimTemplates)
  t.notOk(deployment.spec.serviceName)
  t.same(
    deployment.spec.template.spec.volumes.find(({ name }: { name: string }) => name === 'data'),
    { name: 'data', emptyDir: {} },
  )
  t.ok(mounts(deployment).includes('data'))
  t.equal(deployment.spec.replicas, 3)
  t.same(deployment.spec.strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 })
  for (const name of [
    'REDIS_URL_FILE',
    'TOLLGATE_CLUSTER_SECRET_FILE',
    'TOLLGATE_NODE_ID',
    'TOLLGATE_NODE_ADDRESS',
  ])
    t.ok(variables(deployment).includes(name), name)
  t.ok(three.has('PodDisruptionBudget'))
  const spread = deployment.spec.template.spec.topologySpreadConstraints as { topologyKey: string }[]
  t.ok(
    spread.some(({ topologyKey }) => topologyKey === 'kubernetes.io/hostname'),
    'nodes are spread over machines',
  )
  t.ok(
    variables(render({ journal: 'redis' }).get('Deployment')).includes('REDIS_URL_FILE'),
    'one node with Redis',
  )

  const refused = (given: ReturnType<typeof run>, sentence: string): void => {
    t.not(given.status, 0, sentence)
    t.ok(given.stderr.trim().endsWith(sentence), given.stderr)
  }
  refused(
    run({ nodes: 3 }),
    'nodes: 3 needs a Redis that holds the journal: set journal: redis, and add REDIS_URL and TOLLGATE_CLUSTER_SECRET to the Secret tollgate.',
  )
  const data = { DATABASE_URL: 'eA==', CLICKHOUSE_URL: 'eA==', TOLLGATE_PEPPER: 'eA==', REDIS_URL: 'eA==' }
  refused(
    run({ nodes: 3, journal: 'redis' }, { 'Secret/tollgate': { data } }),
    'journal: redis needs TOLLGATE_CLUSTER_SECRET in the Secret tollgate, and it is not there.',
  )
  const whole = { ...data, TOLLGATE_CLUSTER_SECRET: 'eA==' }
  t.equal(run({ nodes: 3, journal: 'redis' }, { 'Secret/tollgate': { data: whole } }).status, 0)

  const all = render({
    nodes: 3,
    journal: 'redis',
    ingress: { ...values.ingress, enabled: true },
    serviceMonitor: { ...values.serviceMonitor, enabled: true },
  })
  for (const kind of ['Ingress', 'ServiceMonitor', 'Service']) t.ok(all.has(kind), kind)
})
