// An idle thread gives back what it grew by, once; a busy one is left alone.
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { type Collection, collectWhenIdle } from '../src/idle.js'

const lookMs = 50

/** About as many bytes of young and old garbage. */
function litter(mebibytes: number): number {
  const kept: string[][] = []
  for (let count = 0; count < mebibytes * 8; count++)
    kept.push(Array.from({ length: 2_000 }, (_, index) => `text ${count} ${index}`))
  return kept.length
}

/** Keep the thread busy, two thirds of the time. */
async function work(ms: number): Promise<void> {
  const untilMs = performance.now() + ms
  while (performance.now() < untilMs) {
    const tillMs = performance.now() + 10
    while (performance.now() < tillMs) Math.sqrt(tillMs)
    await sleep(5)
  }
}

t.test('a heap that grew is collected once nobody asks for anything', async t => {
  const collections: Collection[] = []
  const stop = collectWhenIdle({ lookMs, collected: one => collections.push(one) })
  t.teardown(stop)
  await sleep(lookMs * 6)
  t.ok(collections.length <= 2, 'at most what the start left')
  collections.length = 0
  litter(100)
  await work(lookMs * 8)
  t.same(collections, [], 'not under load')
  await sleep(lookMs * 5)
  t.equal(collections.length, 1, 'once')
  const [{ before, after, ms }] = collections as [Collection]
  t.ok(after < before * 0.7, `${before} to ${after} bytes in ${ms} ms`)
  await sleep(lookMs * 8)
  t.equal(collections.length, 2, 'and once more, for what was held on to a little longer')
  await sleep(lookMs * 8)
  t.equal(collections.length, 2, 'and not again before it has grown again')
})
