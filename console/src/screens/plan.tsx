// One plan: what it allows, what its draft would change, and publishing with a preview.
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { count, dayOf, figure, numberOf, periodOf, words } from '../app/format.js'
import { Go, useGo, useHere } from '../app/place.js'
import { useAct } from '../ui/act.js'
import { Badge, Button, Card, Empty, Loaded, Page } from '../ui/basics.js'
import { FormDialog } from '../ui/form.js'
import { Cell, Row, Table } from '../ui/table.js'
import { useFeatures } from './company.js'
import { useDelete } from './delete.js'
import { Migrations } from './plan-moves.js'
import { PlanPrice } from './plan-price.js'
import { Publish } from './plan-publish.js'
import { type Diff, memberWords, plainly } from './plan-words.js'

type Entitlement = Schemas['PlanEntitlement']

export default function PlanPage() {
  const { id } = useParams({ strict: false }) as { id: string }
  const { environment, may } = useHere()
  const [open, setOpen] = useState<'entitlement' | 'publish' | null>(null)
  const [editing, setEditing] = useState<Entitlement | null>(null)
  const go = useGo()
  const ask = useDelete()
  const diff = useQuery({
    queryKey: [environment.id, 'plan', id, 'diff'],
    queryFn: () => api.get('/plans/{plan_id}/draft-diff', { path: { plan_id: id } }),
    // Another person may publish it.
    refetchInterval: 15_000,
  })
  const shownVersion = diff.data?.draft_version ?? diff.data?.published_version ?? null
  const entitlements = useQuery({
    queryKey: [environment.id, 'plan', id, 'entitlements', shownVersion?.id],
    enabled: shownVersion !== null,
    queryFn: () =>
      api.get('/plan-entitlements', {
        query: { plan_id: id, plan_version_id: shownVersion!.id, limit: 250 } as never,
      }),
  })
  const { data } = diff
  return (
    <Page
      above={<Go to="/plans">Plans</Go>}
      title={data?.plan_name ?? id}
      below={
        diff.data && (
          <>
            {diff.data.published_version ? (
              <Badge tone="ok">v{diff.data.published_version.version} published</Badge>
            ) : (
              <Badge>not published</Badge>
            )}
            {diff.data.draft_version && <Badge tone="warn">v{diff.data.draft_version.version} draft</Badge>}
            <Go to="/companies" search={{ plan: id }}>
              {count(diff.data.company_count, 'company', 'companies')}
            </Go>
            {may.admin && (
              <Go to="/audit" search={{ q: id }}>
                Changes
              </Go>
            )}
          </>
        )
      }
      actions={
        may.write && (
          <>
            <Go
              to="/preview/plans"
              className="inline-flex min-h-9 items-center rounded-md border border-line bg-panel px-3 font-medium hover:bg-raised"
            >
              Preview
            </Go>
            {data && (
              <Button
                onClick={() =>
                  ask({
                    name: data.plan_name,
                    verb: 'Archive',
                    differences: [
                      {
                        what: data.plan_name,
                        before: count(data.company_count, 'company', 'companies'),
                        after: 'archived: in no list any more',
                      },
                    ],
                    note: 'It is refused while a company is on the plan or comes to it, or the plan group names it.',
                    run: () => api.del('/plans/{plan_id}', { path: { plan_id: id } }),
                    leave: () => go('/plans'),
                  })
                }
              >
                Archive
              </Button>
            )}
            <Button onClick={() => setOpen('entitlement')}>Add feature</Button>
            {diff.data?.draft_version && (
              <Button look="primary" onClick={() => setOpen('publish')}>
                Publish
              </Button>
            )}
          </>
        )
      }
    >
      {diff.data?.draft_version && (
        <Card className="mb-4" title={`What publishing v${diff.data.draft_version.version} would change`}>
          <DiffTable diff={diff.data} />
        </Card>
      )}
      <div className="grid items-start gap-4 xl:grid-cols-[3fr_2fr]">
        <Card title={shownVersion ? `What v${shownVersion.version} allows` : 'What it allows'}>
          {data === undefined ? (
            <Loaded of={diff}>{() => null}</Loaded>
          ) : shownVersion === null ? (
            <NothingYet may={may.write} add={() => setOpen('entitlement')} />
          ) : (
            <Loaded of={entitlements}>
              {rows =>
                rows.length === 0 ? (
                  <NothingYet may={may.write} add={() => setOpen('entitlement')} />
                ) : (
                  <Table label="Features of the plan" head={['Feature', 'Value', 'Price', '']}>
                    {rows.map(row => (
                      <Row key={row.id}>
                        <Cell>
                          {row.feature?.name ?? row.feature_id}
                          <div className="text-xs text-muted">{row.feature?.event_subtype ?? ''}</div>
                        </Cell>
                        <Cell>{valueWords(row)}</Cell>
                        <Cell className="text-muted">
                          {row.price_behavior ? words(row.price_behavior) : '–'}
                        </Cell>
                        <Cell className="text-right whitespace-nowrap">
                          {may.write && (
                            <>
                              <Button
                                look="quiet"
                                aria-label={`Change ${row.feature?.name}`}
                                onClick={() => setEditing(row)}
                              >
                                Change
                              </Button>
                              <RemoveEntitlement row={row} />
                            </>
                          )}
                        </Cell>
                      </Row>
                    ))}
                  </Table>
                )
              }
            </Loaded>
          )}
        </Card>
        <div className="grid content-start gap-4">
          {data && <PlanPrice diff={data} />}
          <Card title="Versions">
            <Loaded of={diff}>
              {shown =>
                shown.versions.length === 0 ? (
                  <Empty title="No version yet" />
                ) : (
                  <ul className="divide-y divide-line">
                    {shown.versions.map(version => (
                      <li key={version.id} className="flex items-center justify-between gap-3 py-1.5">
                        <span>v{version.version}</span>
                        <span className="flex items-center gap-2 text-xs text-muted">
                          {dayOf(version.updated_at)}
                          <Badge
                            tone={
                              version.status === 'published'
                                ? 'ok'
                                : version.status === 'draft'
                                  ? 'warn'
                                  : 'plain'
                            }
                          >
                            {version.status}
                          </Badge>
                        </span>
                      </li>
                    ))}
                  </ul>
                )
              }
            </Loaded>
            {diff.data?.published_version && <Migrations versionId={diff.data.published_version.id} />}
          </Card>
        </div>
      </div>
      {(open === 'entitlement' || editing) && (
        <EntitlementDialog
          planId={id}
          versionId={diff.data?.draft_version?.id}
          present={editing}
          taken={entitlements.data?.map(one => one.feature_id) ?? []}
          onClose={() => {
            setOpen(null)
            setEditing(null)
          }}
        />
      )}
      {open === 'publish' && data && <Publish diff={data} onClose={() => setOpen(null)} />}
    </Page>
  )
}

