// A backup taken under load, the Tollgate it was taken of killed, and another one begun from it: everything that was
// acknowledged before the backup began is there, each once (promises 1 to 3).
import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Control } from '../../src/recovery/control.js'
import { command } from '../command.js'
import { type Client, embedded, Process } from '../harness.js'
import { Random } from '../random.js'
import { temporaryDirectory } from '../stores.js'
import { Load } from './load.js'
import { reconciled } from './reconciled.js'

const clients = 8
const batchMax = 500

const tollgate = (dataDir: string, ...args: readonly string[]) => command(dataDir, args)

/** Restore with the secret that sealed the backups of a data directory. */
const restoreOf = (first: string, dataDir: string, copy: string) =>
  command(dataDir, ['restore', copy], { TOLLGATE_BACKUP_KEY_FILE: join(first, 'backup-key') })

type Remembered = Pick<Load, 'told' | 'events' | 'made'>

/** Acknowledged load so far. */
const remember = ({ told, events, made }: Load): Remembered => structuredClone({ told, events, made })

/** At least what was acknowledged before, at most what was acknowledged in all, and all of it in agreement. */
async function verifyRestored(t: Test, client: Client, before: Remembered, load: Load): Promise<void> {
  for (const [slug, told] of before.told) {
    const all = load.told.get(slug)!
    const company = await client.ok('GET', `/companies/lookup?slug=${slug}`)
    const counted = countedOf(company)
    for (const [name, quantity] of told.acknowledged)
      t.ok((counted.get(name) ?? 0) >= quantity, `${slug}: ${name} ${counted.get(name)}, before ${quantity}`)
    for (const [trait, value] of told.traits) t.ok(company.traits[trait] >= value, `${slug}: ${trait}`)
    const added = company.traits.counted ?? 0
    t.ok(added >= told.added && added <= all.added + all.doubtful, `${slug}: counted up`)
    t.ok(company.user_count >= told.users.size && company.user_count <= all.users.size, `${slug}: users`)
    const [balance] = await client.ok('GET', `/billing/credits/balance?company_id=${company.id}`)
    t.ok(balance.reserved >= told.reserved && balance.reserved <= all.reserved, `${slug}: held credits`)
    const drawn = counted.get(load.drawn) ?? 0
    t.equal(
      balance.remaining,
      load.granted - drawn - balance.reserved,
      `${slug}: credits as events drew them`,
    )
  }
  for (const [slug, id] of before.made) {
    const found = await client.ok('GET', `/companies/lookup?slug=${slug}`)
    if (id !== null && found.id !== id) t.fail(`${slug} has another id`)
  }
  const { count } = await client.ok('GET', '/companies/count')
  t.ok(count >= before.made.size + before.told.size && count <= load.made.size + load.told.size, 'companies')
}

function countedOf(company: { metrics: { event_subtype: string; period: string; value: number }[] }) {
  const allTime = company.metrics.filter(one => one.period === 'all_time')
  return new Map(allTime.map(one => [one.event_subtype, one.value]))
}

/**
 * Send every event of the load again: those in the backup are known by their keys, the others are not, and then every
 * sum is what was acknowledged in all.
 */
async function sendAgain(t: Test, client: Client, before: Remembered, load: Load): Promise<void> {
  const events = [...load.events]
  let known = 0
  for (let at = 0; at < events.length; at += batchMax) {
    const some = events.slice(at, at + batchMax)
    const answer = await client.ok('POST', '/event-batch', { events: some.map(([, { body }]) => body) })
    for (const [index, [key, { eventId }]] of some.entries()) {
      const same = answer.events[index].event_id === eventId
      if (same) known++
      else if (before.events.has(key))
        t.fail(`EV-27 ${key} was acknowledged before, and is another event now`)
    }
  }
  t.comment(`${events.length} events, ${before.events.size} before the backup, ${known} in it`)
  t.ok(known >= before.events.size && known < events.length, 'the load went on after the backup')
  for (const [slug, { acknowledged }] of load.told) {
    const counted = countedOf(await client.ok('GET', `/companies/lookup?slug=${slug}`))
    for (const [name, quantity] of acknowledged)
      if (name !== load.drawn) t.equal(counted.get(name), quantity, `${slug}: ${name} counted once`)
  }
}

