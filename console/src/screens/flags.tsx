// Flags: their rules in this environment, and when they were checked last.
import { useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../app/api.js'
import { ago, figure } from '../app/format.js'
import { Go, useAdding, useFilters, useGo, useHere } from '../app/place.js'
import { Badge, Button, Card, Empty, Input, Loaded, Page } from '../ui/basics.js'
import { asNew, FormDialog } from '../ui/form.js'
import { Cell, Row, Table } from '../ui/table.js'
import { deniedWords, useChecksOfFlags } from './flag-checks.js'

/** Rows that are shown at once. */
const shownMax = 250

export default function Flags() {
  const { environment, may } = useHere()
  const go = useGo()
  const [adding, setAdding] = useAdding()
  const [filters, setFilters] = useFilters()
  const flags = useQuery({
    queryKey: [environment.id, 'flags', 'summary'],
    queryFn: () => api.all('/flags', { query: { view: 'summary' } }) as Promise<Schemas['FlagSummary'][]>,
  })
  const checks = useChecksOfFlags()
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
                {rows.slice(0, shownMax).map(one => (
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
                    <Cell className="tabular-nums">{deniedWords(checks.get(one.key))}</Cell>
                    <Cell className="text-muted">{ago(one.last_checked_at)}</Cell>
                  </Row>
                ))}
              </Table>
              {rows.length === 0 && <p className="py-4 text-center text-muted">No flag is like this</p>}
              {rows.length > shownMax && (
                <p className="mt-2 text-xs text-muted">
                  {figure(rows.length - shownMax)} more: search to find them.
                </p>
              )}
            </Card>
          )
        }}
      </Loaded>
      {adding && may.write && (
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