function NothingYet({ may, add }: { readonly may: boolean; readonly add: () => void }) {
  return (
    <Empty
      title="It allows nothing yet"
      action={
        may && (
          <Button look="primary" onClick={add}>
            Add feature
          </Button>
        )
      }
    >
      Add the features that companies on this plan may use.
    </Empty>
  )
}

type Value = Pick<
  Entitlement,
  'value_type' | 'value_bool' | 'value_numeric' | 'metric_period' | 'value_credit'
> & {
  readonly consumption_rate: number | string | null
}

function valueWords(row: Value): string {
  switch (row.value_type) {
    case 'boolean':
      return row.value_bool ? 'on' : 'off'
    case 'numeric':
      return `${figure(row.value_numeric)} ${periodOf(row.metric_period)}`
    case 'unlimited':
      return 'no limit'
    case 'credit':
      return `${row.consumption_rate ?? 1} ${row.value_credit?.name ?? 'credits'} a unit`
    default:
      return words(row.value_type)
  }
}

function DiffTable({ diff }: { readonly diff: Diff }) {
  if (diff.changes.length === 0)
    return (
      <Empty
        title={
          diff.published_version === null
            ? 'The draft allows nothing yet'
            : 'The draft is the same as the published version'
        }
      />
    )
  return (
    <Table label="Changes of the draft" head={['What', 'Part', 'Now', 'Then']}>
      {diff.changes.map(change => (
        <Row key={`${change.kind} ${change.name} ${change.member}`}>
          <Cell>
            {change.name} <span className="text-xs text-muted">{words(change.kind)}</span>
          </Cell>
          <Cell>
            {change.member ? (
              memberWords(change.member)
            ) : (
              <Badge tone={change.change === 'added' ? 'ok' : 'danger'}>{change.change}</Badge>
            )}
          </Cell>
          <Cell className="text-muted">{plainly(change.before, change.member)}</Cell>
          <Cell className="font-medium">{plainly(change.after, change.member)}</Cell>
        </Row>
      ))}
    </Table>
  )
}

