// Company overrides: entitlements granted to one company beside its plans. They are part of the company's state: its
// actor decides, the journal stores, Postgres follows.

import { setTimeout as sleep } from 'node:timers/promises'
import type {
  CompanyOverride,
  CompanyOverrideCreate,
  CompanyOverrideUpdate,
} from '../../../schemas/entitlements.js'
import { requireRoomForOverride } from '../../account/definition-bounds.js'
import { newId } from '../../account/ids.js'
import type { OverrideState } from '../../core/model/company-state.js'
import type { StoredEntitlement } from '../../core/model/definitions.js'
import type { CompanyMessage } from '../../core/model/message.js'
import { quantityOrNull, storedOrNull } from '../../core/values/quantity.js'
import { Refused } from '../../entities/shards/shards.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { isKnown, orRefused, type Refusals } from '../../kit/entities.js'
import type { Exact } from '../../kit/long.js'
import { boolean, list, page, type QueryOf, query, string, text } from '../../kit/query.js'
import { requireTime } from '../../kit/time.js'
import { whole } from '../../kit/unchanged.js'
import { companyDetails } from '../companies/read.js'
import { shown } from '../entities/write.js'
import { type OverrideRow, overrideViews } from '../entitlements/override-view.js'
import { withGivenType, withValueType } from '../entitlements/value-type.js'
import {
  type EntitlementValue,
  exhaustible,
  normaliseValue,
  requireFeature,
  statedValue,
  type WritePlace,
} from '../entitlements/write.js'
import {
  countOverrideRows,
  deleteNotes,
  findOverride,
  findOverrideInForce,
  insertNote,
  listOverrideRows,
} from './store.js'

const listShape = {
  company_id: string,
  company_ids: list,
  feature_id: string,
  feature_ids: list,
  ids: list,
  without_expired: boolean,
  q: text(512),
  ...page,
} as const
export const overrideListQuery = query(listShape)
type OverrideListQuery = QueryOf<typeof listShape>

function unknownOverride(): ServiceError {
  return new ServiceError('not_found', 'Company override not found')
}

/** GET /company-overrides. Expired ones are listed by default (EN-60). */
export const listCompanyOverrides: Handler<undefined, OverrideListQuery> = async call => {
  const { services, environment, query, nowMs } = call
  const rows = await listOverrideRows(services.sql, environment.id, query, new Date(nowMs), query)
  return { data: await inFull(call, rows) }
}

/** Overrides in full, each with the present view of its company. */
async function inFull(
  call: Call<unknown, unknown>,
  rows: readonly OverrideRow[],
): Promise<CompanyOverride[]> {
  const views = await overrideViews(call.services.sql, call.environment.id, rows)
  const details = await companyDetails(call, [...new Set(rows.map(row => row.company_id))])
  const companies = new Map(details.map(company => [company.id, company]))
  return views.map(view => {
    const company = companies.get(view.company_id)
    return company ? { ...view, company } : view
  })
}

/** GET /company-overrides/count. */
export const countCompanyOverrides: Handler<undefined, OverrideListQuery> = async call => {
  const { services, environment, query, nowMs } = call
  return {
    data: { count: await countOverrideRows(services.sql, environment.id, query, new Date(nowMs)) },
  }
}

/** GET /company-overrides/{company_override_id}. */
export const getCompanyOverride: Handler = async call => ({
  data: await overrideOf(call, call.params.company_override_id!),
})

async function overrideOf(call: Call<unknown, unknown>, id: string): Promise<CompanyOverride> {
  const { sql } = call.services
  const row = await findOverride(sql, call.environment.id, id)
  if (!row) throw unknownOverride()
  const [view] = await inFull(call, [row])
  return view!
}

function writePlace({ services, key, environment, nowMs }: Call<unknown, unknown>): WritePlace {
  return { services, accountId: key.accountId, environmentId: environment.id, nowMs }
}

/** Error code and message for each refusal of the company's actor. */
const refusals: Refusals = {
  not_found: ['not_found', 'company_id: no such company'],
  override_exists: ['state_conflict', 'feature_id: the company already has an override of this feature'],
  override_not_found: ['not_found', 'Company override not found'],
  expired: ['value_invalid', 'expiration_date: lies in the past'],
}

