// The audit log: who changed what, with before and after.
import { useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../app/api.js'
import { pretty, timeOf, words } from '../app/format.js'
import { usePagesOf } from '../app/pages-of.js'
import { useFilters, useHere } from '../app/place.js'
import { Badge, Button, Card, Choice, Empty, Field, Input, Loaded, Page, Raw } from '../ui/basics.js'
import { Dialog } from '../ui/dialog.js'
import { Cell, Row, Table } from '../ui/table.js'
import { useCompanyNames } from './company-names.js'
import { type KeptAnswer, keptAnswer, keptRequest } from './kept-answer.js'
import { actorOf, changeWords, companiesIn } from './overview.js'
import { TakeBack } from './take-back.js'

export default function Audit() {
  const { environment, may } = useHere()
  const [filters, setFilters] = useFilters()
  const query = {
    ...(filters.q && { q: filters.q }),
    ...(filters.type && { resource_type: filters.type }),
    ...(filters.kind && { kind: filters.kind }),
    ...(filters.here === 'yes' && { environment_id: environment.id }),
  }
  const isFiltered = Object.keys(query).length > 0
  const { list, more } = usePagesOf({
    key: [environment.id, 'audit', 'pages', query],
    enabled: may.admin,
    load: (page, signal) => api.page('/audit-log', { signal, query: { ...query, ...page } as never }),
  })
  const names = useCompanyNames(companiesIn(list.data ?? []))
  if (!may.admin)
    return (
      <Page title="Audit">
        <Empty title="For admins">The audit log is shown to people with the role admin.</Empty>
      </Page>
    )
  const set = (name: string) => (event: { currentTarget: { value: string } }) =>
    setFilters({ [name]: event.currentTarget.value })
  return (
    <Page title="Audit">
      <Card className="mb-4">
        <div className="-mb-3 grid gap-x-3 sm:grid-cols-4">
          <Field label="Name, id or path">
            {id => <Input id={id} type="search" value={filters.q ?? ''} onInput={set('q')} />}
          </Field>
          <Field label="Kind of thing">
            {id => (
              <Choice
                id={id}
                value={filters.type ?? ''}
                options={[
                  ['', 'Everything'],
                  ...[
                    'company',
                    'company_override',
                    'plan',
                    'plan_version',
                    'plan_entitlement',
                    'feature',
                    'flag',
                    'webhook',
                    'api_key',
                    'account_member',
                    'environment',
                  ].map(type => [type, words(type)] as const),
                ]}
                onChange={set('type')}
              />
            )}
          </Field>
          <Field label="Entries">
            {id => (
              <Choice
                id={id}
                value={filters.kind ?? ''}
                options={[
                  ['', 'Changes'],
                  ['read', 'Reads of secrets'],
                  ['auth_failure', 'Failed sign-ins'],
                  ['system', 'The operator'],
                ]}
                onChange={set('kind')}
              />
            )}
          </Field>
          <Field label="Environment">
            {id => (
              <Choice
                id={id}
                value={filters.here ?? ''}
                options={[
                  ['', 'Every one'],
                  ['yes', environment.name],
                ]}
                onChange={set('here')}
              />
            )}
          </Field>
        </div>
      </Card>
      <Card>
        <Loaded of={list}>
          {shown =>
            shown.length === 0 ? (
              <Empty title={isFiltered ? 'Nothing matches' : 'Nothing was changed yet'}>
                {isFiltered
                  ? 'Other words, another kind or every environment may find more.'
                  : 'Each change, with who made it, is listed here.'}
              </Empty>
            ) : (
              <Table label="Audit log" head={['When', 'Change', 'By', 'Environment', 'Answer', '']}>
                {shown.map(row => (
                  <Row key={row.id}>
                    <Cell className="whitespace-nowrap text-muted">{timeOf(row.started_at)}</Cell>
                    <Cell>{changeWords(row, names)}</Cell>
                    <Cell className="whitespace-nowrap">{actorOf(row)}</Cell>
                    <Cell className="text-muted">{row.environment?.name ?? 'account'}</Cell>
                    <Cell>
                      <Badge tone={row.resp_code < 300 ? 'ok' : 'danger'}>{row.resp_code}</Badge>
                    </Cell>
                    <Cell>
                      <Button
                        look="quiet"
                        aria-label={`Details of ${changeWords(row, names)}`}
                        onClick={() => setFilters({ entry: row.id })}
                      >
                        Details
                      </Button>
                    </Cell>
                  </Row>
                ))}
              </Table>
            )
          }
        </Loaded>
        {more}
      </Card>
      {filters.entry && <Entry id={filters.entry} onClose={() => setFilters({ entry: '' })} />}
    </Page>
  )
}

function Entry({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const entry = useQuery({
    queryKey: ['audit', id],
    queryFn: () => api.get('/audit-log/{audit_log_id}', { path: { audit_log_id: id } }),
  })
  const names = useCompanyNames(entry.data ? companiesIn([entry.data]) : [])
  return (
    <Dialog open wide title="A change" onClose={onClose}>
      <Loaded of={entry}>
        {row => {
          // The answer before a change of rules may be of the whole flag.
          const part = rulesPath.test(row.url) ? 'rules' : null
          const changes = differences(row.before, row.resp_body, part).filter(isNamedIn(row))
          return (
            <>
              <p className="font-medium">{changeWords(row, names)}</p>
              <p className="mb-3 text-muted">
                {actorOf(row)} · {timeOf(row.started_at)} · {row.remote_ip} · {row.method} {row.url}
              </p>
              {changes.length > 0 && (
                <Table label="Before and after" head={['Member', 'Before', 'After']}>
                  {changes.map(([name, before, after]) => (
                    <Row key={name}>
                      <Cell>{name}</Cell>
                      <Cell className="text-muted">{before}</Cell>
                      <Cell className="font-medium">{after}</Cell>
                    </Row>
                  ))}
                </Table>
              )}
              {row.before === null && (
                <p className="text-sm text-muted">
                  No earlier change of this is kept, so there is no before.
                </p>
              )}
              <TakeBack entry={row} />
              <details className="mt-3">
                <summary className="cursor-pointer text-accent">What was sent</summary>
                <Raw className="mt-2">{pretty(row.req_body) || 'nothing'}</Raw>
              </details>
            </>
          )
        }}
      </Loaded>
    </Dialog>
  )
}

/** `/flags/flag_…/rules`, with a prefix or not. */
const rulesPath = /\/flags\/[^/?]+\/rules/

/** Members that differ, by their paths. `part`: the member that is compared alone. */
function differences(
  before: string | null,
  after: string | null,
  part: string | null,
): (readonly [string, string, string])[] {
  const [former, later] = [keptAnswer(before), keptAnswer(after)]
  if (former === null) return []
  const partOf = (kept: KeptAnswer | null) => (part === null ? kept?.data : { [part]: kept?.data[part] })
  const [was, is] = [flat(partOf(former)), flat(partOf(later))]
  // what is missing where an answer was cut is not known
  const isKnown = (name: string) =>
    (was.has(name) || !former.isCut) && (is.has(name) || later?.isCut !== true)
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter(name => was.get(name) !== is.get(name) && isKnown(name) && !/updated_at$|last_/.test(name))
    .filter(name => part === null || !/\.((account_|environment_|flag_|rule_)?id|created_at)$/.test(name))
    .slice(0, 200)
    .map(name => [name, was.get(name) ?? '–', is.get(name) ?? '–'])
}

/** Whether a difference is in a member that the request named. A request that names no member of the answer has all differences. */
function isNamedIn({ method, req_body: body, resp_body: answer }: Schemas['AuditLog']) {
  const named = Object.keys(keptRequest(body) ?? {}).filter(name => name in (keptAnswer(answer)?.data ?? {}))
  return ([path]: readonly [string, string, string]) =>
    method !== 'PUT' || named.length === 0 || named.includes(path.split('.')[0]!)
}

function flat(value: unknown, path = '', into = new Map<string, string>()): Map<string, string> {
  if (typeof value === 'object' && value !== null)
    for (const [name, inner] of Object.entries(value))
      flat(inner, path === '' ? name : `${path}.${name}`, into)
  else if (path !== '') into.set(path, String(value))
  return into
}
