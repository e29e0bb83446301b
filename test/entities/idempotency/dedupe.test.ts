// The idempotency window (EV-25…29).

import t from 'tap'
import { encodeId } from '../../../src/core/values/id.js'
import {
  type Claim,
  Dedupe,
  keyAsSent,
  packClaim,
  publishableMark,
  windowMs,
} from '../../../src/entities/idempotency/dedupe.js'
import { segmentCount } from '../../../src/entities/idempotency/key-file.js'
import { keyBytes } from '../../../src/entities/idempotency/key-table.js'
import { unpackClaim } from '../../../src/wire/packed-claim.js'
import { Random, seed } from '../../random.js'

/** The n-th event's id. */
const id = (n: number) => encodeId('evt_', n, 0xffff_ffff - n)
const event = (n: number, capturedAtMs = 1) => ({ eventId: id(n), capturedAtMs })

t.test('EV-25 a second event with the key of one environment finds the first', async t => {
  const window = new Dedupe(100)
  t.equal(window.claim('env_1', 'k', event(1, 7), 1_000), null)
  t.match(window.claim('env_1', 'k', event(2), 2_000), { eventId: id(1), capturedAtMs: 7 })
  t.equal(window.claim('env_2', 'k', event(3), 2_000), null, 'another environment is another window')
})

t.test('EV-26 the window is exact, runs from the first receipt and is not renewed by duplicates', async t => {
  const window = new Dedupe(100)
  window.claim('env_1', 'k', event(1), 1_000)
  t.match(window.claim('env_1', 'k', event(2), 1_000 + windowMs - 1), { eventId: id(1) })
  t.equal(window.claim('env_1', 'k', event(3), 1_000 + windowMs), null, 'free again at 24 h 0 s')
  t.match(window.claim('env_1', 'k', event(4), 2_000 + windowMs), { eventId: id(3) })
})

t.test('EV-28 a key given back is free, but only by the event that holds it', async t => {
  const window = new Dedupe(100)
  window.claim('env_1', 'k', event(1), 1_000)
  window.release('env_1', 'k', id(9))
  t.match(window.claim('env_1', 'k', event(2), 1_001), { eventId: id(1) })
  window.release('env_1', 'k', id(1))
  t.equal(window.claim('env_1', 'k', event(3), 1_002), null)
})

t.test('old keys are removed, and the window says when it is full', async t => {
  const window = new Dedupe(2)
  window.claim('env_1', 'a', event(1), 0)
  window.claim('env_1', 'b', event(2), 10)
  t.ok(window.isFull('env_1', 'c'))
  window.sweep(windowMs)
  t.equal(window.size, 1)
  t.notOk(window.isFull('env_1', 'c'))
})

t.test(
  'EV-27 a duplicate of an event under way learns when that is durable, and only until then',
  async t => {
    const window = new Dedupe(10)
    const durable = Promise.resolve()
    const ticket = window.begin(durable)
    window.claim('env_1', 'k', { ...event(1), ticket }, 0)
    window.claim('env_1', 'other', { ...event(6), ticket }, 0)
    t.equal(window.claim('env_1', 'k', event(2), 1)?.durable, durable)
    window.confirm('env_1', 'k')
    t.equal(window.claim('env_1', 'k', event(2), 2)?.durable, null)
    t.equal(window.find('env_1', 'other', 2)?.durable, durable, 'one confirmed by itself leaves the others')
    window.end(ticket)
    t.equal(window.find('env_1', 'other', 2)?.durable, null, 'all of them are durable')
    const next = window.begin(durable)
    window.claim('env_1', 'k', { ...event(3), ticket: next }, windowMs)
    window.release('env_1', 'k', id(3))
    t.equal(window.claim('env_1', 'k', event(4), windowMs + 1), null, 'a lost event leaves nothing behind')
    t.equal(window.claim('env_1', 'k', event(5), windowMs + 2)?.durable, null)
  },
)

t.test(
  'EV-26 what storage knows may come in any order; of two claims of one key the later receipt counts',
  async t => {
    const day = Date.UTC(2026, 2, 15)
    for (const [way, order] of [
      ['by name', [1, 2]],
      ['by name', [2, 1]],
      ['packed', [1, 2]],
      ['packed', [2, 1]],
    ] as const) {
      const window = new Dedupe(10)
      const packed = order.map(n =>
        packClaim('env_1', 'k', {
          eventId: id(n),
          capturedAtMs: day - 5 + n,
          receivedAtMs: day + n * windowMs,
        }),
      )
      for (const one of packed)
        if (way === 'packed') window.loadPacked(one)
        else {
          const { eventId, capturedAtMs, receivedAtMs } = unpackClaim(one, 0)
          window.load('env_1', 'k', eventId, capturedAtMs, receivedAtMs)
        }
      t.equal(window.size, 1)
      t.strictSame(window.claim('env_1', 'k', event(3), day + 3 * windowMs - 1), {
        eventId: id(2),
        capturedAtMs: day - 3,
        receivedAtMs: day + 2 * windowMs,
        print: 0,
        durable: null,
      })
      t.equal(window.claim('env_1', 'k', event(3), day + 3 * windowMs), null)
    }
  },
)

