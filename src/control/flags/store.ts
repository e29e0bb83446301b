// Statements of flags and their rules.
import type { Sql } from 'postgres'
import { readQuantity } from '../../core/values/quantity.js'
import { among, asJson, contains, newest } from '../../kit/sql.js'
import { isoTime } from '../../kit/time.js'
import type { StoredRule } from './rules.js'
import type { FlagRow, RuleRow } from './view.js'

export interface FlagFilter {
  readonly accountId: string
  readonly featureId: string | undefined
  readonly ids: readonly string[] | undefined
  /** Part of a name, key or id. */
  readonly q: string | undefined
}

function matching(sql: Sql, filter: FlagFilter) {
  const { featureId, ids, q } = filter
  return sql`account_id = ${filter.accountId}
    ${featureId === undefined ? sql`` : sql`and feature_id = ${featureId}`}
    ${ids ? sql`and id in ${among(sql, ids)}` : sql``}
    ${q ? sql`and (${contains(sql, 'name', q)} or ${contains(sql, 'key', q)} or ${contains(sql, 'id', q)})` : sql``}`
}

export function listFlagRows(
  sql: Sql,
  filter: FlagFilter,
  page: { readonly limit: number; readonly offset: number },
): Promise<readonly FlagRow[]> {
  return sql<FlagRow[]>`select * from flags where ${matching(sql, filter)} ${newest(sql, page)}`
}

export async function countFlagRows(sql: Sql, filter: FlagFilter): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from flags where ${matching(sql, filter)}`
  return row!.count
}

/** False when the account has no such flag. Its rules are deleted with it. */
export async function deleteFlagRow(sql: Sql, accountId: string, id: string): Promise<boolean> {
  const rows = await sql`delete from flags where id = ${id} and account_id = ${accountId} returning id`
  return rows.length > 0
}

/** The rule set of a flag in one environment, in its order. */
export function ruleRows(sql: Sql, environmentId: string, flagId: string): Promise<readonly RuleRow[]> {
  return sql<RuleRow[]>`
    select * from rules where flag_id = ${flagId} and environment_id = ${environmentId} order by position, id`
}

/** The stored rule set in the form that `composeRules` takes. */
export async function storedRules(sql: Sql, environmentId: string, flagId: string): Promise<StoredRule[]> {
  const rows = await ruleRows(sql, environmentId, flagId)
  return rows.map(row => ({
    id: row.id,
    name: row.name,
    rule_type: row.rule_type as StoredRule['rule_type'],
    priority: readQuantity(row.priority),
    value: row.value,
    conditions: row.conditions,
    condition_groups: row.condition_groups,
    created_at: isoTime(row.created_at.getTime()),
    updated_at: isoTime(row.updated_at.getTime()),
  }))
}

/** Replace the present rule set. */
export async function replaceRules(
  sql: Sql,
  environmentId: string,
  flagId: string,
  rules: readonly StoredRule[],
): Promise<readonly RuleRow[]> {
  await sql`delete from rules where flag_id = ${flagId} and environment_id = ${environmentId}`
  if (rules.length === 0) return []
  const rows = rules.map((rule, position) => ({
    id: rule.id,
    flag_id: flagId,
    environment_id: environmentId,
    name: rule.name,
    rule_type: rule.rule_type,
    priority: String(rule.priority),
    value: rule.value,
    position,
    conditions: asJson(sql, rule.conditions),
    condition_groups: asJson(sql, rule.condition_groups),
    created_at: new Date(rule.created_at),
    updated_at: new Date(rule.updated_at),
  }))
  const inserted = await sql<RuleRow[]>`insert into rules ${sql(rows)} returning *`
  return inserted.toSorted((a, b) => a.position - b.position)
}
