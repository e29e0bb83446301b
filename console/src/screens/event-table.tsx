// A table of events, newest first; as a tail it is read again every few seconds.
import { useQuery } from '@tanstack/react-query'
import { Fragment, useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { figure, timeOf } from '../app/format.js'
import { Go, useHere } from '../app/place.js'
import { Badge, Button, Empty, Loaded, Raw } from '../ui/basics.js'
import { Cell, Row, Table } from '../ui/table.js'

export function EventTable({
  filter,
  tail = false,
}: {
  readonly filter: Readonly<Record<string, unknown>>
  readonly tail?: boolean
}) {
  const { environment } = useHere()
  const [open, setOpen] = useState<string | null>(null)
  const [limit, setLimit] = useState(50)
  const events = useQuery({
    queryKey: [environment.id, 'events', filter, limit],
    queryFn: ({ signal }) => api.get('/events', { signal, query: { ...filter, limit } as never }),
    refetchInterval: tail ? 3_000 : false,
    placeholderData: was => was,
  })
  return (
    <Loaded of={events}>
      {rows =>
        rows.length === 0 ? (
          <Empty title="No event matches">
            Your servers send events with POST /events; each is shown here within a few seconds.
          </Empty>
        ) : (
          <>
            <Table label="Events" head={['When', 'Event', 'Company', 'Quantity', 'Status', '']}>
              {rows.map(row => (
                <Fragment key={row.id}>
                  <Row>
                    <Cell className="whitespace-nowrap text-muted">{timeOf(row.captured_at)}</Cell>
                    <Cell>
                      {row.subtype ?? row.type}
                      <div className="text-xs text-muted">{row.type}</div>
                    </Cell>
                    <Cell>
                      <WhoseEvent event={row} />
                    </Cell>
                    <Cell className="tabular-nums">{figure(row.quantity)}</Cell>
                    <Cell>
                      <Badge tone={row.status === 'failed' || row.body.value === false ? 'danger' : 'ok'}>
                        {statusOf(row)}
                      </Badge>
                      {row.type === 'flag_check' && <WhyOfCheck check={row} className="ml-2" />}
                      {row.error_message && <div className="text-xs text-danger">{row.error_message}</div>}
                    </Cell>
                    <Cell>
                      <Button
                        look="quiet"
                        aria-expanded={open === row.id}
                        aria-label={`${open === row.id ? 'Less' : 'More'} of event ${row.id}`}
                        onClick={() => setOpen(was => (was === row.id ? null : row.id))}
                      >
                        {open === row.id ? 'Less' : 'More'}
                      </Button>
                    </Cell>
                  </Row>
                  {open === row.id && (
                    <tr>
                      <td colSpan={6} className="p-2">
                        <Raw>
                          {JSON.stringify({ id: row.id, key: row.idempotency_key, ...row.body }, replacer, 2)}
                        </Raw>
                      </td>
                    </tr>
                  )}
                </Fragment>
              ))}
            </Table>
            {rows.length === limit && limit < 250 && (
              <Button className="mt-3" onClick={() => setLimit(was => Math.min(250, was + 100))}>
                Show more
              </Button>
            )}
            {rows.length === 250 && (
              <p className="mt-2 text-xs text-muted">The newest 250 are shown: filters find the others.</p>
            )}
          </>
        )
      }
    </Loaded>
  )
}

type Event = Schemas['EventDetail']

/** The company of an event, and its user below. */
export const WhoseEvent = ({ event: { company, user } }: { readonly event: Event }) => (
  <>
    {company ? <Go to={`/companies/${company.id}`}>{company.name || company.id}</Go> : '–'}
    {user && <div className="text-xs text-muted">{user.name || user.id}</div>}
  </>
)

/** A link to the explanation of a check at its instant; nothing for a check without a company. */
export const WhyOfCheck = ({
  check: { company_id: company, user_id: user, subtype, captured_at: at },
  className = '',
}: {
  readonly check: Event
  readonly className?: string
}) =>
  company && (
    <Go
      to="/why"
      className={`${className} text-accent hover:underline`}
      search={{ company, user: user ?? undefined, flag: subtype ?? undefined, at }}
    >
      Why?
    </Go>
  )

function statusOf({ status, type, body }: Event): string {
  if (status === 'failed') return 'failed'
  return type !== 'flag_check' ? 'counted' : body.value === false ? 'denied' : 'allowed'
}

const replacer = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value)