t.test("EV-26 an environment's test clock far ahead lets no key of another go", async t => {
  const window = new Dedupe(10)
  window.claim('env_1', 'k', event(1), 1_000)
  window.claim('env_2', 'k', event(2), 1_000 + 40 * windowMs)
  window.sweep(2_000, segmentCount, new Map([['env_2', 1_001 + 40 * windowMs]]))
  t.match(window.claim('env_1', 'k', event(3), 2_000), { eventId: id(1) })
  t.match(window.claim('env_2', 'k', event(3), 1_001 + 40 * windowMs), { eventId: id(2) })
  t.equal(window.claim('env_2', 'k', event(3), 1_000 + 41 * windowMs), null)
  window.sweep(2_000)
  t.equal(window.size, 1, 'once the clock is removed, what was used under it goes')
  t.match(window.find('env_1', 'k', 2_000), { eventId: id(1) })
})

t.test('EV-25 keys of any text are told apart, also where one ends and another begins', async t => {
  const window = new Dedupe(100)
  const names = [
    ['e', 'k'],
    ['e', 'kk'],
    ['ek', 'k'],
    ['e', ' k'],
    ['e', 'κ'],
    ['e', '😀'],
    ['e', 'k'.repeat(255)],
  ] as const
  for (const [index, [environment, key]] of names.entries())
    t.equal(window.claim(environment, key, event(index), 0), null, `${environment} ${key}`)
  for (const [index, [environment, key]] of names.entries())
    t.match(window.claim(environment, key, event(99), 0), { eventId: id(index) })
  t.throws(() => window.claim('e', 'other', { ...event(1), eventId: 'evt_1' }, 0), /no id of an event/)
})

t.test('EV-25…28 ten thousands of random claims agree with a plain map', async t => {
  t.comment(`TOLLGATE_SEED=${seed}`)
  let state = seed
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const start = Date.UTC(2026, 0, 1)
  const window = new Dedupe(1e9)
  const model = new Map<string, Claim>()
  let wrong = 0
  let nowMs = start
  for (let n = 0; n < 60_000; n++) {
    nowMs += random(8_000)
    const environment = `env_${random(3)}`
    // some keys come often, most once: segments fill, grow, shrink and are swept
    const key = `${random(4) === 0 ? '\0' : ''}k${random(random(2) === 0 ? 500 : 50_000)}`
    const name = `${environment} ${key}`
    const known = model.get(name)
    const choice = random(100)
    if (choice < 80) {
      const alive = known && nowMs - known.receivedAtMs < windowMs ? known : null
      const capturedAtMs = nowMs - random(365 * windowMs)
      const print = random(65_536)
      const found = window.claim(environment, key, { ...event(n, capturedAtMs), print }, nowMs)
      if (JSON.stringify(found) !== JSON.stringify(alive)) wrong++
      if (alive === null)
        model.set(name, { eventId: id(n), capturedAtMs, receivedAtMs: nowMs, print, durable: null })
    } else if (choice < 90) {
      const holder = random(4) === 0 ? id(n) : (known?.eventId ?? id(n))
      window.release(environment, key, holder)
      if (known?.eventId === holder) model.delete(name)
    } else if (choice < 98) {
      const print = random(65_536)
      const packed = packClaim(environment, key, {
        eventId: id(n),
        capturedAtMs: nowMs,
        receivedAtMs: nowMs,
        print,
      })
      if (random(2) === 0) window.load(environment, key, id(n), nowMs, nowMs, print)
      else window.loadPacked(packed)
      if (!known || known.receivedAtMs < nowMs)
        model.set(name, { eventId: id(n), capturedAtMs: nowMs, receivedAtMs: nowMs, print, durable: null })
    } else {
      window.sweep(nowMs, 1 + random(400))
    }
    if (random(2_000) > 0) continue
    // twice: what a removal moves round the end of a segment is met in the next turn
    window.sweep(nowMs)
    window.sweep(nowMs)
    for (const [old, claim] of model) if (nowMs - claim.receivedAtMs >= windowMs) model.delete(old)
    if (window.size !== model.size) wrong++
  }
  t.equal(wrong, 0)
  for (const [name, claim] of model) {
    const [environment, key] = name.split(' ') as [string, string]
    if (nowMs - claim.receivedAtMs >= windowMs) continue
    if (window.claim(environment, key, event(0), nowMs)?.eventId !== claim.eventId) wrong++
  }
  t.equal(wrong, 0, 'every key that is left is found')
})

t.test('decision 23 keys of publishable API keys are a namespace of their own', async t => {
  const window = new Dedupe(100)
  const marked = `${publishableMark}k`
  t.equal(window.claim('env_1', marked, event(1), 0), null)
  t.equal(window.claim('env_1', 'k', event(2), 0), null, 'what a public key claimed is free for a secret one')
  t.match(window.claim('env_1', marked, event(3), 0), { eventId: id(1) })
  t.match(window.claim('env_1', 'k', event(3), 0), { eventId: id(2) })
  t.equal(keyAsSent(marked), 'k')
})

