// Webhooks: where notifications go, and how their deliveries went.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../app/api.js'
import { timeOf } from '../app/format.js'
import { useFilters, useHere } from '../app/place.js'
import { useAct } from '../ui/act.js'
import { Badge, Button, Card, Cell, Choice, Empty, Loaded, Page, Row, Table } from '../ui/basics.js'
import { Dialog } from '../ui/dialog.js'
import { asNew, FormDialog } from '../ui/form.js'

const statuses: Readonly<Record<string, string>> = {
  success: 'delivered',
  pending: 'waiting',
  failure: 'failed',
}

const kinds = [
  'company.created',
  'company.updated',
  'company.deleted',
  'flag.updated',
  'plan.updated',
  'entitlement.limit.reached',
]

export default function Webhooks() {
  const { environment, may } = useHere()
  const act = useAct()
  const [adding, setAdding] = useState(false)
  const [payload, setPayload] = useState<string | null>(null)
  const [filters, setFilters] = useFilters()
  const webhooks = useQuery({
    queryKey: [environment.id, 'webhooks'],
    queryFn: () => api.get('/webhooks', {}),
  })
  const deliveries = useQuery({
    queryKey: [environment.id, 'webhook-events', filters.status],
    queryFn: () =>
      api.get('/webhook-events', {
        query: { limit: 50, ...(filters.status && { status: filters.status as 'failure' }) },
      }),
    refetchInterval: 5_000,
  })
  const add = may.write && (
    <Button look="primary" onClick={() => setAdding(true)}>
      Add webhook
    </Button>
  )
  return (
    <Page title="Webhooks" actions={add}>
      <Card title="Where notifications go" className="mb-4">
        <Loaded of={webhooks}>
          {rows =>
            rows.length === 0 ? (
              <Empty title="No webhook yet" action={add}>
                A webhook tells one of your servers when something changes, signed with a secret.
              </Empty>
            ) : (
              <Table label="Webhooks" head={['Webhook', 'Address', 'Notifications', 'Status', '']}>
                {rows.map(one => (
                  <Row key={one.id}>
                    <Cell>{one.name}</Cell>
                    <Cell className="font-mono text-xs break-all">{one.url}</Cell>
                    <Cell className="text-muted">{one.request_types.join(', ')}</Cell>
                    <Cell>
                      <Badge tone={one.status === 'active' ? 'ok' : 'danger'}>{one.status}</Badge>
                    </Cell>
                    <Cell className="text-right whitespace-nowrap">
                      {may.write && (
                        <>
                          <Button
                            look="quiet"
                            aria-label={`${one.status === 'active' ? 'Turn off' : 'Turn on'} ${one.name}`}
                            onClick={() => {
                              const put = (status: 'active' | 'inactive') =>
                                api.put('/webhooks/{webhook_id}', {
                                  path: { webhook_id: one.id },
                                  body: { status } as never,
                                })
                              const next = one.status === 'active' ? 'inactive' : 'active'
                              void act({
                                title: `Turn ${one.name} ${next === 'active' ? 'on' : 'off'}`,
                                verb: next === 'active' ? 'Turn on' : 'Turn off',
                                differences: [{ what: 'Status', before: one.status, after: next }],
                                run: () => put(next),
                                done: `${one.name} is ${next}`,
                                undo: () => put(one.status),
                              })
                            }}
                          >
                            {one.status === 'active' ? 'Turn off' : 'Turn on'}
                          </Button>
                          <Button
                            look="quiet"
                            aria-label={`Delete ${one.name}`}
                            onClick={() =>
                              void act({
                                title: `Delete ${one.name}`,
                                verb: 'Delete',
                                danger: true,
                                differences: [{ what: one.name, before: one.url, after: 'deleted' }],
                                run: () =>
                                  api.del('/webhooks/{webhook_id}', { path: { webhook_id: one.id } }),
                                done: `${one.name} was deleted`,
                              })
                            }
                          >
                            Delete
                          </Button>
                        </>
                      )}
                    </Cell>
                  </Row>
                ))}
              </Table>
            )
          }
        </Loaded>
      </Card>
      <Card
        title="Deliveries"
        aside={
          <Choice
            className="max-w-40"
            aria-label="Status of deliveries"
            value={filters.status ?? ''}
            options={[
              ['', 'Every status'],
              ['success', 'Delivered'],
              ['pending', 'Waiting'],
              ['failure', 'Failed'],
            ]}
            onChange={event => setFilters({ status: event.currentTarget.value })}
          />
        }
      >
        <Loaded of={deliveries}>
          {rows =>
            rows.length === 0 ? (
              <Empty title="No delivery" />
            ) : (
              <Table label="Deliveries" head={['When', 'Notification', 'Webhook', 'Attempts', 'Status', '']}>
                {rows.map(one => (
                  <Row key={one.id}>
                    <Cell className="whitespace-nowrap text-muted">{timeOf(one.created_at)}</Cell>
                    <Cell>{one.request_type}</Cell>
                    <Cell>{one.webhook?.name ?? one.webhook_id}</Cell>
                    <Cell className="tabular-nums">{one.attempt_count}</Cell>
                    <Cell>
                      <Badge
                        tone={one.status === 'success' ? 'ok' : one.status === 'failure' ? 'danger' : 'warn'}
                      >
                        {statuses[one.status] ?? one.status} {one.response_code ?? ''}
                      </Badge>
                    </Cell>
                    <Cell className="whitespace-nowrap">
                      <Button
                        look="quiet"
                        aria-label={`Payload of ${one.id}`}
                        onClick={() => setPayload(one.payload ?? '')}
                      >
                        Payload
                      </Button>
                      {may.write && (
                        <Button
                          look="quiet"
                          aria-label={`Send again ${one.id}`}
                          onClick={() =>
                            void act({
                              title: 'Send again',
                              verb: 'Send',
                              differences: [
                                { what: one.request_type, before: null, after: one.webhook?.url ?? '' },
                              ],
                              run: () =>
                                api.post('/webhook-events/{webhook_event_id}/redeliver', {
                                  path: { webhook_event_id: one.id },
                                }),
                              done: 'It is sent again',
                            })
                          }
                        >
                          Send again
                        </Button>
                      )}
                    </Cell>
                  </Row>
                ))}
              </Table>
            )
          }
        </Loaded>
      </Card>
      {payload !== null && (
        <Dialog open wide title="Payload" onClose={() => setPayload(null)}>
          <pre className="max-h-96 overflow-auto rounded bg-raised p-3 font-mono text-xs whitespace-pre-wrap">
            {payload || 'empty'}
          </pre>
        </Dialog>
      )}
      {adding && (
        <FormDialog
          title="Add webhook"
          onClose={() => setAdding(false)}
          fields={[
            { name: 'name', label: 'Name' },
            { name: 'url', label: 'Address', kind: 'url', hint: 'https, and reachable from this service.' },
            {
              name: 'types',
              label: 'Notifications',
              kind: 'long',
              initial: kinds.slice(0, 3).join('\n'),
              hint: 'One a line, e.g. company.created.',
            },
          ]}
          act={({ name = '', url = '', types = '' }) => {
            let made = ''
            return {
              title: `Add ${name}`,
              verb: 'Add',
              differences: asNew([
                ['Address', url],
                ['Notifications', types.trim().replaceAll(/\s+/g, ', ')],
              ]),
              run: async () => {
                const webhook = await api.post('/webhooks', {
                  body: { name, url, request_types: types.trim().split(/\s+/) } as never,
                })
                made = webhook.id
              },
              done: `${name} was added`,
              undo: () => api.del('/webhooks/{webhook_id}', { path: { webhook_id: made } }),
            }
          }}
        />
      )}
    </Page>
  )
}
