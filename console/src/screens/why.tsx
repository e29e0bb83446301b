// Why: a flag for a company, rule by rule, with what each condition saw and what would change the answer.
import { useQuery } from '@tanstack/react-query'
import { Check, X } from 'lucide-react'
import { useEffect, useId, useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { figure, localOf, secondOf, signs, timeOf, words } from '../app/format.js'
import { usePagesOf } from '../app/pages-of.js'
import { Go, useFilters, useHere } from '../app/place.js'
import { Badge, Button, Card, Choice, CopyButton, Empty, Input, Loaded, Page } from '../ui/basics.js'
import { Cell, Row, Table } from '../ui/table.js'
import { useFeatures } from './company.js'
import { useCompanyNames } from './company-names.js'
import { WhoseEvent, WhyOfCheck } from './event-table.js'
import { OverrideDialog, useOverrides } from './override-dialog.js'
import { shortReason } from './overview.js'

export default function Why() {
  const { environment } = useHere()
  const [filters, setFilters] = useFilters()
  const { company = '', user = '', flag = '', at = '' } = filters
  const flags = useQuery({
    queryKey: [environment.id, 'flags', 'summary'],
    queryFn: () => api.all('/flags', { query: { view: 'summary' } }) as Promise<Schemas['FlagSummary'][]>,
  })
  return (
    <Page
      title="Why?"
      below={<span>Why may a company use something, or why not? Now, or at an instant that is past.</span>}
    >
      <Card className="mb-4">
        <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 xl:grid-cols-4">
          <CompanyPicker value={company} onChange={id => setFilters({ company: id })} />
          <UserPicker value={user} onChange={id => setFilters({ user: id })} />
          <div>
            <label htmlFor="why-flag" className="mb-1 block text-xs font-medium text-muted">
              Flag
            </label>
            <Choice
              id="why-flag"
              value={flag}
              options={[
                ['', 'Choose a flag'],
                ...(flags.data ?? []).map(one => [one.key, `${one.name} (${one.key})`] as const),
              ]}
              onChange={event => setFilters({ flag: event.currentTarget.value })}
            />
          </div>
          <div>
            <label htmlFor="why-at" className="mb-1 block text-xs font-medium text-muted">
              Instant (empty: now)
            </label>
            <Input
              id="why-at"
              type="datetime-local"
              step={isWholeMinute(at) ? 60 : 0.001}
              value={isWholeMinute(at) ? localOf(at).slice(0, 16) : localOf(at)}
              onChange={event => setFilters({ at: instantOf(event.currentTarget.value) })}
            />
          </div>
        </div>
      </Card>
      {flag !== '' && company !== '' ? (
        <Answer company={company} user={user} flag={flag} at={at} flags={flags.data ?? []} />
      ) : company !== '' || user !== '' || flag !== '' ? (
        <Denials company={company} user={user} flag={flag} at={at} />
      ) : (
        <DeniedByFlag />
      )}
    </Page>
  )
}

/** The field then asks for no seconds: people know the minute. Events have their milliseconds. */
const isWholeMinute = (at: string): boolean => !at || Date.parse(at) % 60_000 === 0

/** The field's value is in the time of the browser, the address has UTC. */
const instantOf = (local: string): string | undefined =>
  Number.isNaN(Date.parse(local)) ? undefined : new Date(local).toISOString()

interface Picked {
  readonly value: string
  readonly onChange: (id: string) => void
}

/** Find a company as one types. */
export function CompanyPicker({
  label = 'Company',
  ...rest
}: Picked & {
  readonly label?: string
  /** The part of the page that the company belongs to. Screen readers read it after the label. */
  readonly of?: string
}) {
  const names = useCompanyNames(rest.value === '' ? [] : [rest.value])
  return <Picker {...rest} kind="company" label={label} name={names.get(rest.value)} />
}

/** Find a user as one types. */
function UserPicker(picked: Picked) {
  const user = useUser(picked.value)
  return <Picker {...picked} kind="user" label="User (optional)" name={user && userWords(user)} />
}

function useUser(id: string): Schemas['UserDetail'] | undefined {
  const { environment } = useHere()
  return useQuery({
    queryKey: [environment.id, 'user', id],
    enabled: id !== '',
    queryFn: () => api.get('/users/{user_id}', { path: { user_id: id } }),
  }).data
}

/** The name of a user, or the first key of one without a name. */
const userWords = ({ id, name, keys }: Schemas['UserDetail']): string => name || (keys[0]?.value ?? id)

function Picker({
  kind,
  value,
  label,
  of,
  name,
  onChange,
}: Picked & {
  readonly kind: 'company' | 'user'
  readonly label: string
  readonly of?: string
  /** The name of what is chosen, once it is known. */
  readonly name: string | undefined
}) {
  const { environment } = useHere()
  const id = useId()
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(typed.trim()), 200)
    return () => clearTimeout(timer)
  }, [typed])
  const found = useQuery({
    queryKey: [environment.id, 'search', asked],
    enabled: asked !== '',
    queryFn: () => api.get('/search', { query: { q: asked, limit: 20 } }),
  })
  const matches = (found.data ?? []).filter(one => one.type === kind).slice(0, 8)
  return (
    <div>
      <label htmlFor={id} className="mb-1 block text-xs font-medium text-muted">
        {label}
      </label>
      {value !== '' ? (
        <div className="flex min-h-9 items-center gap-2">
          <span className="min-w-0 font-medium break-words">{name ?? value}</span>
          <Button look="quiet" id={id} onClick={() => onChange('')}>
            Another
          </Button>
        </div>
      ) : (
        <Input
          id={id}
          type="search"
          placeholder="Name or key"
          {...(of && { 'aria-label': `${label} of ${of}` })}
          value={typed}
          onInput={event => setTyped(event.currentTarget.value)}
        />
      )}
      {value === '' && matches.length > 0 && (
        <ul className="mt-1 rounded-md border border-line bg-panel">
          {matches.map(one => (
            <li key={one.id}>
              <button
                type="button"
                className="w-full px-3 py-1.5 text-left hover:bg-raised"
                onClick={() => {
                  setTyped('')
                  onChange(one.id)
                }}
              >
                {one.name}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function Answer({
  company,
  user,
  flag,
  at,
  flags,
}: {
  readonly company: string
  readonly user: string
  readonly flag: string
  readonly at: string
  readonly flags: readonly Schemas['FlagSummary'][]
}) {
  const { environment, may } = useHere()
  const [, setFilters] = useFilters()
  const [overriding, setOverriding] = useState(false)
  const features = useFeatures()
  const overrides = useOverrides(company)
  const asking = useUser(user)
  const told = useQuery({
    queryKey: [environment.id, 'company', company, 'why', flag, user, at],
    queryFn: () =>
      api.post('/flags/{key}/explain', {
        path: { key: flag },
        body: { company_id: company, ...(user && { user: { id: user } }), ...(at && { at }) },
      }),
  })
  const plans = useQuery({
    queryKey: [environment.id, 'plans', 'summary'],
    queryFn: () => api.all('/plans', { query: { view: 'summary' } }) as Promise<Schemas['PlanSummary'][]>,
  })
  const featureId = flags.find(one => one.key === flag)?.feature_id ?? null
  const feature = features.data?.find(one => one.id === featureId)
  const nameOf = (id: string) =>
    id === company ? (told.data?.company_name ?? id) : (plans.data?.find(one => one.id === id)?.name ?? id)
  return (
    <Loaded of={told}>
      {why => {
        const suggested = /limit of at least (\d+)/.exec(why.smallest_change?.text ?? '')?.[1]
        return (
          <>
            <Card className="mb-4">
              <div className="flex flex-wrap items-center gap-3">
                <span
                  className={`rounded-md px-3 py-1 text-2xl font-bold ${why.value ? 'bg-ok-soft text-ok' : 'bg-danger-soft text-danger'}`}
                >
                  {why.value ? 'YES' : 'NO'}
                </span>
                <div className="min-w-0 flex-1 basis-48">
                  <p className="font-medium">{shortReason(why.reason)}</p>
                  <p className="text-sm text-muted">
                    {why.company_name ?? company}
                    {user && ` · ${asking ? userWords(asking) : user}`} · {flag} · {secondOf(why.at)}
                  </p>
                </div>
                {at === '' ? (
                  <Button onClick={() => void told.refetch()}>Check again</Button>
                ) : (
                  <Button onClick={() => setFilters({ at: undefined })}>Same check now</Button>
                )}
                <CopyButton text={location.href}>Copy link</CopyButton>
              </div>
              {why.smallest_change && (
                <div className="mt-3 flex flex-wrap items-center gap-3 rounded-md bg-raised px-3 py-2">
                  <span className="min-w-0 flex-1 basis-48">
                    {at === '' ? 'Would be' : 'Would have been'} <b>{why.value ? 'NO' : 'YES'}</b> if{' '}
                    {subjectWords(why.smallest_change.text).replaceAll(/\b[a-z]{4}_\w{11}\b/g, nameOf)}
                    {why.smallest_change.at &&
                      `, or when the use starts again on ${timeOf(why.smallest_change.at)}`}
                    .
                  </span>
                  {at === '' && may.support && feature && !why.value && (
                    <Button look="primary" onClick={() => setOverriding(true)}>
                      Override
                    </Button>
                  )}
                </div>
              )}
            </Card>
            <Card title="Rules, in the order they are tried">
              <ol className="divide-y divide-line">
                {why.rules.map((rule, i) => (
                  <RuleLine key={rule.id} rule={rule} number={i + 1} nameOf={nameOf} />
                ))}
                <li className="flex items-center gap-3 py-2 text-muted">
                  <span className="w-6 text-right">{why.rules.length + 1}</span>
                  No rule matches: the default, {why.default_value ? 'on' : 'off'}
                  {why.rule_id === null && <Badge tone="accent">decided</Badge>}
                </li>
              </ol>
            </Card>
            <div className="mt-4">
              <Denials company={company} user={user} flag={flag} at={at} />
            </div>
            {overriding && feature && (
              <OverrideDialog
                company={{ id: company, name: why.company_name || company }}
                features={[
                  {
                    id: feature.id,
                    name: feature.name,
                    type: feature.feature_type,
                    now: shortReason(why.reason),
                  },
                ]}
                present={overrides.data?.find(one => one.feature_id === feature.id)}
                suggested={suggested}
                onClose={() => setOverriding(false)}
              />
            )}
          </>
        )
      }}
    </Loaded>
  )
}

/** `usage of api_call, current_month gte 1000` reads "usage of api_call in the month ≥ 1,000". */
const subjectWords = (text: string): string =>
  text
    .replace(/, current_(day|week|month)/g, ' in the $1')
    .replace(/, all_time/g, ' in all')
    .replace(/: a limit of/g, ' has a limit of')
    .replace(
      / (not )?(eq|ne|lte?|gte?|is_empty|not_empty)(?= |$)/g,
      (_, not: string | undefined, sign: string) => ` ${signs[not ? opposite[sign]! : sign]}`,
    )
    .replace(/\b\d{4,18}\b/g, grouped)

/** The operator that holds where another does not. */
const opposite: Readonly<Record<string, string>> = {
  eq: 'ne',
  ne: 'eq',
  lt: 'gte',
  gte: 'lt',
  gt: 'lte',
  lte: 'gt',
  is_empty: 'not_empty',
  not_empty: 'is_empty',
}

/** Kinds of rules in words. */
const ruleTypes: Readonly<Record<string, string>> = {
  company_override: 'override',
  company_override_usage_exceeded: 'override, used up',
  plan_entitlement: 'plan',
  plan_entitlement_usage_exceeded: 'plan, used up',
  global_override: 'for everybody',
  standard: 'rule',
}

function RuleLine({
  rule,
  number,
  nameOf,
}: {
  readonly rule: Schemas['ExplainedRule']
  readonly number: number
  readonly nameOf: (id: string) => string
}) {
  return (
    <li className={`flex gap-3 py-3 ${rule.decided ? '-mx-2 rounded-md bg-accent-soft px-2' : ''}`}>
      <span className="w-6 shrink-0 text-right text-muted">{number}</span>
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-center gap-2">
          <span className="font-medium">{rule.name}</span>
          <span className="text-xs text-muted">{ruleTypes[rule.rule_type] ?? words(rule.rule_type)}</span>
          <Badge tone={rule.value ? 'ok' : 'danger'}>{rule.value ? 'allows' : 'denies'}</Badge>
          {rule.decided && <Badge tone="accent">decided</Badge>}
          {!rule.decided && rule.matched && (
            <span className="text-xs text-muted">would match, but comes later</span>
          )}
        </div>
        <ul className="mt-1 space-y-0.5">
          {rule.conditions.map(one => (
            <ConditionLine key={one.id} condition={one} nameOf={nameOf} />
          ))}
          {rule.condition_groups.map((group, i) => (
            <li key={i}>
              <span className="text-xs text-muted">one of</span>
              <ul className="ml-3">
                {group.map(one => (
                  <ConditionLine key={one.id} condition={one} nameOf={nameOf} />
                ))}
              </ul>
            </li>
          ))}
          {rule.conditions.length === 0 && rule.condition_groups.length === 0 && (
            <li className="text-sm text-muted">always</li>
          )}
        </ul>
      </div>
    </li>
  )
}

/** A whole number with its thousands apart; other text as it is. */
const grouped = (text: string): string => (/^-?\d{1,18}$/.test(text) ? figure(BigInt(text)) : text)

function ConditionLine({
  condition,
  nameOf,
}: {
  readonly condition: Schemas['ExplainedCondition']
  readonly nameOf: (id: string) => string
}) {
  const ids = condition.resource_ids
  const expected =
    ids.length > 3
      ? `one of ${ids.length}`
      : ids.length > 0
        ? ids.map(nameOf).join(' or ')
        : condition.expected
  const saw = condition.saw === null ? 'nothing' : condition.saw.split(', ').map(nameOf).join(', ')
  return (
    <li className="flex flex-wrap items-center gap-x-2 text-sm">
      {condition.held ? (
        <Check size={15} className="text-ok" aria-label="holds" />
      ) : (
        <X size={15} className="text-danger" aria-label="does not hold" />
      )}
      <span>
        {subjectWords(condition.subject)}{' '}
        {condition.condition_type === 'credit'
          ? condition.operator === 'lt'
            ? 'cover'
            : 'do not cover'
          : signs[condition.operator]}{' '}
        {grouped(expected)}
      </span>
      <span className="text-muted">saw {grouped(saw)}</span>
    </li>
  )
}

const hourMs = 3_600_000

/** Denials of a company, user or flag one by one: around the instant that is asked about, else the latest. */
function Denials({
  company,
  user,
  flag,
  at,
}: {
  readonly company: string
  readonly user: string
  readonly flag: string
  readonly at: string
}) {
  const { environment } = useHere()
  const around = (ms: number) => new Date(Date.parse(at) + ms).toISOString()
  const { list: denied, more } = usePagesOf({
    key: [environment.id, 'denials', company, user, flag, at],
    load: (page, signal) =>
      api.page('/events', {
        signal,
        query: {
          value: false,
          ...(company && { company_id: company }),
          ...(user && { user_id: user }),
          ...(flag && { flag_key: flag }),
          ...(at && { start_time: around(-hourMs), end_time: around(hourMs) }),
          ...page,
        } as never,
      }),
  })
  return (
    <Card title={at === '' ? 'Denied lately' : 'Denied within an hour of it'}>
      <Loaded of={denied}>
        {rows =>
          rows.length === 0 ? (
            <Empty title="Nothing was denied">Checks are listed here within some ten seconds.</Empty>
          ) : (
            <Table label="Denied checks" head={['When', 'Company', 'Flag', 'Reason', '']}>
              {rows.map(row => (
                <Row key={row.id}>
                  <Cell className="whitespace-nowrap text-muted">{secondOf(row.captured_at)}</Cell>
                  <Cell>
                    <WhoseEvent event={row} />
                  </Cell>
                  <Cell>{row.subtype}</Cell>
                  <Cell className="text-muted">{shortReason(String(row.body.reason ?? ''))}</Cell>
                  <Cell>
                    <WhyOfCheck check={row} />
                  </Cell>
                </Row>
              ))}
            </Table>
          )
        }
      </Loaded>
      {more}
    </Card>
  )
}

/** Denials of a day, summed: each row leads to its denials one by one. */
function DeniedByFlag() {
  const { environment } = useHere()
  const denied = useQuery({
    queryKey: [environment.id, 'denied', 'by flag and company'],
    queryFn: () =>
      api.get('/denied-checks', { query: { by: ['flag', 'company', 'reason'], limit: 50 } as never }),
  })
  return (
    <Card title="Denied in the last 24 hours">
      <Loaded of={denied}>
        {rows =>
          rows.length === 0 ? (
            <Empty title="Nothing was denied">Checks are counted here within some ten seconds.</Empty>
          ) : (
            <Table label="Denied checks" head={['Company', 'Flag', 'Reason', 'Checks', '']}>
              {rows.map(row => (
                <Row key={`${row.company_id} ${row.flag_key} ${row.reason}`}>
                  <Cell>
                    {row.company_id ? (
                      <Go to={`/companies/${row.company_id}`}>{row.company_name ?? row.company_id}</Go>
                    ) : (
                      '–'
                    )}
                  </Cell>
                  <Cell>{row.flag_key}</Cell>
                  <Cell className="text-muted">{shortReason(row.reason)}</Cell>
                  <Cell className="tabular-nums">{figure(row.checks)}</Cell>
                  <Cell>
                    {row.company_id && (
                      <Go to="/why" search={{ company: row.company_id, flag: row.flag_key ?? undefined }}>
                        Why?
                      </Go>
                    )}
                  </Cell>
                </Row>
              ))}
            </Table>
          )
        }
      </Loaded>
    </Card>
  )
}
