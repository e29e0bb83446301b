// The disk of the journals is full: writes are refused with 503 and Retry-After, nothing is half applied, idempotency
// keys stay free; when there is room again all goes on, and what was acknowledged before is there after a kill.
import { join } from 'node:path'
import t from 'tap'
import { Process } from '../harness.js'
import { Random } from '../random.js'
import { temporaryDirectory } from '../stores.js'
import { Load } from './load.js'
import { SmallDisk } from './small-disk.js'

const bytesOfDisk = 24 << 20
const largeCharacters = 60_000
const settings = { TOLLGATE_CHECKPOINT_INTERVAL_MS: '200', TOLLGATE_JOURNAL_SEGMENT_BYTES: '1048576' }

const reason = await SmallDisk.missing()

t.test('the disk is full, then has room again', { skip: reason ?? false }, async t => {
  const dataDir = await temporaryDirectory(t)
  const journal = join(dataDir, 'journal')
  const disk = SmallDisk.mount(t, journal, bytesOfDisk)
  let running = await Process.start(dataDir, settings)
  t.teardown(() => running.end('SIGTERM'))
  const random = new Random()
  t.comment(`seed ${random.seed}`)
  const load = new Load({ random, client: () => running.client })
  await load.prepare()

  load.start(8)
  await load.answered(100)
  // Large events use up what a journal has written ahead; segments that go make room again.
  const fillJournalOf = async (slug: string) => {
    for (let tries = 0; tries < 1_000; tries++) {
      disk.fillUp()
      const key = `large-${slug}-${tries}`
      const response = await running.client.post('/events', event(key, slug, largeCharacters))
      if (response.status !== 201) return { key, response }
    }
    throw new Error('the journal always found room')
  }
  await waitFor(async () => {
    await fillJournalOf('probe')
    return (await write(running, 'probe')) === 503
  })
  const { key, response: refused } = await fillJournalOf('other')
  t.equal(refused.status, 503, 'refused while there is no room')
  t.ok(Number(refused.headers.get('retry-after')) >= 1)
  t.type(refused.body.error, 'string')
  const check = await running.client.post('/flags/load/check', { company: { slug: 'co0' } })
  t.equal(check.status, 200, 'checks go on')
  const probe = await running.client.get('/companies/lookup?slug=probe')
  const before = probe.status === 200 ? (probe.body.data.traits.n ?? 0) : 0

  disk.clear()
  await waitFor(async () => (await write(running, 'probe')) === 200)
  const accepted = await running.client.ok('POST', '/events', event(key, 'other', largeCharacters))
  t.type(accepted.event_id, 'string', 'the refused key was free')
  const again = await running.client.ok('POST', '/events', event(key, 'other', largeCharacters))
  t.equal(again.event_id, accepted.event_id)
  const { traits } = await running.client.ok('GET', '/companies/lookup?slug=probe')
  t.equal(traits.n, before + 1, 'what was refused was not applied')
  load.adopt('other', 'probe')
  await load.stop()
  await load.verify(t)

  // every fact that only the journal held when actors were forgotten must outlive checkpoints and a kill
  await new Promise(resolve => setTimeout(resolve, 1_000))
  await running.end('SIGKILL')
  running = await Process.start(dataDir, settings)
  await load.verify(t)
  t.equal(await running.end('SIGTERM'), 0)
})

const event = (key: string, slug: string, characters: number) => ({
  event_type: 'track',
  idempotency_key: key,
  body: { event: 'other', company: { slug }, traits: { text: 'x'.repeat(characters) } },
})

async function write({ client }: Process, slug: string): Promise<number> {
  const body = { keys: { slug }, trait: 'n', incr: 1 }
  return (await client.post('/company-traits', body)).status
}

async function waitFor(done: () => Promise<boolean>): Promise<void> {
  const untilMs = performance.now() + 30_000
  while (!(await done())) {
    if (performance.now() > untilMs) throw new Error('it did not come to it')
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}
