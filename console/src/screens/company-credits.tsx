// Credits of one company: its grants, the users that burned them, and every movement.
import { useQuery } from '@tanstack/react-query'
import { Suspense } from 'react'
import { api, type Schemas } from '../app/api.js'
import { dayOf, decimal, figure, numberOf, timeOf, words } from '../app/format.js'
import { usePagesOf } from '../app/pages-of.js'
import { useGo, useHere } from '../app/place.js'
import { useAct } from '../ui/act.js'
import { Button, Card, Empty, Loaded } from '../ui/basics.js'
import { FormDialog } from '../ui/form.js'
import { Chart } from '../ui/lazy-chart.js'
import { Cell, Row, Table } from '../ui/table.js'
import type { Company } from './company.js'
import { endOf, spanFields } from './override-dialog.js'

export function Credits({ company }: { readonly company: Company }) {
  const { environment, may, production } = useHere()
  const act = useAct()
  const { list: grants, more: moreGrants } = usePagesOf({
    key: [environment.id, 'grants', company.id],
    load: (page, signal) =>
      api.page('/billing/credits/grants/company/list', {
        signal,
        query: { company_id: company.id, ...page } as never,
      }),
  })
  const { list: ledger, more: moreLedger } = usePagesOf({
    key: [environment.id, 'ledger', company.id],
    load: (page, signal) =>
      api.page('/v2/billing/credits/ledger', {
        signal,
        query: { company_id: company.id, ...page } as never,
      }),
  })
  const zeroOut = (grant: Schemas['CreditGrant']) =>
    act({
      title: `End a grant of ${grant.credit_name}`,
      verb: 'End grant',
      danger: true,
      differences: [{ what: 'Remaining', before: figure(grant.quantity_remaining), after: '0' }],
      ...(production && { typed: company.name }),
      run: () =>
        api.put('/billing/credits/grants/{grant_id}/zero-out', {
          path: { grant_id: grant.id },
          body: { reason: 'manual' } as never,
        }),
      done: 'The grant has ended',
    })
  return (
    <div className="grid gap-4 xl:grid-cols-2">
      <Card title="Grants">
        <Loaded of={grants}>
          {rows =>
            rows.length === 0 ? (
              <Empty title="No credits were granted" />
            ) : (
              <Table label="Grants" head={['Credit', 'Reason', 'Left of', 'Until', '']}>
                {rows.map(grant => (
                  <Row key={grant.id}>
                    <Cell>{grant.credit_name}</Cell>
                    <Cell className="text-muted">{words(grant.grant_reason)}</Cell>
                    <Cell>
                      <span className="whitespace-nowrap tabular-nums">
                        {figure(grant.quantity_remaining)} / {figure(grant.quantity)}
                      </span>
                    </Cell>
                    <Cell className="text-muted">
                      {grant.zeroed_out_date
                        ? 'ended'
                        : grant.expires_at
                          ? dayOf(grant.expires_at)
                          : 'no end'}
                    </Cell>
                    <Cell>
                      {may.support && grant.quantity_remaining > 0 && (
                        <Button look="quiet" onClick={() => void zeroOut(grant)}>
                          End
                        </Button>
                      )}
                    </Cell>
                  </Row>
                ))}
              </Table>
            )
          }
        </Loaded>
        {moreGrants}
      </Card>
      <Burned company={company} />
      <BurnDown company={company} />
      <Card title="Ledger" className="xl:col-span-2">
        <Loaded of={ledger}>
          {rows =>
            rows.length === 0 ? (
              <Empty title="Nothing was granted or drawn" />
            ) : (
              <Table label="Ledger" head={['When', 'Entry', 'Credit', 'Credits']} atEnd="Credits">
                {rows.map((entry, i) => (
                  <Row key={`${entry.event_id} ${i}`}>
                    <Cell className="whitespace-nowrap text-muted">{timeOf(entry.event_at)}</Cell>
                    <Cell>{entryWords(entry)}</Cell>
                    <Cell>{entry.credit_name}</Cell>
                    <Cell className="text-right tabular-nums">{signed.format(entry.amount)}</Cell>
                  </Row>
                ))}
              </Table>
            )
          }
        </Loaded>
        {moreLedger}
      </Card>
    </div>
  )
}

const signed = new Intl.NumberFormat('en', { signDisplay: 'exceptZero', maximumFractionDigits: 20 })

const entries: Readonly<Record<string, string>> = {
  grant: 'Granted',
  usage: 'Burned',
  zero_out: 'Ended',
  transfer: 'Moved',
}

/** "Burned by Exports", "Granted, plan". */
function entryWords(entry: Schemas['CreditLedgerEntry']): string {
  const what = entries[entry.event_type] ?? words(entry.event_type)
  if (entry.feature) return `${what} by ${entry.feature.name}`
  const why = entry.grant_reason ?? entry.usage_reason ?? entry.zeroed_out_reason ?? entry.transfer_reason
  return why ? `${what}, ${words(why)}` : what
}

