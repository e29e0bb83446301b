// Converts a rule set from a request to its stored form: validates and normalises members, keeps ids and times.
import { isDeepStrictEqual } from 'node:util'
import type { ConditionType, EntityType } from '../../../schemas/enums.js'
import type * as wire from '../../../schemas/flags.js'
import type { StoredCondition, StoredGroup } from '../../catalog/rules.js'
import { type Quantity, quantityOrNull, storedQuantity } from '../../core/values/quantity.js'
import { ServiceError } from '../../errors.js'
import type { Exact } from '../../kit/long.js'
import { whole } from '../../kit/unchanged.js'

type ConditionWrite = Exact<wire.ConditionWrite>
type ConditionGroupWrite = Exact<wire.ConditionGroupWrite>
type RuleWrite = Exact<wire.RuleWrite>
type RulesWrite = Exact<wire.RulesWrite>

/** Rule types that callers may write; the others are generated from entitlements (EN-5). */
const writable = ['default', 'global_override', 'standard'] as const
type WritableType = (typeof writable)[number]

/** A stored rule, at its position in the list. */
export interface StoredRule {
  readonly id: string
  readonly name: string
  readonly rule_type: WritableType
  readonly priority: Quantity
  readonly value: boolean
  readonly conditions: readonly StoredCondition[]
  readonly condition_groups: readonly StoredGroup[]
  readonly created_at: string
  readonly updated_at: string
}

/** The environment's objects, looked up before a set is composed. */
export interface Known {
  /** The entity type of a trait definition, or null. */
  traitOf(id: string): EntityType | null
  hasCredit(id: string): boolean
  hasResource(type: ConditionType, id: string): boolean
}

type NewId = (prefix: string) => string

/**
 * Compose the complete rule set of a flag in one environment.
 *
 * write    the set; its order is kept (FE-12).
 * present  the set it replaces: entries of `write` with an id change one of these, others are created.
 * now      time of the change in wire form; an unchanged rule, group or condition keeps its own.
 * errors   `value_invalid` naming the member: an id unknown to this flag or used twice, a generated rule type, a
 *          trait, credit or resource that this environment does not have, a member missing for the condition type.
 * source   EN-5, FE-42…44; members that do not belong to the condition type are dropped: decision.
 */
export function composeRules(
  write: RulesWrite,
  present: readonly StoredRule[],
  known: Known,
  now: string,
  newId: NewId,
): StoredRule[] {
  const composer = new Composer(present, known, now, newId)
  return write.rules.map((rule, index) => composer.rule(rule, `rules[${index}]`))
}

function refuse(member: string, why: string): never {
  throw new ServiceError('value_invalid', `${member}: ${why}`)
}

interface Timed {
  readonly id: string
  readonly created_at: string
  readonly updated_at: string
}

class Composer {
  private readonly rules: ReadonlyMap<string, StoredRule>
  private readonly groups: ReadonlyMap<string, StoredGroup>
  private readonly conditions: ReadonlyMap<string, StoredCondition>
  private readonly taken = new Set<string>()

  constructor(
    present: readonly StoredRule[],
    private readonly known: Known,
    private readonly now: string,
    private readonly newId: NewId,
  ) {
    const groups = present.flatMap(rule => rule.condition_groups)
    const conditions = [
      ...present.flatMap(rule => rule.conditions),
      ...groups.flatMap(group => group.conditions),
    ]
    this.rules = byId(present)
    this.groups = byId(groups)
    this.conditions = byId(conditions)
  }

  rule(write: RuleWrite, at: string): StoredRule {
    const former = this.former(this.rules, write.id, at)
    const type = write.rule_type ?? former?.rule_type ?? 'standard'
    if (!isWritable(type)) refuse(`${at}.rule_type`, `${type} rules are generated from entitlements`)
    return this.timed('rule_', former, {
      name: write.name,
      rule_type: type,
      priority: write.priority,
      value: write.value,
      conditions: this.conditionsOf(write, former, at),
      condition_groups:
        write.condition_groups?.map((each, i) => this.group(each, `${at}.condition_groups[${i}]`)) ??
        former?.condition_groups ??
        [],
    })
  }

  private group(write: ConditionGroupWrite, at: string): StoredGroup {
    const former = this.former(this.groups, write.id, at)
    return this.timed('cgrp_', former, { conditions: this.conditionsOf(write, former, at) })
  }

  private conditionsOf(
    { conditions }: Pick<ConditionGroupWrite, 'conditions'>,
    former: { readonly conditions: readonly StoredCondition[] } | null,
    at: string,
  ): readonly StoredCondition[] {
    const said = conditions?.map((each, i) => this.condition(each, `${at}.conditions[${i}]`))
    return said ?? former?.conditions ?? []
  }

  private condition(write: ConditionWrite, at: string): StoredCondition {
    const former = this.former(this.conditions, write.id, at)
    const said = former ? whole(write, statedCondition(former)) : write
    const content = {
      ...none,
      condition_type: said.condition_type,
      operator: said.operator,
      ...this.ofType(said, at),
    }
    return this.timed('cond_', former, content)
  }

  private ofType(write: ConditionWrite, at: string): Partial<typeof none> {
    switch (write.condition_type) {
      case 'trait':
        return this.ofTrait(write, at)
      case 'metric':
        return this.ofMetric(write, at)
      case 'credit':
        return this.ofCredit(write, at)
      case 'base_plan':
      case 'billing_product':
      case 'company':
      case 'plan':
      case 'plan_version':
      case 'user':
        return { resource_ids: this.resources(write, at) }
    }
  }

