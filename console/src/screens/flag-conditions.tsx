// The conditions of a rule: in words, and as fields that change them.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { figure, numberOf, signs } from '../app/format.js'
import { useHere } from '../app/place.js'
import { Button, Choice, Input } from '../ui/basics.js'
import { useCompanyNames } from './company-names.js'
import { CompanyPicker } from './why.js'

/** A condition of a change of rules; each list is present, empty where the form has none. */
export type ConditionWrite = Schemas['ConditionWrite'] & { readonly resource_ids: string[] }

/** Names of companies, plans and traits by their ids. */
export type Names = ReadonlyMap<string, string>

/** Companies whose names are asked for. */
const namedMax = 100

/** Names of everything that conditions speak of. */
export function useNames(conditions: readonly ConditionWrite[]): Names {
  const { environment } = useHere()
  const companyIds = conditions.flatMap(one => (one.condition_type === 'company' ? one.resource_ids : []))
  const companies = useCompanyNames(companyIds.slice(0, namedMax))
  const plans = useQuery({
    queryKey: [environment.id, 'plans', 'summary'],
    enabled: conditions.some(one => /plan$/.test(one.condition_type)),
    queryFn: () => api.all('/plans', { query: { view: 'summary' } }) as Promise<Schemas['PlanSummary'][]>,
  })
  const traits = useQuery({
    queryKey: [environment.id, 'traits'],
    enabled: conditions.some(one => one.condition_type === 'trait'),
    queryFn: () => api.get('/entity-trait-definitions', { query: { limit: 250 } as never }),
  })
  const pending = new Map(companies.size === 0 ? companyIds.map(id => [id, '…'] as const) : [])
  return new Map([
    ...pending,
    ...companies,
    ...(plans.data ?? []).map(one => [one.id, one.name] as const),
    ...(traits.data ?? []).map(one => [one.id, one.hierarchy.join('.')] as const),
  ])
}

/** "company is Acme or Globex", "use of export < 100". */
export function conditionWords(one: ConditionWrite, names: Names): string {
  const sign = signs[one.operator]
  if (one.condition_type === 'metric')
    return `use of ${one.event_subtype} ${sign} ${figure(one.metric_value)}`
  if (one.condition_type === 'trait') {
    const kind = one.comparable_type === 'version' ? 'version ' : ''
    return `${names.get(one.trait_id ?? '') ?? 'trait'} ${sign} ${kind}${one.trait_value ?? ''}`
  }
  const ids = one.resource_ids
  const what =
    ids.length > 3 ? `one of ${ids.length}` : ids.map(id => names.get(id) ?? id).join(' or ') || 'none'
  return `${one.condition_type.replaceAll('_', ' ')} ${sign} ${what}`
}

/** Companies by their names; one more is found as one types. */
function CompanyList({
  ids,
  name,
  names,
  onChange,
}: {
  readonly ids: readonly string[]
  readonly name: string
  readonly names: Names
  readonly onChange: (ids: string[]) => void
}) {
  return (
    <div className="order-last w-full">
      <div className="mb-1.5 flex flex-wrap gap-1.5">
        {ids.map(id => (
          <span key={id} className="inline-flex items-center gap-1 rounded bg-raised pl-2">
            {names.get(id) ?? id}
            <Button
              look="quiet"
              aria-label={`Take ${names.get(id) ?? id} out of ${name}`}
              onClick={() => onChange(ids.filter(one => one !== id))}
            >
              ×
            </Button>
          </span>
        ))}
      </div>
      <div className="max-w-60">
        <CompanyPicker
          value=""
          label={ids.length === 0 ? 'Company' : 'Another company'}
          of={name}
          onChange={id => onChange(ids.includes(id) ? [...ids] : [...ids, id])}
        />
      </div>
    </div>
  )
}

const kinds = [
  ['plan', 'Plan'],
  ['company', 'Company'],
  ['metric', 'Use of an event'],
  ['trait', 'Trait'],
] as const

export function Conditions({
  conditions,
  editable,
  ruleName,
  names,
  onChange,
}: {
  readonly conditions: readonly ConditionWrite[]
  readonly editable: boolean
  readonly ruleName: string
  readonly names: Names
  readonly onChange: (conditions: readonly ConditionWrite[]) => void
}) {
  const [kind, setKind] = useState<string>('plan')
  const set = (at: number, change: Partial<ConditionWrite>) =>
    onChange(conditions.map((one, i) => (i === at ? ({ ...one, ...change } as ConditionWrite) : one)))
  return (
    <div className="mt-2 space-y-2 sm:pl-7">
      {conditions.map((one, i) => (
        <div key={i} className="flex flex-wrap items-center gap-2">
          {editable ? (
            <ConditionEditor
              condition={one}
              name={`condition ${i + 1} of ${ruleName}`}
              names={names}
              onChange={change => set(i, change)}
            />
          ) : (
            <span>{conditionWords(one, names)}</span>
          )}
          {editable && (
            <Button
              look="quiet"
              aria-label={`Remove condition ${i + 1} of ${ruleName}`}
              onClick={() => onChange(conditions.filter((_, at) => at !== i))}
            >
              ×
            </Button>
          )}
        </div>
      ))}
      {conditions.length === 0 && <p className="text-sm text-muted">Matches every company.</p>}
      {editable && (
        <div className="flex flex-wrap items-center gap-2">
          <Choice
            className="max-w-44"
            aria-label={`Kind of the next condition of ${ruleName}`}
            value={kind}
            options={kinds}
            onChange={event => setKind(event.currentTarget.value)}
          />
          <Button onClick={() => onChange([...conditions, blankOf(kind)])}>Add condition</Button>
        </div>
      )}
    </div>
  )
}

