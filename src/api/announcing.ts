// What handlers announce to webhooks after a change went through: one line each.
import type { WebhookRequestType } from '../../schemas/enums.js'
import type { Call } from './call.js'

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
 * Tell whoever asked that something was changed. Never waits and never fails.
 *
 * body     what the receiver is shown: as the answer to the caller shows it.
 * of       the feature or company it is about.
 * source   api/webhooks.md. A definition that the account's environments share is told in each of them: decision.
 */
export function announce(
  call: Asking,
  type: WebhookRequestType,
  body: unknown,
  of: string | null | { readonly companyId: string } = null,
): void {
  const whose = typeof of === 'string' || of === null ? { featureId: of } : of
  call.services.webhooks.announce({ ...placeOf(call, type), body, ...whose })
}

/** What is about to be deleted, read while it is there if somebody wants to be told; else null. */
export async function lastSight<T>(
  call: Asking,
  type: WebhookRequestType,
  read: () => Promise<T>,
): Promise<T | null> {
  return call.services.webhooks.wants(placeOf(call, type)) ? read() : null
}
