// Overview: how many companies and events, what is denied, who is close to a limit, and what changed.
import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { api, type Schemas } from '../app/api.js'
import { ago, figure, shortFigure, trend } from '../app/format.js'
import { Go, useHere } from '../app/place.js'
import { Bar, Card, Empty, Loaded, Page, Stat, troubleOf } from '../ui/basics.js'
import { Chart } from '../ui/lazy-chart.js'
import { Cell, Row, Table } from '../ui/table.js'
import { useCompanyNames } from './company-names.js'
import { FirstSteps } from './first-steps.js'

export const today = (): string => `${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`

/** The day before the last 24 hours, in whole minutes: all who look within a minute ask the same question. */
function yesterday(): { start_time: string; end_time: string } {
  const toMs = Math.ceil(Date.now() / 60_000) * 60_000 - 86_400_000
  return { start_time: new Date(toMs - 86_400_000).toISOString(), end_time: new Date(toMs).toISOString() }
}

export default function Overview() {
  const { environment, may } = useHere()
  const key = environment.id
  const companies = useQuery({
    queryKey: [key, 'companies', 'count'],
    queryFn: () => api.get('/companies/count'),
  })
  const events = useQuery({
    queryKey: [key, 'events', 'today'],
    queryFn: () => api.get('/events/count', { query: { start_time: today() } }),
    refetchInterval: 15_000,
  })
  const usage = useQuery({
    queryKey: [key, 'usage-by-day'],
    queryFn: () => api.get('/usage-by-day', { query: { days: 30 } }),
    refetchInterval: 30_000,
  })
  const denied = useQuery({
    queryKey: [key, 'denied'],
    queryFn: () => api.get('/denied-checks', { query: { limit: 250 } }),
    refetchInterval: 30_000,
  })
  const dayBefore = useQuery({
    queryKey: [key, 'denied', 'day before'],
    queryFn: () => api.get('/denied-checks', { query: { ...yesterday(), limit: 250 } }),
    staleTime: 60_000,
  })
  const deniedBefore = (row: Schemas['DeniedChecks']): number =>
    dayBefore.data?.find(one => one.flag_key === row.flag_key && one.reason === row.reason)?.checks ?? 0
  const closest = useQuery({
    queryKey: [key, 'companies', 'closest'],
    queryFn: () =>
      api.get('/companies', {
        query: { view: 'summary', sort_order_column: 'closest_limit', limit: 8 },
      }) as Promise<Schemas['CompanySummary'][]>,
  })
  const deniedCount = denied.data?.reduce((sum, { checks }) => sum + checks, 0)
  const used = usage.data?.filter(({ total }) => total > 0).slice(0, 5) ?? []
  return (
    <Page title="Overview">
      {companies.data?.count === 0 && <FirstSteps />}
      <div className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Stat label="Companies" value={figure(companies.data?.count)} />
        <Stat
          label="Events today"
          value={
            events.data && events.data.count >= 100_000 ? '100,000 or more' : shortFigure(events.data?.count)
          }
        />
        <Stat label="Denied checks, 24 h" value={shortFigure(deniedCount)} />
        {may.admin ? (
          <Behind />
        ) : (
          <Stat label="Your role" value={may.write ? 'editor' : may.support ? 'support' : 'viewer'} />
        )}
      </div>
      <div className="mt-4 grid gap-4 lg:grid-cols-2">
        <Card title="Use per day, all companies">
          <Loaded of={usage}>
            {data =>
              used.length === 0 ? (
                <Empty title="No use in the last 30 days">
                  Features that events count show their use here.
                </Empty>
              ) : (
                <Suspense>
                  <Chart
                    label="Use per day of the most used features, all companies"
                    days={data[0]!.points.map(({ day }) => day)}
                    series={used.map(one => ({
                      name: one.feature_name,
                      values: one.points.map(({ quantity }) => Number(quantity)),
                    }))}
                  />
                </Suspense>
              )
            }
          </Loaded>
        </Card>
        <Card
          title="Closest to a limit"
          aside={
            <Go to="/companies" search={{ sort: 'closest_limit' }}>
              All
            </Go>
          }
        >
          <Loaded of={closest}>
            {rows => {
              const near = rows.filter(row => row.closest_limit !== null)
              return near.length === 0 ? (
                <Empty title="No company uses a limited feature yet" />
              ) : (
                <ul className="divide-y divide-line">
                  {near.map(row => (
                    <li
                      key={row.id}
                      className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 py-1.5"
                    >
                      <span className="flex min-w-0 flex-1 basis-40 flex-wrap items-baseline gap-x-2">
                        <Go to={`/companies/${row.id}`}>{row.name || row.id}</Go>
                        <span className="text-xs text-muted">{row.closest_limit!.feature_name}</span>
                      </span>
                      <Bar used={row.closest_limit!.usage} limit={row.closest_limit!.limit} />
                    </li>
                  ))}
                </ul>
              )
            }}
          </Loaded>
        </Card>
        <Card title="Denied in the last 24 hours">
          <Loaded of={denied}>
            {rows =>
              rows.length === 0 ? (
                <Empty title="Nothing was denied" />
              ) : (
                <Table label="Denied checks" head={['Flag', 'Reason', 'Checks', 'Trend']}>
                  {rows.slice(0, 8).map(row => (
                    <Row key={`${row.flag_key} ${row.reason}`}>
                      <Cell>
                        <Go to="/why" search={{ flag: row.flag_key ?? undefined }}>
                          {row.flag_key}
                        </Go>
                      </Cell>
                      <Cell className="text-muted">{shortReason(row.reason)}</Cell>
                      <Cell className="tabular-nums">{figure(row.checks)}</Cell>
                      <Cell className="text-muted tabular-nums">
                        {dayBefore.data && trend(row.checks, deniedBefore(row))}
                      </Cell>
                    </Row>
                  ))}
                </Table>
              )
            }
          </Loaded>
        </Card>
        {may.admin && <LatestChanges />}
      </div>
    </Page>
  )
}