/** Users by the credits that they burned in the last 30 days, the largest sum first. */
function Burned({ company }: { readonly company: Company }) {
  const { environment } = useHere()
  const credits = useQuery({
    queryKey: [environment.id, 'credits'],
    queryFn: () => api.all('/billing/credits'),
  })
  const burned = useQuery({
    queryKey: [environment.id, 'burned', company.id],
    queryFn: async () => {
      const rows = await api.get('/costs', {
        query: { company_id: company.id, by: ['user'], limit: 250 } as never,
      })
      const used = rows.flatMap(row =>
        row.credits.map(({ credit_id: credit, quantity }) => ({ user: row.user_id, credit, quantity })),
      )
      used.sort((a, b) => Number(b.quantity) - Number(a.quantity))
      const ids = [...new Set(used.slice(0, shownUsers).flatMap(({ user }) => user ?? []))]
      const users = ids.length === 0 ? [] : await api.get('/users', { query: { ids, limit: 100 } as never })
      const names = new Map(users.map(one => [one.id, one.name]))
      return { used, names }
    },
  })
  const nameOf = (id: string) => credits.data?.find(one => one.id === id)?.name ?? id
  return (
    <Card title="Burned in the last 30 days, by user">
      <Loaded of={burned}>
        {({ used, names }) =>
          used.length === 0 ? (
            <Empty title="No credit was burned" />
          ) : (
            <Table label="Burned credits" head={['User', 'Credit', 'Burned']}>
              {used.slice(0, shownUsers).map(({ user, credit, quantity }) => (
                <Row key={`${user} ${credit}`}>
                  <Cell>
                    {user === null ? (
                      <span className="text-muted">no user named</span>
                    ) : (
                      names.get(user) || user
                    )}
                  </Cell>
                  <Cell>{nameOf(credit)}</Cell>
                  <Cell className="tabular-nums">{decimal(quantity)}</Cell>
                </Row>
              ))}
            </Table>
          )
        }
      </Loaded>
      {burned.data && burned.data.used.length > shownUsers && (
        <p className="mt-2 text-xs text-muted">{burned.data.used.length - shownUsers} more burned less.</p>
      )}
    </Card>
  )
}

/** Credits whose balances the chart shows. */
const chartedMax = 4

/** The balance of each credit at the end of each day. */
function BurnDown({ company }: { readonly company: Company }) {
  const { environment } = useHere()
  const credits = useQuery({
    queryKey: [environment.id, 'credits'],
    queryFn: () => api.all('/billing/credits'),
  })
  const ids = Object.keys(company.billing_credit_balances).sort().slice(0, chartedMax)
  const days = useQuery({
    queryKey: [environment.id, 'company', company.id, 'credit-days', ids],
    enabled: ids.length > 0,
    queryFn: () =>
      Promise.all(
        ids.map(id =>
          api.get('/credits-by-day', { query: { company_id: company.id, billing_credit_id: id } }),
        ),
      ),
  })
  if (ids.length === 0) return null
  return (
    <Card title="Credits left, at the end of each day" className="xl:col-span-2">
      <Loaded of={days}>
        {all =>
          all.every(one => one.every(({ balance }) => balance === null)) ? (
            <Empty title="Nothing was granted or drawn in the last 30 days" />
          ) : (
            <Suspense>
              <Chart
                label={`Credits left of ${company.name}`}
                days={all[0]!.map(({ day }) => day)}
                series={all.map((one, i) => ({
                  name: credits.data?.find(({ id }) => id === ids[i])?.name ?? ids[i]!,
                  values: one.map(({ balance }) => balance),
                }))}
              />
            </Suspense>
          )
        }
      </Loaded>
    </Card>
  )
}

/** Users that the list of burned credits names. */
const shownUsers = 20

export function GrantCredits({
  company,
  onClose,
}: {
  readonly company: Company
  readonly onClose: () => void
}) {
  const { environment, production } = useHere()
  const go = useGo()
  const credits = useQuery({
    queryKey: [environment.id, 'credits'],
    queryFn: () => api.all('/billing/credits'),
  })
  if (credits.data === undefined) return null
  return (
    <FormDialog
      title="Grant credits"
      onClose={onClose}
      onDone={() => go(`/companies/${company.id}`, { tab: 'credits' })}
      fields={[
        {
          name: 'credit',
          label: 'Credit',
          kind: 'choice',
          options: credits.data.map(one => [one.id, one.name] as const),
          hint:
            credits.data.length === 0
              ? 'There is no kind of credit yet: the page Credits adds one.'
              : undefined,
        },
        { name: 'quantity', label: 'Credits', kind: 'number' },
        {
          name: 'reason',
          label: 'Reason',
          kind: 'choice',
          options: [
            ['free', 'Free'],
            ['adjustment', 'Adjustment'],
            ['purchased', 'Purchased'],
          ],
        },
        ...spanFields(),
      ]}
      act={values => {
        const { credit, quantity, reason } = values
        if (!credit) throw new Error('Make a kind of credit first, on the page Credits')
        const { name } = credits.data.find(one => one.id === credit)!
        const ends = endOf(values)
        const before = company.billing_credit_balances[credit] ?? 0
        let made = ''
        return {
          title: `Grant ${company.name} ${quantity} ${name}`,
          verb: 'Grant',
          differences: [
            { what: name, before: figure(before), after: figure(before + Number(quantity)) },
            { what: 'Until', before: null, after: ends === null ? 'they are used' : timeOf(ends) },
          ],
          ...(production && { typed: company.name }),
          run: async () => {
            const grant = await api.post('/billing/credits/grants/company', {
              body: {
                company_id: company.id,
                credit_id: credit,
                quantity: numberOf(quantity ?? ''),
                reason: reason as 'free',
                ...(ends && { expires_at: ends }),
              } as never,
            })
            made = grant.id
          },
          done: 'The credits were granted',
          undo: () =>
            api.put('/billing/credits/grants/{grant_id}/zero-out', {
              path: { grant_id: made },
              body: { reason: 'manual' } as never,
            }),
        }
      }}
    />
  )
}