  private resources(write: ConditionWrite, at: string): readonly string[] {
    const ids = write.resource_ids ?? []
    ids.forEach((id, i) => {
      if (!this.known.hasResource(write.condition_type, id))
        refuse(
          `${at}.resource_ids[${i}]`,
          `this environment has no such ${write.condition_type.replace('_', ' ')}`,
        )
    })
    return [...new Set(ids)]
  }

  /** FE-61, FE-62, FE-69: both traits belong to the same entity type. */
  private ofTrait(write: ConditionWrite, at: string) {
    if (write.trait_id == null) refuse(`${at}.trait_id`, 'needed by a trait condition')
    const entity = this.entityOf(write.trait_id, `${at}.trait_id`)
    return {
      trait_id: write.trait_id,
      trait_value: write.trait_value ?? '',
      ...(write.comparable_type && { comparable_type: write.comparable_type }),
      comparison_trait_id: this.comparison(write, entity, at),
    }
  }

  /** FE-42, FE-43, FE-44. */
  private ofMetric(write: ConditionWrite, at: string) {
    if (!write.event_subtype) refuse(`${at}.event_subtype`, 'needed by a metric condition')
    const compared = this.comparison(write, 'company', at)
    // The evaluator requires a literal even where it does not use it.
    const unused = compared !== null || write.operator === 'is_empty' || write.operator === 'not_empty'
    if (write.metric_value == null && !unused) refuse(`${at}.metric_value`, 'needed by a metric condition')
    const period = write.metric_period ?? 'all_time'
    return {
      event_subtype: write.event_subtype,
      metric_period: period,
      metric_period_month_reset: monthReset(period, write.metric_period_month_reset),
      metric_value: storedQuantity(write.metric_value ?? 0),
      comparison_trait_id: compared,
    }
  }

  private ofCredit(write: ConditionWrite, at: string) {
    if (write.credit_id == null) refuse(`${at}.credit_id`, 'needed by a credit condition')
    if (!this.known.hasCredit(write.credit_id))
      refuse(`${at}.credit_id`, 'this environment has no such credit')
    return {
      credit_id: write.credit_id,
      consumption_rate: write.credit_cost ?? null,
      event_subtype: write.event_subtype || null,
    }
  }

  private comparison(write: ConditionWrite, entity: EntityType, at: string): string | null {
    if (write.comparison_trait_id == null) return null
    const other = this.entityOf(write.comparison_trait_id, `${at}.comparison_trait_id`)
    if (other !== entity) refuse(`${at}.comparison_trait_id`, `must be a ${entity} trait`)
    return write.comparison_trait_id
  }

  private entityOf(traitId: string, member: string): EntityType {
    return this.known.traitOf(traitId) ?? refuse(member, 'this environment has no such trait')
  }

  /** The present entry with this id; each may be used once. */
  private former<T>(present: ReadonlyMap<string, T>, id: string | null | undefined, at: string): T | null {
    if (id == null) return null
    const former = present.get(id) ?? refuse(`${at}.id`, 'no such entry among the present rules of the flag')
    if (this.taken.has(id)) refuse(`${at}.id`, 'is there twice')
    this.taken.add(id)
    return former
  }

  private timed<T extends Timed>(prefix: string, former: T | null, content: Omit<T, keyof Timed>): T {
    const { now } = this
    if (former === null) return { id: this.newId(prefix), ...content, created_at: now, updated_at: now } as T
    const { id, created_at, updated_at } = former
    const same = { id, ...content, created_at, updated_at } as T
    return isDeepStrictEqual(same, former) ? former : { ...same, updated_at: now }
  }
}

/** The optional members of an existing condition. Members of another type are dropped (decision 26). */
function statedCondition(condition: StoredCondition) {
  const { metric_period, metric_period_month_reset, metric_value, consumption_rate } = condition
  const { trait_id, trait_value, comparison_trait_id, event_subtype, credit_id } = condition
  const compared = { trait_id, trait_value, comparison_trait_id, event_subtype, credit_id }
  const comparable_type = condition.comparable_type ?? null
  return {
    ...compared,
    comparable_type,
    metric_period,
    metric_period_month_reset,
    metric_value: quantityOrNull(metric_value),
    credit_cost: consumption_rate,
  }
}

/** A condition with all members empty. */
const none: Omit<StoredCondition, keyof Timed | 'condition_type' | 'operator'> = {
  resource_ids: [],
  trait_id: null,
  trait_value: '',
  comparison_trait_id: null,
  event_subtype: null,
  metric_period: null,
  metric_period_month_reset: null,
  metric_value: null,
  credit_id: null,
  consumption_rate: null,
}

/** The month reset. The default is first_of_month (EN-12); with another period than the month it is the only value (FE-43). */
function monthReset(
  period: NonNullable<ConditionWrite['metric_period']>,
  given: ConditionWrite['metric_period_month_reset'],
): StoredCondition['metric_period_month_reset'] {
  if (period === 'current_month') return given ?? 'first_of_month'
  return given == null ? null : 'first_of_month'
}

function isWritable(type: string): type is WritableType {
  return writable.some(each => each === type)
}

function byId<T extends { readonly id: string }>(entries: readonly T[]): ReadonlyMap<string, T> {
  return new Map(entries.map(entry => [entry.id, entry]))
}
