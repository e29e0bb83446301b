// The published client: small, for every runtime, with the interface's calls.
import { spawnSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { filesUnder, read, root } from '../house/source.js'

const gzippedMax = 40 * 1_024

t.test('the client is under 40 kB, gzipped, and asks for nothing of Node', async t => {
  const bundle = read('clients/typescript/dist/index.js')
  const bytes = gzipSync(bundle, { level: 9 }).length
  t.ok(bytes < gzippedMax, `${bytes} bytes`)
  t.notMatch(bundle, /\bfrom\s*["'][^"']+["']/, 'nothing is imported')
  t.notMatch(bundle, /\bnode:|\brequire\(/)
})

t.test('no source of it imports Node, and the core alone is shared', async t => {
  const imported = filesUnder(['clients/typescript/src'], '.ts').flatMap(path =>
    [...read(path).matchAll(/from '([^']+)'/g)].map(match => match[1]!),
  )
  // `ws` is loaded in older Nodes alone
  const strange = imported.filter(
    name => !/^\.\/|^\.\.\/\.\.\/\.\.\/src\/core\/|^openapi-fetch$|^@openfeature\/|^ws$/.test(name),
  )
  t.same(strange, [])
})

t.test('the types of its calls are current', async t => {
  const { status, stderr } = spawnSync(process.execPath, ['tools/client-types.mjs', '--check'], {
    cwd: root,
    encoding: 'utf8',
  })
  t.equal(status, 0, stderr)
})

t.test('it runs where nothing but the web’s own interfaces are', async t => {
  const script = `
    const web = { fetch, URL, Response, Request, Headers, AbortSignal, AbortController, TextEncoder, btoa, crypto, setTimeout, clearTimeout }
    const { SourceTextModule, createContext } = await import('node:vm')
    const module = new SourceTextModule(${JSON.stringify(read('clients/typescript/dist/index.js'))}, { context: createContext(web) })
    await module.link(() => { throw new Error('imports something') })
    await module.evaluate()
    const client = new module.namespace.Tollgate({ url: 'http://127.0.0.1:9', key: 'k' })
    const checked = await client.check('f')
    if (checked.source !== 'default' || checked.value !== false) throw new Error(JSON.stringify(checked))
  `
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--experimental-vm-modules', '--no-warnings', '--input-type=module', '-e', script],
    { encoding: 'utf8' },
  )
  t.equal(status, 0, stderr)
})
