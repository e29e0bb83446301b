// The idempotency window (EV-25…29).
import t from 'tap'
import { Dedupe, windowMs } from '../../src/engine/dedupe.js'

const event = (eventId: string, capturedAtMs = 1) => ({ eventId, capturedAtMs, settled: null })

t.test('EV-25 a second event with the key of one environment finds the first', async t => {
  const window = new Dedupe(100)
  t.equal(window.claim('env_1', 'k', event('evt_1', 7), 1_000), null)
  t.match(window.claim('env_1', 'k', event('evt_2'), 2_000), { eventId: 'evt_1', capturedAtMs: 7 })
  t.equal(window.claim('env_2', 'k', event('evt_3'), 2_000), null, 'another environment is another window')
})

t.test('EV-26 the window is exact, runs from the first receipt and is not renewed by duplicates', async t => {
  const window = new Dedupe(100)
  window.claim('env_1', 'k', event('evt_1'), 1_000)
  t.match(window.claim('env_1', 'k', event('evt_2'), 1_000 + windowMs - 1), { eventId: 'evt_1' })
  t.equal(window.claim('env_1', 'k', event('evt_3'), 1_000 + windowMs), null, 'free again at 24 h 0 s')
  t.match(window.claim('env_1', 'k', event('evt_4'), 2_000 + windowMs), { eventId: 'evt_3' })
})

t.test('EV-28 a key given back is free, but only by the event that holds it', async t => {
  const window = new Dedupe(100)
  window.claim('env_1', 'k', event('evt_1'), 1_000)
  window.release('env_1', 'k', 'evt_other')
  t.match(window.claim('env_1', 'k', event('evt_2'), 1_001), { eventId: 'evt_1' })
  window.release('env_1', 'k', 'evt_1')
  t.equal(window.claim('env_1', 'k', event('evt_3'), 1_002), null)
})

t.test('what is too old is dropped, and the window says when it is full', async t => {
  const window = new Dedupe(2)
  window.claim('env_1', 'a', event('evt_1'), 0)
  window.claim('env_1', 'b', event('evt_2'), 10)
  t.ok(window.full)
  window.sweep(windowMs)
  t.equal(window.size, 1)
  t.notOk(window.full)
})
