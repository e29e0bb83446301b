// The rules of a flag as the console writes them, and the change that turns a flag on or off for one company.
import { api, type Schemas } from '../app/api.js'
import { useHere } from '../app/place.js'
import { useAct } from '../ui/act.js'
import { Button } from '../ui/basics.js'
import type { ConditionWrite } from './flag-conditions.js'

type Explanation = Schemas['FlagExplanation']

export type RuleWrite = Omit<Schemas['RuleWrite'], 'conditions' | 'condition_groups'> & {
  readonly conditions: ConditionWrite[]
  readonly condition_groups: readonly { readonly conditions: readonly ConditionWrite[] }[]
}

/** A rule being edited; `id` names it in the list only. */
export interface Draft {
  readonly id: string
  readonly rule: RuleWrite
}

/** Types whose rules people write here. Plans and overrides make the other ones. */
const own = ['standard', 'global_override', 'default']

/** The rules of a flag that people write, in their order. */
export const draftsOf = (flag: Pick<Schemas['FlagDetail'], 'rules'>): readonly Draft[] =>
  flag.rules.filter(rule => own.includes(rule.rule_type)).map(draftOf)

const draftOf = (rule: Schemas['RuleDetail']): Draft => ({
  id: rule.id,
  rule: {
    id: rule.id,
    name: rule.name,
    priority: rule.priority,
    rule_type: rule.rule_type,
    value: rule.value,
    conditions: rule.conditions.map(writeOf),
    condition_groups: rule.condition_groups.map(group => ({
      conditions: group.conditions.map(writeOf),
    })) as never,
  },
})

const writeOf = (one: Schemas['RuleConditionDetail']): ConditionWrite =>
  ({
    id: one.id,
    condition_type: one.condition_type,
    operator: one.operator,
    resource_ids: one.resource_ids,
    trait_id: one.trait_id,
    trait_value: one.trait_value,
    ...(one.comparable_type && { comparable_type: one.comparable_type }),
    comparison_trait_id: one.comparison_trait_id,
    event_subtype: one.event_subtype,
    metric_period: one.metric_period,
    metric_period_month_reset: one.metric_period_month_reset,
    metric_value: one.metric_value,
    credit_id: one.credit_id,
    credit_cost: one.consumption_rate,
  }) as ConditionWrite

/** A rule that is not there yet. */
export const newDraft = (change: Partial<RuleWrite> = {}): Draft => ({
  id: `new ${crypto.getRandomValues(new Uint32Array(1))[0]}`,
  rule: {
    name: '',
    value: true,
    priority: 1,
    rule_type: 'standard',
    conditions: [],
    condition_groups: [],
    ...change,
  },
})

/** Put rules in the place of those that people wrote. */
export const putRules = (flagId: string, drafts: readonly Draft[]) =>
  api.put('/flags/{flag_id}/rules', {
    path: { flag_id: flagId },
    body: { rules: drafts.map(({ rule }, i) => ({ ...rule, priority: i + 1 })) } as never,
  })

/** Put former rules back. Their ids are gone with them. */
export const restoreRules = (flagId: string, drafts: readonly Draft[]) =>
  putRules(
    flagId,
    drafts.map(one => ({ ...one, rule: withoutIds(one.rule) })),
  )

const withoutIds = (rule: RuleWrite): RuleWrite => {
  const { id: _, ...rest } = rule
  return { ...rest, conditions: rest.conditions.map(({ id: __, ...one }) => one as ConditionWrite) }
}

/** Companies of a rule that lists companies and looks at nothing else; null: the rule is of another kind. */
function listedIn({ rule_type: type, conditions, condition_groups: groups }: RuleWrite): string[] | null {
  const [only] = conditions
  const isList = type === 'standard' && conditions.length === 1 && groups.length === 0
  return isList && only!.condition_type === 'company' && only!.operator === 'eq' ? only!.resource_ids : null
}

const listing = ({ id, rule }: Draft, ids: string[]): Draft => ({
  id,
  rule: { ...rule, conditions: [{ ...rule.conditions[0]!, resource_ids: ids }] },
})

/**
 * The rules after a flag was turned on or off for one company.
 *
 * The company leaves lists with the other value. It enters the first list with this value that no other kind of rule
 * precedes; where there is none, a new list precedes all rules.
 */
function turned(drafts: readonly Draft[], companyId: string, value: boolean): readonly Draft[] {
  const others = drafts.flatMap(draft => {
    const ids = listedIn(draft.rule)
    if (ids === null || draft.rule.value === value || !ids.includes(companyId)) return [draft]
    const left = ids.filter(id => id !== companyId)
    return left.length === 0 ? [] : [listing(draft, left)]
  })
  const end = others.findIndex(({ rule }) => rule.rule_type === 'standard' && listedIn(rule) === null)
  const at = others.findIndex(({ rule }) => rule.value === value && listedIn(rule) !== null)
  if (at >= 0 && (end < 0 || at < end)) {
    const ids = [...new Set([...listedIn(others[at]!.rule)!, companyId])]
    return others.map((draft, i) => (i === at ? listing(draft, ids) : draft))
  }
  const conditions = [{ condition_type: 'company', operator: 'eq', resource_ids: [companyId] }]
  const name = `${value ? 'On' : 'Off'} for these companies`
  return [newDraft({ name, value, conditions: conditions as ConditionWrite[] }), ...others]
}

/** Whether a rule that people write can decide this flag for the company: no override or plan precedes it. */
const isOpen = ({ rules }: Explanation): boolean => {
  const decided = rules.find(rule => rule.decided)
  return decided === undefined || decided.rule_type === 'standard' || decided.rule_type === 'default'
}

/** A button that gives a flag the other value for one company. Absent where its rules cannot. */
export function Turn({ why, company }: { readonly why: Explanation; readonly company: string }) {
  const { may, production } = useHere()
  const act = useAct()
  if (!may.write || why.company_id === null || !isOpen(why)) return null
  const { flag: key, flag_id: id, company_id: companyId } = why
  const [before, after] = why.value ? ['on', 'off'] : ['off', 'on']
  const turn = () => {
    let former: readonly Draft[] = []
    return act({
      title: `Turn ${key} ${after} for ${company}`,
      verb: `Turn ${after}`,
      differences: [{ what: company, before, after }],
      note: 'A rule of the flag lists this company. The next check follows it.',
      ...(production && { typed: key }),
      run: async () => {
        former = draftsOf(await api.get('/flags/{flag_id}', { path: { flag_id: id } }))
        await putRules(id, turned(former, companyId, !why.value))
      },
      done: `${key} is ${after} for ${company}`,
      undo: () => restoreRules(id, former),
    })
  }
  return (
    <Button look="quiet" aria-label={`Turn ${after} ${key}`} onClick={() => void turn()}>
      Turn {after}
    </Button>
  )
}
