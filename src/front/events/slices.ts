// Lists of events in slices, one in a turn of the event loop, so that other requests are answered in between. The cost of an
// event cannot be told before it is taken: one that makes its company and its user costs the HTTP thread and the shard ten times as
// much as one of a known company (security H4). So a slice ends when its time is over.
import { performance } from 'node:perf_hooks'
import type { Sender } from './claims.js'
import { Batch } from './ingest.js'

/** Time for taking the events of one slice; sending them costs about as much again. */
const sliceMs = 1
/** Events of a slice at least: on a busy machine time passes without work, and a slice has costs of its own. */
const eventsMin = 32
/** Events between two looks at the clock. */
const looksEvery = 8

/** How many events a turn takes. */
export class Slice {
  private readonly beganMs = performance.now()
  private taken = 0

  /** Count an event that was taken. Returns whether the slice has room for another. */
  goesOn(): boolean {
    this.taken++
    if (this.taken < eventsMin || this.taken % looksEvery !== 0) return true
    return performance.now() - this.beganMs < sliceMs
  }
}

/** Events in order, read as slices are taken. */
export interface EventSource {
  readonly isAtEnd: boolean
  /** Give at least one event to a batch, and more while a slice goes on. errors: those that concern the whole list. */
  take(batch: Batch, slice: Slice): void
}

/** Events that were sent. */
export interface Sending<Told = readonly string[]> {
  /**
   * Acknowledgements by slice, once the outcome of all events is known.
   *
   * errors  the first failure: keys of events that became durable stay claimed, so that a retry finds them.
   */
  readonly acks: Promise<readonly Told[]>
}

/** Acknowledgements of a slice as they are. */
export const asList = (acks: readonly string[]): readonly string[] => acks

/**
 * Send events, slice by slice, in order. Stops after the first slice that fails. Resolves when all are sent.
 *
 * report  acknowledgements say which events are stored as failed, and why.
 * tell    makes of the acknowledgements of a slice, as soon as it is durable, what is kept until the others are.
 * atOnce  the first slice is sent in the present turn.
 */
export async function sendInSlices<Told>(
  sender: Sender,
  source: EventSource,
  report: boolean,
  tell: (acks: readonly string[]) => Told,
  atOnce = false,
): Promise<Sending<Told>> {
  const { entities, parsers } = sender.services
  const commits: Promise<Told>[] = []
  let failed = false
  const ended = (commit: Promise<unknown>): Promise<void> =>
    commit.then(
      () => {},
      () => {
        failed = true
      },
    )
  for (let isNow = atOnce; !source.isAtEnd; isNow = false) {
    if (!isNow) {
      // before the slice takes its turn, which others wait for
      await entities.paced(sender.environmentId, 0, async () => {})
      await parsers.turns.enter()
      if (failed) {
        parsers.turns.lasts(Promise.resolve())
        break
      }
    }
    const { commit, leavesAtOnce } = sendSlice(sender, source, report)
    const told = commit.then(tell)
    commits.push(told)
    const fate = ended(told)
    if (!isNow) parsers.turns.lasts(fate)
    // its preludes must be durable before the next slice leaves, to keep the order
    if (!leavesAtOnce && !source.isAtEnd) await fate
  }
  const acks = Promise.allSettled(commits).then(() => Promise.all(commits))
  acks.catch(() => {}) // handled by the caller that awaits it
  return { acks }
}

/** Take and send the events of a slice. */
function sendSlice(
  sender: Sender,
  source: EventSource,
  report: boolean,
): { readonly commit: Promise<readonly string[]>; readonly leavesAtOnce: boolean } {
  const batch = new Batch(sender, report)
  try {
    source.take(batch, new Slice())
  } catch (error) {
    batch.abandon()
    return { commit: Promise.reject(error), leavesAtOnce: true }
  }
  return { commit: batch.commit(), leavesAtOnce: batch.leavesAtOnce }
}
