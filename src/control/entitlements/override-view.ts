// Company overrides in their wire form.
import type { Sql } from 'postgres'
import type { CompanyOverride } from '../../../schemas/entitlements.js'
import type { StoredEntitlement } from '../../core/model/definitions.js'
import { quantityOrNull } from '../../core/values/quantity.js'
import { long } from '../../kit/long.js'
import { among } from '../../kit/sql.js'
import { isoTime, isoTimeOrNull } from '../../kit/time.js'
import { creditViews } from '../credits/view.js'
import { featureViews } from '../flags/feature-view.js'
import { traitViews } from '../traits/rows.js'
import { distinct } from './view.js'

/** A row of company_overrides. */
export interface OverrideRow {
  readonly id: string
  readonly environment_id: string
  readonly company_id: string
  readonly feature_id: string
  readonly entitlement: StoredEntitlement
  readonly expires_at: Date | null
  readonly created_at: Date
  readonly updated_at: Date
}

/** A row of company_override_notes. */
interface NoteRow {
  readonly id: string
  readonly override_id: string
  readonly note: string
  readonly external_user_id: string
  readonly external_user_name: string
  readonly created_at: Date
  readonly updated_at: Date
}

/** Overrides in full, in the order of the rows. */
export async function overrideViews(
  sql: Sql,
  environmentId: string,
  rows: readonly OverrideRow[],
): Promise<CompanyOverride[]> {
  const notes = await notesOf(
    sql,
    rows.map(row => row.id),
  )
  const features = await featureViews(sql, distinct(rows.map(row => row.feature_id)), environmentId)
  const traits = await traitViews(sql, distinct(rows.map(row => row.entitlement.valueTraitId)))
  const credits = await creditViews(
    sql,
    rows.map(row => row.entitlement.valueCreditId),
  )
  return rows.map(row => {
    const feature = features.get(row.feature_id)
    const credit = credits.get(row.entitlement.valueCreditId ?? '')
    const trait = traits.get(row.entitlement.valueTraitId ?? '')
    return {
      ...members(row),
      ...(feature && { feature }),
      ...(trait && { value_trait: trait }),
      ...(credit && { value_credit: credit }),
      notes: notes.filter(note => note.override_id === row.id).map(noteView),
    }
  })
}

function members(row: OverrideRow) {
  const { entitlement } = row
  return {
    id: row.id,
    environment_id: row.environment_id,
    company_id: row.company_id,
    feature_id: row.feature_id,
    rule_id: entitlement.ruleId,
    rule_id_usage_exceeded: entitlement.ruleIdUsageExceeded,
    value_type: entitlement.valueType,
    value_bool: entitlement.valueBool,
    value_numeric: long(quantityOrNull(entitlement.valueNumeric)),
    value_trait_id: entitlement.valueTraitId,
    value_credit_id: entitlement.valueCreditId,
    consumption_rate: entitlement.consumptionRate,
    ...(entitlement.quantityRates && { quantity_rates: entitlement.quantityRates }),
    metric_period: entitlement.metricPeriod,
    metric_period_month_reset: entitlement.monthReset,
    expiration_date: isoTimeOrNull(row.expires_at?.getTime()),
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

function noteView(row: NoteRow) {
  return {
    id: row.id,
    note: row.note,
    external_user_id: row.external_user_id,
    external_user_name: row.external_user_name,
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }
}

/** Notes of overrides, oldest first. */
async function notesOf(sql: Sql, overrideIds: readonly string[]): Promise<readonly NoteRow[]> {
  if (overrideIds.length === 0) return []
  return sql<NoteRow[]>`
    select * from company_override_notes where override_id in ${among(sql, overrideIds)} order by created_at, id`
}