/** A reason without the rule's id. */
export const shortReason = (reason: string | null): string => (reason ?? '').replace(/ \(rule_[^)]*\)/, '')

function Behind() {
  const system = useQuery({
    queryKey: ['system'],
    queryFn: () => api.get('/system'),
    refetchInterval: 10_000,
  })
  // while the service does not tell, the last figure says nothing of the present
  const now = troubleOf(system) === null ? system.data : undefined
  const seconds = now && Math.max(...now.stores.map(one => one.lag_seconds))
  return (
    <Stat
      label="Stored events behind"
      value={seconds === undefined ? '–' : `${Math.round(seconds)} s`}
      note={now?.degraded.join(', ') || undefined}
    />
  )
}

function LatestChanges() {
  const { environment } = useHere()
  const changes = useQuery({
    queryKey: [environment.id, 'audit', 'latest'],
    queryFn: () => api.get('/audit-log', { query: { limit: 8, environment_id: environment.id } }),
  })
  const names = useCompanyNames(companiesIn(changes.data ?? []))
  return (
    <Card
      title={`Latest changes in ${environment.name}`}
      aside={
        <Go to="/audit" search={{ here: 'yes' }}>
          All
        </Go>
      }
    >
      <Loaded of={changes}>
        {rows =>
          rows.length === 0 ? (
            <Empty title="Nothing was changed yet" />
          ) : (
            <ul className="divide-y divide-line">
              {rows.map(row => (
                <li key={row.id} className="flex justify-between gap-3 py-1.5">
                  <span className="flex min-w-0 flex-wrap items-baseline gap-x-2">
                    <Go to="/audit" search={{ entry: row.id }}>
                      {changeWords(row, names)}
                    </Go>
                    <span className="text-xs text-muted">{actorOf(row)}</span>
                  </span>
                  <span className="shrink-0 text-xs text-muted">{ago(row.started_at)}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  )
}

export const actorOf = (row: Schemas['AuditLogList']): string =>
  row.user_name ??
  row.api_key?.name ??
  (row.actor_type === 'system' ? 'operator' : (row.api_key_id ?? row.actor_type))

const verbs: Readonly<Record<string, string>> = {
  POST: 'Added',
  PUT: 'Changed',
  DELETE: 'Deleted',
  SYSTEM: 'System',
}

/** Ids of companies that entries of the audit log have as the name of a resource. */
export const companiesIn = (rows: readonly Schemas['AuditLogList'][]): readonly string[] =>
  rows.flatMap(({ resource_name: name }) => (name?.startsWith('comp_') ? [name] : []))

/** "Changed: company override of Exports for Acme". `names`: names of companies by id. */
export function changeWords(row: Schemas['AuditLogList'], names?: ReadonlyMap<string, string>): string {
  const what = (row.resource_type ?? '').replaceAll('_', ' ')
  const { feature_name: feature, plan_name: plan } = row
  const [company] = companiesIn([row])
  const name = company
    ? `${feature ? `of ${feature} for` : 'of'} ${names?.get(company) || company}`
    : feature
      ? `to ${feature}${plan ? ` in ${plan}` : ''}`
      : (row.resource_name ?? row.resource_id_string ?? '')
  const part = row.secondary_resource ? `, ${row.secondary_resource.replaceAll(/[_-]/g, ' ')}` : ''
  const verb = row.method === 'POST' && row.resp_code === 200 ? 'Changed' : (verbs[row.method] ?? row.method)
  return `${verb}: ${what} ${name}${part}${row.resp_code >= 400 ? ' (refused)' : ''}`
}