/** The members that the dialog of an entitlement writes, as they were. */
const valuesOf = (row: Entitlement) => ({
  value_type: row.value_type,
  ...(row.value_type === 'boolean' && { value_bool: row.value_bool }),
  ...(row.value_type === 'numeric' && { value_numeric: row.value_numeric, metric_period: row.metric_period }),
  ...(row.value_type === 'credit' && { credit_consumption_rate: row.consumption_rate }),
})

/** Whether those members are all there is to it, so that it can be put back. */
const isPlain = (row: Entitlement): boolean =>
  ['boolean', 'numeric', 'unlimited'].includes(row.value_type) &&
  row.price_behavior === null &&
  row.soft_limit === null &&
  row.warning_tiers.length === 0

function RemoveEntitlement({ row }: { readonly row: Entitlement }) {
  const act = useAct()
  const name = row.feature?.name ?? row.feature_id
  return (
    <Button
      look="quiet"
      aria-label={`Remove ${name}`}
      onClick={() =>
        void act({
          title: `Remove ${name} from the draft`,
          verb: 'Remove',
          danger: true,
          differences: [{ what: name, before: valueWords(row), after: 'not in the plan' }],
          note: 'It takes effect when the draft is published.',
          run: () =>
            api.del('/plan-entitlements/{plan_entitlement_id}', { path: { plan_entitlement_id: row.id } }),
          done: `${name} was removed from the draft`,
          ...(isPlain(row) && {
            undo: () =>
              api.post('/plan-entitlements', {
                body: { ...valuesOf(row), feature_id: row.feature_id, plan_id: row.plan_id } as never,
              }),
          }),
        })
      }
    >
      Remove
    </Button>
  )
}

/** Kinds of value that this dialog does not offer for a new entitlement. An entitlement with such a kind keeps it. */
const kindWords: Readonly<Record<string, string>> = {
  credit: 'Credits for each unit',
  trait: 'A limit from a trait',
}

