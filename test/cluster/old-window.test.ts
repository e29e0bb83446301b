// When idempotency keys leave Redis, and in which order: the steps of one node, over stores in memory.
import t from 'tap'
import { nextSpan, OldWindow } from '../../src/cluster/old-window.js'
import { OldClaims } from '../../src/redis/old-claims.js'
import { buildParts, hashOf, nameOf, OldKeys, type SealedSpan } from '../../src/redis/old-keys.js'
import type { SealStep } from '../../src/redis/sealing.js'

const hourMs = 3_600_000
const keptMs = 2 * hourMs
const nowMs = Date.UTC(2026, 5, 1, 12, 30)
const at = (hour: number): number => Date.UTC(2026, 5, 1, hour)

t.test('whole hours are sealed once they are old enough, each once', async t => {
  t.same(nextSpan([{ toMs: at(9) }], nowMs, keptMs), { fromMs: at(9), toMs: at(10) })
  t.equal(nextSpan([{ toMs: at(10) }], nowMs, keptMs), null)
  t.same(
    nextSpan([{ toMs: at(3) }], nowMs, keptMs),
    { fromMs: at(3), toMs: at(10) },
    'after ClickHouse was away',
  )
  t.same(
    nextSpan([], nowMs, keptMs),
    { fromMs: at(13) - 24 * hourMs, toMs: at(10) },
    'at first a day of them',
  )
  t.equal(nextSpan([], nowMs, 24 * hourMs), null, 'never where they stay for the whole day')
})

/** A window over spans in memory. `steps`: what was done, in order. */
function windowOf(spans: (SealedSpan & { forgotten: boolean })[], bytesMax = 1e9) {
  const steps: string[] = []
  const keys = new OldKeys()
  const window = new OldWindow({
    store: {
      rows: async () =>
        spans.map(({ fromMs, toMs, forgotten }) => ({ fromMs, toMs, isForgotten: forgotten })),
      read: async row => spans.find(({ toMs }) => toMs === row.toMs)!,
      prune: async () => {},
    },
    run: async (step: SealStep) => {
      if ('seal' in step) {
        steps.push('seal')
        const parts = await buildParts(Uint32Array.of(1, 2), 1)
        spans.push({ ...step.seal, parts, forgotten: false })
        return
      }
      steps.push('forget')
      spans.find(({ toMs }) => toMs === step.forget.toMs)!.forgotten = true
    },
    keptMs,
    bytesMax,
    hand: now => {
      steps.push('handed')
      keys.replace(now)
    },
  })
  return { window, keys, steps }
}

const sealing = (steps: string[], told: () => Promise<void> = async () => {}) => ({
  isHere: () => true,
  projected: async () => void steps.push('projected'),
  told: async () => {
    await told()
    steps.push('told')
  },
})

t.test('keys leave Redis only when every node has their filters', async t => {
  const spans: (SealedSpan & { forgotten: boolean })[] = []
  const { window, steps } = windowOf(spans)
  const silent = sealing(steps, () => Promise.reject(new Error('a node does not answer')))
  await t.rejects(window.turn(silent, nowMs), { message: /a node does not answer/ })
  t.same(steps, ['projected', 'seal', 'handed'])
  await t.rejects(window.turn(silent, nowMs))
  t.same(steps.slice(3), [], 'and nothing more is sealed before')
  await window.turn(sealing(steps), nowMs)
  t.same(steps.slice(3), ['told', 'forget'])
  await window.turn({ ...sealing(steps), isHere: () => false }, nowMs + hourMs)
  t.equal(steps.length, 5, 'another node does it')
})

t.test('the memory of filters is bounded, and readiness says that keys stay in Redis', async t => {
  const spans: (SealedSpan & { forgotten: boolean })[] = []
  const { window, steps } = windowOf(spans, 1)
  await window.turn(sealing(steps), nowMs)
  t.equal(window.lack, null)
  await window.turn(sealing(steps), nowMs + hourMs)
  t.equal(spans.length, 1)
  t.match(window.lack, /TOLLGATE_IDEMPOTENCY_BYTES/)
})

t.test(
  'EV-25 with a Postgres that was set back, no key is claimed before its filters are built again',
  async t => {
    const event = { env: 'env', key: 'k', eventId: 'evt_1', capturedAtMs: 1, receivedAtMs: nowMs, print: 0 }
    const sealedMs = at(10)
    const { window, keys, steps } = windowOf([{ fromMs: at(1), toMs: at(2), parts: [], forgotten: true }])
    const claims = new OldClaims(
      {
        claim: async (events, untilMs) =>
          untilMs < sealedMs ? 'unsealed' : events.map(() => 'busy' as const),
        begin: async () => {},
        write: () => {},
        free: () => {},
        needed: 0,
      },
      keys,
      async () => null,
      () => void window.load(),
    )
    await window.load()
    const claiming = claims.claim([event])
    await window.turn(sealing(steps), nowMs)
    t.same(await claiming, ['busy'])
    t.equal(keys.untilMs, sealedMs)
  },
)

t.test('a name is the text of its hash', async t => {
  const keys = Array.from({ length: 1_000 }, (_, i) => `key ${i}`)
  t.same(
    keys.map(key => nameOf('env', key)),
    keys.map(key => hashOf('env', key).toString('base64url')),
  )
})

t.test('a key is found in each part of a span', async t => {
  const names = Array.from({ length: 1_000 }, (_, i) => nameOf('env', `key ${i}`))
  const hashes = Array.from({ length: 1_000 }, (_, i) => hashOf('env', `key ${i}`))
  const words = Uint32Array.from(hashes.flatMap(hash => [hash.readUInt32BE(0), hash.readUInt32BE(4)]))
  const twice = new Uint32Array([...words, ...words])
  const parts = await buildParts(twice, 2_000, 100)
  t.equal(parts.length, 32)
  const keys = new OldKeys({ untilMs: 10, spans: [{ fromMs: 0, toMs: 10, parts }] })
  t.ok(names.every(name => keys.spansOf(name, 9).length === 1))
  t.ok(
    names.every(name => keys.spansOf(name, 10).length === 0),
    'EV-26 not once its span is out of the window',
  )
})
