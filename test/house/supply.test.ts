// The installed packages are the reviewed ones (security 19): hashes for all of them, and the native binary as it was
// recorded.
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import t from 'tap'
import {
  chooseServer,
  nativePlatform,
  nativePlatforms,
  nativeProblem,
} from '../../src/front/http/apps/native.js'
import { temporaryDirectory } from '../stores.js'
import { read } from './source.js'

interface Locked {
  readonly version?: string
  readonly integrity?: string
  readonly link?: boolean
  /** It lies in the tarball of the package around it, whose hash covers it. */
  readonly inBundle?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/** Optional packages that the lock file has no hash for, and why. */
const unlocked: Readonly<Record<string, string>> = {
  '@chdb/lib-linux-arm64-gnu': 'the registry did not serve it',
  '@chdb/lib-darwin-arm64': 'the registry did not serve it',
  '@chdb/lib-darwin-x64': 'the registry did not serve it',
}

const { packages } = JSON.parse(read('package-lock.json')) as {
  readonly packages: Readonly<Record<string, Locked>>
}

t.test('security 19: everything in the lock file has a hash', async t => {
  const without = Object.entries(packages).filter(
    ([path, one]) => path !== '' && !one.link && !one.inBundle && !one.integrity,
  )
  t.same(
    without.map(([path]) => path),
    [],
  )
})

t.test('security 19: packages of other platforms are locked too, with named exceptions', async t => {
  const missing = new Set<string>()
  for (const [path, { optionalDependencies = {} }] of Object.entries(packages)) {
    // the tool that writes style is no part of what runs
    if (path.endsWith('node_modules/@biomejs/biome')) continue
    for (const name of Object.keys(optionalDependencies))
      if (!(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages))
        missing.add(name)
  }
  t.same([...missing].sort(), Object.keys(unlocked).sort())
  for (const [name, why] of Object.entries(unlocked)) t.comment(`${name}: ${why}`)
  t.ok(
    Object.keys(unlocked).every(name => read('SECURITY.md').includes(name)),
    'SECURITY.md says so',
  )
})

t.test('security 19: the binaries of the HTTP server are those that were recorded', async t => {
  // an install of a clone removes those of other platforms (tools/slim.mjs)
  const here = nativePlatforms.filter(one => one.startsWith(`${process.platform}_${process.arch}_`))
  for (const platform of here) t.equal(nativeProblem(platform), null, platform)
  const directory = await temporaryDirectory(t)
  const installed = dirname(createRequire(import.meta.url).resolve('uWebSockets.js'))
  const name = 'uws_linux_x64_115.node'
  copyFileSync(join(installed, name), join(directory, name))
  t.equal(nativeProblem('linux_x64_115', directory), null)
  const bytes = readFileSync(join(directory, name))
  bytes[bytes.length >> 1]! ^= 1
  writeFileSync(join(directory, name), bytes)
  t.match(nativeProblem('linux_x64_115', directory), {
    text: /is not the binary that was recorded/,
    changed: true,
  })
  t.match(nativeProblem('linux_arm64_115', directory), { text: /cannot be read/, changed: false })
})

t.test('security 19: binaries are recorded for Node 20, 22 and 24, each by its ABI', async t => {
  const platforms = ['linux_x64', 'linux_arm64', 'darwin_x64', 'darwin_arm64']
  const wanted = platforms.flatMap(platform => ['115', '127', '137'].map(abi => `${platform}_${abi}`))
  t.same([...nativePlatforms].sort(), wanted.sort())
})

t.test('an absent or changed binary is not loaded: Node serves, and the reason says why', async t => {
  const directory = await temporaryDirectory(t)
  t.match(chooseServer('auto', null), { native: false, reason: /not installed/, changed: false })
  if (!nativePlatforms.includes(nativePlatform)) return
  t.match(chooseServer('auto', directory), { native: false, reason: /cannot be read/, changed: false })
  writeFileSync(join(directory, `uws_${nativePlatform}.node`), 'another')
  t.match(chooseServer('auto', directory), { native: false, reason: /not the binary/, changed: true })
  t.match(chooseServer('node', directory), { native: false, reason: /TOLLGATE_HTTP=node/, changed: false })
})

t.test('security 19: the bill of materials is made in CI, for what runs alone', async t => {
  t.match(read('.ci/run'), /npm sbom --sbom-format cyclonedx --omit dev .*> dist\/sbom\.json/)
})
