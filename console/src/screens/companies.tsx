// Companies: a list of any length, searched as one types, sorted by name, time, closeness to a limit or use of a feature.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { Fragment, useEffect, useRef, useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { ago, figure } from '../app/format.js'
import { Go, useAdding, useFilters, useGo, useHere } from '../app/place.js'
import { useAct } from '../ui/act.js'
import {
  Badge,
  Bar,
  Button,
  Choice,
  Empty,
  Failure,
  Field,
  Input,
  Loading,
  Page,
  troubleOf,
} from '../ui/basics.js'
import { Dialog } from '../ui/dialog.js'
import { inText } from './plan-words.js'

type Summary = Schemas['CompanySummary']
const pageSize = 100
const sorts = [
  ['created_at', 'Newest first'],
  ['name', 'By name'],
  ['last_seen_at', 'Seen last'],
  ['closest_limit', 'Closest to a limit'],
  ['usage', 'Most use'],
] as const
/** Companies that a list by closeness or by use has, at most. */
const rankedMax = 500
/** Said where companies match and none of them is in such a list. */
const noneOf: Readonly<Record<string, string>> = {
  closest_limit: `None of them is among the ${rankedMax} closest to a limit`,
  usage: 'None of them used it in this time',
}
const periods = [
  ['today', 'Today'],
  ['week', 'Last 7 days'],
  ['month', 'This month'],
  ['', 'Last 30 days'],
] as const

/** The start of a period of UTC days; absent: the service's usual 30 days. */
function startOf(period: string | undefined): string | undefined {
  const now = new Date()
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const first = { today: day, week: day - 6, month: 1 }[period ?? '']
  return first === undefined ? undefined : new Date(Date.UTC(year, month, first)).toISOString()
}

