// An override of what one company may use: made, changed, and ended again.
import { useQuery } from '@tanstack/react-query'
import { isMoreGenerous } from '../../../src/core/entitlements/generosity.js'
import { api, type Schemas } from '../app/api.js'
import { figure, localOf, numberOf, periodOf, timeOf } from '../app/format.js'
import { useHere } from '../app/place.js'
import { FormDialog, type Values } from '../ui/form.js'

type Override = Schemas['CompanyOverride']

/** A feature that may be overridden. */
export interface Overridable {
  readonly id: string
  readonly name: string
  readonly type: string
  /** The value in force, in words. */
  readonly now: string
  /** The entitlement of the company's plan; absent: the plan has none, or it is not known. */
  readonly planned?: Value | undefined
}

/** The value of an override or of a plan's entitlement. */
type Value = Pick<Override, 'value_type' | 'value_bool' | 'value_numeric' | 'metric_period'>

/** Whether an override changes nothing, because the plan is more generous (EN-22). */
export function isVoid(override: Value, planned: Value | undefined): boolean {
  return (
    override.value_type === 'numeric' &&
    (planned?.value_type === 'unlimited' || planned?.value_type === 'numeric') &&
    isMoreGenerous(allocationOf(planned), allocationOf(override))
  )
}

const allocationOf = ({ value_numeric: allocation, metric_period: period }: Value) => ({ allocation, period })

const dayMs = 86_400_000

/** How long something is to hold; the values are days. */
export const spans = [
  ['', 'until somebody ends it'],
  ['1', 'for a day'],
  ['7', 'for a week'],
  ['30', 'for 30 days'],
  ['month', 'until this month ends'],
  ['at', 'until an instant'],
] as const

/** Fields that ask how long. */
export const spanFields = (end: string | null = null) => [
  {
    name: 'for',
    label: 'Holds',
    kind: 'choice' as const,
    options: spans,
    optional: true,
    ...(end !== null && { initial: 'at' }),
  },
  {
    name: 'until',
    label: 'Until',
    kind: 'datetime-local' as const,
    ...(end !== null && { initial: localOf(end).slice(0, 16) }),
    when: (values: Values) => values.for === 'at',
  },
]

/** The end that such fields say, RFC 3339; null: none. */
export function endOf({ for: span = '', until = '' }: Values): string | null {
  if (span === 'at') return new Date(until).toISOString()
  if (span === 'month') return endOfMonth(new Date()).toISOString()
  return span === '' ? null : new Date(Date.now() + Number(span) * dayMs).toISOString()
}

/** Months are months of UTC, as use is counted by them. */
const endOfMonth = (now: Date): Date => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1))

/** The limit that the plan gives; null: it gives none, or one that is not added to without rounding. */
const plannedLimit = ({ planned }: Overridable): number | null =>
  planned?.value_type === 'numeric' && typeof planned.value_numeric === 'number'
    ? planned.value_numeric
    : null

