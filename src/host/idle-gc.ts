// Garbage collection of an idle thread. V8 collects as garbage is made: a heap that grew under load stays that large
// as long as nothing happens.
import { performance } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const lookMs = 5_000
/**
 * Looks in a row that find a thread idle before its heap is collected. After a collection the next events cost a quarter more CPU
 * time for some seconds, as the young generation is small again; so short pauses of a load are no reason for one.
 */
const idleLooks = 5
/** Further looks: by then unused connections are closed, and their memory is free. */
const idleLooksAgain = 7
/** Share of the time that an idle thread works at most: timers, questions for its health and figures. */
const idleShare = 0.03
/** How much a heap has grown since it was collected for it to be worth it. */
const growth = 1.1
const growthBytes = 2 << 20
/** A collection delays the next request, longer with a larger heap: above this size, none. */
const usedBytesMax = 384 << 20

interface IdleOptions {
  readonly lookMs?: number
  /** Called after every collection. */
  readonly collected?: (collection: Collection) => void
}

export interface Collection {
  /** Bytes of the heap, used or not, before and after. */
  readonly before: number
  readonly after: number
  readonly ms: number
}

/**
 * Have this thread's heap collected whenever it has been idle for some time after it grew; never under load.
 *
 * returns  ends it.
 */
export function collectWhenIdle({ lookMs: everyMs = lookMs, collected }: IdleOptions = {}): () => void {
  let since = performance.eventLoopUtilization()
  let looks = 0
  let least = 0
  let again = false
  const look = (): void => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, since)
    since = now
    looks = utilization <= idleShare ? looks + 1 : 0
    if (looks < idleLooks) return
    const { total_heap_size: before, used_heap_size: used } = getHeapStatistics()
    const grown = before >= least * growth + growthBytes
    const due = grown || (again && looks >= idleLooksAgain)
    if (!due || used > usedBytesMax) return
    again = grown
    const began = performance.now()
    collector()()
    least = getHeapStatistics().total_heap_size
    // the collection does not count as the thread's work
    since = performance.eventLoopUtilization()
    collected?.({ before, after: least, ms: performance.now() - began })
  }
  const timer = setInterval(look, everyMs).unref()
  return () => clearInterval(timer)
}

/**
 * V8's own function, which only a context made under this flag has. The context is not kept, because it takes memory.
 */
function collector(): () => void {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}
