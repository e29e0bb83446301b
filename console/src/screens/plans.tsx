// Plans and add-ons, with their versions and companies.
import { useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../app/api.js'
import { dayOf, figure, words } from '../app/format.js'
import { Go, useAdding, useGo, useHere } from '../app/place.js'
import { Badge, Button, Card, Empty, Loaded, Page } from '../ui/basics.js'
import { asNew, FormDialog } from '../ui/form.js'
import { Cell, Row, Table } from '../ui/table.js'
import { termsWords } from './plan-words.js'

export default function Plans() {
  const { environment, may } = useHere()
  const [adding, setAdding] = useAdding()
  const go = useGo()
  const plans = useQuery({
    queryKey: [environment.id, 'plans', 'summary'],
    queryFn: () => api.all('/plans', { query: { view: 'summary' } }) as Promise<Schemas['PlanSummary'][]>,
  })
  const add = may.write && (
    <Button look="primary" onClick={() => setAdding(true)}>
      Add plan
    </Button>
  )
  let made = ''
  return (
    <Page
      title="Plans"
      actions={
        <>
          <Go
            to="/preview/plans"
            className="inline-flex min-h-9 items-center rounded-md border border-line bg-panel px-3 font-medium hover:bg-raised"
          >
            As customers see them
          </Go>
          {add}
        </>
      }
    >
      <Loaded of={plans}>
        {rows =>
          rows.length === 0 ? (
            <Empty title="No plan yet" action={add}>
              A plan says which features a company may use and how much of them. Changes go to a draft, and
              take effect when it is published.
            </Empty>
          ) : (
            <Card>
              <Table
                label="Plans"
                head={['Plan', 'Kind', 'Price', 'In force', 'Draft', 'Features', 'Companies']}
              >
                {rows.map(plan => (
                  <Row key={plan.id}>
                    <Cell>
                      <Go to={`/plans/${plan.id}`}>{plan.name}</Go>
                      {plan.company_id && <div className="text-xs text-muted">of one company</div>}
                    </Cell>
                    <Cell>{words(plan.plan_type)}</Cell>
                    <Cell className="text-muted">{plan.terms ? termsWords(plan.terms) : '–'}</Cell>
                    <Cell>
                      {plan.published_version ? (
                        <>
                          <Badge tone="ok">v{plan.published_version.version}</Badge>{' '}
                          <span className="text-xs text-muted">
                            {dayOf(plan.published_version.published_at)}
                          </span>
                        </>
                      ) : (
                        <span className="text-muted">not published</span>
                      )}
                    </Cell>
                    <Cell>
                      {plan.draft_version ? <Badge tone="warn">v{plan.draft_version.version}</Badge> : '–'}
                    </Cell>
                    <Cell className="tabular-nums">{figure(plan.entitlement_count)}</Cell>
                    <Cell className="tabular-nums">
                      <Go
                        to="/companies"
                        search={{ plan: plan.id }}
                        aria-label={`${figure(plan.company_count)} companies on ${plan.name}`}
                      >
                        {figure(plan.company_count)}
                      </Go>
                    </Cell>
                  </Row>
                ))}
              </Table>
            </Card>
          )
        }
      </Loaded>
      {adding && may.write && (
        <FormDialog
          title="Add plan"
          onClose={() => setAdding(false)}
          onDone={() => go(`/plans/${made}`)}
          fields={[
            { name: 'name', label: 'Name' },
            {
              name: 'kind',
              label: 'Kind',
              kind: 'choice',
              options: [
                ['plan', 'Plan: a company has one'],
                ['add_on', 'Add-on: beside a plan'],
              ],
            },
            { name: 'description', label: 'Description', optional: true },
          ]}
          act={({ name = '', kind, description }) => ({
            title: `Add ${name}`,
            verb: 'Add',
            differences: asNew([
              ['Plan', name],
              ['Kind', words(kind)],
            ]),
            note: 'It begins with an empty draft. Add features to it, then publish it.',
            run: async () => {
              const plan = await api.post('/plans', {
                body: { name, plan_type: kind as 'plan', description: description ?? '' } as never,
              })
              made = plan.id
            },
            done: `${name} was added`,
            undo: () => api.del('/plans/{plan_id}', { path: { plan_id: made } }),
          })}
        />
      )}
    </Page>
  )
}
