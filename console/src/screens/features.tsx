// Features: what the product does, and which events count it.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { count, figure, words } from '../app/format.js'
import { Go, useAdding, useFilters, useHere } from '../app/place.js'
import { Badge, Button, Card, Code, Empty, Input, Loaded, Page } from '../ui/basics.js'
import { Dialog } from '../ui/dialog.js'
import { asNew, FormDialog } from '../ui/form.js'
import { Cell, Row, Table } from '../ui/table.js'
import { useFeatures } from './company.js'
import { useDelete } from './delete.js'

/** Rows that are shown at once. */
const shownMax = 250

export default function Features() {
  const { may } = useHere()
  const [adding, setAdding] = useAdding()
  const [changing, setChanging] = useState<Schemas['FeatureSummary'] | null>(null)
  const [top, setTop] = useState<{ id: string; name: string } | null>(null)
  const [filters, setFilters] = useFilters()
  const features = useFeatures()
  const ask = useDelete()
  const add = may.write && (
    <Button look="primary" onClick={() => setAdding(true)}>
      Add feature
    </Button>
  )
  return (
    <Page title="Features" actions={add}>
      <Loaded of={features}>
        {all => {
          const q = (filters.q ?? '').toLowerCase()
          const rows = all.filter(one => `${one.name} ${one.event_subtype ?? ''}`.toLowerCase().includes(q))
          if (all.length === 0)
            return (
              <Empty title="No feature yet" action={add}>
                A feature is something your product does: API calls, exports, seats. Plans allow it, events
                count it.
              </Empty>
            )
          return (
            <Card>
              <Input
                type="search"
                className="mb-3 max-w-80"
                aria-label="Search features"
                placeholder="Name or event"
                value={filters.q ?? ''}
                onInput={event => setFilters({ q: event.currentTarget.value })}
              />
              <Table label="Features" head={['Feature', 'Kind', 'Event', 'Flag', 'Plans', '']}>
                {rows.slice(0, shownMax).map(one => (
                  <Row key={one.id}>
                    <Cell>
                      {one.name}
                      <div className="text-xs text-muted">{one.description}</div>
                    </Cell>
                    <Cell>
                      <Badge>{words(one.feature_type)}</Badge>
                    </Cell>
                    <Cell>{one.event_subtype ? <Code>{one.event_subtype}</Code> : '–'}</Cell>
                    <Cell>{one.flag ? <Go to={`/flags/${one.flag.id}`}>{one.flag.key}</Go> : '–'}</Cell>
                    <Cell className="tabular-nums">{figure(one.plan_count)}</Cell>
                    <Cell className="text-right whitespace-nowrap">
                      {may.write && (
                        <Button
                          look="quiet"
                          aria-label={`Change ${one.name}`}
                          onClick={() => setChanging(one)}
                        >
                          Change
                        </Button>
                      )}
                      {one.event_subtype && (
                        <Button
                          look="quiet"
                          aria-label={`Most use of ${one.name}`}
                          onClick={() => setTop(one)}
                        >
                          Most use
                        </Button>
                      )}
                      {may.write && (
                        <Button
                          look="quiet"
                          aria-label={`Delete ${one.name}`}
                          onClick={() =>
                            ask({
                              name: one.name,
                              differences: [
                                { what: one.name, before: plansWords(one), after: 'deleted everywhere' },
                              ],
                              note: 'Its flag, its overrides and what plans say of it go with it, in every environment. It is refused while a company has it by its plan.',
                              run: () => api.del('/features/{feature_id}', { path: { feature_id: one.id } }),
                            })
                          }
                        >
                          Delete
                        </Button>
                      )}
                    </Cell>
                  </Row>
                ))}
              </Table>
              {rows.length === 0 && <p className="py-4 text-center text-muted">No feature is like this</p>}
              {rows.length > shownMax && (
                <p className="mt-2 text-xs text-muted">
                  {figure(rows.length - shownMax)} more: search to find them.
                </p>
              )}
            </Card>
          )
        }}
      </Loaded>
      {adding && may.write && <AddFeature onClose={() => setAdding(false)} />}
      {changing && <ChangeFeature feature={changing} onClose={() => setChanging(null)} />}
      {top && (
        <Dialog open title={`Most use of ${top.name}`} onClose={() => setTop(null)}>
          <TopCompanies featureId={top.id} />
        </Dialog>
      )}
    </Page>
  )
}

