// One company: what it may use and uses, credits, events, flags, users and changes, live.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { api, type Schemas, sendEvent } from '../app/api.js'
import { ago, dayOf, figure, periodOf, timeOf, words } from '../app/format.js'
import { useLive } from '../app/live.js'
import { Go, useFilters, useGo, useHere } from '../app/place.js'
import { useAct } from '../ui/act.js'
import { Badge, Bar, Button, Card, Cell, Code, Empty, Loaded, Page, Row, Table } from '../ui/basics.js'
import { FormDialog } from '../ui/form.js'
import { Tabs } from '../ui/tabs.js'
import { CompanyCharges } from './company-charges.js'
import { EventTable } from './event-table.js'
import { OverrideDialog, useOverrides } from './override-dialog.js'
import { actorOf, changeWords, shortReason } from './overview.js'

const Chart = lazy(() => import('../ui/chart.js').then(({ Chart: component }) => ({ default: component })))

type Company = Schemas['CompanyDetail']
type Entitlement = Schemas['FeatureEntitlement']

export default function CompanyPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { environment, may } = useHere()
  const [filters, setFilters] = useFilters()
  const [open, setOpen] = useState<'plan' | 'event' | 'credits' | null>(null)
  const company = useQuery({
    queryKey: [environment.id, 'company', id],
    queryFn: () => api.get('/companies/{company_id}', { path: { company_id: id } }),
  })
  const live = useLive(id, company.data?.keys)
  const { data } = company
  return (
    <Page
      above={<Go to="/companies">Companies</Go>}
      title={
        <>
          {data?.name || id} {data?.plan && <Badge tone="accent">{data.plan.name}</Badge>}{' '}
          {data?.add_ons.map(one => (
            <Badge key={one.id}>+{one.name}</Badge>
          ))}
        </>
      }
      below={
        data && (
          <>
            {data.keys.map(key => (
              <Code key={key.id}>
                {key.key}={key.value}
              </Code>
            ))}
            <span>
              seen {ago(data.last_seen_at)} · {data.user_count} {data.user_count === 1 ? 'user' : 'users'}
            </span>
            {live && <Badge tone="ok">live</Badge>}
          </>
        )
      }
      actions={
        <>
          <Go
            to="/why"
            search={{ company: id }}
            className="inline-flex min-h-9 items-center rounded-md border border-line bg-panel px-3 font-medium hover:bg-raised"
          >
            Why denied?
          </Go>
          {may.write && <Button onClick={() => setOpen('event')}>Send event</Button>}
          {may.support && <Button onClick={() => setOpen('credits')}>Grant credits</Button>}
          {may.write && (
            <Button look="primary" onClick={() => setOpen('plan')}>
              Change plan
            </Button>
          )}
        </>
      }
    >
      <Loaded of={company}>
        {shown => (
          <>
            <Tabs
              value={filters.tab ?? 'entitlements'}
              onChange={tab => setFilters({ tab })}
              tabs={[
                { id: 'entitlements', name: 'Entitlements', content: () => <Entitlements company={shown} /> },
                { id: 'credits', name: 'Credits', content: () => <Credits company={shown} /> },
                { id: 'charges', name: 'Charges', content: () => <CompanyCharges id={id} /> },
                {
                  id: 'events',
                  name: 'Events',
                  content: () => (
                    <Card>
                      <EventTable filter={{ company_id: id }} tail />
                    </Card>
                  ),
                },
                { id: 'flags', name: 'Flags', content: () => <Flags company={shown} /> },
                { id: 'users', name: 'Users', content: () => <Users company={shown} /> },
                ...(may.admin
                  ? [{ id: 'changes', name: 'Changes', content: () => <Changes id={id} /> }]
                  : []),
                { id: 'more', name: 'Traits and portal', content: () => <Traits company={shown} /> },
              ]}
            />
            {open === 'plan' && <ChangePlan company={shown} onClose={() => setOpen(null)} />}
            {open === 'event' && <SendEvent company={shown} onClose={() => setOpen(null)} />}
            {open === 'credits' && <GrantCredits company={shown} onClose={() => setOpen(null)} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

const nameOf = (one: Entitlement, features: readonly Schemas['FeatureSummary'][] | undefined): string =>
  features?.find(({ id }) => id === one.feature_id)?.name ?? one.feature_key

export function useFeatures() {
  const { environment } = useHere()
  return useQuery({
    queryKey: [environment.id, 'features', 'summary'],
    queryFn: () =>
      api.get('/features', { query: { view: 'summary', limit: 250 } }) as Promise<
        Schemas['FeatureSummary'][]
      >,
  })
}

function Entitlements({ company }: { readonly company: Company }) {
  const features = useFeatures()
  const overrides = useOverrides(company.id)
  const { may } = useHere()
  const act = useAct()
  const [overriding, setOverriding] = useState<Entitlement | null>(null)
  const overrideOf = (one: Entitlement) =>
    overrides.data?.find(({ feature_id }) => feature_id === one.feature_id)
  const featureOf = (one: Entitlement) => features.data?.find(({ id }) => id === one.feature_id)
  const end = (one: Schemas['CompanyOverride'], name: string) =>
    act({
      title: `End the override of ${name}`,
      verb: 'End now',
      differences: [{ what: name, before: overrideWords(one), after: 'as its plan says' }],
      run: () =>
        api.del('/company-overrides/{company_override_id}', { path: { company_override_id: one.id } }),
      done: 'The override has ended',
      undo: () =>
        api.post('/company-overrides', {
          body: {
            company_id: company.id,
            feature_id: one.feature_id,
            value_type: one.value_type,
            value_bool: one.value_bool,
            value_numeric: one.value_numeric,
            metric_period: one.metric_period,
            expiration_date: one.expiration_date,
          } as never,
        }),
    })
  if (company.entitlements.length === 0)
    return (
      <Empty title="It may use nothing yet">
        Put the company on a plan, or override a feature for it. A plan with a published version allows
        features.
      </Empty>
    )
  return (
    <div className="grid gap-4 xl:grid-cols-[3fr_2fr]">
      <Card title="What it may use">
        <Table label="Entitlements" head={['Feature', 'From', 'Use against limit', 'Resets', '']}>
          {company.entitlements.map(one => {
            const override = overrideOf(one)
            const name = nameOf(one, features.data)
            return (
              <Row key={one.feature_id}>
                <Cell>
                  {name}
                  <div className="text-xs text-muted">{one.event_subtype ?? words(one.value_type)}</div>
                </Cell>
                <Cell>{override ? <Badge tone="warn">Override</Badge> : (company.plan?.name ?? 'Plan')}</Cell>
                <Cell>
                  <Use of={one} />
                </Cell>
                <Cell className="whitespace-nowrap text-muted">
                  {one.usage === undefined ? '–' : dayOf(one.metric_reset_at)}
                </Cell>
                <Cell className="w-px text-right">
                  {may.support && one.value_type !== 'credit' && (
                    <Button look="quiet" aria-label={`Override ${name}`} onClick={() => setOverriding(one)}>
                      {override ? 'Change' : 'Override'}
                    </Button>
                  )}
                  {may.support && override && (
                    <Button
                      look="quiet"
                      aria-label={`End now: the override of ${name}`}
                      onClick={() => void end(override, name)}
                    >
                      End now
                    </Button>
                  )}
                </Cell>
              </Row>
            )
          })}
        </Table>
      </Card>
      <UsePerDay company={company} features={features.data ?? []} />
      {overriding && (
        <OverrideDialog
          company={company}
          feature={{
            id: overriding.feature_id,
            name: nameOf(overriding, features.data),
            type: featureOf(overriding)?.feature_type ?? 'event',
          }}
          now={usedWords(overriding)}
          present={overrideOf(overriding)}
          onClose={() => setOverriding(null)}
        />
      )}
    </div>
  )
}

const overrideWords = (one: Schemas['CompanyOverride']): string =>
  one.value_type === 'numeric'
    ? figure(one.value_numeric)
    : one.value_type === 'boolean'
      ? one.value_bool
        ? 'on'
        : 'off'
      : words(one.value_type)

const usedWords = (one: Entitlement): string =>
  one.allocation !== undefined
    ? `${figure(one.allocation)} ${periodOf(one.metric_period)}`
    : words(one.value_type)

function Use({ of: one }: { readonly of: Entitlement }) {
  if (one.value_type === 'credit')
    return (
      <span className="whitespace-nowrap text-xs">
        {figure(one.credit_remaining)} credits left
        {one.consumption_rate ? `, ${one.consumption_rate} a unit` : ''}
      </span>
    )
  if (one.usage !== undefined) return <Bar used={one.usage} limit={one.allocation ?? null} />
  return <Badge tone="ok">{one.value_type === 'boolean' ? 'on' : words(one.value_type)}</Badge>
}

function UsePerDay({
  company,
  features,
}: {
  readonly company: Company
  readonly features: readonly Schemas['FeatureSummary'][]
}) {
  const { environment } = useHere()
  const used = company.entitlements
    .filter(one => one.event_subtype !== undefined && (one.usage ?? 0) > 0)
    .sort((a, b) => Number(b.usage) - Number(a.usage))
    .slice(0, 4)
  const series = useQuery({
    queryKey: [environment.id, 'company', company.id, 'per-day', used.map(one => one.feature_id)],
    enabled: used.length > 0,
    queryFn: () => {
      const end = new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000)
      const start = new Date(end.getTime() - 30 * 86_400_000)
      return Promise.all(
        used.map(one =>
          api.get('/feature-usage-timeseries', {
            query: {
              company_id: company.id,
              feature_id: one.feature_id,
              start_time: start.toISOString(),
              end_time: end.toISOString(),
              granularity: 'daily',
            },
          }),
        ),
      )
    },
  })
  if (used.length === 0) return null
  return (
    <Card title="Use per day">
      <Loaded of={series}>
        {all => {
          const perDay = new Map<string, number[]>()
          all.forEach((one, i) => {
            for (const point of one.usage_points) {
              const day = perDay.get(point.timestamp) ?? used.map(() => 0)
              day[i] = Number(point.usage)
              perDay.set(point.timestamp, day)
            }
          })
          const days = [...perDay.keys()].sort()
          return days.length === 0 ? (
            <Empty title="No use in the last 30 days" />
          ) : (
            <Suspense>
              <Chart
                label={`Use per day of ${company.name}`}
                days={days}
                series={used.map((one, i) => ({
                  name: nameOf(one, features),
                  values: days.map(day => perDay.get(day)![i]!),
                }))}
              />
            </Suspense>
          )
        }}
      </Loaded>
    </Card>
  )
}

function Credits({ company }: { readonly company: Company }) {
  const { environment, may } = useHere()
  const act = useAct()
  const grants = useQuery({
    queryKey: [environment.id, 'grants', company.id],
    queryFn: () =>
      api.get('/billing/credits/grants/company/list', {
        query: { company_id: company.id, limit: 100 } as never,
      }),
  })
  const ledger = useQuery({
    queryKey: [environment.id, 'ledger', company.id],
    queryFn: () =>
      api.get('/v2/billing/credits/ledger', {
        query: { company_id: company.id, period: 'raw', limit: 50 } as never,
      }),
  })
  const zeroOut = (grant: Schemas['CreditGrant']) =>
    act({
      title: `End a grant of ${grant.credit_name}`,
      verb: 'End grant',
      danger: true,
      differences: [{ what: 'Remaining', before: figure(grant.quantity_remaining), after: '0' }],
      run: () =>
        api.put('/billing/credits/grants/{grant_id}/zero-out', {
          path: { grant_id: grant.id },
          body: { reason: 'manual' } as never,
        }),
      done: 'The grant has ended',
    })
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      <Card title="Grants">
        <Loaded of={grants}>
          {rows =>
            rows.length === 0 ? (
              <Empty title="No credits were granted" />
            ) : (
              <Table label="Grants" head={['Credit', 'Reason', 'Left of', 'Until', '']}>
                {rows.map(grant => (
                  <Row key={grant.id}>
                    <Cell>{grant.credit_name}</Cell>
                    <Cell className="text-muted">{words(grant.grant_reason)}</Cell>
                    <Cell>
                      <span className="whitespace-nowrap tabular-nums">
                        {figure(grant.quantity_remaining)} / {figure(grant.quantity)}
                      </span>
                    </Cell>
                    <Cell className="text-muted">
                      {grant.zeroed_out_date ? 'ended' : dayOf(grant.expires_at)}
                    </Cell>
                    <Cell>
                      {may.support && grant.quantity_remaining > 0 && (
                        <Button look="quiet" onClick={() => void zeroOut(grant)}>
                          End
                        </Button>
                      )}
                    </Cell>
                  </Row>
                ))}
              </Table>
            )
          }
        </Loaded>
      </Card>
      <Card title="Ledger">
        <Loaded of={ledger}>
          {rows =>
            rows.length === 0 ? (
              <Empty title="Nothing was granted or drawn" />
            ) : (
              <Table label="Ledger" head={['When', 'Entry', 'Credits']}>
                {rows.map((entry, i) => (
                  <Row key={`${entry.event_id} ${i}`}>
                    <Cell className="whitespace-nowrap text-muted">{timeOf(entry.event_at)}</Cell>
                    <Cell>
                      {words(entry.event_type)} {entry.feature?.name ?? ''} · {entry.credit_name}
                    </Cell>
                    <Cell className="tabular-nums">{figure(entry.amount)}</Cell>
                  </Row>
                ))}
              </Table>
            )
          }
        </Loaded>
      </Card>
    </div>
  )
}

function Flags({ company }: { readonly company: Company }) {
  const { environment } = useHere()
  const flags = useQuery({
    queryKey: [environment.id, 'flags', 'summary'],
    queryFn: () =>
      api.get('/flags', { query: { view: 'summary', limit: 250 } }) as Promise<Schemas['FlagSummary'][]>,
  })
  const values = useQuery({
    queryKey: [environment.id, 'company', company.id, 'flags', flags.data?.map(one => one.key)],
    enabled: flags.data !== undefined,
    queryFn: () =>
      Promise.all(
        flags
          .data!.slice(0, 100)
          .map(one =>
            api.post('/flags/{key}/explain', { path: { key: one.key }, body: { company_id: company.id } }),
          ),
      ),
  })
  return (
    <Card title="Flags now">
      <Loaded of={values}>
        {rows =>
          rows.length === 0 ? (
            <Empty title="No flag yet" />
          ) : (
            <Table label="Flags" head={['Flag', 'Value', 'Reason', '']}>
              {rows.map(row => (
                <Row key={row.flag_id}>
                  <Cell>
                    <Go to={`/flags/${row.flag_id}`}>{row.flag}</Go>
                  </Cell>
                  <Cell>
                    <Badge tone={row.value ? 'ok' : 'danger'}>{row.value ? 'on' : 'off'}</Badge>
                  </Cell>
                  <Cell className="text-muted">{shortReason(row.reason)}</Cell>
                  <Cell>
                    <Go
                      to="/why"
                      search={{ company: company.id, flag: row.flag }}
                      aria-label={`Why? ${row.flag}`}
                    >
                      Why?
                    </Go>
                  </Cell>
                </Row>
              ))}
            </Table>
          )
        }
      </Loaded>
    </Card>
  )
}

function Users({ company }: { readonly company: Company }) {
  const { environment } = useHere()
  const users = useQuery({
    queryKey: [environment.id, 'users', company.id],
    queryFn: () => api.get('/users', { query: { company_id: company.id, limit: 100 } as never }),
  })
  return (
    <Card title="Users">
      <Loaded of={users}>
        {rows =>
          rows.length === 0 ? (
            <Empty title="No user yet">Users come with the events that your servers send.</Empty>
          ) : (
            <Table label="Users" head={['User', 'Keys', 'Seen']}>
              {rows.map(user => (
                <Row key={user.id}>
                  <Cell>{user.name || user.id}</Cell>
                  <Cell>
                    {user.keys.map(key => (
                      <Code key={key.id}>
                        {key.key}={key.value}
                      </Code>
                    ))}
                  </Cell>
                  <Cell className="text-muted">{ago(user.last_seen_at)}</Cell>
                </Row>
              ))}
            </Table>
          )
        }
      </Loaded>
    </Card>
  )
}

function Changes({ id }: { readonly id: string }) {
  const { environment } = useHere()
  const changes = useQuery({
    queryKey: [environment.id, 'audit', 'of', id],
    queryFn: () => api.get('/audit-log', { query: { q: id, limit: 50 } }),
  })
  return (
    <Card title="Changes">
      <Loaded of={changes}>
        {rows =>
          rows.length === 0 ? (
            <Empty title="Nobody changed this company by hand" />
          ) : (
            <Table label="Changes" head={['When', 'Change', 'By']}>
              {rows.map(row => (
                <Row key={row.id}>
                  <Cell className="whitespace-nowrap text-muted">{timeOf(row.started_at)}</Cell>
                  <Cell>
                    <Go to="/audit" search={{ entry: row.id }}>
                      {changeWords(row)}
                    </Go>
                  </Cell>
                  <Cell>{actorOf(row)}</Cell>
                </Row>
              ))}
            </Table>
          )
        }
      </Loaded>
    </Card>
  )
}

function Traits({ company }: { readonly company: Company }) {
  const { may, environment } = useHere()
  const portal = useQuery({
    queryKey: [environment.id, 'company', company.id, 'subscriptions'],
    queryFn: () => api.get('/company-subscriptions', { query: { company_id: company.id } as never }),
    retry: false,
  })
  const traits = Object.entries(company.traits)
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Card title="Traits">
        {traits.length === 0 ? (
          <Empty title="No traits" />
        ) : (
          <dl className="divide-y divide-line">
            {traits.map(([name, value]) => (
              <div key={name} className="grid grid-cols-[1fr_2fr] gap-3 py-1.5">
                <dt className="text-muted">{name}</dt>
                <dd>{String(value)}</dd>
              </div>
            ))}
          </dl>
        )}
      </Card>
      <Card title="Subscriptions and portal">
        <p className="mb-2">
          {portal.data?.length
            ? portal.data.map(one => `${one.status ?? ''} ${one.currency ?? ''}`).join(', ')
            : 'No subscription with a payment provider.'}
        </p>
        <p className="text-muted">
          {may.admin
            ? 'A server makes a token for this company’s own page with POST /temporary-access-tokens.'
            : 'The company’s own page shows its plan, use and credits.'}
        </p>
        <Go to="/preview/plans">See the plans as customers do</Go>
      </Card>
    </div>
  )
}

function ChangePlan({ company, onClose }: { readonly company: Company; readonly onClose: () => void }) {
  const { environment, production } = useHere()
  const plans = useQuery({
    queryKey: [environment.id, 'plans', 'summary'],
    queryFn: () => api.get('/plans', { query: { view: 'summary' } }) as Promise<Schemas['PlanSummary'][]>,
  })
  const published = (plans.data ?? []).filter(one => one.published_version && one.plan_type === 'plan')
  if (plans.data === undefined) return null
  const before = company.plan?.id ?? null
  return (
    <FormDialog
      title="Change plan"
      onClose={onClose}
      fields={[
        {
          name: 'plan',
          label: 'Plan',
          kind: 'choice',
          options: published.map(one => [one.id, one.name] as const),
          ...(before && { initial: before }),
          ...(published.length === 0 && { hint: 'No plan is published yet.' }),
        },
      ]}
      act={({ plan }) => {
        if (!plan) throw new Error('Publish a plan first')
        if (plan === before) throw new Error('The company is on this plan already')
        const name = published.find(one => one.id === plan)!.name
        const put = (id: string | null) =>
          api.put('/company-plans/{company_id}', {
            path: { company_id: company.id },
            body: { base_plan_id: id },
          })
        return {
          title: `Put ${company.name} on ${name}`,
          verb: 'Change plan',
          differences: [{ what: 'Plan', before: company.plan?.name ?? 'none', after: name }],
          note: 'It takes effect at once. Credits of the old plan end and those of the new one begin.',
          ...(production && { typed: name }),
          run: () => put(plan),
          done: `${company.name} is on ${name}`,
          undo: () => put(before),
        }
      }}
    />
  )
}

function SendEvent({ company, onClose }: { readonly company: Company; readonly onClose: () => void }) {
  const { environment, may } = useHere()
  const queries = useQueryClient()
  const keys = useQuery({
    queryKey: ['keys', environment.id],
    enabled: may.admin,
    queryFn: () =>
      api.get('/api-keys', { query: { environment_id: environment.id, require_environment: true } as never }),
  })
  const names = [...new Set(company.entitlements.flatMap(one => one.event_subtype ?? []))]
  const publishable = keys.data?.find(key => key.secret?.startsWith('pk_'))?.secret
  if (may.admin && keys.data === undefined) return null
  return (
    <FormDialog
      title="Send event"
      onClose={onClose}
      fields={[
        names.length > 0
          ? {
              name: 'event',
              label: 'Event',
              kind: 'choice',
              options: names.map(name => [name, name] as const),
            }
          : { name: 'event', label: 'Event' },
        { name: 'quantity', label: 'Quantity', kind: 'number', initial: '1' },
      ]}
      act={({ event, quantity }) => {
        const [key] = company.keys
        if (publishable === undefined || key === undefined)
          throw new Error(
            'Only an admin can send events here, for a company with a key: they go by the publishable key',
          )
        return {
          title: `Send ${event} for ${company.name}`,
          verb: 'Send',
          differences: [{ what: event!, before: null, after: `+ ${quantity}` }],
          note: 'It counts like any other event. The publishable key of the environment is used.',
          run: async () => {
            await sendEvent(publishable, {
              event_type: 'track',
              body: { event, company: { [key.key]: key.value }, quantity: Number(quantity) },
            })
            await queries.invalidateQueries()
          },
          done: `${event} was counted`,
        }
      }}
    />
  )
}

function GrantCredits({ company, onClose }: { readonly company: Company; readonly onClose: () => void }) {
  const { environment, production } = useHere()
  const go = useGo()
  const credits = useQuery({
    queryKey: [environment.id, 'credits'],
    queryFn: () => api.get('/billing/credits', {}),
  })
  if (credits.data === undefined) return null
  return (
    <FormDialog
      title="Grant credits"
      onClose={onClose}
      onDone={() => go(`/companies/${company.id}`, { tab: 'credits' })}
      fields={[
        {
          name: 'credit',
          label: 'Credit',
          kind: 'choice',
          options: credits.data.map(one => [one.id, one.name] as const),
        },
        { name: 'quantity', label: 'Credits', kind: 'number' },
        {
          name: 'reason',
          label: 'Reason',
          kind: 'choice',
          options: [
            ['free', 'free'],
            ['adjustment', 'adjustment'],
            ['purchased', 'purchased'],
          ],
        },
      ]}
      act={({ credit, quantity, reason }) => {
        if (!credit) throw new Error('Make a kind of credit first, on the page Credits')
        const { name } = credits.data.find(one => one.id === credit)!
        const before = company.billing_credit_balances[credit] ?? 0
        let made = ''
        return {
          title: `Grant ${company.name} ${quantity} ${name}`,
          verb: 'Grant',
          differences: [{ what: name, before: figure(before), after: figure(before + Number(quantity)) }],
          ...(production && { typed: company.name }),
          run: async () => {
            const grant = await api.post('/billing/credits/grants/company', {
              body: {
                company_id: company.id,
                credit_id: credit,
                quantity: Number(quantity),
                reason: reason as 'free',
              } as never,
            })
            made = grant.id
          },
          done: 'The credits were granted',
          undo: () =>
            api.put('/billing/credits/grants/{grant_id}/zero-out', {
              path: { grant_id: made },
              body: { reason: 'manual' } as never,
            }),
        }
      }}
    />
  )
}
