// Webhooks verified: from this Tollgate, unaltered, and recent.
import { TollgateError } from './errors.js'

export interface WebhookRequest {
  /** The body as it came. A body that was parsed and written again does not verify. */
  readonly payload: string | Uint8Array
  /** Its headers: of the web's `Headers`, or of Node's request. */
  readonly headers: HeadersLike
  /** The secret of the webhook; several while it changes. */
  readonly secret: string | readonly string[]
  /** Largest difference of the clocks, seconds. Default 300. */
  readonly toleranceSeconds?: number
  /** Default the present, epoch ms. */
  readonly nowMs?: number
}

type HeadersLike =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Verify a webhook by the headers `webhook-id`, `webhook-timestamp` and `webhook-signature` (Standard Webhooks).
 *
 * returns  its body, parsed. `webhook-id` is equal in repeats: do the work of one id once.
 * errors   TollgateError with the code `webhook_invalid`. Answer it with 400, and do not use the body.
 */
export async function verifyWebhook<Body = unknown>({
  payload,
  headers,
  secret,
  toleranceSeconds = 300,
  nowMs = Date.now(),
}: WebhookRequest): Promise<Body> {
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const signatures = headerOf(headers, 'webhook-signature').split(' ')
  if (!/^\d{1,12}$/.test(timestamp)) throw invalid('the header webhook-timestamp is no time in seconds')
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > toleranceSeconds)
    throw invalid(`it was signed more than ${toleranceSeconds} s from now`)
  const body = typeof payload === 'string' ? new TextEncoder().encode(payload) : payload
  const head = new TextEncoder().encode(`${id}.${timestamp}.`)
  const signed = new Uint8Array(head.length + body.length)
  signed.set(head)
  signed.set(body, head.length)
  const secrets = typeof secret === 'string' ? [secret] : secret
  if (secrets.length === 0 || secrets.some(one => one === ''))
    throw new TollgateError(
      0,
      '`secret` is empty: give the secret that the webhook was created with',
      'options_invalid',
    )
  for (const one of secrets)
    for (const signature of signatures) if (await isSignedBy(one, signed, signature)) return bodyOf(body)
  throw invalid(
    'its signature is not of this secret: is the body as it came, and the secret of this webhook?',
  )
}

function bodyOf<Body>(bytes: Uint8Array): Body {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Body
  } catch {
    throw invalid('its body is no JSON')
  }
}

/** The runtime compares, in a time that does not depend on the bytes. */
async function isSignedBy(
  secret: string,
  signed: Uint8Array<ArrayBuffer>,
  signature: string,
): Promise<boolean> {
  const [version, given, ...rest] = signature.split(',')
  if (version !== 'v1' || given === undefined || rest.length > 0) return false
  const raw = bytesOf(secret.replace(/^whsec_/, ''))
  const expected = bytesOf(given)
  if (raw === null || raw.length === 0 || expected === null) return false
  // A decoder skips characters outside its alphabet. Only the exact text of a signature is accepted (security L8).
  if (btoa(String.fromCharCode(...expected)) !== given) return false
  const hmac = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', raw, hmac, false, ['verify'])
  return crypto.subtle.verify('HMAC', key, expected, signed)
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), character => character.charCodeAt(0))
  } catch {
    return null
  }
}

function headerOf(headers: HeadersLike, name: string): string {
  const given = headers as Readonly<Record<string, string | readonly string[] | undefined>>
  const value =
    typeof headers.get === 'function'
      ? (headers as { get(name: string): string | null }).get(name)
      : (given[name] ?? given[Object.keys(given).find(one => one.toLowerCase() === name) ?? ''])
  const text = typeof value === 'string' ? value : value?.[0]
  if (!text) throw invalid(`the header ${name} is missing`)
  return text
}

const invalid = (why: string) => new TollgateError(0, `The webhook is not valid: ${why}`, 'webhook_invalid')
