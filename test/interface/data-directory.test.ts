// The files of a data directory are their owner's alone, also when root started the service (security 30, L6).
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { embedded, Process } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

const others = 0o077

t.test('L6 no file or directory of a data directory is open to others', async t => {
  const dataDir = join(await temporaryDirectory(t), 'data')
  const running = await Process.start(dataDir, embedded)
  t.teardown(() => running.end('SIGKILL'))
  const event = (n: number) => ({
    event_type: 'track',
    idempotency_key: `k${n}`,
    body: { event: 'e', company: { slug: 'a' } },
  })
  await running.client.ok('POST', '/event-batch', { events: Array.from({ length: 50 }, (_, n) => event(n)) })
  const open: string[] = []
  let seen = 0
  // what lies in a directory closed to others is closed, whatever its mode
  const walk = async (directory: string): Promise<void> => {
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name)
      const found = await stat(path).catch(() => null)
      if (found === null || entry.isSymbolicLink()) continue
      seen++
      if ((found.mode & others) === 0) continue
      open.push(`${path.slice(dataDir.length)} ${(found.mode & 0o777).toString(8)}`)
      if (entry.isDirectory()) await walk(path)
    }
  }
  await walk(dataDir)
  t.ok(seen > 5, `${seen} looked at`)
  t.same(open, [])
  t.equal(await running.end('SIGTERM'), 0)
  await walk(dataDir)
  t.same(open, [], 'nor after a stop')
})