const plansWords = ({ plan_count: plans }: Schemas['FeatureSummary']): string =>
  plans === 0 ? 'in no plan' : `in ${count(plans, 'plan')}`

function TopCompanies({ featureId }: { readonly featureId: string }) {
  const { environment } = useHere()
  const top = useQuery({
    queryKey: [environment.id, 'top', featureId],
    queryFn: () => api.get('/top-companies', { query: { feature_id: featureId } }),
  })
  return (
    <Loaded of={top}>
      {rows =>
        rows.length === 0 ? (
          <Empty title="No use in the last 30 days" />
        ) : (
          <ol className="divide-y divide-line">
            {rows.map(row => (
              <li key={row.company_id} className="flex justify-between gap-3 py-1.5">
                <Go to={`/companies/${row.company_id}`}>{row.company_name}</Go>
                <span className="tabular-nums">{figure(row.quantity)}</span>
              </li>
            ))}
          </ol>
        )
      }
    </Loaded>
  )
}

const keyOf = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')

function AddFeature({ onClose }: { readonly onClose: () => void }) {
  return (
    <FormDialog
      title="Add feature"
      onClose={onClose}
      fields={[
        { name: 'name', label: 'Name' },
        {
          name: 'kind',
          label: 'Kind',
          kind: 'choice',
          options: [
            ['event', 'Counted by events'],
            ['boolean', 'On or off'],
          ],
        },
        {
          name: 'event',
          label: 'Event name',
          hint: 'The name that your servers send, e.g. api_call.',
          when: ({ kind }) => kind === 'event',
        },
        {
          name: 'flag',
          label: 'Flag key',
          optional: true,
          hint: 'Your servers check this key. Empty: made from the name.',
        },
        { name: 'description', label: 'Description', optional: true },
      ]}
      act={({ name = '', kind, event, flag, description }) => {
        const key = flag || keyOf(name)
        let made: { id: string; flag?: string } | null = null
        return {
          title: `Add ${name}`,
          verb: 'Add',
          differences: asNew([
            ['Feature', name],
            ['Event', kind === 'event' ? event : undefined],
            ['Flag', key],
          ]),
          note: 'A plan says how much of it a company may use: add it to one on the page Plans.',
          run: async () => {
            const feature = await api.post('/features', {
              body: {
                name,
                description: description ?? '',
                feature_type: kind as 'event',
                ...(kind === 'event' && { event_subtype: event }),
                flag: { key, name, description: '', default_value: false, flag_type: 'boolean' },
              } as never,
            })
            made = { id: feature.id }
          },
          done: `${name} was added`,
          undo: async () => {
            if (made) await api.del('/features/{feature_id}', { path: { feature_id: made.id } })
          },
        }
      }}
    />
  )
}

function ChangeFeature({
  feature: { id, name: named, description: described },
  onClose,
}: {
  readonly feature: Schemas['FeatureSummary']
  readonly onClose: () => void
}) {
  const put = (name: string, description: string) =>
    api.put('/features/{feature_id}', { path: { feature_id: id }, body: { name, description } as never })
  return (
    <FormDialog
      title={`Change ${named}`}
      onClose={onClose}
      fields={[
        { name: 'name', label: 'Name', initial: named },
        { name: 'description', label: 'Description', optional: true, initial: described },
      ]}
      act={({ name = '', description = '' }) => {
        if (name === named && description === described) throw new Error('Nothing is different yet')
        return {
          title: `Change ${named}`,
          verb: 'Change',
          differences: [
            ...(name === named ? [] : [{ what: 'Name', before: named, after: name }]),
            ...(description === described
              ? []
              : [{ what: 'Description', before: described, after: description || 'none' }]),
          ],
          run: () => put(name, description),
          done: `${name} was changed`,
          undo: () => put(named, described),
        }
      }}
    />
  )
}
