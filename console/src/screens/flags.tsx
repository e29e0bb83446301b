// Flags: their rules in this environment, and when they were checked last.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { ago, figure } from '../app/format.js'
import { Go, useFilters, useGo, useHere } from '../app/place.js'
import { Badge, Button, Card, Cell, Empty, Input, Loaded, Page, Row, Table } from '../ui/basics.js'
import { asNew, FormDialog } from '../ui/form.js'

export default function Flags() {
  const { environment, may } = useHere()
  const go = useGo()
  const [adding, setAdding] = useState(false)
  const [filters, setFilters] = useFilters()
  const flags = useQuery({
    queryKey: [environment.id, 'flags', 'summary'],
    queryFn: () =>
      api.get('/flags', { query: { view: 'summary', limit: 250 } }) as Promise<Schemas['FlagSummary'][]>,
  })
  const denied = useQuery({
    queryKey: [environment.id, 'denied', 'by-flag'],
    queryFn: () => api.get('/denied-checks', { query: { by: ['flag'], limit: 250 } as never }),
  })
  const add = may.write && (
    <Button look="primary" onClick={() => setAdding(true)}>
      Add flag
    </Button>
  )
  let made = ''
  return (
    <Page title="Flags" actions={add}>
      <Loaded of={flags}>
        {all => {
          const q = (filters.q ?? '').toLowerCase()
          const rows = all.filter(one => `${one.name} ${one.key}`.toLowerCase().includes(q))
          return all.length === 0 ? (
            <Empty title="No flag yet" action={add}>
              Your servers check a flag before they do something. Each feature has a flag of its own; others
              are for what no plan sells.
            </Empty>
          ) : (
            <Card>
              <Input
                type="search"
                className="mb-3 max-w-80"
                aria-label="Search flags"
                placeholder="Name or key"
                value={filters.q ?? ''}
                onInput={event => setFilters({ q: event.currentTarget.value })}
              />
              <Table
                label="Flags"
                head={['Flag', 'Of a feature', 'Default', 'Rules', 'Denied, 24 h', 'Checked']}
              >
                {rows.map(one => (
                  <Row key={one.id}>
                    <Cell>
                      <Go to={`/flags/${one.id}`}>{one.name}</Go>
                      <div className="text-xs text-muted">{one.key}</div>
                    </Cell>
                    <Cell>{one.feature_id ? 'yes' : '–'}</Cell>
                    <Cell>
                      <Badge tone={one.default_value ? 'ok' : 'plain'}>
                        {one.default_value ? 'on' : 'off'}
                      </Badge>
                    </Cell>
                    <Cell className="tabular-nums">{figure(one.rule_count)}</Cell>
                    <Cell className="tabular-nums">
                      {figure(denied.data?.find(row => row.flag_key === one.key)?.checks ?? 0)}
                    </Cell>
                    <Cell className="text-muted">{ago(one.last_checked_at)}</Cell>
                  </Row>
                ))}
              </Table>
            </Card>
          )
        }}
      </Loaded>
      {adding && (
        <FormDialog
          title="Add flag"
          onClose={() => setAdding(false)}
          onDone={() => go(`/flags/${made}`)}
          fields={[
            { name: 'name', label: 'Name' },
            { name: 'key', label: 'Key', hint: 'Your servers check this key.' },
            {
              name: 'value',
              label: 'Default',
              kind: 'choice',
              options: [
                ['off', 'Off'],
                ['on', 'On'],
              ],
            },
          ]}
          act={({ name = '', key = '', value }) => ({
            title: `Add ${name}`,
            verb: 'Add',
            differences: asNew([
              ['Flag', key],
              ['Default', value],
            ]),
            run: async () => {
              const flag = await api.post('/flags', {
                body: { name, key, description: '', flag_type: 'boolean', default_value: value === 'on' },
              })
              made = flag.id
            },
            done: `${name} was added`,
            undo: async () => {
              await api.del('/flags/{flag_id}', { path: { flag_id: made } })
              go('/flags')
            },
          })}
        />
      )}
    </Page>
  )
}
