// Charges of all companies, for finance: lines of closed periods or of the running one, a page at a time, and as a file.
import { useInfiniteQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../app/api.js'
import { figure, spanOf } from '../app/format.js'
import { Go, useFilters, useHere } from '../app/place.js'
import { Badge, Button, Card, Choice, Empty, Failure, Field, Input, Loaded, Page } from '../ui/basics.js'
import { ChargeLines, kinds } from './charge-lines.js'
import { useCompanyNames } from './company-names.js'

const pageSize = 40
const dayMs = 86_400_000
const periods = [
  ['closed', 'Closed periods'],
  ['previous', 'Last periods'],
  ['current', 'Running periods'],
] as const

const closedIn = (from: string, to: string) => ({
  start_time: `${from}T00:00:00Z`,
  ...(to && { end_time: `${to}T00:00:00Z` }),
})

/** The day in UTC, as `2026-11-27`. */
const isoDay = (atMs: number): string => new Date(atMs).toISOString().slice(0, 10)

export default function Charges() {
  const { environment, may } = useHere()
  const [filters, setFilters] = useFilters()
  const [now] = useState(Date.now)
  const { period = 'closed', kind = '', currency = '', from = isoDay(now - 62 * dayMs), to = '' } = filters
  const query = {
    ...(period === 'closed' ? closedIn(from, to) : { period }),
    ...(kind && { kinds: [kind] }),
    ...(/^[a-z]{3}$/i.test(currency) && { currency }),
  }
  const isWindow = period !== 'closed' || to === '' || from < to
  const list = useInfiniteQuery({
    queryKey: [environment.id, 'charges', query],
    enabled: isWindow,
    queryFn: ({ pageParam, signal }) =>
      api.page('/charges', {
        signal,
        query: { ...query, limit: pageSize, ...(pageParam && { cursor: pageParam }) } as never,
      }),
    initialPageParam: '',
    getNextPageParam: last => last.next ?? undefined,
  })
  const lines = list.data?.pages.flatMap(page => page.data)
  const names = useCompanyNames(lines?.map(one => one.company_id) ?? [])
  const set = (name: string) => (event: { currentTarget: { value: string } }) =>
    setFilters({ [name]: event.currentTarget.value })
  return (
    <Page
      title="Charges"
      below={<span>What companies owe, line by line</span>}
      actions={may.admin && <Download query={query} />}
    >
      <Card className="mb-4">
        <div className="-mb-3 grid grid-cols-2 gap-x-3 md:grid-cols-5">
          <Field label="Periods">
            {id => <Choice id={id} value={period} options={periods} onChange={set('period')} />}
          </Field>
          <Field label="Kind">
            {id => (
              <Choice
                id={id}
                value={kind}
                options={[['', 'Every kind'], ...Object.entries(kinds)]}
                onChange={set('kind')}
              />
            )}
          </Field>
          <Field label="Currency">
            {id => (
              <Input
                id={id}
                maxLength={3}
                placeholder="every"
                defaultValue={currency}
                onInput={set('currency')}
              />
            )}
          </Field>
          {period === 'closed' && (
            <>
              <Field label="Ended from">
                {id => <Input id={id} type="date" value={from} onChange={set('from')} />}
              </Field>
              <Field label="Ended before">
                {id => <Input id={id} type="date" value={to} onChange={set('to')} />}
              </Field>
            </>
          )}
        </div>
        {!isWindow && (
          <div className="mt-6">
            <Failure error="The first day must be before the last" />
          </div>
        )}
      </Card>
      {isWindow && (
        <Card>
          <Loaded of={{ ...list, data: lines }}>
            {rows =>
              rows.length === 0 && !list.hasNextPage ? (
                <Empty title="No charge matches">
                  {period === 'closed'
                    ? 'A period is closed when it ends, if the company’s plan has a price.'
                    : 'A company has charges from the day it is billed for a plan with a price.'}
                </Empty>
              ) : (
                <>
                  {rows.length > 0 && (
                    <ChargeLines
                      label="Charges"
                      lines={rows}
                      first={{
                        head: 'Company and period',
                        cell: one => (
                          <>
                            <Go to={`/companies/${one.company_id}`} search={{ tab: 'charges' }}>
                              {names.get(one.company_id) || one.company_id}
                            </Go>
                            <div className="text-xs whitespace-nowrap text-muted">
                              {spanOf(one.period_start, one.period_end)}{' '}
                              {one.period_status !== 'closed' && <Badge>{one.period_status}</Badge>}
                            </div>
                          </>
                        ),
                      }}
                    />
                  )}
                  <div className="mt-3 flex items-center gap-3">
                    {list.hasNextPage && (
                      <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
                        {rows.length === 0 ? 'Look further' : 'Show more'}
                      </Button>
                    )}
                    <span className="text-sm text-muted">
                      {rows.length === 0
                        ? 'None among the first companies'
                        : `${figure(rows.length)} shown${list.hasNextPage ? '; there may be more' : ', all of them'}`}
                    </span>
                  </div>
                </>
              )
            }
          </Loaded>
        </Card>
      )}
    </Page>
  )
}

/** The same lines as a file of comma-separated values. */
function Download({ query }: { readonly query: object }) {
  const [failure, setFailure] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  const save = async () => {
    setBusy(true)
    setFailure(null)
    try {
      const text = await api.file('/export/charges', { query: { ...query, format: 'csv' } as never })
      const link = document.createElement('a')
      link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }))
      link.download = 'charges.csv'
      link.click()
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
    } catch (error) {
      setFailure(error)
    }
    setBusy(false)
  }
  return (
    <>
      {failure !== null && <Failure error={failure} />}
      <Button disabled={busy} onClick={() => void save()}>
        Download CSV
      </Button>
    </>
  )
}