/** Ask the company for a write. Returns whether Postgres shows it by now. */
async function ask(
  call: Call<unknown, unknown>,
  companyId: string,
  message: CompanyMessage,
): Promise<boolean> {
  const { services, environment, nowMs } = call
  const asked = services.shards.ask<string | null>('c', environment.id, companyId, message, nowMs)
  return shown(call, [await orRefused(asked, refusals)])
}

/** Write an override and its note. The answer is its row: where Postgres is behind, the write is taken (decision 32). */
async function put(
  call: Call<Exact<Pick<CompanyOverrideCreate, 'note'>>, unknown>,
  companyId: string,
  message: Extract<CompanyMessage, { type: 'put_override' }>,
): Promise<CompanyOverride> {
  const { id } = message.override
  const isShown = await ask(call, companyId, message)
  await addNote(call, id, call.body.note)
  if (!isShown) throw new ServiceError('store_away', 'Postgres is behind; try again')
  return overrideOf(call, id)
}

/**
 * POST /company-overrides. An expired override of the same feature makes room, and stays readable (EN-60).
 *
 * errors  400 for a second active one of the feature, an expiration in the past, a value that does not fit; 404 for
 *         an unknown company, feature, trait or credit.
 * source  EN-4, EN-18, EN-33, EN-60, EN-61.
 */
export const createCompanyOverride: Handler<Exact<CompanyOverrideCreate>> = async call => ({
  status: 201,
  data: await create(call),
})

async function create(call: Call<Exact<CompanyOverrideCreate>, unknown>): Promise<CompanyOverride> {
  const { body, services, key, nowMs } = call
  if (!isKnown(call, 'company', body.company_id))
    throw new ServiceError('not_found', 'company_id: no such company')
  await requireRoomForOverride(services.sql, body.company_id)
  const feature = await requireFeature(services.sql, key.accountId, body.feature_id)
  const value = normaliseValue(writePlace(call), feature, withValueType(feature, body), null)
  const id = newId('cmov_')
  const override: OverrideState = {
    id,
    entitlement: definition(id, feature.id, value, newId('rule_'), newId('rule_')),
    expiresAtMs: expiration(body.expiration_date, null, nowMs),
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  }
  return put(call, body.company_id, { type: 'put_override', override, replace: false })
}

/**
 * PUT /company-overrides: changes the override of the company and feature, or makes it where none is in force. Absent
 * members of one that is there are unchanged, null clears.
 *
 * errors  as for POST, and for PUT of the override itself.
 * source  EN-4, EN-60; decision.
 */
export const putCompanyOverride: Handler<Exact<CompanyOverrideCreate>> = async call => {
  const { services, environment, body, nowMs } = call
  const untilMs = performance.now() + lostRaceMsMax
  for (;;) {
    const now = new Date(nowMs)
    const row = await findOverrideInForce(services.sql, environment.id, body.company_id, body.feature_id, now)
    try {
      return { data: await (row ? change(call, row) : create(call)) }
    } catch (error) {
      // Another request made or deleted it meanwhile. The company refuses on what it knows; Postgres may not show that
      // yet, and it may not be committed yet, so no barrier waits for it.
      if (!isLostRace(error) || performance.now() > untilMs) throw error
      await sleep(lostRaceAgainMs)
    }
  }
}

/** How long an upsert of an override goes on after losing races, and its pause after each, milliseconds. */
const lostRaceMsMax = 10_000
const lostRaceAgainMs = 20

function isLostRace(error: unknown): boolean {
  const refused = error instanceof ServiceError && error.cause instanceof Refused ? error.cause.refusal : null
  return refused === 'override_exists' || refused === 'override_not_found'
}

/**
 * POST and PUT /company-overrides/{company_override_id}. Absent members are unchanged, null clears; another value
 * type, or a value of another type, clears the members it does not have. An expired override stays expired unless the body changes the expiration.
 *
 * source  EN-61, EN-64; decisions 6, 26 and 41. A note in the body is added to the notes: decision.
 */
export const changeCompanyOverride: Handler<Exact<CompanyOverrideUpdate>> = async call => {
  const { services, environment, params } = call
  const row = await findOverride(services.sql, environment.id, params.company_override_id!)
  if (!row) throw unknownOverride()
  return { data: await change(call, row) }
}

