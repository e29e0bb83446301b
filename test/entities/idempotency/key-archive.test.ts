// Idempotency keys that left the window for files: an old repeat finds its first event, through rotation, merging, kill
// and start.
import { appendFileSync, cpSync, readdirSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { encodeId } from '../../../src/core/values/id.js'
import { type Claim, Dedupe, windowMs } from '../../../src/entities/idempotency/dedupe.js'
import { KeyArchive } from '../../../src/entities/idempotency/key-archive.js'
import { Random } from '../../random.js'

const minute = 60_000
const keptMs = 10 * minute
const dayBegins = Date.UTC(2026, 5, 1)

/** A window with an archive, and what ClickHouse would know of its keys. */
class World {
  window!: Dedupe
  archive!: KeyArchive
  /** Every key that was claimed and is durable: name → event and receipt. */
  readonly stored = new Map<string, { env: string; key: string; n: number; receivedAtMs: number }>()
  private n = 0

  constructor(
    readonly directory: string,
    readonly keysMax = 1_000_000,
  ) {}

  /** Start anew at an instant: files, and from ClickHouse what is not in them. */
  start(nowMs: number): number {
    this.archive?.close()
    this.window = new Dedupe(this.keysMax)
    this.archive = KeyArchive.open(
      { directory: this.directory, shares: this.window.shares, windowMs, keptMs, keysMin: 1 },
      nowMs,
    )
    this.window.keepOldIn(this.archive)
    const openedMs = nowMs - windowMs
    const sinceMs = this.archive.missingSince(openedMs)
    let read = 0
    for (const { env, key, n, receivedAtMs } of this.stored.values())
      if (receivedAtMs >= sinceMs) {
        this.window.load(env, key, encodeId('evt_', n, 1), receivedAtMs, receivedAtMs)
        read++
      }
    return read
  }

  /** Claim a key; the number of the first event, or of this one when it is the first. */
  claim(env: string, key: string, nowMs: number): { n: number; isFirst: boolean } {
    const n = ++this.n
    const first = n % 2 === 0 ? this.claimAlone(n, env, key, nowMs) : this.claimInBatch(n, env, key, nowMs)
    if (first === null) {
      this.stored.set(`${env} ${key}`, { env, key, n, receivedAtMs: nowMs })
      return { n, isFirst: true }
    }
    return {
      n: Number(first.eventId === encodeId('evt_', this.known(env, key), 1)) && this.known(env, key),
      isFirst: false,
    }
  }

  private claimAlone(n: number, env: string, key: string, nowMs: number): Claim | null {
    return this.window.claim(env, key, { eventId: encodeId('evt_', n, 1), capturedAtMs: nowMs }, nowMs)
  }

  /** Between two names that are not claimed. */
  private claimInBatch(n: number, env: string, key: string, nowMs: number): Claim | null {
    for (const [place, name] of [`before ${n}`, key, `after ${n}`].entries())
      this.window.prepare(place, env, name)
    this.window.siftPrepared(3)
    return this.window.claimPrepared(1, n, 1, nowMs, 0, nowMs, 0)
  }

  known(env: string, key: string): number {
    return this.stored.get(`${env} ${key}`)?.n ?? -1
  }
}

t.test(
  'EV-26 an old repeat finds its first event, from memory, file, merged file and after a start',
  async t => {
    const world = new World(t.testdir())
    const random = new Random()
    t.comment(`TOLLGATE_SEED=${random.seed}`)
    world.start(dayBegins)
    let now = dayBegins
    let [repeats, again] = [0, 0]
    const keys: string[] = []
    const live = () => [...world.stored.values()].filter(one => now - one.receivedAtMs < windowMs)
    for (let step = 0; step < 180; step++) {
      now += random.pick([5 * minute, 10 * minute, 15 * minute])
      const env = random.pick(['env_a', 'env_b', 'env_c'])
      for (let i = 0; i < 12; i++) {
        const key = `${random.chance(0.3) ? '\0' : ''}key-${keys.length}`
        keys.push(`${env} ${key}`)
        if (!world.claim(env, key, now).isFirst) t.fail(`${key} is new`)
      }
      for (const one of live().filter(() => random.chance(0.05))) {
        const { n, isFirst } = world.claim(one.env, one.key, now)
        if (isFirst || n !== one.n) t.fail(`${one.key} of ${now - one.receivedAtMs} ms was counted again`)
        repeats++
      }
      const over = [...world.stored.values()].filter(one => now - one.receivedAtMs >= windowMs)
      for (const one of over.filter(() => random.chance(0.01))) {
        const { isFirst } = world.claim(one.env, one.key, now)
        if (!isFirst) t.fail(`${one.key} is free after a day`)
        again++
      }
      if (random.chance(0.6)) await world.archive.rotate(world.window, now)
      if (random.chance(0.05)) {
        const read = world.start(now)
        t.ok(read <= world.stored.size)
      }
      world.window.sweep(now)
    }
    t.ok(repeats > 1_000 && again > 5, `${repeats} repeats, ${again} after a day`)
    const names = readdirSync(world.directory).filter(name => name.endsWith('.keys'))
    t.ok(
      names.some(name => name.endsWith('-1.keys') || name.endsWith('-2.keys')),
      `${names.length} files`,
    )
    t.ok(names.length < 25, `${names.length} files`)
    t.ok(world.window.inMemory < world.stored.size / 4, 'most keys are in files alone')
  },
)

t.test('a file that is cut short or damaged is left out, and its hours are read elsewhere', async t => {
  const world = new World(t.testdir())
  world.start(dayBegins)
  let now = dayBegins
  for (let hour = 0; hour < 3; hour++) {
    for (let i = 0; i < 50; i++) world.claim('env', `${hour}-${i}`, now)
    now += 30 * minute
    await world.archive.rotate(world.window, now)
  }
  const [, second] = readdirSync(world.directory)
    .filter(name => name.endsWith('.keys'))
    .sort()
  truncateSync(join(world.directory, second!), 100)
  appendFileSync(join(world.directory, 'left.keys.new'), 'half')
  const read = world.start(now)
  t.ok(read >= 50 && read < 150, `${read} of 150 were read again`)
  for (const { env, key, n } of [...world.stored.values()])
    t.same(world.claim(env, key, now), { n, isFirst: false })
})

t.test(
  'killed between a file and its forgetting, or between a merge and the removal of what it merged',
  async t => {
    const directory = t.testdir({ live: {}, before: {} })
    const world = new World(join(directory, 'live'))
    world.start(dayBegins)
    let now = dayBegins
    for (let round = 0; round < 6; round++) {
      for (let i = 0; i < 20; i++) world.claim('env', `${round}-${i}`, now)
      now += 20 * minute
      if (round === 5) cpSync(world.directory, join(directory, 'before'), { recursive: true })
      await world.archive.rotate(world.window, now)
    }
    const after = readdirSync(world.directory)
    t.ok(
      after.some(name => name.endsWith('-1.keys')),
      'six files became one',
    )
    // what was merged is there again
    for (const name of readdirSync(join(directory, 'before')))
      cpSync(join(directory, 'before', name), join(world.directory, name))
    world.start(now)
    for (const { env, key, n } of [...world.stored.values()])
      t.same(world.claim(env, key, now), { n, isFirst: false })
    t.equal(world.window.size, world.stored.size, 'each key is counted once')
  },
)

t.test('a claim under way keeps the hour in memory', async t => {
  const world = new World(t.testdir())
  world.start(dayBegins)
  const ticket = world.window.begin(Promise.resolve())
  world.window.claim('env', 'slow', { eventId: encodeId('evt_', 1, 1), capturedAtMs: 1, ticket }, dayBegins)
  await world.archive.rotate(world.window, dayBegins + 30 * minute)
  t.same(readdirSync(world.directory), [])
  t.equal(world.window.inMemory, 1)
  world.window.release('env', 'slow', encodeId('evt_', 1, 1))
  t.ok(world.claim('env', 'slow', dayBegins + 31 * minute).isFirst, 'given back as ever')
})

t.test('a clock that is behind the files: its keys are read from ClickHouse at a start', async t => {
  const world = new World(t.testdir())
  world.start(dayBegins)
  const now = dayBegins + 120 * minute
  for (let i = 0; i < 50; i++) world.claim('env', `${i}`, dayBegins)
  await world.archive.rotate(world.window, now)
  world.claim('env_test', 'back', dayBegins + minute)
  t.equal(world.archive.missingSince(5), 5)
  world.start(now)
  t.same(world.claim('env_test', 'back', dayBegins + 2 * minute), {
    n: world.known('env_test', 'back'),
    isFirst: false,
  })
})

t.test('keys in files weigh little, and give their weight back', async t => {
  const world = new World(t.testdir(), 160)
  world.start(dayBegins)
  world.window.divide(1)
  let now = dayBegins
  let claimed = 0
  for (let round = 0; round < 12; round++) {
    while (claimed < 1_000 && !world.window.isFull('env', 'k')) world.claim('env', `k${claimed++}`, now)
    now += 20 * minute
    await world.archive.rotate(world.window, now)
  }
  t.ok(claimed > 500, `${claimed} keys where 160 fit into memory`)
  now += windowMs
  await world.archive.rotate(world.window, now)
  world.window.sweep(now)
  t.equal(world.window.size, 0)
  t.equal(world.window.room('env', false), 120, 'all of its room again')
})
