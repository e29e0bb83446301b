// One company: what it may use and uses, credits, events, flags, users and changes, live.
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, type Schemas, sendEvent } from '../app/api.js'
import { ago, dayOf, figure, numberOf, periodOf, timeOf, words } from '../app/format.js'
import { useLive } from '../app/live.js'
import { usePagesOf } from '../app/pages-of.js'
import { Go, useFilters, useHere } from '../app/place.js'
import { useAct } from '../ui/act.js'
import { Badge, Bar, Button, Card, Code, Empty, Loaded, Page } from '../ui/basics.js'
import { FormDialog, type Values } from '../ui/form.js'
import { Cell, Row, Table } from '../ui/table.js'
import { Tabs } from '../ui/tabs.js'
import { CompanyCharges } from './company-charges.js'
import { Credits, GrantCredits } from './company-credits.js'
import { Traits } from './company-portal.js'
import { nameOf, UsePerDay } from './company-use.js'
import { EventTable } from './event-table.js'
import { Turn } from './flag-rules.js'
import { isVoid, OverrideDialog, overrideWords, useOverrides, valuesOf } from './override-dialog.js'
import { actorOf, changeWords, shortReason } from './overview.js'
import { priceWords } from './plan-words.js'

export type Company = Schemas['CompanyDetail']
export type Entitlement = Schemas['FeatureEntitlement']