export default function Companies() {
  const { environment, may } = useHere()
  const [filters, setFilters] = useFilters()
  const [typed, setTyped] = useState(filters.q ?? '')
  const [adding, setAdding] = useAdding()
  const { q = '', sort = 'created_at', plan = '', period = '' } = filters
  const byUse = sort === 'usage'
  // what was typed goes into the address; an address that came from elsewhere goes into the field
  const sent = useRef(q)
  useEffect(() => {
    if (q === sent.current) return
    sent.current = q
    setTyped(q)
  }, [q])
  useEffect(() => {
    if (typed === sent.current) return
    const timer = setTimeout(() => {
      sent.current = typed
      setFilters({ q: typed })
    }, 200)
    return () => clearTimeout(timer)
  })
  const filter = { ...(q && { q }), ...(plan && { plan_id: plan }) }
  const plans = useQuery({
    queryKey: [environment.id, 'plans', 'summary'],
    queryFn: () => api.all('/plans', { query: { view: 'summary' } }) as Promise<Schemas['PlanSummary'][]>,
  })
  const total = useQuery({
    queryKey: [environment.id, 'companies', 'count', filter],
    queryFn: () => api.get('/companies/count', { query: filter }),
  })
  // the most used first
  const features = useQuery({
    queryKey: [environment.id, 'usage-by-day'],
    queryFn: () => api.get('/usage-by-day', { query: { days: 30 } }),
    enabled: byUse,
  })
  const feature = filters.feature ?? features.data?.[0]?.feature_id
  const use = byUse ? { usage_feature_id: feature, usage_start_time: startOf(period) } : {}
  const list = useInfiniteQuery({
    queryKey: [environment.id, 'companies', 'list', filter, sort, use],
    queryFn: ({ pageParam, signal }) =>
      api.get('/companies', {
        signal,
        query: {
          ...filter,
          ...use,
          view: 'summary',
          sort_order_column: sort,
          limit: pageSize,
          offset: pageParam,
        } as never,
      }) as Promise<Summary[]>,
    enabled: !byUse || feature !== undefined,
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < pageSize ? undefined : pages.length * pageSize),
  })
  const rows = list.data?.pages.flat() ?? []
  const trouble = troubleOf(byUse && features.isError ? features : list)
  const uncounted = byUse && features.data?.length === 0
  return (
    <Page
      title="Companies"
      below={
        <span>
          {total.data ? `${figure(total.data.count)} ${q || plan ? 'found' : 'in all'}` : ' '}
          {sort === 'closest_limit' && `, the ${rankedMax} closest are listed`}
          {byUse && `, those that used it are listed, at most ${rankedMax}`}
        </span>
      }
      actions={
        may.write && (
          <Button look="primary" onClick={() => setAdding(true)}>
            Add company
          </Button>
        )
      }
    >
      <div className="mb-3 grid grid-cols-2 gap-2 sm:flex">
        <Input
          className="col-span-2 sm:max-w-80"
          type="search"
          placeholder="Name, key or trait"
          aria-label="Search companies"
          value={typed}
          onChange={event => setTyped(event.currentTarget.value)}
        />
        <Choice
          className="sm:max-w-48"
          aria-label="Sort"
          value={sort}
          options={sorts}
          onChange={event => setFilters({ sort: event.currentTarget.value })}
        />
        {byUse && (
          <>
            <Choice
              className="sm:max-w-48"
              aria-label="Feature"
              value={feature ?? ''}
              options={(features.data ?? []).map(one => [one.feature_id, one.feature_name] as const)}
              onChange={event => setFilters({ feature: event.currentTarget.value })}
            />
            <Choice
              className="sm:max-w-40"
              aria-label="Period"
              value={period}
              options={periods}
              onChange={event => setFilters({ period: event.currentTarget.value })}
            />
          </>
        )}
        <Choice
          className="sm:max-w-48"
          aria-label="Plan"
          value={plan}
          options={[['', 'Every plan'], ...(plans.data ?? []).map(one => [one.id, one.name] as const)]}
          onChange={event => setFilters({ plan: event.currentTarget.value })}
        />
      </div>
      {trouble ? (
        <Failure error={trouble} retry={() => (features.isError ? features : list).refetch()} />
      ) : null}
      {rows.length > 0 ? (
        <List
          rows={rows}
          byUse={byUse}
          more={list.hasNextPage && !list.isFetchingNextPage}
          loadMore={() => void list.fetchNextPage()}
        />
      ) : trouble ? null : uncounted ? (
        <Empty title="No feature is counted by events">
          A feature with an event name is: add one on the page{' '}
          <Go to="/features" className={inText}>
            Features
          </Go>
          .
        </Empty>
      ) : list.isPending ? (
        <Loading />
      ) : byUse && !q && !plan ? (
        <Empty title="No company used it in this time" />
      ) : q || plan ? (
        <Empty
          title={(total.data?.count && noneOf[sort]) || 'No company matches'}
          action={
            <Button
              onClick={() => {
                setTyped('')
                setFilters({ q: '', plan: '' })
              }}
            >
              Show all
            </Button>
          }
        >
          {q && !total.data?.count && <Alike q={q} />}
        </Empty>
      ) : (
        <Empty
          title="No company yet"
          action={
            may.write && (
              <Button look="primary" onClick={() => setAdding(true)}>
                Add company
              </Button>
            )
          }
        >
          Companies are your customers. Your servers add them with their first event; you can also add one
          here.
        </Empty>
      )}
      {adding && may.write && <AddCompany onClose={() => setAdding(false)} />}
    </Page>
  )
}

/** Companies whose names are like a text that no company has. */
function Alike({ q }: { readonly q: string }) {
  const { environment } = useHere()
  const found = useQuery({
    queryKey: [environment.id, 'search', q],
    queryFn: () => api.get('/search', { query: { q, limit: 20 } }),
  })
  const companies = (found.data ?? []).filter(one => one.type === 'company').slice(0, 5)
  if (companies.length === 0) return null
  return (
    <>
      Did you mean{' '}
      {companies.map((one, i) => (
        <Fragment key={one.id}>
          {i > 0 && (i === companies.length - 1 ? ' or ' : ', ')}
          <Go to={`/companies/${one.id}`} className={inText}>
            {one.name}
          </Go>
        </Fragment>
      ))}
      ?
    </>
  )
}

const columns =
  'grid grid-cols-[minmax(0,1fr)_auto] gap-x-4 sm:grid-cols-[minmax(0,2fr)_minmax(0,1fr)_minmax(0,2fr)_6rem]'

