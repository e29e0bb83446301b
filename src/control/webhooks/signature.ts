// How a delivery is signed, so that its receiver knows the sender and recognises a repeat.
import { createHmac } from 'node:crypto'

/** Target of a delivery. */
export interface Endpoint {
  readonly url: string
  readonly secret: string
  /** Signs beside the secret until then: the webhook's secret is being changed. */
  readonly previous_secret: string | null
  readonly previous_secret_until: Date | null
}

/** Content of a delivery; the id is the same for every attempt. */
export interface Delivery {
  readonly id: string
  readonly payload: string
}

/**
 * Headers with which the receiver verifies the sender of a body and recognises a repeat.
 *
 * X-Service-Webhook-Signature   hex HMAC-SHA256 of body, "+" and timestamp, keyed by the secret's text. While the
 *                               secret is being changed it is the former one's, and …-Signature-Next the new one's:
 *                               a receiver knows the former when the change begins.
 * webhook-signature             Standard Webhooks: `v1,` and base64 HMAC-SHA256 of id, "." timestamp, "." and body,
 *                               keyed by the bytes that the secret's base64 part stands for; one for each secret.
 * source  interface document; the ids and what two secrets sign: decision.
 */
export function signed(
  endpoint: Endpoint,
  { id, payload }: Delivery,
  nowMs: number,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(nowMs / 1_000))
  const { previous_secret: previous, previous_secret_until: until } = endpoint
  const overlaps = previous !== null && until !== null && until.getTime() > nowMs
  const secrets = overlaps ? [previous, endpoint.secret] : [endpoint.secret]
  const [first, next] = secrets.map(secret =>
    createHmac('sha256', secret).update(payload).update(`+${timestamp}`).digest('hex'),
  )
  return {
    'X-Service-Webhook-Signature': first!,
    ...(next !== undefined && { 'X-Service-Webhook-Signature-Next': next }),
    'X-Service-Webhook-Signature-Version': 'v1',
    'X-Service-Webhook-Timestamp': timestamp,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets
      .reverse()
      .map(secret => standardSignature(secret, `${id}.${timestamp}.${payload}`))
      .join(' '),
  }
}

function standardSignature(secret: string, text: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`
}
