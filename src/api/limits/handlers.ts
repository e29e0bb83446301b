// Request limits of the account: what differs from those of everyone.
import type { LimitsUpdate } from '../../../schemas/limits.js'
import type { Handler } from '../kit/call.js'
import { whole } from '../kit/unchanged.js'

/** GET /limits: the account's own limits, null when it has those of everyone. source: decision */
export const getLimits: Handler = ({ services, key }) => ({
  data: { account_id: key.accountId, limits: services.accountLimits.get(key.accountId) },
})

/**
 * PUT /limits: in force for the next request; buckets start full and those not named keep the common numbers.
 *
 * source  service.md section 8, "limits can be raised per account on request"; the operation: decision
 */
export const setLimits: Handler<LimitsUpdate> = async call => {
  const { services, key, body } = call
  const { limits } = whole(body, { limits: services.accountLimits.get(key.accountId) })
  await services.accountLimits.set(key.accountId, limits, services.clock.wall(), async tx =>
    call.record?.(tx),
  )
  return { data: { account_id: key.accountId, limits: services.accountLimits.get(key.accountId) } }
}
