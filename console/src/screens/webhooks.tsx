// Webhooks: where notifications go, and how their deliveries went.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { ago, pretty, timeOf } from '../app/format.js'
import { usePagesOf } from '../app/pages-of.js'
import { useAdding, useFilters, useHere } from '../app/place.js'
import { type Act, useAct } from '../ui/act.js'
import { Badge, Button, Card, Choice, Empty, Loaded, Page, Raw } from '../ui/basics.js'
import { Dialog } from '../ui/dialog.js'
import { asNew, FormDialog } from '../ui/form.js'
import { type Once, ShownOnce } from '../ui/once.js'
import { Cell, Row, Table } from '../ui/table.js'

const statuses: Readonly<Record<string, string>> = {
  success: 'delivered',
  pending: 'waiting',
  failure: 'failed',
}

/** Notifications in the order in which they are offered: what integrations ask for most comes first. */
const kinds = [
  'company.created',
  'company.updated',
  'company.deleted',
  'company.plan_changed',
  'company.scheduled_downgrade',
  'company.override.created',
  'company.override.updated',
  'company.override.deleted',
  'company.override.expired',
  'entitlement.limit.warning',
  'entitlement.limit.reached',
  'entitlement.soft_limit.warning',
  'entitlement.soft_limit.reached',
  'entitlement.tier_limit.warning',
  'entitlement.tier_limit.reached',
  'credit.limit.warning',
  'credit.limit.reached',
  'credit.purchase.success',
  'auto.topup.success',
  'auto.topup.hard.failure',
  'auto.topup.retry.exceeded',
  'billing.period.closed',
  'billing.overage_window.closed',
  'billing.threshold.reached',
  'spend_policy.reached',
  'subscription.trial.ended',
  'user.created',
  'user.updated',
  'user.deleted',
  'feature.created',
  'feature.updated',
  'feature.deleted',
  'flag.created',
  'flag.updated',
  'flag.deleted',
  'flag_rules.updated',
  'rule.deleted',
  'plan.created',
  'plan.updated',
  'plan.deleted',
  'plan.entitlement.created',
  'plan.entitlement.updated',
  'plan.entitlement.deleted',
  'plan_version.deleted',
] as const satisfies readonly Schemas['Webhook']['request_types'][number][]

type Hook = Schemas['Webhook']

const secretOf = ({ name, secret }: Hook): Once => ({
  title: `Secret of ${name}`,
  note: 'It is shown only now. Your server checks the signature of each notification with it.',
  value: secret,
})

/** A notification that is sent at once; a refusal is told in the dialog. */
const trialOf = ({ id, name, url }: Hook): Act => ({
  title: `Test ${name}`,
  verb: 'Send',
  differences: [{ what: 'test.send', before: null, after: url }],
  run: async () => {
    const told = await api.post('/webhooks/{webhook_id}/test', {
      path: { webhook_id: id },
      body: { request_type: 'test.send' },
    })
    if (!told.success)
      throw new Error(
        told.failure_reason ??
          `The address answered ${told.response_code || 'nothing'}. Nothing else was sent.`,
      )
  },
  done: `${name} took the test`,
})

const newSecretOf = ({ id, name }: Hook, production: boolean, onMade: (once: Once) => void): Act => ({
  title: `New secret for ${name}`,
  verb: 'Make secret',
  danger: true,
  differences: [],
  note: 'The former secret signs, too, for one day.',
  ...(production && { typed: name }),
  run: async () =>
    onMade(
      secretOf(await api.post('/webhooks/{webhook_id}/roll-secret', { path: { webhook_id: id }, body: {} })),
    ),
  done: 'The secret is made',
})

export default function Webhooks() {
  const { environment, may, production } = useHere()
  const act = useAct()
  const [adding, setAdding] = useAdding()
  const [payload, setPayload] = useState<string | null>(null)
  const [once, setOnce] = useState<Once | null>(null)
  const [filters, setFilters] = useFilters()
  const webhooks = useQuery({
    queryKey: [environment.id, 'webhooks'],
    queryFn: () => api.all('/webhooks'),
  })
  const { list: deliveries, more } = usePagesOf({
    key: [environment.id, 'webhook-events', filters.status],
    load: (page, signal) =>
      api.page('/webhook-events', {
        signal,
        query: { ...page, ...(filters.status && { status: filters.status as 'failure' }) },
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
              <Table label="Webhooks" head={['Webhook', 'Notifications', 'Status', '']}>
                {rows.map(one => (
                  <Row key={one.id}>
                    <Cell className="min-w-48">
                      {one.name}
                      <div className="font-mono text-xs break-all text-muted">{one.url}</div>
                    </Cell>
                    <Cell className="text-muted">{one.request_types.join(', ')}</Cell>
                    <Cell>
                      <Badge tone={one.status === 'active' ? 'ok' : 'danger'}>{one.status}</Badge>
                    </Cell>
                    <Cell className="text-right whitespace-nowrap">
                      {may.write && (
                        <>
                          <Button
                            look="quiet"
                            aria-label={`Test ${one.name}`}
                            onClick={() => void act(trialOf(one))}
                          >
                            Test
                          </Button>
                          <Button
                            look="quiet"
                            aria-label={`New secret for ${one.name}`}
                            onClick={() => void act(newSecretOf(one, production, setOnce))}
                          >
                            New secret
                          </Button>
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
                                ...(production && { typed: one.name }),
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
                                note: 'One that is added again signs with another secret.',
                                ...(production && { typed: one.name }),
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
              <Empty title={filters.status ? 'No delivery with this status' : 'No delivery yet'}>
                Each notification that is sent to a webhook is listed here.
              </Empty>
            ) : (
              <Table label="Deliveries" head={['When', 'Notification', 'Webhook', 'Attempts', 'Status', '']}>
                {rows.map(one => (
                  <Row key={one.id}>
                    <Cell className="whitespace-nowrap text-muted">{timeOf(one.created_at)}</Cell>
                    <Cell>{one.request_type}</Cell>
                    <Cell>{one.webhook?.name ?? one.webhook_id}</Cell>
                    <Cell>
                      <span className="tabular-nums">{one.attempt_count}</span>
                      {one.sent_at !== null && (
                        <div className="text-xs whitespace-nowrap text-muted">last {ago(one.sent_at)}</div>
                      )}
                    </Cell>
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
        {more}
      </Card>
      {payload !== null && (
        <Dialog open wide title="Payload" onClose={() => setPayload(null)}>
          <Raw>{pretty(payload) || 'empty'}</Raw>
        </Dialog>
      )}
      {once && <ShownOnce once={once} onClose={() => setOnce(null)} />}
      {adding && may.write && (
        <FormDialog
          title="Add webhook"
          onClose={() => setAdding(false)}
          fields={[
            { name: 'name', label: 'Name' },
            { name: 'url', label: 'Address', kind: 'url', hint: 'https, and reachable from this service.' },
            {
              name: 'types',
              label: 'Notifications',
              kind: 'many',
              options: kinds.map(kind => [kind, kind] as const),
              initial: kinds.slice(0, 3).join(' '),
            },
          ]}
          act={({ name = '', url = '', types = '' }) => {
            if (types === '') throw new Error('Choose at least one notification')
            let made = ''
            return {
              title: `Add ${name}`,
              verb: 'Add',
              differences: asNew([
                ['Address', url],
                ['Notifications', types.replaceAll(' ', ', ')],
              ]),
              run: async () => {
                const webhook = await api.post('/webhooks', {
                  body: { name, url, request_types: types.split(' ') } as never,
                })
                made = webhook.id
                setOnce(secretOf(webhook))
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
