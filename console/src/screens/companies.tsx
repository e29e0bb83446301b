// Companies: a list of any length, searched as one types, sorted by name, time or closeness to a limit.
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
] as const

export default function Companies() {
  const { environment, may } = useHere()
  const [filters, setFilters] = useFilters()
  const [typed, setTyped] = useState(filters.q ?? '')
  const [adding, setAdding] = useAdding()
  const { q = '', sort = 'created_at', plan = '' } = filters
  useEffect(() => {
    if (typed === q) return
    const timer = setTimeout(() => setFilters({ q: typed }), 200)
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
  const list = useInfiniteQuery({
    queryKey: [environment.id, 'companies', 'list', filter, sort],
    queryFn: ({ pageParam, signal }) =>
      api.get('/companies', {
        signal,
        query: { ...filter, view: 'summary', sort_order_column: sort, limit: pageSize, offset: pageParam },
      }) as Promise<Summary[]>,
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length < pageSize ? undefined : pages.length * pageSize),
  })
  const rows = list.data?.pages.flat() ?? []
  const trouble = troubleOf(list)
  return (
    <Page
      title="Companies"
      below={
        <span>{total.data ? `${figure(total.data.count)} ${q || plan ? 'found' : 'in all'}` : ' '}</span>
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
        <Choice
          className="sm:max-w-48"
          aria-label="Plan"
          value={plan}
          options={[['', 'Every plan'], ...(plans.data ?? []).map(one => [one.id, one.name] as const)]}
          onChange={event => setFilters({ plan: event.currentTarget.value })}
        />
      </div>
      {trouble ? <Failure error={trouble} retry={() => list.refetch()} /> : null}
      {rows.length > 0 ? (
        <List
          rows={rows}
          more={list.hasNextPage && !list.isFetchingNextPage}
          loadMore={() => void list.fetchNextPage()}
        />
      ) : trouble ? null : list.isPending ? (
        <Loading />
      ) : q || plan ? (
        <Empty
          title="No company matches"
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
          {q && <Alike q={q} />}
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
  more,
  loadMore,
}: {
  readonly rows: readonly Summary[]
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
        <span>Closest limit</span>
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
                  {row.closest_limit ? (
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
