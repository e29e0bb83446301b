// Announcements of handlers to webhooks. They are stored in the transaction of the change, so a kill loses both or none.
import type { Sql } from 'postgres'
import type { WebhookRequestType } from '../../../schemas/enums.js'
import { notify } from '../../engine/webhooks/outbox.js'
import type { Call } from '../kit/call.js'

/** Definitions that every environment of the account shares: each is told. */
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
 * Tell whoever asks that something is changed, if the change's transaction is committed.
 *
 * tx       the transaction of the change.
 * body     what the receiver is shown: as the answer to the caller shows it; or how to read it, asked only when
 *          somebody is to be told.
 * of       the feature or company it is about.
 * source   api/webhooks.md. A definition that the account's environments share is told in each of them: decision.
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

/** What is about to be deleted, read while it is there if somebody wants to be told; else null. */
export async function lastSight<T>(
  call: Asking,
  type: WebhookRequestType,
  read: () => Promise<T>,
): Promise<T | null> {
  return call.services.webhooks.receivers(placeOf(call, type)).length > 0 ? read() : null
}