/** `present`: what the company has already; `features`: one, or several to choose from. */
export function OverrideDialog({
  company,
  features,
  present,
  suggested,
  onClose,
}: {
  readonly company: { readonly id: string; readonly name: string }
  readonly features: readonly Overridable[]
  readonly present?: Override | undefined
  readonly suggested?: string | undefined
  readonly onClose: () => void
}) {
  const { production } = useHere()
  const featureOf = ({ feature }: Values) => features.find(({ id }) => id === feature) ?? features[0]!
  const isSwitch = (values: Values) => featureOf(values).type === 'boolean'
  const title = features.length === 1 ? `Override ${features[0]!.name}` : 'Override another feature'
  return (
    <FormDialog
      title={title}
      onClose={onClose}
      fields={[
        {
          name: 'feature',
          label: 'Feature',
          kind: 'choice',
          options: features.map(one => [one.id, one.name] as const),
          when: () => features.length > 1,
        },
        {
          name: 'kind',
          label: 'Value',
          kind: 'choice',
          options: [
            ['numeric', 'A limit'],
            ...(features.length === 1 && plannedLimit(features[0]!) !== null
              ? [['more', 'More than its plan allows'] as const]
              : []),
            ['unlimited', 'No limit'],
            ['boolean', 'Not allowed'],
          ],
          ...(present && { initial: present.value_type }),
          when: values => !isSwitch(values),
        },
        {
          name: 'limit',
          label: 'Limit',
          kind: 'number',
          initial: present?.value_numeric != null ? String(present.value_numeric) : (suggested ?? ''),
          when: values => !isSwitch(values) && values.kind === 'numeric',
        },
        {
          name: 'more',
          label: 'How many more',
          kind: 'number',
          ...(features[0]!.planned && { hint: `The plan allows ${overrideWords(features[0]!.planned)}.` }),
          when: values => !isSwitch(values) && values.kind === 'more',
        },
        {
          name: 'allowed',
          label: 'Allowed',
          kind: 'choice',
          options: [
            ['on', 'On'],
            ['off', 'Off'],
          ],
          ...(present?.value_bool === false && { initial: 'off' }),
          when: isSwitch,
        },
        {
          name: 'period',
          label: 'Counted',
          kind: 'choice',
          options: [
            ['current_month', 'each month'],
            ['current_week', 'each week'],
            ['current_day', 'each day'],
            ['all_time', 'in all'],
          ],
          ...(present?.metric_period && { initial: present.metric_period }),
          when: values => featureOf(values).type === 'event' && values.kind === 'numeric',
        },
        ...spanFields(present?.expiration_date),
        { name: 'note', label: 'Why', optional: true, hint: 'Kept with the override.' },
      ]}
      act={values => {
        const feature = featureOf(values)
        const body = bodyOf(values, feature)
        const { planned } = feature
        let made = ''
        return {
          title: `Override ${feature.name} of ${company.name}`,
          verb: 'Override',
          differences: [
            { what: feature.name, before: feature.now, after: overrideWords(body) },
            {
              what: 'Until',
              before: present?.expiration_date ? timeOf(present.expiration_date) : null,
              after: body.expiration_date ? timeOf(body.expiration_date) : 'somebody ends it',
            },
          ],
          ...(planned &&
            isVoid(body, planned) && {
              note: `It changes nothing now: the plan allows ${overrideWords(planned)}, and the more generous of the two counts. To allow less, choose Not allowed, or change the plan.`,
            }),
          ...(production && { typed: company.name }),
          run: async () => {
            const given = { ...body, ...(values.note && { note: values.note }) }
            if (present)
              await api.put('/company-overrides/{company_override_id}', {
                path: { company_override_id: present.id },
                body: given as never,
              })
            else
              made = (
                await api.post('/company-overrides', {
                  body: { ...given, company_id: company.id, feature_id: feature.id } as never,
                })
              ).id
          },
          done: `${feature.name} is overridden`,
          undo: () =>
            present
              ? api.put('/company-overrides/{company_override_id}', {
                  path: { company_override_id: present.id },
                  body: valuesOf(present) as never,
                })
              : api.del('/company-overrides/{company_override_id}', { path: { company_override_id: made } }),
        }
      }}
    />
  )
}

function bodyOf(values: Values, feature: Overridable) {
  if (values.kind === 'more')
    return {
      value_type: 'numeric' as const,
      value_bool: null,
      value_numeric: plannedLimit(feature)! + Number(values.more),
      metric_period: feature.planned!.metric_period,
      expiration_date: endOf(values),
    }
  const { kind, limit, allowed, period } = values
  const { type } = feature
  const isSwitch = type === 'boolean'
  const isLimit = !isSwitch && kind === 'numeric'
  return {
    value_type: isSwitch ? ('boolean' as const) : (kind as 'numeric' | 'unlimited' | 'boolean'),
    value_bool: isSwitch ? allowed === 'on' : kind === 'boolean' ? false : null,
    value_numeric: isLimit ? numberOf(limit ?? '') : null,
    metric_period: type === 'event' && isLimit ? (period as Override['metric_period']) : null,
    expiration_date: endOf(values),
  }
}

/** The members with which an override is made again. */
export const valuesOf = (one: Override) => ({
  value_type: one.value_type,
  value_bool: one.value_bool,
  value_numeric: one.value_numeric,
  value_trait_id: one.value_trait_id,
  value_credit_id: one.value_credit_id,
  credit_consumption_rate: one.consumption_rate,
  ...(one.quantity_rates && { quantity_rates: one.quantity_rates }),
  metric_period: one.metric_period,
  metric_period_month_reset: one.metric_period_month_reset,
  expiration_date: one.expiration_date,
})

/** "500 a month", "on", "no limit". */
export function overrideWords(one: Value): string {
  switch (one.value_type) {
    case 'numeric':
      return `${figure(one.value_numeric)} ${periodOf(one.metric_period)}`.trim()
    case 'boolean':
      return one.value_bool ? 'on' : 'off'
    case 'unlimited':
      return 'no limit'
    default:
      return one.value_type
  }
}

/** The overrides of a company that are in force, one for a feature at most. */
export function useOverrides(companyId: string | null) {
  const { environment } = useHere()
  return useQuery({
    queryKey: [environment.id, 'overrides', companyId],
    enabled: companyId !== null,
    queryFn: () =>
      api.get('/company-overrides', {
        query: { company_id: companyId!, without_expired: true, limit: 250 },
      }),
  })
}
