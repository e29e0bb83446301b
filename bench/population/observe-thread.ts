// Loaded into every thread of a service that is observed, before all else. While a file `begin` is in
// BENCH_OBSERVE_DIR, it notes garbage collections and long turns of the loop; once a file `end` is there, it writes
// these notes and the memory in use after a full collection.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread, threadId } from 'node:worker_threads'

/** Observations of a thread. Times in ms, memory in bytes. */
export interface Observed {
  readonly thread: number
  readonly main: boolean
  readonly seconds: number
  readonly collections: number
  readonly collectedMs: number
  readonly longestCollectionMs: number
  readonly longestTurnMs: number
  readonly heap: number
  /** Array buffers and other memory outside the heap. */
  readonly outside: number
}

const resolutionMs = 5
const folder = process.env.BENCH_OBSERVE_DIR

if (folder !== undefined) {
  const durations: number[] = []
  const collections = new PerformanceObserver(list => {
    for (const { duration } of list.getEntries()) durations.push(duration)
  })
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  let begunMs = 0
  const look = setInterval(() => {
    if (begunMs === 0 && existsSync(join(folder, 'begin'))) {
      begunMs = performance.now()
      collections.observe({ entryTypes: ['gc'] })
      delays.enable()
    } else if (begunMs > 0 && existsSync(join(folder, 'end'))) {
      clearInterval(look)
      tell(folder)
    }
  }, 100).unref()

  const tell = (into: string) => {
    delays.disable()
    collections.disconnect()
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    collect()
    collect()
    const { heapUsed, external } = process.memoryUsage()
    const observed: Observed = {
      thread: threadId,
      main: isMainThread,
      seconds: (performance.now() - begunMs) / 1_000,
      collections: durations.length,
      collectedMs: durations.reduce((sum, ms) => sum + ms, 0),
      longestCollectionMs: Math.max(0, ...durations),
      longestTurnMs: Math.max(0, delays.max / 1e6 - resolutionMs),
      heap: heapUsed,
      outside: external,
    }
    writeFileSync(join(into, `thread-${threadId}.json`), JSON.stringify(observed))
  }
}
