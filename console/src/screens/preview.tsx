// The plan group as customers would see it: plans side by side, with prices and what they allow.
import { useQuery } from '@tanstack/react-query'
import { Check } from 'lucide-react'
import { useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { figure, periodOf } from '../app/format.js'
import { Go, useHere } from '../app/place.js'
import { Choice, Empty, Loaded, Page } from '../ui/basics.js'
import { priceWords } from './plan-words.js'

type Plan = Schemas['PlanSummary']
type Period = 'monthly' | 'quarterly' | 'yearly'

export default function Preview() {
  const { environment } = useHere()
  const [period, setPeriod] = useState<Period>('monthly')
  const plans = useQuery({
    queryKey: [environment.id, 'preview'],
    queryFn: async () => {
      const all = (await api.all('/plans', {
        query: {
          view: 'summary',
          with_entitlements: true,
          with_published_version: true,
          exclude_company_scoped: true,
        },
      })) as Plan[]
      const offered = all.filter(one => one.plan_group_position !== null)
      if (offered.length === 0) return all.filter(one => one.plan_type === 'plan')
      return offered.sort((a, b) => a.plan_group_position! - b.plan_group_position!)
    },
  })
  return (
    <Page
      above={<Go to="/plans">Plans</Go>}
      title="The plans as customers see them"
      actions={
        <Choice
          aria-label="Period"
          value={period}
          options={[
            ['monthly', 'Monthly'],
            ['quarterly', 'Quarterly'],
            ['yearly', 'Yearly'],
          ]}
          onChange={event => setPeriod(event.currentTarget.value as Period)}
        />
      }
    >
      <Loaded of={plans}>
        {rows =>
          rows.length === 0 ? (
            <Empty title="No plan is published yet">
              Publish a plan, and put it into the plan group, to see it here.
            </Empty>
          ) : (
            <div className="grid gap-4 sm:grid-cols-2 xl:grid-cols-4">
              {rows.map(plan => (
                <section key={plan.id} className="flex flex-col rounded-xl border border-line bg-panel p-5">
                  <h2 className="text-lg font-semibold">{plan.name}</h2>
                  <p className="text-muted">{plan.description}</p>
                  <p className="my-3 text-2xl font-bold">{priceOf(plan.terms, period)}</p>
                  {plan.terms?.trial_days && (
                    <p className="mb-2 text-sm text-ok">{plan.terms.trial_days} days to try</p>
                  )}
                  <ul className="space-y-1.5">
                    {(plan.entitlements ?? []).slice(0, 40).map(one => (
                      <li key={one.feature_id} className="flex gap-2">
                        <Check size={16} className="mt-0.5 shrink-0 text-ok" aria-hidden="true" />
                        <span>{lineOf(one)}</span>
                      </li>
                    ))}
                  </ul>
                </section>
              ))}
            </div>
          )
        }
      </Loaded>
    </Page>
  )
}

function priceOf(terms: Plan['terms'], period: Period): string {
  if (terms === null || terms.charge_type === 'none') return 'No price'
  if (terms.charge_type === 'free') return 'Free'
  const own = terms.prices.filter(({ currency }) => currency === terms.currency)
  const price = own.find(({ cadence }) => cadence === period || cadence === 'one_time')
  return price ? priceWords(price) : 'Not sold this way'
}

function lineOf(one: Schemas['EntitlementSummary']): string {
  const name = one.feature_name
  if (one.value_type === 'numeric')
    return `${figure(one.value_numeric)} ${name} ${periodOf(one.metric_period)}`.trim()
  if (one.value_type === 'unlimited') return `Unlimited ${name}`
  if (one.value_type === 'credit')
    return `${name}, ${one.consumption_rate ?? 1} ${one.credit_name ?? 'credits'} each`
  return one.value_bool === false ? `No ${name}` : name
}
