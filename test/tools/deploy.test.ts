// Files of deploy/, tried with the programs that read them: nginx where it is installed, the chart's schema of values.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import t from 'tap'
import { temporaryDirectory } from '../stores.js'

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const has = (program: string, arg: string): boolean => spawnSync(program, [arg]).error === undefined

t.test(
  'nginx accepts the files while no name of theirs resolves',
  { skip: !(has('nginx', '-v') && has('openssl', 'version')) && 'nginx or openssl is not installed' },
  async t => {
    const directory = await temporaryDirectory(t)
    const key = join(directory, 'privkey.pem')
    const certificate = join(directory, 'fullchain.pem')
    execFileSync(
      'openssl',
      ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost'].concat([
        '-keyout',
        key,
        '-out',
        certificate,
      ]),
      { stdio: 'ignore' },
    )
    for (const name of ['nodes', 'tollgate']) {
      const text = read(`deploy/nginx/${name}.conf`)
        .replaceAll('/etc/ssl/tollgate', directory)
        // -t binds the ports
        .replace(/listen \d+/, 'listen 127.0.0.1:18473')
      writeFileSync(join(directory, `${name}.conf`), text)
      const whole = join(directory, `${name}.main.conf`)
      writeFileSync(
        whole,
        `pid ${directory}/pid; error_log ${directory}/error.log; events {}\nhttp { access_log off; include ${directory}/${name}.conf; }\n`,
      )
      const { status, stderr } = spawnSync('nginx', ['-t', '-p', directory, '-c', whole], {
        encoding: 'utf8',
      })
      t.equal(status, 0, `${name}.conf: ${stderr}`)
      const seconds = Number(/proxy_read_timeout (\d+)s/.exec(text)?.[1])
      t.ok(seconds > 2 * 24, `${name}.conf: C5: longer than two pings of the stream`)
    }
  },
)

t.test('the chart: values fit their schema, and mistakes do not', async t => {
  const validate = new Ajv({ allErrors: true, strict: false }).compile(
    JSON.parse(read('deploy/helm/tollgate/values.schema.json')),
  )
  const own = { existingSecret: 'tollgate', nodes: 1 }
  for (const fits of [
    {},
    { nodes: 3, journal: 'redis' },
    { secretFiles: [] },
    { settings: { TOLLGATE_SHARDS: '3' } },
  ])
    t.ok(validate({ ...own, ...fits }), JSON.stringify(validate.errors))
  for (const mistake of [
    { nodes: 0 },
    { nodes: '3' },
    { journal: 'files' },
    { replicas: 3 },
    { existingSecret: '' },
    { secretFiles: ['DATABASE'] },
    { settings: { TOLLGATE_SHARDS: 3 } },
    { storage: { size: '32' } },
    { ingress: { hosts: [] } },
  ])
    t.notOk(validate({ ...own, ...mistake }), JSON.stringify(mistake))
  const inValues = [...read('deploy/helm/tollgate/values.yaml').matchAll(/^(\w+):/gm)].map(found => found[1])
  const { properties } = validate.schema as { properties: object }
  t.same(
    inValues.sort(),
    Object.keys(properties)
      .filter(name => name !== 'global')
      .sort(),
    'every value has its schema',
  )
})

t.test('the chart: several nodes, and one', async t => {
  const set = read('deploy/helm/tollgate/templates/workload.yaml')
  t.match(
    set,
    /concat \$files \(list "REDIS_URL" "TOLLGATE_CLUSTER_SECRET"\)/,
    'default secret files keep REDIS_URL',
  )
  t.match(set, /key: REDIS_URL/, 'a Secret without it is no Secret of several nodes')
  t.match(
    read('deploy/helm/tollgate/templates/poddisruptionbudget.yaml'),
    /^\{\{- if gt \(int \.Values\.nodes\) 1 \}\}/,
  )
  for (const name of [
    'guard',
    'ingress',
    'networkpolicy',
    'poddisruptionbudget',
    'service',
    'servicemonitor',
    'workload',
  ]) {
    const text = read(`deploy/helm/tollgate/templates/${name}.yaml`)
    const opened = text.match(/\{\{-? (if|with|range) /g)?.length ?? 0
    t.equal(text.match(/\{\{-? end \}\}/g)?.length ?? 0, opened, `${name}.yaml: every block ends`)
  }
})
