// Every error for callers, one row each: code, status, message. A test compares this table with the documentation.
const rows = {
  body_invalid: [400, 'The request body does not match its schema'],
  framing_invalid: [400, 'Where the request ends is not certain'],
  body_malformed: [400, 'The request body is not valid JSON'],
  body_too_large: [400, 'The request body is too large'],
  batch_too_large: [400, 'batch too large'],
  query_invalid: [400, 'A query parameter is invalid'],
  upgrade_required: [400, 'GET /datastream opens a WebSocket: ask for an upgrade'],
  environment_required: [400, 'environment required: name it in X-Service-Environment-Id'],
  keys_ambiguous: [400, 'keys match multiple entities'],
  state_conflict: [400, 'The request conflicts with the present state'],
  value_invalid: [400, 'A value is invalid'],
  key_unknown: [401, 'X-Service-Api-Key is missing or unknown'],
  insufficient_credits: [402, 'insufficient credits'],
  forbidden: [403, 'This key may not do that'],
  environment_mismatch: [403, 'The key belongs to another environment'],
  route_unknown: [404, 'No such route'],
  not_found: [404, 'Not found'],
  method_unknown: [405, 'The path has other methods'],
  idempotency_reused: [409, 'The idempotency key was used with other inputs'],
  length_required: [411, 'A body needs a Content-Length here'],
  precondition_failed: [412, 'If-Match: it was changed since it was read; read it again'],
  rate_limited: [429, 'Too many requests'],
  quota_full: [429, 'The environment has as many as it may'],
  head_too_large: [431, 'The headers are too large, or too many'],
  internal: [500, 'Server error'],
  overloaded: [503, 'Overloaded; try again'],
  store_away: [503, 'A store is away; try again'],
  starting: [503, 'Starting or stopping; try again'],
} as const satisfies Record<string, readonly [number, string]>

export type ErrorCode = keyof typeof rows

/** An error for the caller. Anything else thrown is a bug: it is logged completely and answered as 500. */
export class ServiceError extends Error {
  readonly status: number
  /** Further members of the error body, e.g. `bucket`, `max_size`. */
  readonly extra: Readonly<Record<string, unknown>> | undefined
  /** Seconds for Retry-After; always set on 503. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    readonly code: ErrorCode,
    detail?: string,
    options?: ErrorOptions & { extra?: Record<string, unknown>; retryAfterSeconds?: number },
  ) {
    super(detail ?? rows[code][1], options)
    this.name = 'ServiceError'
    this.status = rows[code][0]
    this.extra = options?.extra
    this.retryAfterSeconds = options?.retryAfterSeconds ?? (this.status === 503 ? 1 : undefined)
  }
}

/** The migrations on disk do not fit those that a store has applied. Nothing was changed. It ends the start. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

/** The table, for the documentation and its test. */
export const errorRows: Readonly<Record<ErrorCode, readonly [number, string]>> = rows
