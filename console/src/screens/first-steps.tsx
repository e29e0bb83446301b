// The first start: what to do in which order, until a company was denied and allowed again.
import { useQuery } from '@tanstack/react-query'
import { Check } from 'lucide-react'
import { api } from '../app/api.js'
import { Go, useHere } from '../app/place.js'
import { Card } from '../ui/basics.js'

export function FirstSteps() {
  const { environment } = useHere()
  const features = useQuery({
    queryKey: [environment.id, 'features', 'count'],
    queryFn: () => api.get('/features/count'),
  })
  const plans = useQuery({
    queryKey: [environment.id, 'plans', 'count'],
    queryFn: () => api.get('/plans/count'),
  })
  const steps = [
    [
      'Make a feature: something your product does, such as API calls',
      '/features',
      (features.data?.count ?? 0) > 0,
    ],
    ['Make a plan that allows some of it, and publish it', '/plans', (plans.data?.count ?? 0) > 0],
    ['Add a company and put it on the plan', '/companies', false],
    ['Send an event for the company, until its limit is reached', '/companies', false],
    ['See why it is denied, and override the limit', '/why', false],
  ] as const
  return (
    <Card title="First steps" className="mb-4">
      <ol className="space-y-2">
        {steps.map(([text, to, done], i) => (
          <li key={text} className="flex items-center gap-3">
            <span
              className={`flex size-6 shrink-0 items-center justify-center rounded-full text-xs font-semibold ${done ? 'bg-ok-soft text-ok' : 'bg-raised'}`}
            >
              {done ? <Check size={14} aria-label="done" /> : i + 1}
            </span>
            <Go to={to}>{text}</Go>
          </li>
        ))}
      </ol>
    </Card>
  )
}
