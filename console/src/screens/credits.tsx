// Credits: their kinds, bundles, and the latest grants of all companies.
import { useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../app/api.js'
import { figure, money, smallestDecimal, timeOf, words } from '../app/format.js'
import { usePagesOf } from '../app/pages-of.js'
import { Go, useAdding, useHere } from '../app/place.js'
import { Badge, Button, Card, Empty, Loaded, Page } from '../ui/basics.js'
import { asNew, FormDialog } from '../ui/form.js'
import { Cell, Row, Table } from '../ui/table.js'

/** "$0.05 or €0.05". */
const priceOfOne = ({ currency_prices: prices }: Schemas['Credit']): string =>
  prices
    .flatMap(({ currency, price }) =>
      price ? [money(price.price_decimal ?? price.price, currency, 'stripIfInteger')] : [],
    )
    .join(' or ') || '–'

export default function Credits() {
  const { environment, may } = useHere()
  const [adding, setAdding] = useAdding()
  const credits = useQuery({
    queryKey: [environment.id, 'credits'],
    queryFn: () => api.all('/billing/credits'),
  })
  const bundles = useQuery({
    queryKey: [environment.id, 'bundles'],
    queryFn: () => api.all('/billing/credits/bundles'),
  })
  const { list: grants, more } = usePagesOf({
    key: [environment.id, 'grants', 'latest'],
    load: (page, signal) => api.page('/billing/credits/grants/list', { signal, query: page as never }),
  })
  const add = may.write && (
    <Button look="primary" onClick={() => setAdding(true)}>
      Add credit
    </Button>
  )
  return (
    <Page title="Credits" actions={add}>
      <div className="grid gap-4 xl:grid-cols-2">
        <Card title="Kinds of credit">
          <Loaded of={credits}>
            {rows =>
              rows.length === 0 ? (
                <Empty title="No credit yet" action={add}>
                  Credits are a currency of your own: plans grant them, and features draw them at a rate.
                </Empty>
              ) : (
                <Table label="Kinds of credit" head={['Credit', 'Drawn', 'Price of one']}>
                  {rows.map(one => (
                    <Row key={one.id}>
                      <Cell>
                        {one.name}
                        <div className="text-xs text-muted">{one.description}</div>
                      </Cell>
                      <Cell className="text-muted">{words(one.burn_strategy)}</Cell>
                      <Cell className="whitespace-nowrap tabular-nums">{priceOfOne(one)}</Cell>
                    </Row>
                  ))}
                </Table>
              )
            }
          </Loaded>
        </Card>
        <Card title="Bundles that customers can buy">
          <Loaded of={bundles}>
            {rows =>
              rows.length === 0 ? (
                <Empty title="No bundle" />
              ) : (
                <Table label="Bundles" head={['Bundle', 'Credits', 'Status']}>
                  {rows.map(one => (
                    <Row key={one.id}>
                      <Cell>{one.name}</Cell>
                      <Cell className="whitespace-nowrap">
                        {figure(one.quantity)} {one.credit_name}
                      </Cell>
                      <Cell>
                        <Badge tone={one.status === 'active' ? 'ok' : 'plain'}>{one.status}</Badge>
                      </Cell>
                    </Row>
                  ))}
                </Table>
              )
            }
          </Loaded>
        </Card>
      </div>
      <Card title="Latest grants" className="mt-4">
        <Loaded of={grants}>
          {rows =>
            rows.length === 0 ? (
              <Empty title="Nothing was granted yet">
                Grants come with plans, or are made on a company’s page.
              </Empty>
            ) : (
              <Table label="Latest grants" head={['When', 'Company', 'Credit', 'Left of', 'Reason']}>
                {rows.map(grant => (
                  <Row key={grant.id}>
                    <Cell className="whitespace-nowrap text-muted">{timeOf(grant.created_at)}</Cell>
                    <Cell>
                      <Go to={`/companies/${grant.company_id}`} search={{ tab: 'credits' }}>
                        {grant.company_name || grant.company_id}
                      </Go>
                    </Cell>
                    <Cell>{grant.credit_name}</Cell>
                    <Cell className="whitespace-nowrap tabular-nums">
                      {figure(grant.quantity_remaining)} / {figure(grant.quantity)}
                    </Cell>
                    <Cell className="text-muted">{words(grant.grant_reason)}</Cell>
                  </Row>
                ))}
              </Table>
            )
          }
        </Loaded>
        {more}
      </Card>
      {adding && may.write && (
        <FormDialog
          title="Add credit"
          onClose={() => setAdding(false)}
          fields={[
            { name: 'name', label: 'Name' },
            { name: 'description', label: 'Description', optional: true },
            { name: 'price', label: 'Price of one', optional: true, hint: 'In dollars, e.g. 0.05.' },
          ]}
          act={({ name = '', description, price = '' }) => {
            const cents = price.trim() === '' ? null : smallestDecimal(price, 'usd')
            if (price.trim() !== '' && cents === null)
              throw new Error(`${price}: write an amount such as 0.05`)
            let made = ''
            return {
              title: `Add ${name}`,
              verb: 'Add',
              differences: asNew([
                ['Credit', name],
                ['Price of one', cents === null ? undefined : money(cents, 'usd')],
              ]),
              run: async () => {
                const credit = await api.post('/billing/credits', {
                  body: {
                    name,
                    description: description ?? '',
                    currency: 'usd',
                    ...(cents !== null && { per_unit_price_decimal: cents }),
                  } as never,
                })
                made = credit.id
              },
              done: `${name} was added`,
              undo: () => api.del('/billing/credits/{credit_id}', { path: { credit_id: made } }),
            }
          }}
        />
      )}
    </Page>
  )
}
