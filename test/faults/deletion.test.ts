// A deletion that the journal cannot take is told as 503 to everybody who asks for it, and its keys are nobody's until
// it is durable: a kill brings back one company, never two with one key. The journal's disk is full, that of the other
// shard is not.
import { join } from 'node:path'
import t from 'tap'
import { shardOf } from '../../src/core/values/id.js'
import { Process } from '../harness.js'
import { temporaryDirectory } from '../stores.js'
import { SmallDisk } from './small-disk.js'

// less than a quarter of a segment: no other segment is begun, so none is given back while the disk is to be full
const bytesOfDisk = 12 << 20
const largeCharacters = 60_000

const reason = await SmallDisk.missing()

t.test('CU-50 a deletion waits for the disk', { skip: reason ?? false }, async t => {
  const dataDir = await temporaryDirectory(t)
  const journal = join(dataDir, 'journal', 'shard-00')
  const disk = SmallDisk.mount(t, journal, bytesOfDisk)
  let running = await Process.start(dataDir)
  t.teardown(() => running.end('SIGTERM'))
  const keys = { slug: 'acme' }
  const create = () => running.client.post('/companies', { keys })
  const lookup = () => running.client.get('/companies/lookup?slug=acme')

  /** The company, made anew until it is one of the shard whose disk is small. */
  const onSmallDisk = async (): Promise<string> => {
    for (;;) {
      const { id } = (await create()).body.data
      if (shardOf(id, 2) === 0) return id
      await running.client.ok('DELETE', `/companies/${id}`)
    }
  }
  let id = await onSmallDisk()
  /** Large events use up the journal's preallocated space. */
  const refuseWrites = async (): Promise<void> => {
    for (;;) {
      disk.fillUp()
      const body = { event: 'large', company: keys, traits: { text: 'x'.repeat(largeCharacters) } }
      if ((await running.client.post('/events', { event_type: 'track', body })).status === 503) return
    }
  }
  await refuseWrites()

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
  disk.clear()
  running = await Process.start(dataDir)
  // nobody was told that it is gone; what was written when the disk became full may say so all the same
  const { status, body: there } = await lookup()
  if (status === 200) t.equal(there.data.id, id, 'it is there')
  else t.equal(status, 404)
  t.equal(
    (await running.client.ok('GET', '/companies/count')).count,
    status === 200 ? 1 : 0,
    'and nobody else',
  )
  if (status === 404) id = await onSmallDisk()

  await refuseWrites()
  t.equal((await running.client.del(`/companies/${id}`)).status, 503)
  disk.clear()
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
  running = await Process.start(dataDir)
  t.equal((await lookup()).status, 404, 'and stays so')
  const made = await running.client.ok('POST', '/companies', { keys })
  t.not(made.id, id)
  await running.end('SIGKILL')
  running = await Process.start(dataDir)
  t.equal((await lookup()).body.data.id, made.id)
  t.equal((await running.client.ok('GET', '/companies/count')).count, 1)
  t.equal(await running.end('SIGTERM'), 0)
})
