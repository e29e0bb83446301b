// The packages as their users install them: packed, in an empty project, compiled strictly with every declaration checked,
// and run on each Node that is to be had.
import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { bootstrapKey, startHere } from '../harness.js'
import { root } from '../house/source.js'
import { makeFlag } from '../interface/flags.js'
import { temporaryDirectory } from '../stores.js'

t.setTimeout(600_000)

const versions = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devDependencies
const folder = await temporaryDirectory(t)

/** Run a program to its end; fails with all that it said. */
function run(program: string, options: readonly string[], cwd = folder, env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr } = spawnSync(program, options, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  if (status !== 0) throw new Error(`${program} ${options.join(' ')}: ${status}\n${stdout}\n${stderr}`)
  return stdout.trim()
}

const npm = ['--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts=false']
writeFileSync(join(folder, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }')
for (const name of ['typescript', 'react'])
  run('npm', ['pack', '--silent', '--pack-destination', folder], join(root, 'clients', name))
const tarballs = readdirSync(folder).filter(name => name.endsWith('.tgz'))
const beside = ['@types/node', '@openfeature/server-sdk', '@openfeature/core'].map(
  name => `${name}@${versions[name]}`,
)
// the newest React; the examples run on the oldest that is supported
beside.push('react@19.2.0', '@types/react@19.2.2')
run('npm', ['install', ...npm, ...tarballs.map(name => `./${name}`), ...beside])

const program = `
import { Tollgate, verifyWebhook, type Checked } from '@tollgate/client'
import { TollgateProvider } from '@tollgate/client/openfeature-server'

const tollgate = new Tollgate({ url: process.env.TOLLGATE_URL, key: process.env.TOLLGATE_KEY, local: true })
await tollgate.ready({ timeoutMs: 20_000 })
const company = { slug: 'acme' }
const checked: Checked = await tollgate.check('on', { company })
tollgate.track('call', { company, idempotencyKey: process.version })
await tollgate.flush()
const { data } = await tollgate.api.GET('/companies', { params: { query: { limit: 10 } } })
const keys: string[] | undefined = data?.data.map(one => one.id)
console.log(JSON.stringify({ value: checked.value, source: checked.source, known: keys?.length, provider: typeof TollgateProvider, verify: typeof verifyWebhook }))
await tollgate.close()
`
const wrong = `
import { Tollgate } from '@tollgate/client'
const { api } = new Tollgate({ url: 'http://127.0.0.1', key: 'k' })
// @ts-expect-error there is no such operation
await api.GET('/nonsense')
// @ts-expect-error it has no such method
await api.DELETE('/companies')
// @ts-expect-error a parameter of the wrong type
await api.GET('/companies', { params: { query: { limit: 'many' } } })
// @ts-expect-error a member of the wrong type
await api.POST('/companies', { body: { keys: 5 } })
`
const page = `
import { Tollgate } from '@tollgate/client'
import { TollgateProvider, useCredits, useEntitlement, useFlag, useTollgate } from '@tollgate/react'

function Button() {
  const isOn: boolean = useFlag('exports')
  const { remaining } = useEntitlement('exports')
  const credits = useCredits()
  const client = useTollgate()
  return <button onClick={() => client.track('export')}>{isOn ? remaining : credits[0]?.remaining}</button>
}
export const Page = () => (
  <TollgateProvider client={new Tollgate({ offline: true })} context={{ company: { slug: 'acme' } }}>
    <Button />
  </TollgateProvider>
)
`

const compile = (options: object, files: readonly string[]): void => {
  const compilerOptions = { target: 'ES2022', strict: true, skipLibCheck: false, outDir: 'out', ...options }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', '.'])
}

t.test('C1 they compile in an empty project', async t => {
  mkdirSync(join(folder, 'out'))
  writeFileSync(join(folder, 'program.ts'), program)
  writeFileSync(join(folder, 'wrong.ts'), wrong)
  writeFileSync(join(folder, 'page.tsx'), page)
  compile({ module: 'NodeNext', lib: ['ES2023'], types: ['node'] }, ['program.ts', 'wrong.ts'])
  compile({ module: 'NodeNext', jsx: 'react-jsx', types: [] }, ['page.tsx', 'wrong.ts'])
  compile(
    { module: 'ESNext', moduleResolution: 'bundler', jsx: 'react-jsx', exactOptionalPropertyTypes: true },
    ['program.ts', 'page.tsx'],
  )
  t.ok(existsSync(join(folder, 'out', 'program.js')))
})

t.test('C1 C2 they run on Node 20, 22 and 24, without anything of the caller', async t => {
  const { client } = await startHere(t)
  await makeFlag(client, 'on', true)
  await client.ok('POST', '/companies', { keys: { slug: 'acme' } })
  for (const which of ['this one', '22', '24']) {
    const node = nodeOf(which)
    if (node === null) {
      t.comment(`Node ${which} cannot be had here`)
      continue
    }
    const env = { TOLLGATE_URL: client.url, TOLLGATE_KEY: bootstrapKey }
    const said = await new Promise<string>((resolve, reject) => {
      const options = { env: { ...process.env, ...env }, cwd: folder }
      execFile(node, [join(folder, 'out', 'program.js')], options, (error, out, err) =>
        error ? reject(new Error(`${out}\n${err}`)) : resolve(out),
      )
    })
    t.match(
      JSON.parse(said),
      { value: true, source: 'local', known: 1, provider: 'function', verify: 'function' },
      `Node ${which}`,
    )
  }
})

/** The program of a Node by its major version; null where the registry does not have it. */
function nodeOf(which: string): string | null {
  if (which === 'this one') return process.execPath
  const prefix = join(folder, `node-${which}`)
  mkdirSync(prefix)
  const { status } = spawnSync('npm', ['install', ...npm, '--no-save', '--prefix', prefix, `node@${which}`])
  if (status !== 0) return null
  const places = ['node', `node-${process.platform}-${process.arch}`].flatMap(name => [
    join(prefix, 'node_modules', name, 'bin', 'node'),
    join(prefix, 'node_modules', 'node', 'node_modules', name, 'bin', 'node'),
  ])
  return places.find(path => existsSync(path) && spawnSync(path, ['--version']).status === 0) ?? null
}
