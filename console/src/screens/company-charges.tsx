// Charges of one company: a billing period at a time, its lines and totals, overage that still accrues, and its invoices.
import { useQuery } from '@tanstack/react-query'
import { api, Refused, type Schemas } from '../app/api.js'
import { dayOf, money, spanOf, timeOf, words } from '../app/format.js'
import { useFilters, useHere } from '../app/place.js'
import { Badge, Button, Card, Code, Empty, Loaded, Stat, type Tone } from '../ui/basics.js'
import { Cell, Row, Table } from '../ui/table.js'
import { ChargeLines } from './charge-lines.js'

type Charges = Schemas['CompanyCharges']

const tones: Readonly<Record<Charges['period']['status'], Tone>> = {
  open: 'accent',
  closing: 'warn',
  closed: 'ok',
}

export function CompanyCharges({ id }: { readonly id: string }) {
  const { environment } = useHere()
  const [filters, setFilters] = useFilters()
  const { period = 'current' } = filters
  const charges = useQuery({
    queryKey: [environment.id, 'charges', id, period],
    queryFn: () =>
      api
        .get('/companies/{company_id}/charges', { path: { company_id: id }, query: { period } })
        .catch((error: unknown) => {
          if (error instanceof Refused && error.status === 404) return null
          throw error
        }),
    placeholderData: was => was,
  })
  return (
    <Loaded of={charges}>
      {shown =>
        shown === null ? (
          <Empty
            title={period === 'current' ? 'No billing period yet' : 'No such billing period'}
            action={
              period !== 'current' && (
                <Button onClick={() => setFilters({ period: undefined })}>This period</Button>
              )
            }
          >
            A company is billed from the day it is on a plan with a price.
          </Empty>
        ) : (
          <>
            <Period charges={shown} go={start => setFilters({ period: start })} />
            <Card className="mb-4" title="Lines">
              {shown.lines.length === 0 ? (
                <Empty title="Nothing is charged in this period" />
              ) : (
                <ChargeLines label="Lines" lines={shown.lines} />
              )}
            </Card>
            {shown.accruing.length > 0 && (
              <Card className="mb-4" title="Still accruing">
                <p className="mb-2 text-muted">
                  Overage of windows that end after this period. It is owed in a later one.
                </p>
                <ChargeLines label="Still accruing" lines={shown.accruing} />
              </Card>
            )}
            <Invoices id={id} />
          </>
        )
      }
    </Loaded>
  )
}

function Period({
  charges: { period, totals, previous_period_start: before, next_period_start: after, as_of: asOf },
  go,
}: {
  readonly charges: Charges
  readonly go: (start: string | undefined) => void
}) {
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <h2 className="text-lg font-semibold">{spanOf(period.start_time, period.end_time)}</h2>
        <Badge tone={tones[period.status]}>{period.status}</Badge>
        <span className="text-sm text-muted">
          {period.closed_at !== null
            ? `closed ${timeOf(period.closed_at)}`
            : period.status === 'open'
              ? `as of ${timeOf(asOf)}`
              : 'over; its lines are being written'}
        </span>
        <span className="flex-1" />
        <span className="flex gap-2">
          <Button disabled={before === null} onClick={() => go(before!)}>
            Earlier period
          </Button>
          <Button disabled={after === null} onClick={() => go(after!)}>
            Later period
          </Button>
        </span>
      </div>
      {totals.length > 0 && (
        <div className="mb-4 grid grid-cols-2 gap-3 sm:grid-cols-4">
          {totals.map(({ currency, amount }) => (
            <Stat
              key={currency}
              label={`Total in ${currency.toUpperCase()}`}
              value={money(amount, currency)}
              note={period.status === 'open' ? 'so far' : undefined}
            />
          ))}
        </div>
      )}
      {period.hash !== null && (
        <p className="mb-4 text-sm break-all text-muted">
          SHA-256 of the period and its lines: <Code>{period.hash}</Code>
        </p>
      )}
    </>
  )
}

function Invoices({ id }: { readonly id: string }) {
  const { environment } = useHere()
  const invoices = useQuery({
    queryKey: [environment.id, 'invoices', id],
    queryFn: async () => {
      const sold = await api.get('/company-subscriptions', { query: { company_id: id } as never })
      // a company without a subscription is its own customer and subscription
      const pairs = new Map([[`${id} ${id}`, [id, id] as const]])
      for (const { customer_external_id: customer, subscription_external_id: one } of sold)
        pairs.set(`${customer} ${one}`, [customer, one])
      const lists = await Promise.all(
        [...pairs.values()].slice(0, 10).map(([customer, one]) =>
          api.get('/billing/invoices', {
            query: {
              company_id: id,
              customer_external_id: customer,
              subscription_external_id: one,
              view: 'summary',
              limit: 24,
            },
          }),
        ),
      )
      return lists.flat().sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
    },
  })
  return (
    <Card title="Invoices">
      <Loaded of={invoices}>
        {rows =>
          rows.length === 0 ? (
            <Empty title="No invoice yet">When a billing period closes, its draft is shown here.</Empty>
          ) : (
            <Table label="Invoices" head={['Made', 'Status', 'Due', 'Total', 'To pay', '']}>
              {rows.map(one => (
                <Row key={one.id}>
                  <Cell className="whitespace-nowrap text-muted">{timeOf(one.created_at)}</Cell>
                  <Cell>
                    <Badge tone={one.status === 'paid' ? 'ok' : 'plain'}>
                      {words(one.status) || 'unknown'}
                    </Badge>
                  </Cell>
                  <Cell className="text-muted">{one.due_date ? dayOf(one.due_date) : '–'}</Cell>
                  <Cell className="whitespace-nowrap tabular-nums">{money(one.total, one.currency)}</Cell>
                  <Cell className="whitespace-nowrap tabular-nums">
                    {money(one.amount_remaining, one.currency)}
                  </Cell>
                  <Cell className="text-right">
                    {one.url !== null && /^https?:/.test(one.url) && (
                      <a
                        className="text-accent hover:underline"
                        href={one.url}
                        target="_blank"
                        rel="noreferrer"
                      >
                        Open
                      </a>
                    )}
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
