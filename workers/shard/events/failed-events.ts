// Events of the current request that their company cannot use: stored as failed, and reported to the sender.
import type { Decision, FailedEvent } from '../../../src/core/model/message.js'
import type { AcceptedEvent } from '../../../src/core/model/requests.js'

export class FailedEvents {
  private events: FailedEvent[] = []

  /** The event as it is stored: one that a spend policy (decision 27) or a bound refused is failed, any other stays as it came. */
  judged(event: AcceptedEvent, decision: Decision): AcceptedEvent {
    if (!('refused' in decision)) return event
    if (decision.refused !== 'spend_cap' && decision.refused !== 'entity_full') return event
    const failure = decision.detail!
    this.events.push([event.id, failure])
    return { ...event, failure }
  }

  /** Failed events since the last call; null when there are none. */
  take(): readonly FailedEvent[] | null {
    const { events } = this
    if (events.length === 0) return null
    this.events = []
    return events
  }
}
