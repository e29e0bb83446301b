// An event between its judgement and its record.
import type { AcceptedEvent } from '../../core/model/requests.js'
import type { Judged } from '../../events/judge.js'

/** An event under construction. */
export type Draft = { -readonly [Member in keyof AcceptedEvent]: AcceptedEvent[Member] }

/** Fill the members of an event's record that come from its body (EV-70). */
export function describe(event: Draft, judged: Judged): void {
  switch (judged.type) {
    case 'track':
      event.subtype = judged.body.event
      event.quantity = judged.body.quantity ?? 1
      event.leaseId = judged.body.lease_id || null
      event.reservationId = judged.body.reservation_id || null
      return
    case 'inference':
      event.subtype = judged.body.event || null
      event.quantity = judged.body.requests ?? 1
      event.leaseId = judged.body.lease_id || null
      event.reservationId = judged.body.reservation_id || null
      return
    case 'flag_check':
      event.subtype = judged.body.flag_key
      return
    case 'identify':
      return
  }
}
