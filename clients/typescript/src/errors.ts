// Errors of the client: each has a code to decide by, and the HTTP status where there was an answer.

/** Reasons of a failure. */
export type ErrorCode =
  /** An option is missing or wrong. */
  | 'options_invalid'
  /** 401: the key is missing, unknown, deleted or expired. */
  | 'key_refused'
  /** 403: the key may not do this. */
  | 'forbidden'
  /** 400, 413, 415 or 422: the request is wrong as it is. */
  | 'request_invalid'
  /** 402: not enough credits. */
  | 'credits_insufficient'
  /** 404: there is no such thing. */
  | 'not_found'
  /** 409: something else is in the way. */
  | 'conflict'
  /** 429: too many requests. */
  | 'rate_limited'
  /** 5xx: the service cannot do it now. */
  | 'unavailable'
  /** Any other status, or an answer that is not Tollgate's. */
  | 'unexpected_answer'
  /** No answer in time. */
  | 'timeout'
  /** No connection to the service. */
  | 'unreachable'
  /** `ready` waited for as long as it may. */
  | 'not_ready'
  /** Events are not acknowledged yet. They stay in the queue. */
  | 'events_waiting'
  /** The queue of events is full: the event was not taken. */
  | 'queue_full'
  /** An event was refused as invalid. It is not sent again. */
  | 'event_refused'
  /** The service took the event and stored it as failed: it counts nowhere. */
  | 'event_failed'
  /** The client was closed. */
  | 'closed'
  /** The client is offline by its options. */
  | 'offline'
  /** A webhook is not from this Tollgate, was altered, or is too old. */
  | 'webhook_invalid'

const codes: Readonly<Record<number, ErrorCode>> = {
  400: 'request_invalid',
  401: 'key_refused',
  402: 'credits_insufficient',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  413: 'request_invalid',
  415: 'request_invalid',
  422: 'request_invalid',
  429: 'rate_limited',
}

/** The code of an HTTP status. */
export function codeOf(status: number): ErrorCode {
  return codes[status] ?? (status >= 500 ? 'unavailable' : 'unexpected_answer')
}

/** A call that failed. `status` is the HTTP status; 0: there was no answer. */
export class TollgateError extends Error {
  override readonly name = 'TollgateError'

  constructor(
    readonly status: number,
    message: string,
    readonly code: ErrorCode = codeOf(status),
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Anything that was thrown, in one line. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
