// A backup of a running Tollgate, and another one begun from it: every digit is there. Backups under load and damaged
// ones are in backup.test.ts.
import { join } from 'node:path'
import t from 'tap'
import { command } from '../command.js'
import { embedded, Process } from '../harness.js'
import { makeLong, sameLong } from '../long-values.js'
import { temporaryDirectory } from '../stores.js'
import { reconciled } from './reconciled.js'

t.test('long: a backup and its restore keep every digit of money and quantities', async t => {
  const directory = await temporaryDirectory(t)
  const first = await Process.start(join(directory, 'first'), embedded)
  t.teardown(() => first.end('SIGKILL'))
  const long = await makeLong(first.client)
  await sameLong(t, first.client, long)
  const copy = join(directory, 'backup')
  const taken = await command(join(directory, 'first'), ['backup', copy])
  t.equal(taken.code, 0, taken.said)
  await first.end('SIGKILL')
  const second = join(directory, 'second')
  const restored = await command(second, ['restore', copy], {
    TOLLGATE_BACKUP_KEY_FILE: join(directory, 'first', 'backup-key'),
  })
  t.equal(restored.code, 0, restored.said)
  const running = await Process.start(second, embedded)
  t.teardown(() => running.end('SIGKILL'))
  await sameLong(t, running.client, long)
  await reconciled(t, running.client)
  await running.end('SIGTERM')
})
