// The change of fewest conditions after which a flag has the other value. A change is tried on the judged rules before it is
// told: what would not change the answer is never proposed.
import type { ExplainedCondition, ExplainedRule } from './explained.js'

export interface SmallestChange {
  readonly ruleId: string
  /** `match`: the rule must match; `no_match`: it must not. */
  readonly needs: 'match' | 'no_match'
  /** Ids of the conditions that must turn. */
  readonly conditionIds: readonly string[]
  readonly text: string
  /** When time alone brings it, epoch ms; null: it does not. */
  readonly atMs: number | null
}

type Turned = readonly ExplainedCondition[]

/**
 * The smallest change: let a rule of the other value match, or stop the one that decided and those like it that come next. The
 * first in the order wins among equal ones.
 *
 * rules    judged, in the order they are tried.
 * returns  null: no turn of conditions changes the answer.
 */
export function smallestChange(
  rules: readonly ExplainedRule[],
  defaultValue: boolean,
): SmallestChange | null {
  const value = valueAfter(rules, defaultValue, [])
  const found: SmallestChange[] = []
  for (const rule of rules) {
    const failed = rule.value === value ? [] : failures(rule)
    if (failed.length > 0 && valueAfter(rules, defaultValue, failed) !== value)
      found.push(changeOf(rule, 'match', failed))
  }
  const stopped = stops(rules, defaultValue, value)
  if (stopped !== null) found.push(stopped)
  return found.reduce<SmallestChange | null>(
    (least, one) => (least === null || one.conditionIds.length < least.conditionIds.length ? one : least),
    null,
  )
}

/** The value when these conditions come out the other way, wherever they are used. */
function valueAfter(rules: readonly ExplainedRule[], defaultValue: boolean, turned: Turned): boolean {
  return rules.find(rule => matches(rule, turned))?.value ?? defaultValue
}

function matches({ always, conditions, conditionGroups }: ExplainedRule, turned: Turned): boolean {
  const ids = new Set(turned.map(({ id }) => id))
  const holds = ({ id, held }: ExplainedCondition) => held !== ids.has(id)
  return always || (conditions.every(holds) && conditionGroups.every(group => group.some(holds)))
}

/** Stop the rule that decided, and each that then decides alike, until the value is the other one; null: one cannot be stopped. */
function stops(
  rules: readonly ExplainedRule[],
  defaultValue: boolean,
  value: boolean,
): SmallestChange | null {
  const decider = rules.find(({ decided }) => decided)
  const turned: ExplainedCondition[] = []
  for (let rule = decider; rule !== undefined; rule = rules.find(one => matches(one, turned))) {
    const stop = rule.value === value ? stopOf(rule, turned) : null
    if (stop === null) break
    turned.push(...stop)
  }
  if (decider === undefined || turned.length === 0) return null
  return valueAfter(rules, defaultValue, turned) === value ? null : changeOf(decider, 'no_match', turned)
}

/** The fewest conditions without which a rule does not match: one of all, or those that hold in a group. */
function stopOf({ always, conditions, conditionGroups }: ExplainedRule, turned: Turned): Turned | null {
  if (always) return null
  const isFree = ({ id }: ExplainedCondition) => turned.every(one => one.id !== id)
  const ways = [
    ...conditions.map(one => [one]),
    ...conditionGroups.map(group => group.filter(({ held }) => held)),
  ]
  const free = ways.filter(way => way.length > 0 && way.every(isFree))
  return free.reduce<Turned | null>((least, way) => (least && least.length <= way.length ? least : way), null)
}

/** Conditions that must turn for a rule to match: those that failed, and the first of each group that failed. */
function failures({ conditions, conditionGroups }: ExplainedRule): ExplainedCondition[] {
  const failed = conditions.filter(({ held }) => !held)
  for (const group of conditionGroups)
    if (group.length > 0 && !group.some(({ held }) => held)) failed.push(group[0]!)
  return failed
}

function changeOf(rule: ExplainedRule, needs: SmallestChange['needs'], turned: Turned): SmallestChange {
  const resets = turned.map(one => (one.turnsAtReset ? one.resetAtMs : null))
  const byTime = resets.every(atMs => atMs !== null)
  return {
    ruleId: rule.id,
    needs,
    conditionIds: turned.map(({ id }) => id),
    text: turned.map(turnOf).join(' and '),
    atMs: byTime ? Math.max(...resets.map(atMs => atMs!)) : null,
  }
}

/** How a condition would turn, in words. */
function turnOf({
  conditionType,
  operator,
  subject,
  expected,
  saw,
  held,
  resourceIds,
}: ExplainedCondition): string {
  if (conditionType === 'metric' && saw !== null) {
    const used = saw.split(' + ').reduce((sum, part) => sum + BigInt(part), 0n)
    if (!held && operator === 'lt') return `${subject}: a limit of at least ${used + 1n}`
    if (!held && operator === 'lte') return `${subject}: a limit of at least ${used}`
    if (held && operator === 'lt') return `${subject}: a limit of at most ${used}`
    return `${subject} ${held ? 'not ' : ''}${operator} ${expected}`
  }
  if (conditionType === 'credit')
    return `${held ? 'too few' : 'enough'} ${subject} for one use (${saw ?? 0} remain)`
  const wanted = resourceIds.length > 3 ? `one of ${resourceIds.length}` : expected
  return `${subject} ${held ? 'not ' : ''}${operator} ${wanted}`
}
