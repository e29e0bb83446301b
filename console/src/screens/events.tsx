// Events of all companies: filters in the address, a count, and a tail.
import { useQuery } from '@tanstack/react-query'
import { api } from '../app/api.js'
import { figure } from '../app/format.js'
import { useFilters, useHere } from '../app/place.js'
import { Badge, Card, Choice, Field, Input, Page } from '../ui/basics.js'
import { EventTable } from './event-table.js'

const isoOf = (local: string | undefined): string | undefined =>
  local ? new Date(local).toISOString() : undefined

export default function Events() {
  const { environment } = useHere()
  const [filters, setFilters] = useFilters()
  const types = useQuery({
    queryKey: [environment.id, 'event-types'],
    queryFn: () => api.get('/event-types', { query: { limit: 250 } as never }),
  })
  const filter = Object.fromEntries(
    Object.entries({
      event_subtype: filters.name,
      status: filters.status,
      event_types: filters.type ? [filters.type === 'denied' ? 'flag_check' : filters.type] : undefined,
      value: filters.type === 'denied' ? false : undefined,
      start_time: isoOf(filters.from),
      end_time: isoOf(filters.to),
      min_value: filters.min,
      max_value: filters.max,
    }).filter(([, value]) => value !== undefined && value !== ''),
  )
  const total = useQuery({
    queryKey: [environment.id, 'events', 'count', filter],
    queryFn: () => api.get('/events/count', { query: filter as never }),
  })
  const set = (name: string) => (event: { currentTarget: { value: string } }) =>
    setFilters({ [name]: event.currentTarget.value })
  return (
    <Page
      title="Events"
      below={
        <>
          <span>
            {total.data
              ? total.data.count >= 100_000
                ? '100,000 or more'
                : `${figure(total.data.count)} found`
              : ' '}
          </span>
          {!filters.to && <Badge tone="ok">live</Badge>}
        </>
      }
    >
      <Card className="mb-4">
        <div className="-mb-3 grid grid-cols-2 gap-x-3 md:grid-cols-4">
          <Field label="Event">
            {id => (
              <Choice
                id={id}
                value={filters.name ?? ''}
                options={[
                  ['', 'Every event'],
                  ...(types.data ?? []).map(one => [one.event_subtype, one.event_subtype] as const),
                ]}
                onChange={set('name')}
              />
            )}
          </Field>
          <Field label="Status">
            {id => (
              <Choice
                id={id}
                value={filters.status ?? ''}
                options={[
                  ['', 'Every status'],
                  ['enriched', 'Counted'],
                  ['failed', 'Failed'],
                ]}
                onChange={set('status')}
              />
            )}
          </Field>
          <Field label="Type">
            {id => (
              <Choice
                id={id}
                value={filters.type ?? ''}
                options={[
                  ['', 'All but flag checks'],
                  ['track', 'Track'],
                  ['identify', 'Identify'],
                  ['inference', 'Inference'],
                  ['flag_check', 'Flag checks'],
                  ['denied', 'Denied checks'],
                ]}
                onChange={set('type')}
              />
            )}
          </Field>
          <Field label="Quantity, from and to">
            {id => (
              <span className="flex gap-2">
                <Input id={id} type="number" value={filters.min ?? ''} onChange={set('min')} />
                <Input
                  type="number"
                  aria-label="Quantity to"
                  value={filters.max ?? ''}
                  onChange={set('max')}
                />
              </span>
            )}
          </Field>
          <Field label="From">
            {id => <Input id={id} type="datetime-local" value={filters.from ?? ''} onChange={set('from')} />}
          </Field>
          <Field label="To">
            {id => <Input id={id} type="datetime-local" value={filters.to ?? ''} onChange={set('to')} />}
          </Field>
        </div>
      </Card>
      <Card>
        <EventTable filter={filter} tail={!filters.to} />
      </Card>
    </Page>
  )
}
