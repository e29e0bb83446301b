// Data of Postgres that HTTP threads cache besides definitions: which requests change it, and how it is read
// again.

import type { ServiceClock } from '../account/clock.js'
import type { KeyRing } from '../account/keys.js'
import type { AccountLimits } from '../account/limits.js'
import type { ModelPrices } from '../account/model-prices.js'
import type { CatalogCache, Version } from '../catalog/cache.js'
import type { Webhooks } from '../control/webhooks/subscriptions.js'

/** Names, by the first part of a path. */
const changedBy: Readonly<Record<string, string>> = {
  'api-keys': 'keys',
  environments: 'keys',
  limits: 'limits',
  'model-prices': 'prices',
  webhooks: 'webhooks',
}

/**
 * The name of the data that other nodes read again after a change under this path; null: only definitions
 * changed.
 */
export function reloadedBy(path: string): string | null {
  return changedBy[path.split('/')[1]!] ?? null
}

/** Returns the function that reads data again, by name. */
export function reloading(parts: {
  readonly keys: KeyRing
  readonly clock: ServiceClock
  readonly accountLimits: AccountLimits
  readonly webhooks: Webhooks
  readonly modelPrices: ModelPrices
  readonly catalogs: CatalogCache
}): (what: string, given: unknown) => Promise<void> {
  const { keys, clock, accountLimits, webhooks, modelPrices, catalogs } = parts
  return async (what, given) => {
    switch (what) {
      case 'definitions':
        await Promise.all((given as readonly Version[]).map(({ id, version }) => catalogs.heard(id, version)))
        return
      case 'keys':
        await Promise.all([keys.load(), clock.reload()])
        return
      case 'limits':
        return accountLimits.load()
      case 'prices':
        return modelPrices.load()
      case 'webhooks':
        return webhooks.load()
    }
  }
}
