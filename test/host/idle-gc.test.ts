// An idle thread gives back what it grew by, once; a busy one is left alone.
import { setTimeout as sleep } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import t from 'tap'
import { type Collection, collectWhenIdle } from '../../src/host/idle-gc.js'

const lookMs = 50

const heapBytes = (): number => getHeapStatistics().total_heap_size

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

t.test('a heap that grew is collected once the thread is idle', async t => {
  const collections: Collection[] = []
  const stop = collectWhenIdle({ lookMs, collected: one => collections.push(one) })
  t.teardown(stop)
  await sleep(lookMs * 6)
  t.ok(collections.length <= 2, 'at most what the start left')
  collections.length = 0
  const before = heapBytes()
  litter(100)
  const grown = heapBytes() - before
  await work(lookMs * 8)
  t.same(collections, [], 'not under load')
  // V8 may be quicker
  for (let looks = 0; heapBytes() > before + grown * 0.4 && looks < 200; looks++) await sleep(lookMs)
  t.ok(heapBytes() <= before + grown * 0.4, `${before} grown by ${grown} to ${heapBytes()} bytes`)
  await sleep(lookMs * 16)
  t.ok(collections.length <= 2, 'once, and once more for what was held on to a little longer')
})
