// A deletion that the journal cannot take is told as 503 to everybody who asks for it, and its keys are nobody's until
// it is durable: a kill brings back one company, never two with one key. The journal's disk is full, that of the other
// shard is not.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { shardOf } from '../../src/core/id.js'
import { Process } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

const bytesOfDisk = 12 << 20
const settings = { TOLLGATE_JOURNAL_SEGMENT_BYTES: '1048576' }
const largeCharacters = 60_000

function mountSmallDisk(path: string): string | null {
  mkdirSync(path, { recursive: true })
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${bytesOfDisk}`, 'tmpfs', path], { stdio: 'pipe' })
    return null
  } catch (error) {
    return `no small disk to be had: ${String((error as { stderr?: Buffer }).stderr ?? error).trim()}`
  }
}

const probeDirectory = await temporaryDirectory(t)
const reason = mountSmallDisk(probeDirectory)
if (reason === null) execFileSync('umount', [probeDirectory])

t.test('CU-50 a deletion waits for the disk', { skip: reason ?? false }, async t => {
  const dataDir = await temporaryDirectory(t)
  const journal = join(dataDir, 'journal', 'shard-00')
  mountSmallDisk(journal)
  t.teardown(() => execFileSync('umount', ['-l', journal]))
  const ballast = join(journal, 'ballast')
  let running = await Process.start(dataDir, settings)
  t.teardown(() => running.end('SIGTERM'))
  const keys = { slug: 'acme' }
  const create = () => running.client.post('/companies', { keys })
  const lookup = () => running.client.get('/companies/lookup?slug=acme')

  let id = ''
  for (; id === '' || shardOf(id, 2) !== 0; id = (await create()).body.data.id)
    if (id !== '') await running.client.ok('DELETE', `/companies/${id}`)
  const fillUp = () => {
    for (let size = bytesOfDisk; size >= 4_096; size >>= 1)
      try {
        for (;;) writeFileSync(ballast, Buffer.alloc(size), { flag: 'a' })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
  }
  // what the journal has written ahead is used up by large events
  for (let full = false; !full; ) {
    fillUp()
    const body = { event: 'large', company: keys, traits: { text: 'x'.repeat(largeCharacters) } }
    full = (await running.client.post('/events', { event_type: 'track', body })).status === 503
  }

  const told = new Set<number>()
  for (let times = 0; times < 6; times++) {
    const asked = [
      running.client.del(`/companies/${id}`),
      running.client.post('/companies/delete', { keys }),
      create(),
      running.client.post('/events', { event_type: 'track', body: { event: 'call', company: keys } }),
    ]
    for (const { status, headers } of await Promise.all(asked)) {
      told.add(status)
      if (status === 503) t.ok(Number(headers.get('retry-after')) >= 1)
    }
  }
  t.same([...told], [503], 'never 404, and never another company, whichever shard it would be of')

  await running.end('SIGKILL')
  rmSync(ballast)
  running = await Process.start(dataDir, settings)
  t.equal((await lookup()).body.data.id, id, 'nobody was told that it is gone, and it is there')
  t.equal((await running.client.ok('GET', '/companies/count')).count, 1)

  fillUp()
  for (let full = false; !full; ) {
    fillUp()
    const body = { event: 'large', company: keys, traits: { text: 'x'.repeat(largeCharacters) } }
    full = (await running.client.post('/events', { event_type: 'track', body })).status === 503
  }
  t.equal((await running.client.del(`/companies/${id}`)).status, 503)
  rmSync(ballast)
  const untilMs = performance.now() + 30_000
  let last = 503
  while (last === 503 && performance.now() < untilMs) {
    last = (await running.client.del(`/companies/${id}`)).status
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  t.ok(
    last === 200 || last === 404,
    'there is room again: it is gone, by this call or by an attempt before it',
  )
  await running.end('SIGKILL')
  running = await Process.start(dataDir, settings)
  t.equal((await lookup()).status, 404, 'and stays so')
  const made = await running.client.ok('POST', '/companies', { keys })
  t.not(made.id, id)
  await running.end('SIGKILL')
  running = await Process.start(dataDir, settings)
  t.equal((await lookup()).body.data.id, made.id)
  t.equal((await running.client.ok('GET', '/companies/count')).count, 1)
  t.equal(await running.end('SIGTERM'), 0)
})