t.test(
  'security 5 each environment has a part of the window, and its publishable keys one of theirs',
  async t => {
    const window = new Dedupe(1_000)
    window.divide(5)
    let n = 0
    const fill = (environment: string, mark = ''): number => {
      let taken = 0
      for (; !window.isFull(environment, mark); taken++)
        window.claim(environment, `${mark}${taken}`, event(++n), 0)
      return taken
    }
    t.equal(fill('env_1', publishableMark), 50 + 250, 'its part, and half of what is for everybody')
    t.notOk(window.isFull('env_1', ''), 'secret keys of the same environment go on')
    t.equal(fill('env_2', publishableMark), 50, 'public keys of another have their part')
    t.equal(fill('env_2'), 50 + 250, 'a secret key gets the rest of what is for everybody')
    t.equal(fill('env_1'), 50, 'and still everybody has a part')
    t.match(
      window.full().map(({ environmentId, publishable }) => [environmentId, publishable]),
      [
        ['env_1', false],
        ['env_1', true],
        ['env_2', false],
        ['env_2', true],
      ],
    )
    for (const environment of ['env_3', 'env_4', 'env_5'])
      t.same([fill(environment), fill(environment, publishableMark)], [50, 50])
    t.equal(window.size, 1_000, 'all of them together are what the window may hold')
    window.release('env_1', '0', window.find('env_1', '0', 0)!.eventId)
    t.ok(window.isFull('env_2', ''), 'what one gives back of its part')
    t.equal(window.room('env_1', false), 1, 'is its own')
    window.sweep(windowMs)
    window.sweep(windowMs)
    t.same([window.size, window.full().length], [0, 0])
    t.equal(window.room('env_1', true), 300)
    t.equal(window.room('env_1', false), 550)
  },
)

t.test('security 5 parts are the same for claims that storage tells', async t => {
  const window = new Dedupe(80)
  window.divide(1)
  const packed = (n: number, mark: string) =>
    packClaim('env_1', `${mark}${n}`, {
      eventId: id(mark === '' ? n : n + 1_000),
      capturedAtMs: 1,
      receivedAtMs: 1,
    })
  for (let n = 0; n < 20; n++) window.loadPacked(packed(n, ''))
  t.equal(window.room('env_1', true), 20 + 20)
  for (let n = 0; n < 40; n++) window.loadPacked(packed(n, publishableMark))
  t.ok(window.isFull('env_1', publishableMark))
  t.equal(window.room('env_1', false), 20)
  t.match(window.find('env_1', `${publishableMark}3`, 2), { capturedAtMs: 1 })
})

t.test('EV-25 keys that are prepared together are claimed as those that come alone', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  const [together, alone] = [new Dedupe(1e6), new Dedupe(1e6)]
  let wrong = 0
  for (let batch = 0, n = 0; batch < 200; batch++) {
    const names = Array.from({ length: 1 + random.below(600) }, () => ({
      environment: `env_${random.below(3)}`,
      // some twice in one batch
      key: `${random.chance(0.2) ? publishableMark : ''}k${random.below(20_000)}`,
    }))
    for (const [i, { environment, key }] of names.entries()) together.prepare(i, environment, key)
    for (const [i, { environment, key }] of names.entries()) {
      const ofTwo = [
        together.claimPrepared(i, n, 7, 5, 0, 9, 3),
        alone.claimFor(environment, key, n, 7, 5, 0, 9, 3),
      ]
      if (JSON.stringify(ofTwo[0]) !== JSON.stringify(ofTwo[1])) wrong++
      // by its name, too
      const found = [together, alone].map(window => window.find(environment, key, 9)?.eventId)
      if (found[0] === undefined || found[0] !== found[1]) wrong++
      n++
    }
  }
  t.equal(wrong, 0)
  t.equal(together.size, alone.size)
})

t.test('a window at its bound takes no more than the bytes it was given', async t => {
  const keysMax = 300_000
  const window = new Dedupe(keysMax)
  let most = 0
  for (let n = 0; n < keysMax; n++) {
    window.claimFor('env_1', `key-${n}`, n, 1, n, 0, n)
    if (n % 10_000 === 0 || n === keysMax - 1) most = Math.max(most, window.bytes)
  }
  t.ok(most <= keysMax * keyBytes, `${(most / keysMax).toFixed(1)} bytes a key`)
})

t.test('a hundred thousand keys take less than 50 bytes each and shrink again', async t => {
  const window = new Dedupe(1e6)
  for (let n = 0; n < 100_000; n++) window.claim('env_1', `key-${n}`, event(n), n)
  t.equal(window.size, 100_000)
  t.ok(window.bytes / window.size < 50, `${(window.bytes / window.size).toFixed(1)} bytes per key`)
  window.sweep(windowMs + 100_000)
  window.sweep(windowMs + 100_000)
  t.equal(window.size, 0)
  t.ok(window.bytes < 4_096 * 16 * 36, `${window.bytes} bytes when empty`)
})
