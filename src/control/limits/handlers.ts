// Rate limits of the account, where they differ from the defaults.
import type { LimitsUpdate } from '../../../schemas/limits.js'
import type { Handler } from '../../kit/call.js'
import { whole } from '../../kit/unchanged.js'

/** GET /limits: the account's own limits; null for a default. source: decision */
export const getLimits: Handler = async ({ services: { accountLimits, sql }, key: { accountId } }) => ({
  data: { account_id: accountId, limits: await accountLimits.stored(sql, accountId) },
})

/**
 * PUT /limits. In force from the next request; buckets start full. Limits not named keep the defaults.
 *
 * source  decision: limits can be raised per account.
 */
export const setLimits: Handler<LimitsUpdate> = async call => {
  const { services, key, body } = call
  const { limits } = whole(body, { limits: services.accountLimits.get(key.accountId) })
  await services.accountLimits.set(key.accountId, limits, services.clock.wall(), async tx => {
    await call.holds?.(tx)
    await call.record?.(tx)
  })
  return { data: { account_id: key.accountId, limits: services.accountLimits.get(key.accountId) } }
}