const blankOf = (kind: string): ConditionWrite =>
  ({
    condition_type: kind,
    operator: kind === 'metric' ? 'lt' : 'eq',
    resource_ids: [],
    ...(kind === 'metric' && { event_subtype: '', metric_period: 'current_month', metric_value: 100 }),
    ...(kind === 'trait' && { trait_value: '' }),
  }) as ConditionWrite

const comparisons = [
  ['eq', 'is'],
  ['ne', 'is not'],
  ['lt', '<'],
  ['lte', '≤'],
  ['gt', '>'],
  ['gte', '≥'],
] as const

function ConditionEditor({
  condition,
  name,
  names,
  onChange,
}: {
  readonly condition: ConditionWrite
  readonly name: string
  readonly names: Names
  readonly onChange: (change: Partial<ConditionWrite>) => void
}) {
  const { environment } = useHere()
  const type = condition.condition_type
  const isList = type === 'plan' || type === 'base_plan' || type === 'company' || type === 'user'
  const plans = useQuery({
    queryKey: [environment.id, 'plans', 'summary'],
    enabled: type === 'plan' || type === 'base_plan',
    queryFn: () => api.all('/plans', { query: { view: 'summary' } }) as Promise<Schemas['PlanSummary'][]>,
  })
  const traits = useQuery({
    queryKey: [environment.id, 'traits'],
    enabled: type === 'trait',
    queryFn: () => api.get('/entity-trait-definitions', { query: { limit: 250 } as never }),
  })
  const events = useQuery({
    queryKey: [environment.id, 'event-types'],
    enabled: type === 'metric',
    queryFn: () => api.get('/event-types', { query: { limit: 250 } as never }),
  })
  const sign = (
    <Choice
      className="max-w-24"
      aria-label={`Comparison of ${name}`}
      value={condition.operator}
      options={isList ? comparisons.slice(0, 2) : comparisons}
      onChange={event => onChange({ operator: event.currentTarget.value as 'eq' })}
    />
  )
  if (type === 'plan' || type === 'base_plan')
    return (
      <>
        <span>{type === 'plan' ? 'Plan' : 'Base plan'}</span>
        {sign}
        <Choice
          className="max-w-60"
          aria-label={`Plan of ${name}`}
          value={condition.resource_ids[0] ?? ''}
          options={[['', 'Choose'], ...(plans.data ?? []).map(one => [one.id, one.name] as const)]}
          onChange={event => onChange({ resource_ids: [event.currentTarget.value] })}
        />
        {condition.resource_ids.length > 1 && (
          <span className="text-muted">and {condition.resource_ids.length - 1} more</span>
        )}
      </>
    )
  if (type === 'company')
    return (
      <>
        <span>Company</span>
        {sign}
        <CompanyList
          ids={condition.resource_ids}
          name={name}
          names={names}
          onChange={ids => onChange({ resource_ids: ids })}
        />
      </>
    )
  if (type === 'user')
    return (
      <>
        <span>User</span>
        {sign}
        <Input
          className="max-w-80 font-mono text-xs"
          aria-label={`Ids of ${name}`}
          placeholder="ids, separated by commas"
          value={condition.resource_ids.join(', ')}
          onChange={event =>
            onChange({ resource_ids: event.currentTarget.value.split(/[\s,]+/).filter(Boolean) })
          }
        />
      </>
    )
  if (type === 'metric')
    return (
      <>
        <span>Use of</span>
        <Input
          className="max-w-40"
          list={`events ${name}`}
          aria-label={`Event of ${name}`}
          value={condition.event_subtype ?? ''}
          onInput={event => onChange({ event_subtype: event.currentTarget.value })}
        />
        <datalist id={`events ${name}`}>
          {(events.data ?? []).map(one => (
            <option key={one.event_subtype} value={one.event_subtype} />
          ))}
        </datalist>
        <Choice
          className="max-w-32"
          aria-label={`Period of ${name}`}
          value={condition.metric_period ?? 'all_time'}
          options={[
            ['current_month', 'a month'],
            ['current_week', 'a week'],
            ['current_day', 'a day'],
            ['all_time', 'in all'],
          ]}
          onChange={event => onChange({ metric_period: event.currentTarget.value as 'all_time' })}
        />
        {sign}
        <Input
          className="max-w-28"
          type="number"
          aria-label={`Number of ${name}`}
          value={String(condition.metric_value ?? '')}
          onInput={event => onChange({ metric_value: numberOf(event.currentTarget.value) })}
        />
      </>
    )
  if (type === 'trait')
    return (
      <>
        <span>Trait</span>
        <Choice
          className="max-w-48"
          aria-label={`Trait of ${name}`}
          value={condition.trait_id ?? ''}
          options={[
            ['', 'Choose'],
            ...(traits.data ?? []).map(
              one => [one.id, `${one.entity_type} ${one.hierarchy.join('.')}`] as const,
            ),
          ]}
          onChange={event => onChange({ trait_id: event.currentTarget.value })}
        />
        {sign}
        <Input
          className="max-w-40"
          aria-label={`Value of ${name}`}
          value={condition.trait_value ?? ''}
          onInput={event => onChange({ trait_value: event.currentTarget.value })}
        />
        <Choice
          className="max-w-36"
          aria-label={`Comparison of ${name}`}
          value={condition.comparable_type ?? ''}
          options={[
            ['', 'by its type'],
            ['version', 'as versions'],
            ...(condition.comparable_type && condition.comparable_type !== 'version'
              ? [[condition.comparable_type, `as ${condition.comparable_type}`] as const]
              : []),
          ]}
          onChange={event =>
            onChange({ comparable_type: (event.currentTarget.value || null) as 'version' | null })
          }
        />
      </>
    )
  return <span className="text-muted">{conditionWords(condition, names)}</span>
}
