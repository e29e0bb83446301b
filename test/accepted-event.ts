// An event as the HTTP thread hands it to a shard.
import type { AcceptedEvent } from '../src/core/model/requests.js'

/** One use of `call` that names nobody and has no idempotency key, but for what `some` says. */
export const acceptedEvent = (some: Partial<AcceptedEvent>): AcceptedEvent => ({
  id: 'evt_22222222222',
  type: 'track',
  subtype: 'call',
  body: '{}',
  quantity: 1,
  mode: 'normal',
  capturedAtMs: 1,
  sentAtMs: null,
  receivedAtMs: 1,
  apiKeyId: 'apik_1',
  idempotencyKey: null,
  companyId: null,
  userId: null,
  leaseId: null,
  reservationId: null,
  failure: null,
  derivedFrom: null,
  inference: null,
  ...some,
})
