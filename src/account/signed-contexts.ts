// Signed contexts: a server signs the company and user of its page, so that the holder of a publishable key can
// neither alter nor create one (AL-14).
//
//   v1.<payload>.<signature>
//   payload    base64url of the JSON {"exp": seconds, "company"?: keys, "user"?: keys,
//              "company_traits"?: traits, "user_traits"?: traits}
//   signature  base64url of HMAC-SHA-256 under the environment's secret, of the text "v1.<environment id>.<payload>"
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { validateSignedPayload } from '../../schemas/signed-contexts.js'
import { jsonText, parseExactly } from '../json.js'

/** Longest signed context, characters: it must fit a header. */
export const contextLengthMax = 8_192
/** Longest validity of a context, ms. */
const contextAheadMsMax = 7 * 86_400_000

/** The company and user in a signed context. */
export interface SignedContext {
  readonly company: Readonly<Record<string, string>> | null
  readonly user: Readonly<Record<string, string>> | null
  readonly companyTraits: Readonly<Record<string, unknown>> | null
  readonly userTraits: Readonly<Record<string, unknown>> | null
}

/** The secrets that sign contexts of an environment. */
export interface ContextSecrets {
  readonly secret: string
  /** The former secret while it is still accepted; null: none. */
  readonly former: { readonly secret: string; readonly untilMs: number } | null
}

/** A new secret: 256 random bits. */
export function newContextSecret(): string {
  return `ctx_${randomBytes(32).toString('base64url')}`
}

/**
 * Sign a context.
 *
 * payload  in the format above; `exp` in epoch seconds.
 */
export function signContext(secret: string, environmentId: string, payload: object): string {
  const encoded = Buffer.from(jsonText(payload)).toString('base64url')
  return `v1.${encoded}.${signatureOf(secret, environmentId, encoded).toString('base64url')}`
}

/**
 * Verify a signed context.
 *
 * secrets  secrets of the environment; null: it has none, so every context is invalid.
 * returns  its content, or the reason why it is invalid.
 */
export function readContext(
  token: string,
  environmentId: string,
  secrets: ContextSecrets | null,
  nowMs: number,
): SignedContext | { readonly fault: string } {
  const parts = token.split('.')
  if (token.length > contextLengthMax || parts.length !== 3 || parts[0] !== 'v1')
    return { fault: 'is not of the form v1.payload.signature' }
  const [, encoded, given] = parts as [string, string, string]
  const signature = Buffer.from(given, 'base64url')
  // a decoder passes over what is not of its alphabet: one signature has one text (security L8)
  if (signature.toString('base64url') !== given) return { fault: 'has a signature that is not base64url' }
  if (secrets === null || !isSigned(secrets, environmentId, encoded, signature, nowMs))
    return { fault: 'was not signed for this environment, or was altered' }
  const payload = payloadOf(encoded)
  if (payload === null) return { fault: 'has a payload that cannot be read' }
  const endsAtMs = payload.exp * 1_000
  if (endsAtMs <= nowMs) return { fault: 'has expired' }
  if (endsAtMs > nowMs + contextAheadMsMax) return { fault: 'ends more than seven days ahead' }
  return {
    company: payload.company ?? null,
    user: payload.user ?? null,
    companyTraits: payload.company_traits ?? null,
    userTraits: payload.user_traits ?? null,
  }
}

function isSigned(
  { secret, former }: ContextSecrets,
  environmentId: string,
  encoded: string,
  signature: Buffer,
  nowMs: number,
): boolean {
  const fits = (by: string): boolean => {
    const expected = signatureOf(by, environmentId, encoded)
    return expected.length === signature.length && timingSafeEqual(expected, signature)
  }
  return fits(secret) || (former !== null && nowMs < former.untilMs && fits(former.secret))
}

function signatureOf(secret: string, environmentId: string, encoded: string): Buffer {
  return createHmac('sha256', secret).update(`v1.${environmentId}.${encoded}`).digest()
}

function payloadOf(encoded: string) {
  try {
    const valid = validateSignedPayload(parseExactly(Buffer.from(encoded, 'base64url').toString()))
    return valid.success ? valid.data : null
  } catch {
    return null
  }
}
