// An override of what one company may use: made, changed, and ended again.
import { useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../app/api.js'
import { figure } from '../app/format.js'
import { useHere } from '../app/place.js'
import { FormDialog, type Values } from '../ui/form.js'

export function OverrideDialog({
  company,
  feature,
  now,
  present,
  suggested,
  onClose,
}: {
  readonly company: { readonly id: string; readonly name: string }
  readonly feature: { readonly id: string; readonly name: string; readonly type: string }
  /** The value in force, in words. */
  readonly now: string
  readonly present: Schemas['CompanyOverride'] | undefined
  readonly suggested?: string | undefined
  readonly onClose: () => void
}) {
  const isSwitch = feature.type === 'boolean'
  const period = present?.metric_period ?? null
  const body = ({ kind, limit, until, period: chosen }: Values) => ({
    value_type: kind as 'boolean' | 'numeric' | 'unlimited',
    value_bool: kind === 'boolean' ? limit === 'on' : null,
    value_numeric: kind === 'numeric' ? Number(limit) : null,
    metric_period: feature.type === 'event' && kind !== 'boolean' ? ((chosen || 'all_time') as never) : null,
    expiration_date: until ? new Date(until).toISOString() : null,
  })
  const inWords = ({ kind, limit }: Values) =>
    kind === 'numeric' ? figure(Number(limit)) : kind === 'boolean' ? limit : 'no limit'
  return (
    <FormDialog
      title={`Override ${feature.name}`}
      onClose={onClose}
      fields={[
        {
          name: 'kind',
          label: 'Value',
          kind: 'choice',
          options: isSwitch
            ? [['boolean', 'On or off']]
            : [
                ['numeric', 'A limit'],
                ['unlimited', 'No limit'],
              ],
          initial: isSwitch ? 'boolean' : present?.value_type === 'unlimited' ? 'unlimited' : 'numeric',
        },
        isSwitch
          ? {
              name: 'limit',
              label: 'Allowed',
              kind: 'choice',
              options: [
                ['on', 'On'],
                ['off', 'Off'],
              ],
            }
          : {
              name: 'limit',
              label: 'Limit',
              kind: 'number',
              initial: present?.value_numeric != null ? String(present.value_numeric) : (suggested ?? ''),
              when: ({ kind }) => kind === 'numeric',
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
          initial: period ?? 'current_month',
          when: () => feature.type === 'event',
        },
        {
          name: 'until',
          label: 'Until',
          kind: 'datetime-local',
          optional: true,
          hint: 'Empty: until somebody ends it.',
        },
      ]}
      act={values => {
        let made = ''
        return {
          title: `Override ${feature.name} of ${company.name}`,
          verb: 'Override',
          differences: [
            { what: feature.name, before: now, after: inWords(values) },
            ...(values.until ? [{ what: 'Until', before: null, after: values.until.replace('T', ' ') }] : []),
          ],
          run: async () => {
            if (present)
              await api.put('/company-overrides/{company_override_id}', {
                path: { company_override_id: present.id },
                body: body(values) as never,
              })
            else
              made = (
                await api.post('/company-overrides', {
                  body: { ...body(values), company_id: company.id, feature_id: feature.id } as never,
                })
              ).id
          },
          done: `${feature.name} is overridden`,
          undo: () =>
            present
              ? api.put('/company-overrides/{company_override_id}', {
                  path: { company_override_id: present.id },
                  body: {
                    value_type: present.value_type,
                    value_bool: present.value_bool,
                    value_numeric: present.value_numeric,
                    metric_period: present.metric_period,
                    expiration_date: present.expiration_date,
                  } as never,
                })
              : api.del('/company-overrides/{company_override_id}', { path: { company_override_id: made } }),
        }
      }}
    />
  )
}

/** The overrides of a company, by feature. */
export function useOverrides(companyId: string | null) {
  const { environment } = useHere()
  return useQuery({
    queryKey: [environment.id, 'overrides', companyId],
    enabled: companyId !== null,
    queryFn: () => api.get('/company-overrides', { query: { company_id: companyId!, limit: 250 } as never }),
  })
}