function EntitlementDialog({
  planId,
  versionId,
  present,
  taken,
  onClose,
}: {
  readonly planId: string
  readonly versionId: string | undefined
  readonly present: Entitlement | null
  readonly taken: readonly string[]
  readonly onClose: () => void
}) {
  const features = useFeatures()
  if (features.data === undefined) return null
  const choices = features.data.filter(one =>
    present ? one.id === present.feature_id : !taken.includes(one.id),
  )
  const typeOf = (id: string | undefined) => features.data!.find(one => one.id === id)?.feature_type
  return (
    <FormDialog
      title={present ? `Change ${present.feature?.name}` : 'Add feature'}
      onClose={onClose}
      fields={[
        {
          name: 'feature',
          label: 'Feature',
          kind: 'choice',
          options: choices.map(one => [one.id, one.name] as const),
          ...(choices.length === 0 && { hint: 'Make a feature first, on the page Features.' }),
        },
        {
          name: 'kind',
          label: 'Value',
          kind: 'choice',
          options: [
            ['numeric', 'A limit'],
            ['unlimited', 'No limit'],
            ...(present && !['boolean', 'numeric', 'unlimited'].includes(present.value_type)
              ? [[present.value_type, kindWords[present.value_type] ?? words(present.value_type)] as const]
              : []),
          ],
          ...(present && present.value_type !== 'boolean' && { initial: present.value_type }),
          when: ({ feature }) => typeOf(feature) !== 'boolean',
        },
        {
          name: 'limit',
          label: 'Limit',
          kind: 'number',
          ...(present?.value_numeric != null && { initial: String(present.value_numeric) }),
          when: ({ feature, kind }) => typeOf(feature) !== 'boolean' && kind === 'numeric',
        },
        {
          name: 'rate',
          label: `${present?.value_credit?.name ?? 'Credits'} a unit`,
          kind: 'number',
          ...(present?.consumption_rate != null && { initial: String(present.consumption_rate) }),
          when: ({ kind }) => kind === 'credit',
        },
        {
          name: 'period',
          label: 'Counted',
          kind: 'choice',
          options: [
            ['current_month', 'each month'],
            ['current_week', 'each week'],
            ['current_day', 'each day'],
            ['all_time', 'in all'],
          ],
          ...(present?.metric_period && { initial: present.metric_period }),
          when: ({ feature, kind }) => typeOf(feature) === 'event' && kind === 'numeric',
        },
      ]}
      act={({ feature, kind, limit, rate, period }) => {
        if (!feature) throw new Error('Make a feature first, on the page Features')
        const type = typeOf(feature)
        const { name } = features.data!.find(one => one.id === feature)!
        const valueType = type === 'boolean' ? 'boolean' : kind
        let made = ''
        const body = {
          value_type: valueType,
          ...(valueType === 'boolean' && { value_bool: true }),
          ...(valueType === 'numeric' && { value_numeric: numberOf(limit ?? '') }),
          ...(valueType === 'numeric' && type === 'event' && { metric_period: period }),
          ...(valueType === 'credit' && { credit_consumption_rate: Number(rate) }),
        }
        return {
          title: present ? `Change ${name} in the draft` : `Add ${name} to the draft`,
          verb: present ? 'Change' : 'Add',
          differences: [
            {
              what: name,
              before: present ? valueWords(present) : null,
              after: valueWords({
                value_type: valueType as Value['value_type'],
                value_bool: true,
                value_numeric: numberOf(limit ?? ''),
                metric_period: type === 'event' ? (period as Value['metric_period']) : null,
                value_credit: present?.value_credit,
                consumption_rate: rate ?? null,
              }),
            },
          ],
          note: 'It takes effect when the draft is published.',
          run: async () => {
            const written = present
              ? await api.put('/plan-entitlements/{plan_entitlement_id}', {
                  path: { plan_entitlement_id: present.id },
                  body: body as never,
                })
              : await api.post('/plan-entitlements', {
                  body: {
                    ...body,
                    feature_id: feature,
                    plan_id: planId,
                    ...(versionId && { plan_version_id: versionId }),
                  } as never,
                })
            // the draft's own, which may be a copy
            made = written.id
          },
          done: present ? `${name} was changed in the draft` : `${name} was added to the draft`,
          undo: () => {
            const path = { plan_entitlement_id: made }
            return present
              ? api.put('/plan-entitlements/{plan_entitlement_id}', {
                  path,
                  body: valuesOf(present) as never,
                })
              : api.del('/plan-entitlements/{plan_entitlement_id}', { path })
          },
        }
      }}
    />
  )
}