async function change(
  call: Call<Exact<CompanyOverrideUpdate>, unknown>,
  row: OverrideRow,
): Promise<CompanyOverride> {
  const { body, services, key, nowMs } = call
  const { id } = row
  const feature = await requireFeature(services.sql, key.accountId, row.feature_id)
  const present = { ...statedValue(storedValue(row.entitlement)), expiration_date: undefined }
  const said = whole(withGivenType(body), present)
  const value = normaliseValue(writePlace(call), feature, said, null)
  const { ruleId, ruleIdUsageExceeded } = row.entitlement
  const override: OverrideState = {
    id,
    entitlement: definition(id, feature.id, value, ruleId, ruleIdUsageExceeded ?? newId('rule_')),
    expiresAtMs: expiration(said.expiration_date, row.expires_at, nowMs),
    createdAtMs: row.created_at.getTime(),
    updatedAtMs: nowMs,
  }
  return put(call, row.company_id, { type: 'put_override', override, replace: true })
}

/** DELETE /company-overrides/{company_override_id}. source: AL-34 */
export const deleteCompanyOverride: Handler = async call => {
  const { services, environment, params } = call
  const row = await findOverride(services.sql, environment.id, params.company_override_id!)
  if (!row) throw unknownOverride()
  const isOver = row.expires_at !== null && row.expires_at.getTime() <= call.nowMs
  await ask(call, row.company_id, { type: 'delete_override', overrideId: row.id, isOver })
  await deleteNotes(services.sql, row.id)
  const noted = { deleted: true, company_id: row.company_id, feature_id: row.feature_id }
  return { data: { deleted: true }, noted }
}

/**
 * When an override ends, epoch ms; null: never.
 *
 * former  its present end; absent for a new one. It may be repeated even if it has passed.
 * errors  400 for any other past instant (EN-61).
 */
function expiration(given: string | null | undefined, former: Date | null, nowMs: number): number | null {
  if (given === null) return null
  const formerMs = former?.getTime() ?? null
  const endMs = given === undefined ? formerMs : requireTime(given, 'expiration_date')
  if (endMs !== null && endMs !== formerMs && endMs <= nowMs)
    throw new ServiceError('value_invalid', 'expiration_date: lies in the past')
  return endMs
}

/** The override's value in the form of a stored plan entitlement. */
function storedValue(entitlement: StoredEntitlement): EntitlementValue {
  return {
    value_type: entitlement.valueType,
    value_bool: entitlement.valueBool,
    value_numeric: quantityOrNull(entitlement.valueNumeric),
    value_trait_id: entitlement.valueTraitId,
    value_credit_id: entitlement.valueCreditId,
    consumption_rate: entitlement.consumptionRate,
    quantity_rates: entitlement.quantityRates ?? null,
    metric_period: entitlement.metricPeriod,
    metric_period_month_reset: entitlement.monthReset,
  }
}

function definition(
  id: string,
  featureId: string,
  value: EntitlementValue,
  ruleId: string,
  ruleIdUsageExceeded: string,
): StoredEntitlement {
  return {
    id,
    featureId,
    ruleId,
    ruleIdUsageExceeded: exhaustible(value) ? ruleIdUsageExceeded : null,
    valueType: value.value_type,
    valueBool: value.value_bool,
    valueNumeric: storedOrNull(value.value_numeric),
    valueTraitId: value.value_trait_id,
    valueCreditId: value.value_credit_id,
    consumptionRate: value.consumption_rate,
    quantityRates: value.quantity_rates,
    metricPeriod: value.metric_period,
    monthReset: value.metric_period_month_reset,
    priceBehavior: null,
    softLimit: null,
    tiers: null,
    tiersMode: null,
    unitPriceDecimal: null,
    warningTiers: [],
  }
}

async function addNote(
  { services, environment, nowMs }: Call<unknown, unknown>,
  overrideId: string,
  note: string | null | undefined,
): Promise<void> {
  if (!note) return
  await insertNote(
    services.sql,
    { id: newId('cmon_'), environmentId: environment.id, overrideId, text: note },
    nowMs,
  )
}
