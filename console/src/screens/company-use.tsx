// The use of a company by day: each feature that events count, or one feature against its limit. Changes of plan are marked.
import { useQuery } from '@tanstack/react-query'
import { Suspense, useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { dayOf, figure, periodOf } from '../app/format.js'
import { useHere } from '../app/place.js'
import { Card, Choice, Empty, Loaded } from '../ui/basics.js'
import type { Series } from '../ui/chart.js'
import { Chart } from '../ui/lazy-chart.js'
import type { Company, Entitlement } from './company.js'

const dayMs = 86_400_000
const shownDays = 30
/** Features whose use is shown together. */
const togetherMax = 4

/** The name of an entitlement's feature. */
export const nameOf = (
  one: Entitlement,
  features: readonly Schemas['FeatureSummary'][] | undefined,
): string => features?.find(({ id }) => id === one.feature_id)?.name ?? one.feature_key

export function UsePerDay({
  company,
  features,
}: {
  readonly company: Company
  readonly features: readonly Schemas['FeatureSummary'][]
}) {
  const { environment } = useHere()
  const [chosen, setChosen] = useState('')
  const used = company.entitlements
    .filter(one => one.event_subtype !== undefined && (one.usage ?? 0) > 0)
    .sort((a, b) => Number(b.usage) - Number(a.usage))
  const one = used.find(({ feature_id: id }) => id === chosen)
  const shown = one ? [one] : used.slice(0, togetherMax)
  const series = useQuery({
    queryKey: [environment.id, 'company', company.id, 'per-day', shown.map(({ feature_id: id }) => id)],
    enabled: shown.length > 0,
    queryFn: () => {
      const end = new Date(Math.ceil(Date.now() / dayMs) * dayMs)
      const start = new Date(end.getTime() - shownDays * dayMs)
      return Promise.all(
        shown.map(({ feature_id }) =>
          api.get('/feature-usage-timeseries', {
            query: {
              company_id: company.id,
              feature_id,
              start_time: start.toISOString(),
              end_time: end.toISOString(),
              granularity: 'daily',
            },
          }),
        ),
      )
    },
  })
  const changes = useQuery({
    queryKey: [environment.id, 'company', company.id, 'plan-changes'],
    enabled: used.length > 0,
    queryFn: () => api.get('/plan-changes', { query: { company_id: company.id, limit: 20 } }),
  })
  if (used.length === 0) return null
  const limited = used.filter(({ allocation }) => allocation !== undefined)
  return (
    <Card
      title={one ? `Use of ${nameOf(one, features)}` : 'Use per day'}
      aside={
        limited.length > 0 && (
          <Choice
            className="max-w-56"
            aria-label="What the chart shows"
            value={one ? chosen : ''}
            options={[
              ['', 'Use per day'],
              ...limited.map(
                each => [each.feature_id, `${nameOf(each, features)} against its limit`] as const,
              ),
            ]}
            onChange={event => setChosen(event.currentTarget.value)}
          />
        )
      }
    >
      <Loaded of={series}>
        {all => {
          const perDay = new Map<string, number[]>()
          all.forEach(({ usage_points: points }, i) => {
            for (const point of points) {
              // a point names the end of its day
              const at = new Date(Date.parse(point.timestamp) - dayMs).toISOString()
              const day = perDay.get(at) ?? shown.map(() => 0)
              day[i] = Number(point.usage)
              perDay.set(at, day)
            }
          })
          const days = [...perDay.keys()].sort()
          const marks = marksOf(changes.data ?? [], days)
          const lines: readonly Series[] = one
            ? againstLimit(
                one,
                days,
                days.map(day => perDay.get(day)![0]!),
              )
            : shown.map((each, i) => ({
                name: nameOf(each, features),
                values: days.map(day => perDay.get(day)![i]!),
              }))
          return days.length === 0 ? (
            <Empty title="No use in the last 30 days" />
          ) : (
            <Suspense>
              <Chart
                label={`Use ${one ? 'against the limit' : 'per day'} of ${company.name}`}
                days={days}
                series={lines}
                marks={marks}
              />
              {marks.length > 0 && (
                <ul className="mt-1 text-xs text-muted">
                  {marks.map(({ at, text }) => (
                    <li key={`${at} ${text}`}>
                      {dayOf(at)}: {text}
                    </li>
                  ))}
                </ul>
              )}
            </Suspense>
          )
        }}
      </Loaded>
    </Card>
  )
}

/** The first instant of the period in which the use is counted now, ms; -Infinity: all time. */
function periodStart({ metric_period: period, metric_reset_at: reset }: Entitlement): number {
  if (!reset) return Number.NEGATIVE_INFINITY
  const start = new Date(reset)
  if (period === 'current_day') start.setUTCDate(start.getUTCDate() - 1)
  else if (period === 'current_week') start.setUTCDate(start.getUTCDate() - 7)
  else if (period === 'current_month') start.setUTCMonth(start.getUTCMonth() - 1)
  else return Number.NEGATIVE_INFINITY
  return start.getTime()
}

/** The use at the end of each day since the period began, and the limit of today. A limit for a day is met by the use of the day. */
function againstLimit(one: Entitlement, days: readonly string[], perDay: readonly number[]): Series[] {
  const limit = Number(one.allocation)
  const name = `Limit, ${figure(one.allocation)} ${periodOf(one.metric_period)}`
  const line = { name, values: days.map(() => limit), isLimit: true }
  if (one.metric_period === 'current_day') return [{ name: 'Use of the day', values: perDay }, line]
  const fromMs = periodStart(one)
  let total = Number(one.usage)
  const totals: (number | null)[] = []
  for (let i = days.length - 1; i >= 0; i--) {
    const isIn = Date.parse(days[i]!) + dayMs > fromMs
    totals.unshift(isIn ? total : null)
    if (isIn) total = Math.max(0, total - perDay[i]!)
  }
  return [{ name: 'Use since the period began', values: totals }, line]
}

/** Changes of plan within these days, in words. */
function marksOf(changes: readonly Schemas['PlanChange'][], days: readonly string[]) {
  const [first] = days
  return changes.flatMap(change => {
    const { created_at: at, base_plan: plan, previous_base_plan: before } = change
    if (first === undefined || at < first) return []
    const version = change.base_plan_version?.version
    const added = change.add_ons_added.map(({ name }) => `+${name}`)
    const removed = change.add_ons_removed.map(({ name }) => `–${name}`)
    const isOther = plan?.id !== before?.id
    const plans = isOther
      ? [plan ? `on ${plan.name}` : `off ${before!.name}`]
      : change.is_version_upgrade && plan
        ? [`${plan.name}${version ? ` v${version}` : ''}`]
        : []
    const text = [...plans, ...added, ...removed].join(', ')
    return text === '' ? [] : [{ at, text }]
  })
}
