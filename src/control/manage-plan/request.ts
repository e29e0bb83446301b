// The request of a change of plans: its company by id or by keys, and its lists, of which those left out are empty.
import type { ManagePlanRequest, ManagePlanRequestBody } from '../../../schemas/billing.js'
import type { Keys } from '../../../schemas/companies.js'
import type { Target } from '../../entities/directory/entities.js'
import { ServiceError } from '../../errors.js'
import type { Answer, Call, Handler } from '../../kit/call.js'
import { entityUnknown, orRefused, type Refusals } from '../../kit/entities.js'
import { namedBy, readyUpsert, requireKeys, shown } from '../entities/write.js'

type Asked = Call<ManagePlanRequestBody>

const refusals: Refusals = {
  key_remap: ['state_conflict', 'company: one of the keys was given to another company meanwhile'],
}

/**
 * A handler of the whole request, for bodies as callers send them.
 *
 * unknown  `made`: a company with unknown keys is made first, and taken back if the change is refused then. `known`: it is
 *          404.
 * errors   400 for a company named twice or not at all, for keys of two companies, and for a body that wants nothing, because
 *          what is left out is left (PB-30); 404 for an unknown id among the keys. An unknown base plan is refused before
 *          a company is made.
 * source   decision 41.
 */
export const onCompany =
  (handler: Handler<ManagePlanRequest>, unknown: 'made' | 'known'): Handler<ManagePlanRequestBody> =>
  async call => {
    requireWish(call.body)
    const { company, company_id: given, ...rest } = call.body
    if (company == null && given == null)
      throw new ServiceError('value_invalid', 'company_id is required: an id, or the keys as company')
    if (company != null && given != null)
      throw new ServiceError('value_invalid', 'company: not together with company_id')
    const named = given == null ? await byKeys(call, company!, unknown) : { id: given, made: null }
    const body: ManagePlanRequest = {
      ...rest,
      company_id: named.id,
      add_on_selections: rest.add_on_selections ?? [],
      credit_bundles: rest.credit_bundles ?? [],
      custom_field_values: rest.custom_field_values ?? [],
      pay_in_advance_entitlements: rest.pay_in_advance_entitlements ?? [],
    }
    const whole = Object.create(call, { body: { value: body } }) as Call<ManagePlanRequest>
    try {
      return (await handler(whole)) as Answer
    } catch (error) {
      const isRefused = error instanceof ServiceError && error.status < 500
      if (named.made !== null && isRefused) {
        const { target, sequence } = named.made
        await call.services.entities.takeBack(target, sequence, call.nowMs)
      }
      throw error
    }
  }

function requireWish(body: ManagePlanRequestBody): void {
  const { add_on_selections, credit_bundles, pay_in_advance_entitlements } = body
  const lists = [add_on_selections, credit_bundles, pay_in_advance_entitlements]
  if (body.base_plan_id === undefined && lists.every(list => list == null))
    throw new ServiceError(
      'value_invalid',
      'base_plan_id is required: the id of a plan; null leaves the plan',
    )
}

/** A company by its keys; `made`: this request has made it, with the sequence of its creation. */
interface Named {
  readonly id: string
  readonly made: { readonly target: Target; readonly sequence: number } | null
}

async function byKeys(call: Asked, keys: Keys, unknown: 'made' | 'known'): Promise<Named> {
  const { services, environment, body, nowMs } = call
  requireKeys(keys, 'company')
  const known = namedBy(call, 'company', keys)
  if (known !== null) return { id: known, made: null }
  if (unknown === 'known') throw entityUnknown('company')
  const plans = services.catalogs.get(environment.id).plans
  if (body.base_plan_id != null && !plans.some(plan => plan.id === body.base_plan_id))
    throw new ServiceError('not_found', 'base_plan_id: no such plan')
  const { target, write, creates } = readyUpsert(call, 'company', { keys })
  const message = {
    type: 'upsert',
    write,
    updateOnly: false,
    preventRemap: true,
    basePlanId: null,
    basePlanPriceId: null,
  } as const
  const { reply, sequence, shard } = await orRefused(services.entities.ask(target, message, nowMs), refusals)
  await shown(call, [{ shard, sequence }])
  return { id: target.id, made: creates && reply.created ? { target, sequence } : null }
}