function List({
  rows,
  byUse,
  more,
  loadMore,
}: {
  readonly rows: readonly Summary[]
  readonly byUse: boolean
  readonly more: boolean
  readonly loadMore: () => void
}) {
  const place = useRef<HTMLElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => place.current,
    estimateSize: () => 52,
    overscan: 12,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (more && last >= rows.length - 20) loadMore()
  }, [more, last, rows.length, loadMore])
  return (
    <div className="rounded-lg border border-line bg-panel">
      <div
        className={`${columns} border-b border-line px-3 py-2 text-xs font-medium text-muted`}
        aria-hidden="true"
      >
        <span>Company</span>
        <span className="hidden sm:block">Plan</span>
        <span>{byUse ? 'Used' : 'Closest limit'}</span>
        <span className="hidden sm:block">Seen</span>
      </div>
      <section
        ref={place}
        className="h-[calc(100dvh-17rem)] min-h-72 overflow-y-auto"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label="Companies"
      >
        <ul className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start, size }) => {
            const row = rows[index]!
            return (
              <li
                key={row.id}
                aria-posinset={index + 1}
                aria-setsize={more ? -1 : rows.length}
                className={`${columns} absolute inset-x-0 items-center border-b border-line px-3`}
                style={{ height: size, transform: `translateY(${start}px)` }}
              >
                <span className="truncate">
                  <Go to={`/companies/${row.id}`}>{row.name || row.id}</Go>
                </span>
                <span className="hidden truncate sm:block">
                  {row.plan ? (
                    <Badge className="max-w-full truncate align-bottom">{row.plan.name}</Badge>
                  ) : (
                    <span className="text-muted">none</span>
                  )}
                  {row.add_on_count > 0 && <span className="text-xs text-muted"> +{row.add_on_count}</span>}
                </span>
                <span className="flex min-w-0 flex-col">
                  {byUse ? (
                    <span className="tabular-nums">{figure(row.usage)}</span>
                  ) : row.closest_limit ? (
                    <>
                      <Bar used={row.closest_limit.usage} limit={row.closest_limit.limit} />
                      <span className="truncate text-xs text-muted">{row.closest_limit.feature_name}</span>
                    </>
                  ) : (
                    <span className="text-muted">–</span>
                  )}
                </span>
                <span className="hidden text-xs text-muted sm:block">{ago(row.last_seen_at)}</span>
              </li>
            )
          })}
        </ul>
      </section>
    </div>
  )
}

function AddCompany({ onClose }: { readonly onClose: () => void }) {
  const act = useAct()
  const go = useGo()
  const { environment } = useHere()
  const plans = useQuery({
    queryKey: [environment.id, 'plans', 'summary'],
    queryFn: () => api.all('/plans', { query: { view: 'summary' } }) as Promise<Schemas['PlanSummary'][]>,
  })
  const [name, setName] = useState('')
  const [keyName, setKeyName] = useState('slug')
  const [key, setKey] = useState('')
  const [plan, setPlan] = useState('')
  const submit = async () => {
    let id = ''
    const done = await act({
      title: `Add ${name}`,
      verb: 'Add',
      differences: [
        { what: 'Name', before: null, after: name },
        { what: keyName, before: null, after: key },
        { what: 'Plan', before: null, after: plans.data?.find(one => one.id === plan)?.name ?? 'none' },
      ],
      run: async () => {
        const made = await api.post('/companies/create', {
          body: { name, keys: { [keyName]: key } } as never,
        })
        id = made.id
        if (plan)
          await api.put('/company-plans/{company_id}', {
            path: { company_id: id },
            body: { base_plan_id: plan },
          })
      },
      done: `${name} was added`,
      undo: async () => {
        await api.del('/companies/{company_id}', { path: { company_id: id } })
        go('/companies')
      },
    })
    if (!done) return
    onClose()
    go(`/companies/${id}`)
  }
  const published = (plans.data ?? []).filter(one => one.published_version && one.plan_type === 'plan')
  return (
    <Dialog open title="Add company" onClose={onClose}>
      <form
        onSubmit={event => {
          event.preventDefault()
          void submit()
        }}
      >
        <Field label="Name">
          {id => (
            <Input id={id} required value={name} onChange={event => setName(event.currentTarget.value)} />
          )}
        </Field>
        <Field
          label="Key name"
          hint="The name under which your servers know the company, e.g. slug or crm_id."
        >
          {id => (
            <Input
              id={id}
              required
              value={keyName}
              onChange={event => setKeyName(event.currentTarget.value)}
            />
          )}
        </Field>
        <Field label="Key value">
          {id => <Input id={id} required value={key} onChange={event => setKey(event.currentTarget.value)} />}
        </Field>
        <Field
          label="Plan"
          hint={
            published.length === 0
              ? 'No plan is published yet.'
              : published.find(one => one.id === plan)?.terms?.prices.length
                ? 'Without billing: “Change plan” on its page begins that.'
                : undefined
          }
        >
          {id => (
            <Choice
              id={id}
              value={plan}
              options={[['', 'None'], ...published.map(one => [one.id, one.name] as const)]}
              onChange={event => setPlan(event.currentTarget.value)}
            />
          )}
        </Field>
        <div className="mt-4 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit">
            Continue
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
