// The costs of a request beyond the one token that admits it: a long body, or one answer that stands for many (security H3,
// H5). The usual request pays nothing more.
import type { KeyRecord } from '../../../kit/call.js'
import type { Metrics } from '../../../metrics.js'
import type { Route } from '../routing/route.js'
import { type Admission, overLimit } from './admit.js'
import type { Allowance, Limits } from './limits.js'

/** Bytes of a body for one token; of a batch from a secret key, which is read on threads of its own. source: decision */
const bytesPerToken = 16_384
const batchBytesPerToken = 1_048_576
/** Bytes of an answer for one token. source: decision */
const answerBytesPerToken = 32_768

/** Tokens of a body beyond the first. bytes: as decompressed. */
export function tokensOfBody({ body }: Route, { kind }: KeyRecord, bytes: number): number {
  const unit = body === 'batch' && kind === 'secret' ? batchBytesPerToken : bytesPerToken
  return Math.floor(bytes / unit)
}

/** Charge the key of a request with its answer: a token for every 32 KiB beyond the first. */
export function chargeAnswer(limits: Limits, route: Route, admission: Admission, bytes: number): void {
  take(limits, route, admission, Math.floor(bytes / answerBytesPerToken), false)
}

/** Charge the key of a request with what it adds to its body: a token for every 16 KiB, as for a body. */
export function chargeAdded(limits: Limits, route: Route, admission: Admission, bytes: number): void {
  take(limits, route, admission, Math.floor(bytes / bytesPerToken), false)
}

/**
 * Charge the key of an admitted request.
 *
 * errors  rate_limited (429) when its budget is overdrawn already.
 */
export function charge(
  { limits, metrics }: { readonly limits: Limits; readonly metrics: Pick<Metrics, 'http'> },
  route: Route,
  admission: Admission,
  tokens: number,
): void {
  const refused = take(limits, route, admission, tokens, true)
  if (refused === null) return
  metrics.http.rejected[refused.refused!.bucket].count++
  throw overLimit(refused)
}

function take(
  limits: Limits,
  { limit }: Route,
  { key, environment }: Admission,
  tokens: number,
  refuses: boolean,
): Allowance | null {
  if (tokens === 0) return null
  const production = environment === null || environment.environmentType === 'production'
  return limits.charge(key, limit, production, tokens, performance.now(), environment?.id, refuses)
}
