// Publishes notifications of handlers to webhooks, in the transaction of the change, so that neither exists without
// the other.
import type { Sql } from 'postgres'
import type { WebhookRequestType } from '../../../schemas/enums.js'
import type { Call } from '../../kit/call.js'
import { notify } from './outbox.js'

/** Account-wide definitions: their changes are published in every environment. */
const shared: ReadonlySet<WebhookRequestType> = new Set<WebhookRequestType>([
  'feature.created',
  'feature.updated',
  'feature.deleted',
  'flag.created',
  'flag.updated',
  'flag.deleted',
  'plan.deleted',
])

type Asking = Pick<Call<unknown, unknown>, 'services' | 'key' | 'environmentOrNull'>

function placeOf({ key, environmentOrNull }: Asking, type: WebhookRequestType) {
  const environmentId = shared.has(type) ? null : (environmentOrNull?.id ?? null)
  return { accountId: key.accountId, environmentId, type }
}

/**
 * Publish a change to the webhooks that subscribe to it, if the change's transaction commits.
 *
 * tx       the transaction of the change.
 * body     the payload, in the form of the answer; or a function that reads it, called only if a webhook subscribes.
 * of       the feature or company of the change.
 * source   interface document. Changes of account-wide definitions are published in each environment: decision.
 */
export async function announce(
  tx: Sql,
  call: Asking,
  type: WebhookRequestType,
  body: unknown,
  of: string | null | { readonly companyId: string } = null,
): Promise<void> {
  const { webhooks } = call.services
  const about = typeof of === 'string' || of === null ? { featureId: of } : of
  const topic = { ...placeOf(call, type), ...about }
  if (webhooks.receivers(topic).length === 0) return
  await notify(tx, webhooks, topic, typeof body === 'function' ? await body() : body)
}

/** Read an object before its deletion if a webhook subscribes to it; else null. */
export async function readBeforeDelete<T>(
  call: Asking,
  type: WebhookRequestType,
  read: () => Promise<T>,
): Promise<T | null> {
  return call.services.webhooks.receivers(placeOf(call, type)).length > 0 ? read() : null
}
