// Definitions of flags and their rules. Flags belong to the account and are the same in every environment. A rule
// belongs to a flag in one environment, because its conditions name companies, users and traits of that environment
// (PB-1; rules per environment: decision).
import type { Sql } from 'postgres'
import type { ConditionType } from '../../../schemas/enums.js'
import type {
  FlagDetail,
  FlagUpdate,
  FlagWrite,
  RuleDetail,
  RulesDetail,
  RulesUpdate,
  RulesWrite,
} from '../../../schemas/flags.js'
import { newId } from '../../account/ids.js'
import { ServiceError } from '../../errors.js'
import type { Call, EnvironmentRecord, Handler } from '../../kit/call.js'
import type { Exact } from '../../kit/long.js'
import { list, oneOf, page, type QueryOf, query, string, text } from '../../kit/query.js'
import type { Services } from '../../kit/services.js'
import { isoTime } from '../../kit/time.js'
import { whole } from '../../kit/unchanged.js'
import { mayChangeFeature, mayChangeFlag } from '../account/definitions-in-use.js'
import { ensureTraitsInPostgres } from '../traits/rows.js'
import { announce, readBeforeDelete } from '../webhooks/publish.js'
import { composeRules, type Known } from './rules.js'
import {
  countFlagRows,
  deleteFlagRow,
  type FlagFilter,
  listFlagRows,
  replaceRules,
  ruleRows,
  storedRules,
} from './store.js'
import { flagSummaries } from './summaries.js'
import { type FlagRow, flagDetails, flagView, type Outlook, ruleDetails } from './view.js'
import { type FlagChange, findFlag, insertFlag, updateFlag } from './write.js'

const listShape = {
  feature_id: string,
  ids: list,
  q: text(512),
  view: oneOf(['full', 'summary'] as const),
  ...page,
} as const
export const flagListQuery = query(listShape)
type FlagListQuery = QueryOf<typeof listShape>

function filterOf({ key, query }: Call<undefined, FlagListQuery>): FlagFilter {
  return { accountId: key.accountId, featureId: query.feature_id, ids: query.ids, q: query.q }
}

function outlookOf({ services, key, environmentOrNull }: Call<unknown, unknown>): Outlook {
  return { services, accountId: key.accountId, environment: environmentOrNull }
}

function unknownFlag(): ServiceError {
  return new ServiceError('not_found', 'Flag not found')
}

/** GET /flags. */
export const listFlags: Handler<undefined, FlagListQuery> = async call => {
  const { sql } = call.services
  const rows = await listFlagRows(sql, filterOf(call), call.query)
  if (call.query.view === 'summary') return { data: await flagSummaries(sql, outlookOf(call), rows) }
  return { data: await flagDetails(sql, outlookOf(call), rows) }
}

/** GET /flags/count. */
export const countFlags: Handler<undefined, FlagListQuery> = async call => ({
  data: { count: await countFlagRows(call.services.sql, filterOf(call)) },
})

/** GET /flags/{flag_id}. */
export const getFlag: Handler = async call => {
  const { sql } = call.services
  const row = await findFlag(sql, call.key.accountId, call.params.flag_id!)
  if (!row) throw unknownFlag()
  return { data: await detailOf(sql, call, row) }
}

async function detailOf(sql: Sql, call: Call<unknown, unknown>, row: FlagRow): Promise<FlagDetail> {
  const [detail] = await flagDetails(sql, outlookOf(call), [row])
  return detail!
}

// Write a flag in the scope of the account and return it as the same transaction sees it.
async function write(
  call: Call<unknown, unknown>,
  told: 'flag.created' | 'flag.updated',
  work: (sql: Sql, nowMs: number) => Promise<FlagRow>,
): Promise<FlagDetail> {
  const { services, key } = call
  return services.catalogs.change({ accountId: key.accountId, environmentId: null }, async tx => {
    const detail = await detailOf(tx, call, await work(tx, services.clock.wall()))
    await announce(tx, call, told, detail, detail.feature_id)
    return detail
  })
}

function membersOf(body: FlagWrite) {
  return {
    key: body.key,
    name: body.name,
    description: body.description,
    defaultValue: body.default_value,
    featureId: body.feature_id,
    maintainerId: body.maintainer_account_member_id,
  } satisfies FlagChange
}

/**
 * POST /flags.
 *
 * errors  400 when the key or the feature is taken (EN-1); 403 for a feature in use in another environment
 *         (definitions-in-use.ts); 404 for an unknown feature or maintainer.
 */
export const createFlag: Handler<FlagWrite> = async call => {
  const { accountId } = call.key
  const data = await write(call, 'flag.created', async (tx, nowMs) => {
    const { feature_id: featureId } = call.body
    const row = await insertFlag(tx, accountId, membersOf(call.body), nowMs)
    if (featureId != null) await mayChangeFeature(tx, call, featureId)
    return row
  })
  return { status: 201, data }
}

/** The optional members of a flag, filled from its row. */
function statedFlag(row: FlagRow): Required<FlagWrite> {
  const { key, name, description, default_value, flag_type, feature_id, maintainer_account_member_id } = row
  return { key, name, description, default_value, flag_type, feature_id, maintainer_account_member_id }
}

/**
 * PUT /flags/{flag_id}. Absent members are unchanged; null clears `feature_id` and the maintainer. Errors: as
 * `createFlag`, and 403 for a flag in use in another environment.
 */
