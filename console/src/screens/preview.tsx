// The plan group as customers would see it: plans side by side, with prices and what they allow.
import { useQuery } from '@tanstack/react-query'
import { Check } from 'lucide-react'
import { useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { figure, money, periodOf } from '../app/format.js'
import { Go, useHere } from '../app/place.js'
import { Choice, Empty, Loaded, Page } from '../ui/basics.js'

type Plan = Schemas['PlanDetail']
type Period = 'monthly' | 'quarterly' | 'yearly'

export default function Preview() {
  const { environment } = useHere()
  const [period, setPeriod] = useState<Period>('monthly')
  const plans = useQuery({
    queryKey: [environment.id, 'preview'],
    queryFn: async () => {
      const [all, short] = await Promise.all([
        api.get('/plans', {
          query: {
            with_entitlements: true,
            with_published_version: true,
            exclude_company_scoped: true,
            limit: 50,
          } as never,
        }) as Promise<Plan[]>,
        api.all('/plans', { query: { view: 'summary' } }) as Promise<Schemas['PlanSummary'][]>,
      ])
      const order = short
        .filter(one => one.plan_group_position !== null)
        .sort((a, b) => a.plan_group_position! - b.plan_group_position!)
        .map(one => one.id)
      const shown =
        order.length > 0
          ? all.filter(one => order.includes(one.id))
          : all.filter(one => one.plan_type === 'plan')
      return shown.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id))
    },
  })
  const priceOf = (plan: Plan): string => {
    const price = { monthly: plan.monthly_price, quarterly: plan.quarterly_price, yearly: plan.yearly_price }[
      period
    ]
    if (price)
      return `${money(price.price, price.currency, 'stripIfInteger')} ${{ monthly: 'a month', quarterly: 'a quarter', yearly: 'a year' }[period]}`
    if (plan.one_time_price)
      return `${money(plan.one_time_price.price, plan.one_time_price.currency, 'stripIfInteger')} once`
    if (plan.is_free || plan.charge_type === 'free') return 'Free'
    return plan.charge_type === 'none' ? 'No price' : 'Not sold this way'
  }
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
                  <p className="my-3 text-2xl font-bold">{priceOf(plan)}</p>
                  {plan.is_trialable && plan.trial_days && (
                    <p className="mb-2 text-sm text-ok">{plan.trial_days} days to try</p>
                  )}
                  <ul className="space-y-1.5">
                    {(plan.entitlements ?? []).slice(0, 40).map(one => (
                      <li key={one.id} className="flex gap-2">
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

function lineOf(one: Schemas['PlanEntitlement']): string {
  const name = one.feature?.name ?? ''
  if (one.value_type === 'numeric')
    return `${figure(one.value_numeric)} ${name} ${periodOf(one.metric_period)}`.trim()
  if (one.value_type === 'unlimited') return `Unlimited ${name}`
  if (one.value_type === 'credit')
    return `${name}, ${one.consumption_rate ?? 1} ${one.value_credit?.name ?? 'credits'} each`
  return one.value_bool === false ? `No ${name}` : name
}