t.test('a backup under load, kill -9, a restore', async t => {
  const random = new Random()
  t.comment(`seed ${random.seed}`)
  const directory = await temporaryDirectory(t)
  const settings = {
    ...embedded,
    TOLLGATE_CHECKPOINT_INTERVAL_MS: '300',
    TOLLGATE_JOURNAL_SEGMENT_BYTES: '1048576',
  }
  const first = await Process.start(join(directory, 'first'), settings)
  t.teardown(() => first.end('SIGKILL'))
  let client = first.client
  const load = new Load({ random, client: () => client })
  await load.prepare()
  load.start(clients)
  await load.answered(600 + random.below(400))

  const before = remember(load)
  const copy = join(directory, 'backup')
  const taken = await tollgate(join(directory, 'first'), 'backup', copy)
  t.equal(taken.code, 0, taken.said)
  t.match(taken.said, /everything acknowledged until it began/)
  await load.answered(200)
  await load.stop()
  t.same(load.wrong, [], 'nobody was refused by the backup but with 503 and Retry-After')
  const clones = await tollgate(join(directory, 'first'), 'backup', copy)
  t.match(clones, { code: 1, said: /is not empty/ }, 'a backup is not written over another')
  await first.end('SIGKILL')

  const second = join(directory, 'second')
  t.match(
    await tollgate(second, 'restore', copy),
    { code: 1, said: /not vouched for/ },
    'L1 nothing in it vouches',
  )
  const restored = await restoreOf(join(directory, 'first'), second, copy)
  t.equal(restored.code, 0, restored.said)
  t.match(
    await restoreOf(join(directory, 'first'), second, copy),
    { code: 1, said: /is not empty/ },
    'nor a restore',
  )
  t.match(
    await tollgate(second, 'backup', join(directory, 'none')),
    { code: 1, said: /No Tollgate runs on/ },
    'a backup needs a Tollgate that runs',
  )
  // another number of shards: the restored journals are drained first
  for (const shards of ['2', '3']) {
    const running = await Process.start(second, { ...settings, TOLLGATE_SHARDS: shards })
    t.teardown(() => running.end('SIGKILL'))
    client = running.client
    await verifyRestored(t, client, before, load)
    await reconciled(t, client)
    if (shards === '3') {
      await sendAgain(t, client, before, load)
      await reconciled(t, client)
    }
    await running.end(shards === '2' ? 'SIGKILL' : 'SIGTERM')
  }
})

t.test('an invalid or changed backup is not restored, and an unfinished restore is not started', async t => {
  const directory = await temporaryDirectory(t)
  const running = await Process.start(join(directory, 'first'), embedded)
  t.teardown(() => running.end('SIGKILL'))
  await running.client.ok('POST', '/companies', { keys: { slug: 'a' } })
  const whole = join(directory, 'backup')
  await mkdir(whole)
  // what holds a point and goes away without a word leaves nothing behind
  const held = (await Control.connect(join(directory, 'first')))!
  await held.ask('backup')
  const another = await tollgate(join(directory, 'first'), 'backup', whole)
  t.match(another, { code: 1, said: /another backup is being taken/ }, 'one at a time')
  held.close()
  let taken = another
  while (/another backup is being taken/.test(taken.said))
    taken = await tollgate(join(directory, 'first'), 'backup', whole)
  t.match(taken, { code: 0 })
  t.match(JSON.parse(await readFile(join(whole, 'backup.json'), 'utf8')), {
    format: 1,
    secrets: ['pepper'],
  })
  t.notOk((await readdir(whole)).includes('backup-key.gz'), 'L1 the secret that seals it is not in it')
  t.equal((await stat(join(directory, 'first', 'backup-key'))).mode & 0o777, 0o600)
  t.equal(await running.end('SIGTERM'), 0)

  t.match(await tollgate(join(directory, 'x'), 'restore', directory), { code: 1, said: /is no whole backup/ })
  const damaged = join(whole, 'postgres', 'companies.gz')
  const bytes = await readFile(damaged)
  bytes[bytes.length >> 1]! ^= 1
  await writeFile(damaged, bytes)
  const second = join(directory, 'second')
  // the secret may be put into the new data directory
  await mkdir(second)
  await cp(join(directory, 'first', 'backup-key'), join(second, 'backup-key'))
  t.match(await tollgate(second, 'restore', whole), { code: 1, said: /postgres\/companies of the backup/ })
  t.ok((await readdir(second)).includes('restoring'))
  t.match(await tollgate(second, 'start'), { code: 1, said: /did not come to its end/ })
})
