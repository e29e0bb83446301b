// Lists of events that this thread has parsed.
import { Unparsable } from '../../events/formats.js'
import { judge } from '../../events/judge.js'
import type { Sender } from './claims.js'
import { Batch } from './ingest.js'
import { isOfOneEvent, isPublic } from './publishable.js'
import { asList, type EventSource, type Slice, sendInSlices } from './slices.js'

/**
 * Take a list of events. Each is validated on its own: an invalid one is stored as failed and does not affect the
 * others.
 *
 * events   as parsed; one that is unreadable in its format is an `Unparsable`.
 * report   acknowledgements say which events are stored as failed, and why.
 * anyAge   backfill may be older than 365 days.
 * returns  one acknowledgement per event, each a RawEvent as JSON, in the given order.
 * errors   503 when they could not be made durable: then none is acknowledged, and the keys of those that are not durable
 *          are free again.
 * source   EV-7, EV-27, EV-28, decision 20.
 */
export async function ingestMany(
  sender: Sender,
  events: readonly unknown[],
  report = false,
  anyAge = false,
): Promise<readonly string[]> {
  if (events.length === 0) return []
  sender.services.backlog.admit()
  const list = new EventList(sender, events, anyAge)
  const { dedupe } = sender.services
  // keys that may not all fit into the window are claimed together, or not at all
  if (dedupe.room(sender.environmentId, isPublic(sender)) < events.length) {
    const batch = new Batch(sender, report)
    list.takeAll(batch)
    return batch.commit()
  }
  const { acks } = await sendInSlices(sender, list, report, asList, true)
  return (await acks).flat()
}

class EventList implements EventSource {
  private at = 0
  private readonly secret: boolean

  constructor(
    private readonly sender: Sender,
    private readonly events: readonly unknown[],
    private readonly anyAge: boolean,
  ) {
    this.secret = sender.key.kind === 'secret'
  }

  get isAtEnd(): boolean {
    return this.at >= this.events.length
  }

  take(batch: Batch, slice: Slice): void {
    do this.next(batch)
    while (!this.isAtEnd && slice.goesOn())
  }

  /** All events in one batch. errors: nothing was taken. */
  takeAll(batch: Batch): void {
    try {
      while (!this.isAtEnd) this.next(batch)
    } catch (error) {
      batch.abandon()
      throw error
    }
  }

  private next(batch: Batch): void {
    const event = this.events[this.at++]
    if (event instanceof Unparsable) return batch.fail(event.given, event.reason)
    try {
      const judged = judge(event, this.secret, this.sender.nowMs, this.anyAge)
      if ('error' in judged) batch.fail(event, judged.error)
      else batch.take(judged)
    } catch (error) {
      if (!isOfOneEvent(error)) throw error
      batch.fail(event, error.message)
    }
  }
}
