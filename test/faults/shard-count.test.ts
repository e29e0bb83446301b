// Another number of shards at each start: everything is still there, counted once, and goes on from where it was.
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Client, Process } from '../harness.js'
import { temporaryDirectory } from '../stores.js'

const companies = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']

/** One more event of each company and user, keyed by its round, and one trait counted up. */
async function play(client: Client, round: number): Promise<void> {
  await Promise.all(
    companies.map(async slug => {
      const body = { event: 'call', company: { slug }, user: { mail: `${slug}@x` }, quantity: round }
      await client.ok('POST', '/events', {
        event_type: 'track',
        idempotency_key: `${slug} ${round}`,
        body,
      })
      await client.ok('POST', '/company-traits', { keys: { slug }, trait: 'rounds', incr: 1 })
      await client.ok('POST', '/users', { keys: { mail: `${slug}@x` }, traits: { [`round${round}`]: true } })
    }),
  )
}

/** Everything that rounds 1 to `round` have left behind, each once. */
async function expectRounds(t: Test, client: Client, round: number): Promise<void> {
  const sum = (round * (round + 1)) / 2
  for (const slug of companies) {
    const company = await client.ok('GET', `/companies/lookup?slug=${slug}`)
    const metric = company.metrics.find((one: { period: string }) => one.period === 'all_time')
    t.equal(metric.value, sum, `${slug} counted ${sum}`)
    t.equal(company.traits.rounds, round)
    t.equal(company.user_count, 1)
    const user = await client.ok('GET', `/users/lookup?mail=${slug}@x`)
    t.equal(Object.keys(user.traits).length, round)
  }
  const retried = await client.ok('POST', '/events', {
    event_type: 'track',
    idempotency_key: 'a 1',
    body: { event: 'call', company: { slug: 'a' }, user: { mail: 'a@x' }, quantity: 1 },
  })
  t.type(retried.event_id, 'string', 'EV-27 a retry is acknowledged and counts nothing')
  t.equal(retried.duplicate, true)
  const events = await client.ok('GET', '/events?event_types=track&limit=250')
  t.equal(events.length, round * companies.length)
  t.equal((await client.ok('GET', '/companies/count')).count, companies.length)
  t.equal((await client.ok('GET', '/users/count')).count, companies.length)
}

t.test('two shards, three, one, killed and stopped in turn', async t => {
  const dataDir = await temporaryDirectory(t)
  const counts = [2, 3, 1, 2]
  for (const [index, count] of counts.entries()) {
    const tollgate = await Process.start(dataDir, { TOLLGATE_SHARDS: String(count) })
    t.teardown(() => tollgate.child.kill('SIGKILL'))
    if (index > 0) await expectRounds(t, tollgate.client, index)
    await play(tollgate.client, index + 1)
    await expectRounds(t, tollgate.client, index + 1)
    // a stop leaves snapshots of everything, a kill leaves it all to the journal
    const signal = index % 2 === 0 ? 'SIGKILL' : 'SIGTERM'
    t.equal(await tollgate.end(signal), signal === 'SIGTERM' ? 0 : null)
  }
})

t.test('a start that dies while it clears away the drained journals', async t => {
  const dataDir = await temporaryDirectory(t)
  const first = await Process.start(dataDir, { TOLLGATE_SHARDS: '2' })
  t.teardown(() => first.child.kill('SIGKILL'))
  await play(first.client, 1)
  t.equal(await first.end('SIGTERM'), 0)
  // as it is left: set aside whole, half of it removed
  const journal = join(dataDir, 'journal')
  const drained = `${journal}.drained`
  await mkdir(drained)
  await writeFile(join(drained, 'generation'), 'of-before')
  const second = await Process.start(dataDir, { TOLLGATE_SHARDS: '3' })
  t.teardown(() => second.child.kill('SIGKILL'))
  await expectRounds(t, second.client, 1)
  t.notOk(existsSync(drained), 'what was drained is gone')
  t.same((await readdir(journal)).filter(name => name.startsWith('shard-')).length, 3)
  t.equal(await second.end('SIGTERM'), 0)
  await rename(journal, drained)
  const third = await Process.start(dataDir, { TOLLGATE_SHARDS: '1' })
  t.teardown(() => third.child.kill('SIGKILL'))
  await expectRounds(t, third.client, 1)
  t.equal(await third.end('SIGTERM'), 0)
})

t.test('a number of shards that is not to be read stops the start and removes nothing', async t => {
  const dataDir = await temporaryDirectory(t)
  const first = await Process.start(dataDir, { TOLLGATE_SHARDS: '2' })
  t.teardown(() => first.child.kill('SIGKILL'))
  await play(first.client, 1)
  await first.end('SIGKILL')
  const path = join(dataDir, 'journal', 'shards')
  await writeFile(path, '')
  await t.rejects(Process.start(dataDir, { TOLLGATE_SHARDS: '2' }), /exited with 1/)
  await writeFile(path, '2\n')
  const second = await Process.start(dataDir, { TOLLGATE_SHARDS: '2' })
  t.teardown(() => second.child.kill('SIGKILL'))
  await expectRounds(t, second.client, 1)
  t.equal(await second.end('SIGTERM'), 0)
})