export const changeFlag: Handler<FlagUpdate> = async call => {
  const detail = await write(call, 'flag.updated', async (tx, nowMs) => {
    const former = await findFlag(tx, call.key.accountId, call.params.flag_id!)
    if (!former) throw unknownFlag()
    await mayChangeFlag(tx, call, former)
    const row = await updateFlag(tx, former, membersOf(whole(call.body, statedFlag(former))), nowMs)
    if (row.feature_id !== null && row.feature_id !== former.feature_id)
      await mayChangeFeature(tx, call, row.feature_id)
    return row
  })
  return { data: detail }
}

/**
 * DELETE /flags/{flag_id}, with its rules. Its feature remains, without a flag. 403 for a flag in use in another
 * environment.
 */
export const deleteFlag: Handler = async call => {
  const { services, key, params } = call
  const gone = await readBeforeDelete(call, 'flag.deleted', async () => {
    const row = await findFlag(services.sql, key.accountId, params.flag_id!)
    return row && detailOf(services.sql, call, row)
  })
  const { name } = await services.catalogs.change(
    { accountId: key.accountId, environmentId: null },
    async tx => {
      const row = await findFlag(tx, key.accountId, params.flag_id!)
      if (!row) throw unknownFlag()
      await mayChangeFlag(tx, call, row)
      if (!(await deleteFlagRow(tx, key.accountId, row.id))) throw unknownFlag()
      await announce(tx, call, 'flag.deleted', gone, gone?.feature_id)
      return row
    },
  )
  return { data: { deleted: true }, noted: { deleted: true, name } }
}

/**
 * PUT /flags/{flag_id}/rules: replaces the environment's rule set. An entry with an id changes that rule, group or
 * condition; one without is created; entries not in the body are deleted.
 *
 * errors  400 naming the member (see `composeRules`); 404 for the flag.
 * source  interface document; EN-5.
 */
export const putRules: Handler<Exact<RulesUpdate>> = async call => {
  const { services, key, environment, params, body, nowMs } = call
  const data = await services.catalogs.change(
    { accountId: key.accountId, environmentId: environment.id },
    async tx => {
      const flag = await findFlag(tx, key.accountId, params.flag_id!)
      if (!flag) throw unknownFlag()
      const present = await storedRules(tx, environment.id, flag.id)
      const former = await readBeforeDelete(call, 'rule.deleted', async () =>
        ruleDetails(tx, outlookOf(call), await ruleRows(tx, environment.id, flag.id)),
      )
      // a body without `rules` leaves them unchanged (decision 26)
      if (!body.rules)
        return {
          rules: await ruleDetails(tx, outlookOf(call), await ruleRows(tx, environment.id, flag.id)),
          flag: flagView(flag),
        } satisfies RulesDetail
      const wanted = { rules: body.rules }
      const known = await knownOf(tx, services, environment, wanted, nowMs)
      const rules = composeRules(wanted, present, known, isoTime(nowMs), newId)
      const rows = await replaceRules(tx, environment.id, flag.id, rules)
      const detail: RulesDetail = {
        rules: await ruleDetails(tx, outlookOf(call), rows),
        flag: flagView(flag),
      }
      await announceRules(tx, call, detail, former ?? [])
      return detail
    },
  )
  return { data }
}

// Publish one notification per rule created, changed or deleted.
async function announceRules(
  tx: Sql,
  call: Call<unknown, unknown>,
  { flag, rules }: RulesDetail,
  former: readonly RuleDetail[],
): Promise<void> {
  const changedAt = isoTime(call.nowMs)
  const kept = new Set(rules.map(rule => rule.id))
  for (const rule of rules)
    if (rule.updated_at === changedAt) await announce(tx, call, 'flag_rules.updated', rule, flag?.feature_id)
  for (const rule of former)
    if (!kept.has(rule.id)) await announce(tx, call, 'rule.deleted', rule, flag?.feature_id)
}

// Look up what the set's entries name. Billing products are not looked up: subscriptions may have products without a
// plan, and an unknown product makes a condition that never holds.
async function knownOf(
  sql: Sql,
  { catalogs, traits, directory }: Services,
  environment: EnvironmentRecord,
  write: Exact<RulesWrite>,
  nowMs: number,
): Promise<Known> {
  const conditions = write.rules.flatMap(rule => [
    ...(rule.conditions ?? []),
    ...(rule.condition_groups ?? []).flatMap(group => group.conditions ?? []),
  ])
  const { plans, credits: known } = catalogs.get(environment.id)
  const credits = new Set(known.map(credit => credit.id))
  const resources = new Set(plans.flatMap(plan => [plan.id, ...plan.versions.map(version => version.id)]))
  const named = conditions.flatMap(each => [each.trait_id, each.comparison_trait_id]).filter(id => id != null)
  await ensureTraitsInPostgres(sql, traits, environment.id, named, nowMs)
  return {
    traitOf: id => traits.byId(environment.id, id)?.entityType ?? null,
    hasCredit: id => credits.has(id),
    hasResource(type, id) {
      if (type === 'billing_product') return true
      if (!id.startsWith(prefixes[type]!)) return false
      return type === 'company' || type === 'user' ? directory.has(environment.id, id) : resources.has(id)
    },
  }
}

const prefixes: Readonly<Partial<Record<ConditionType, string>>> = {
  company: 'comp_',
  user: 'user_',
  plan: 'plan_',
  base_plan: 'plan_',
  plan_version: 'plvr_',
}