export default function CompanyPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { environment, may } = useHere()
  const [filters, setFilters] = useFilters()
  const [open, setOpen] = useState<'plan' | 'event' | 'credits' | null>(null)
  const company = useQuery({
    queryKey: [environment.id, 'company', id],
    queryFn: async () => {
      const read = await api.get('/companies/{company_id}', { path: { company_id: id } })
      // one without a name is called by its id
      return { ...read, name: read.name || id }
    },
  })
  // The calls of the first tab go out beside the call for the company.
  const isFirst = filters.tab === undefined || filters.tab === 'entitlements'
  const features = useFeatures(isFirst)
  const overrides = useOverrides(isFirst ? id : null)
  const live = useLive(id, company.data?.keys)
  const { data } = company
  return (
    <Page
      above={<Go to="/companies">Companies</Go>}
      title={
        <>
          {data?.name ?? id} {data?.plan && <Badge tone="accent">{data.plan.name}</Badge>}{' '}
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
            {data.pending_migration && <span>{moveWords(data.pending_migration)}</span>}
            {data.scheduled_downgrade && (
              <span>
                goes to {data.scheduled_downgrade.to_plan_name} on{' '}
                {dayOf(data.scheduled_downgrade.effective_after)}
              </span>
            )}
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
          {data && may.write && <Button onClick={() => setOpen('event')}>Send event</Button>}
          {data && may.support && <Button onClick={() => setOpen('credits')}>Grant credits</Button>}
          {data && may.write && (
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
                {
                  id: 'entitlements',
                  name: 'Entitlements',
                  content: () => (
                    <Entitlements company={shown} features={features.data} overrides={overrides.data} />
                  ),
                },
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
                  ? [{ id: 'changes', name: 'Changes', content: () => <Changes company={shown} /> }]
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

/** "moves to Team v3 on 1 Dec". */
const moveWords = (to: Schemas['PendingMigration']): string =>
  `moves to ${to.to_plan_name}${to.to_plan_version_number === null ? '' : ` v${to.to_plan_version_number}`} ${
    to.effective_at ? `on ${dayOf(to.effective_at)}` : 'when its period ends'
  }`

export function useFeatures(enabled = true) {
  const { environment } = useHere()
  return useQuery({
    enabled,
    queryKey: [environment.id, 'features', 'summary'],
    queryFn: () =>
      api.all('/features', { query: { view: 'summary' } }) as Promise<Schemas['FeatureSummary'][]>,
  })
}

function Entitlements({
  company,
  features,
  overrides,
}: {
  readonly company: Company
  readonly features: readonly Schemas['FeatureSummary'][] | undefined
  readonly overrides: readonly Schemas['CompanyOverride'][] | undefined
}) {
  const planned = usePlanned(company)
  const { may, production } = useHere()
  const act = useAct()
  const [overriding, setOverriding] = useState<Entitlement | 'another' | null>(null)
  const overrideOf = (one: Entitlement) => overrides?.find(({ feature_id }) => feature_id === one.feature_id)
  const featureOf = (one: Entitlement) => features?.find(({ id }) => id === one.feature_id)
  const end = (one: Schemas['CompanyOverride'], name: string) =>
    act({
      title: `End the override of ${name}`,
      verb: 'End now',
      differences: [{ what: name, before: overrideWords(one), after: 'as its plan says' }],
      ...(production && { typed: company.name }),
      run: () =>
        api.del('/company-overrides/{company_override_id}', { path: { company_override_id: one.id } }),
      done: 'The override has ended',
      undo: () =>
        api.post('/company-overrides', {
          body: {
            company_id: company.id,
            feature_id: one.feature_id,
            ...valuesOf(one),
          } as never,
        }),
    })
  const held = new Set(company.entitlements.map(one => one.feature_id))
  const others = (features ?? []).filter(({ id }) => !held.has(id))
  const another = may.support && others.length > 0 && (
    <Button onClick={() => setOverriding('another')}>Override another feature</Button>
  )
  const dialog = overriding && (
    <OverrideDialog
      company={company}
      features={
        overriding === 'another'
          ? others.map(({ id, name, feature_type: type }) => ({ id, name, type, now: 'not allowed' }))
          : [
              {
                id: overriding.feature_id,
                name: nameOf(overriding, features),
                type: featureOf(overriding)?.feature_type ?? 'event',
                now: usedWords(overriding),
                planned: planned.get(overriding.feature_id),
              },
            ]
      }
      present={overriding === 'another' ? undefined : overrideOf(overriding)}
      onClose={() => setOverriding(null)}
    />
  )
  if (company.entitlements.length === 0)
    return (
      <>
        <Empty title="It may use nothing yet" action={another}>
          Put the company on a plan, or override a feature for it.
        </Empty>
        {dialog}
      </>
    )
  return (
    <div className="grid gap-4 2xl:grid-cols-[minmax(0,7fr)_minmax(0,3fr)]">
      <Card title="What it may use" aside={another}>
        <Table label="Entitlements" head={['Feature', 'From', 'Use against limit', 'Resets', '']}>
          {company.entitlements.map(one => {
            const override = overrideOf(one)
            const isInVain = override !== undefined && isVoid(override, planned.get(one.feature_id))
            const name = nameOf(one, features)
            return (
              <Row key={one.feature_id}>
                <Cell>
                  {name}
                  <div className="text-xs break-all text-muted">
                    {one.event_subtype ?? words(one.value_type)}
                  </div>
                </Cell>
                <Cell>
                  {override && !isInVain ? (
                    <Badge tone="warn">Override</Badge>
                  ) : (
                    (company.plan?.name ?? 'Plan')
                  )}
                  {isInVain && (
                    <div className="text-xs text-warn">
                      The override of {overrideWords(override)} is lower, so it changes nothing
                    </div>
                  )}
                  {override && (
                    <div className="min-w-40 text-xs text-muted">
                      {override.expiration_date && `until ${dayOf(override.expiration_date)} `}
                      {override.notes.at(-1)?.note}
                    </div>
                  )}
                </Cell>
                <Cell>
                  <Use of={one} />
                </Cell>
                <Cell className="whitespace-nowrap text-muted">
                  {one.usage === undefined ? '–' : dayOf(one.metric_reset_at)}
                </Cell>
                <Cell className="w-px text-right whitespace-nowrap">
                  {may.support && one.value_type !== 'credit' && (
                    <Button
                      look="quiet"
                      aria-label={override ? `Change the override of ${name}` : `Override ${name}`}
                      onClick={() => setOverriding(one)}
                    >
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
      <UsePerDay company={company} features={features ?? []} />
      {dialog}
    </div>
  )
}

/** Entitlements of the plan version that the company is on, by feature. */
function usePlanned({ plan }: Company): ReadonlyMap<string, Schemas['PlanEntitlement']> {
  const { environment } = useHere()
  const version = plan?.plan_version_id
  const found = useQuery({
    queryKey: [environment.id, 'plan-entitlements', version],
    enabled: version != null,
    queryFn: () =>
      api.get('/plan-entitlements', {
        query: { plan_id: plan!.id, plan_version_id: version!, limit: 250 },
      }),
  })
  return new Map((found.data ?? []).map(one => [one.feature_id, one]))
}

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

function Flags({ company }: { readonly company: Company }) {
  const { environment } = useHere()
  const values = useQuery({
    queryKey: [environment.id, 'company', company.id, 'flags'],
    queryFn: () =>
      api.get('/companies/{company_id}/explain', {
        path: { company_id: company.id },
        query: { limit: 250 },
      }),
  })
  // Plans and overrides decide the flag of a feature.
  const features = useFeatures()
  const ofFeature = new Set(features.data?.flatMap(one => one.flag?.id ?? []))
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
                  <Cell className="text-right whitespace-nowrap">
                    {features.data && !ofFeature.has(row.flag_id) && (
                      <Turn why={row} company={company.name} />
                    )}{' '}
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
  const { list: users, more } = usePagesOf({
    key: [environment.id, 'users', company.id],
    load: (page, signal) =>
      api.page('/users', { signal, query: { company_id: company.id, ...page } as never }),
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
      {more}
    </Card>
  )
}

function Changes({ company: { id, name } }: { readonly company: Company }) {
  const { environment } = useHere()
  const { list: changes, more } = usePagesOf({
    key: [environment.id, 'audit', 'of', id],
    load: (page, signal) =>
      api.page('/audit-log', {
        signal,
        query: { company_id: id, environment_id: environment.id, ...page },
      }),
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
                      {changeWords(row, new Map([[id, name]]))}
                    </Go>
                  </Cell>
                  <Cell>{actorOf(row)}</Cell>
                </Row>
              ))}
            </Table>
          )
        }
      </Loaded>
      {more}
    </Card>
  )
}

function ChangePlan({ company, onClose }: { readonly company: Company; readonly onClose: () => void }) {
  const { environment, production } = useHere()
  const plans = useQuery({
    queryKey: [environment.id, 'plans', 'summary'],
    queryFn: () => api.all('/plans', { query: { view: 'summary' } }) as Promise<Schemas['PlanSummary'][]>,
  })
  const published = (plans.data ?? []).filter(one => one.published_version && one.plan_type === 'plan')
  if (plans.data === undefined) return null
  const before = company.plan?.id ?? null
  // what is sold beside the plan has prices of its own, which this form does not know
  const isSold = (plan: Schemas['PlanSummary']) =>
    company.add_ons.length === 0 && (plan.terms?.prices.length ?? 0) > 0
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
        ...published.filter(isSold).map(one => ({
          name: `price ${one.id}`,
          label: 'Price',
          kind: 'choice' as const,
          optional: true,
          options: [
            ...one.terms!.prices.map(price => [price.id, priceWords(price)] as const),
            ['', 'Not billed by Tollgate'] as const,
          ],
          when: ({ plan }: Values) => plan === one.id,
        })),
      ]}
      act={values => {
        const plan = published.find(one => one.id === values.plan)
        if (plan === undefined) throw new Error('Publish a plan first')
        const price = plan.terms?.prices.find(one => one.id === values[`price ${plan.id}`])
        if (plan.id === before && price === undefined) throw new Error('The company is on this plan already')
        const put = (id: string | null) =>
          api.put('/company-plans/{company_id}', {
            path: { company_id: company.id },
            body: { base_plan_id: id },
          })
        return {
          title: `Put ${company.name} on ${plan.name}`,
          verb: 'Change plan',
          differences: [
            { what: 'Plan', before: company.plan?.name ?? 'none', after: plan.name },
            ...(price ? [{ what: 'Price', before: null, after: priceWords(price) }] : []),
          ],
          note: price
            ? 'It takes effect at once, and billing begins at this price. Credits of the old plan end, and credits of the new plan begin.'
            : 'It takes effect at once. Credits of the old plan end, and credits of the new plan begin.',
          ...(production && { typed: plan.name }),
          run: () =>
            price
              ? api.post('/manage-plan', {
                  body: {
                    company_id: company.id,
                    base_plan_id: plan.id,
                    base_plan_price_id: price.id,
                    // A company that stays on its plan would keep its version, and that version may lack this price.
                    ...(plan.id === before && { base_plan_version_id: plan.published_version!.id }),
                  } as never,
                })
              : put(plan.id),
          done: `${company.name} is on ${plan.name}`,
          // billing that has begun is not taken back by a click
          ...(!price && { undo: () => put(before) }),
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
              body: { event, company: { [key.key]: key.value }, quantity: numberOf(quantity ?? '') },
            })
            await queries.invalidateQueries()
          },
          done: `${event} was counted`,
        }
      }}
    />
  )
}
