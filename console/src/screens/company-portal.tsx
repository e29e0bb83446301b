// Traits of one company, its subscriptions, and how its plan, use and credits come into a product of one's own.
import { useQuery } from '@tanstack/react-query'
import { api, base } from '../app/api.js'
import { useHere } from '../app/place.js'
import { Card, CopyButton, Empty } from '../ui/basics.js'
import type { Company } from './company.js'

export function Traits({ company }: { readonly company: Company }) {
  const { environment } = useHere()
  const subscriptions = useQuery({
    queryKey: [environment.id, 'company', company.id, 'subscriptions'],
    queryFn: () => api.get('/company-subscriptions', { query: { company_id: company.id } as never }),
    retry: false,
  })
  const traits = Object.entries(company.traits)
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Card title="Traits">
        {traits.length === 0 ? (
          <Empty title="No traits" />
        ) : (
          <dl className="divide-y divide-line">
            {traits.map(([name, value]) => (
              <div key={name} className="grid grid-cols-[1fr_2fr] gap-3 py-1.5">
                <dt className="text-muted">{name}</dt>
                <dd>{String(value)}</dd>
              </div>
            ))}
          </dl>
        )}
      </Card>
      <Embed company={company} />
      <Card title="Subscriptions">
        <p>
          {subscriptions.data?.length
            ? subscriptions.data
                .map(one => [one.status, one.currency?.toUpperCase()].filter(Boolean).join(', '))
                .join('; ')
            : 'No subscription with a payment provider.'}
        </p>
      </Card>
    </div>
  )
}

/** How a server and a page embed it. */
function Embed({ company }: { readonly company: Company }) {
  const [key] = company.keys
  const service = new URL('../', base).href.replace(/\/$/, '')
  const lookup = key ? { [key.key]: key.value } : { slug: 'acme' }
  const request = `curl -X POST ${service}/temporary-access-tokens \\
  -H "X-Service-Api-Key: $SECRET_KEY" -H "Content-Type: application/json" \\
  -d '${JSON.stringify({ resource_type: 'company', lookup })}'`
  const page = `<script type="module" src="${service}/portal.js"></script>
<tollgate-portal url="${service}" token="TOKEN"></tollgate-portal>`
  return (
    <Card title="Put it into your own product">
      <Snippet title="1. Your server asks for a token of this company" text={request} />
      <Snippet title="2. Your page shows plan, use and credits with it" text={page} />
      <p className="text-sm text-muted">
        A token reads this company alone, for 15 minutes unless the server asks for up to a day.
      </p>
    </Card>
  )
}

function Snippet({ title, text }: { readonly title: string; readonly text: string }) {
  return (
    <div className="mb-3">
      <div className="mb-1 flex items-center justify-between gap-2">
        <h3 className="font-medium">{title}</h3>
        <CopyButton look="quiet" aria-label={`Copy: ${title}`} text={text} />
      </div>
      <pre className="overflow-x-auto rounded bg-raised p-3 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
        {text}
      </pre>
    </div>
  )
}
