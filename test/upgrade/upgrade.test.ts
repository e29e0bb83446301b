// A data directory of every version that was released is brought to this one: restored from the backup that version
// took (test/fixtures/upgrade-*), started, looked at, used, and started once more.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { command } from '../command.js'
import { embedded, Process } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { expectAll, type Remembered } from './state.js'

const fixtures = fileURLToPath(new URL('../../../test/fixtures/', import.meta.url))
const versions = readdirSync(fixtures).filter(name => name.startsWith('upgrade-'))
t.ok(versions.length > 0, 'there is a version to come from')

for (const name of versions)
  t.test(name, async t => {
    const dataDir = join(await temporaryDirectory(t), 'data')
    const known = JSON.parse(readFileSync(join(fixtures, name, 'known.json'), 'utf8')) as Remembered
    const restored = await command(dataDir, ['restore', join(fixtures, name, 'backup'), '--unsealed'])
    t.equal(restored.code, 0, restored.said)
    for (const shards of ['2', '1']) {
      const running = await Process.start(dataDir, { ...embedded, TOLLGATE_SHARDS: shards })
      t.teardown(() => running.end('SIGKILL'))
      const { client } = running
      await expectAll(t, client, known)
      const compared = await command(dataDir, ['reconcile'], {
        TOLLGATE_URL: client.url,
        TOLLGATE_KEY: client.key,
      })
      t.match(compared, { code: 0, said: / 0 differ/ })
      const made = await client.ok('POST', '/companies', { keys: { slug: `new ${shards}` } })
      await client.ok('DELETE', `/companies/${made.id}`)
      t.equal(await running.end('SIGTERM'), 0)
    }
  })
