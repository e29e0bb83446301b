// Changes that are taken back from the audit log: the inverse of an entry, where there is one.
import { type ReactNode, useState } from 'react'
import { api, Refused, type Schemas } from '../app/api.js'
import { figure, timeOf, words } from '../app/format.js'
import { useHere } from '../app/place.js'
import { type Act, useAct } from '../ui/act.js'
import { Button, Failure } from '../ui/basics.js'
import { draftsOf, restoreRules } from './flag-rules.js'
import { isWhole, keptAnswer, keptRequest, type Members } from './kept-answer.js'
import { overrideWords, valuesOf } from './override-dialog.js'

type Entry = Schemas['AuditLog']
type Override = Schemas['CompanyOverride']

/** The change that takes an entry back. `name`: the user types it in production. */
type Inverse = Omit<Act, 'verb' | 'typed'> & { readonly name: string }

/** A button that takes a change back; nothing for a change that has no inverse, or whose inverse is a deletion. */
export function TakeBack({ entry }: { readonly entry: Entry }) {
  const { environment, may, production } = useHere()
  const act = useAct()
  const [failure, setFailure] = useState<unknown>(null)
  const find = inverseOf(entry)
  if (find === null || !may.write) return null
  if (entry.environment && entry.environment.id !== environment.id)
    return (
      <p className="mt-3 text-sm text-muted">
        To take it back, choose {entry.environment.name}: it was changed there.
      </p>
    )
  const takeBack = async () => {
    setFailure(null)
    try {
      const { name, ...inverse } = await find()
      await act({ ...inverse, verb: 'Put back', ...(production && { typed: name }) })
    } catch (error) {
      setFailure(error)
    }
  }
  return (
    <div className="mt-3">
      <Button onClick={() => void takeBack()}>Take this change back</Button>
      {failure !== null && (
        <div className="mt-2">
          <Failure error={failure} />
        </div>
      )}
    </div>
  )
}

/** Members that are put back one by one, by the first part of their path: what their pages change. */
const members: Readonly<Record<string, readonly string[]>> = {
  features: ['name', 'description'],
  flags: ['name', 'description', 'key', 'default_value'],
  plans: ['name', 'description', 'icon'],
  webhooks: ['name', 'status', 'request_types'],
  'api-keys': ['name', 'description', 'disabled', 'expires_at'],
  'account-members': ['name', 'email', 'console_roles', 'disabled'],
}

/** The inverse of an entry, which asks for the present state first; null: there is none. */
function inverseOf(entry: Entry): (() => Promise<Inverse>) | null {
  if (entry.kind !== 'change' || entry.resp_code >= 300) return null
  const path = entry.url.replace(/\?.*$/, '').replace(/^.*\/console\/api(?=\/)/, '')
  const [thing = '', id = '', part] = path.split('/').slice(1)
  const kept = keptAnswer(entry.before)
  const before = kept?.data ?? null
  const isChange = entry.method === 'PUT' && id !== '' && part === undefined
  if (entry.method === 'PUT' && thing === 'flags' && part === 'rules')
    return before === null || kept?.isCut
      ? null
      : () => rulesBack(id, before as unknown as Pick<Flag, 'rules'>, entry)
  if (path === '/billing/credits/grants/company' && entry.method === 'POST') return () => grantBack(entry)
  if (thing === 'company-plans' && isChange) return () => plansBack(id, entry)
  if (thing === 'company-overrides' && part === undefined) {
    if (entry.method === 'POST' && id === '') return () => overrideEnds(entry)
    if (before === null || id === '' || !('expiration_date' in before)) return null
    const override = before as unknown as Override
    return entry.method === 'DELETE'
      ? () => overrideAgain(override)
      : isChange
        ? () => overrideBack(override)
        : null
  }
  const sent = keptRequest(entry.req_body) ?? {}
  const named = (members[thing] ?? []).filter(name => name in sent && before !== null && name in before)
  if (!isChange || before === null || named.length === 0) return null
  return () => membersBack(`/${thing}/${id}`, named, before, entry)
}

type Flag = Schemas['FlagDetail']

const later = 'It was changed again since: that change is put back, too.'

async function membersBack(
  path: string,
  named: readonly string[],
  before: Members,
  entry: Entry,
): Promise<Inverse> {
  const put = (body: Members) => api.put(path as never, { body } as never)
  const present = (await api.get(path as never).catch(goneOr)) as unknown as Members
  const [was, is] = [pick(before, named), pick(present, named)]
  requireWhole(was)
  const name = String(present.name ?? present.email ?? path)
  const differing = named.filter(one => JSON.stringify(was[one]) !== JSON.stringify(is[one]))
  if (differing.length === 0) throw new Error(`${name} is as it was already.`)
  const after = pick(keptAnswer(entry.resp_body)?.data ?? {}, named)
  return {
    name,
    title: `Put ${name} back`,
    differences: differing.map(one => ({ what: words(one), before: shown(is[one]), after: shown(was[one]) })),
    ...(JSON.stringify(after) !== JSON.stringify(is) && { note: later }),
    run: () => put(was),
    done: `${String(was.name ?? name)} is as it was`,
    undo: () => put(is),
  }
}

async function rulesBack(id: string, before: Pick<Flag, 'rules'>, entry: Entry): Promise<Inverse> {
  requireWhole(before.rules)
  const flag = await api.get('/flags/{flag_id}', { path: { flag_id: id } }).catch(goneOr)
  const [present, former] = [draftsOf(flag), draftsOf(before)]
  const after = draftsOf(
    (keptAnswer(entry.resp_body)?.data ?? { rules: [] }) as unknown as Pick<Flag, 'rules'>,
  )
  const isLast = present.map(one => one.id).join() === after.map(one => one.id).join()
  const names = (drafts: typeof former) =>
    drafts.map(({ rule }, i) => `${i + 1}. ${rule.name}`).join(', ') || 'none'
  return {
    name: flag.key,
    title: `Put the rules of ${flag.name} back`,
    differences: [{ what: 'Rules', before: names(present), after: names(former) }],
    note: isLast ? 'The next check follows them.' : later,
    run: () => restoreRules(id, former),
    done: `The rules of ${flag.name} are as they were`,
    undo: () => restoreRules(id, present),
  }
}

const makeOverride = (one: Override) =>
  api.post('/company-overrides', {
    body: { company_id: one.company_id, feature_id: one.feature_id, ...valuesOf(one) } as never,
  })
const putOverride = (one: Override) =>
  api.put('/company-overrides/{company_override_id}', {
    path: { company_override_id: one.id },
    body: valuesOf(one) as never,
  })
const endOverride = (id: string) =>
  api.del('/company-overrides/{company_override_id}', { path: { company_override_id: id } })

/** Title, names and differences of an override that would be another. */
async function overridden(one: Override, before: ReactNode, after: ReactNode) {
  const [company, feature] = await Promise.all([
    api.get('/companies/{company_id}', { path: { company_id: one.company_id } }).catch(goneOr),
    api.get('/features/{feature_id}', { path: { feature_id: one.feature_id } }).catch(goneOr),
  ])
  const name = company.name || company.id
  return {
    name,
    title: `Put ${feature.name} of ${name} back`,
    differences: [{ what: feature.name, before, after }],
    done: `${feature.name} of ${name} is as it was`,
  }
}

const overrideOf = (id: string) =>
  api.get('/company-overrides/{company_override_id}', { path: { company_override_id: id } }).catch(goneOr)

const planned = 'as its plan says'
const untilWords = (one: Override): string =>
  one.expiration_date ? `${overrideWords(one)} until ${timeOf(one.expiration_date)}` : overrideWords(one)

async function overrideBack(before: Override): Promise<Inverse> {
  requireWhole(valuesOf(before))
  const present = await overrideOf(before.id)
  return {
    ...(await overridden(before, untilWords(present), untilWords(before))),
    run: () => putOverride(before),
    undo: () => putOverride(present),
  }
}

async function overrideEnds(entry: Entry): Promise<Inverse> {
  const present = await overrideOf(entry.resource_id_string ?? '')
  return {
    ...(await overridden(present, untilWords(present), planned)),
    run: () => endOverride(present.id),
    undo: () => makeOverride(present),
  }
}

async function overrideAgain(before: Override): Promise<Inverse> {
  requireWhole(valuesOf(before))
  let made = ''
  return {
    ...(await overridden(before, planned, untilWords(before))),
    run: async () => {
      made = (await makeOverride(before)).id
    },
    undo: () => endOverride(made),
  }
}

/** The most time between a recorded change of plans and its entry in the audit log, ms. */
const besideMs = 1_000

async function plansBack(id: string, entry: Entry): Promise<Inverse> {
  const [company, changes] = await Promise.all([
    api.get('/companies/{company_id}', { path: { company_id: id } }).catch(goneOr),
    api.get('/plan-changes', { query: { company_id: id, action: 'manage_plan', limit: 250 } }),
  ])
  const distanceOf = (change: Schemas['PlanChange']) =>
    Math.abs(Date.parse(change.created_at) - Date.parse(entry.started_at))
  const [change] = changes
    .filter(one => distanceOf(one) <= besideMs)
    .sort((a, b) => distanceOf(a) - distanceOf(b))
  if (change === undefined)
    throw new Error('It changed no plan, or the plans before it are not known any more.')
  const name = company.name || id
  const put = (base_plan_id: string | null, add_on_ids: readonly string[]) =>
    api.put('/company-plans/{company_id}', {
      path: { company_id: id },
      body: { base_plan_id, add_on_ids } as never,
    })
  const held = company.add_ons.map(one => one.id)
  const [added, removed] = [change.add_ons_added, change.add_ons_removed]
  const former = [
    ...held.filter(one => !added.some(({ id: other }) => other === one)),
    ...removed.flatMap(one => (held.includes(one.id) ? [] : [one.id])),
  ]
  const namesOf = (list: readonly { readonly name: string }[]) =>
    list.map(one => one.name).join(', ') || 'none'
  return {
    name,
    title: `Put the plan of ${name} back`,
    differences: [
      {
        what: 'Plan',
        before: company.plan?.name ?? 'none',
        after: change.previous_base_plan?.name ?? 'none',
      },
      ...(added.length + removed.length === 0
        ? []
        : [{ what: 'Add-ons', before: namesOf(added), after: namesOf(removed) }]),
    ],
    note: `${
      company.plan?.id === change.base_plan?.id ? '' : `${later} `
    }It takes effect at once. Credits of the present plan end, and credits of the former plan begin.`,
    run: () => put(change.previous_base_plan?.id ?? null, former),
    done: `The plan of ${name} is as it was`,
    undo: () => put(company.plan?.id ?? null, held),
  }
}

async function grantBack(entry: Entry): Promise<Inverse> {
  const grants = await api.get('/billing/credits/grants/list', {
    query: { ids: [entry.resource_id_string ?? ''] } as never,
  })
  const grant = grants[0] ?? gone()
  if (Number(grant.quantity_remaining) === 0) throw new Error('Nothing is left of these credits.')
  return {
    name: grant.company_name,
    title: `Take credits of ${grant.company_name} back`,
    differences: [{ what: grant.credit_name, before: figure(grant.quantity_remaining), after: 'none left' }],
    note: 'What was used stays used.',
    run: () =>
      api.put('/billing/credits/grants/{grant_id}/zero-out', {
        path: { grant_id: grant.id },
        body: { reason: 'manual' } as never,
      }),
    done: `The credits of ${grant.company_name} are taken back`,
  }
}

function gone(): never {
  throw new Error('It is not there any more.')
}

/** For `catch`: what is not found is gone. */
function goneOr(error: unknown): never {
  if (error instanceof Refused && error.status === 404) gone()
  throw error
}

/** errors  an Error for the person to read, for a value that the log does not know in whole. */
function requireWhole(value: unknown): void {
  if (!isWhole(value))
    throw new Error('What was there before is not kept in whole: it was long, or looks like a secret.')
}

const pick = (from: Members, names: readonly string[]): Members =>
  Object.fromEntries(names.map(name => [name, from[name] ?? null]))

/** A value for a person: `yes`, `a, b`, `none`. */
function shown(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (value === null || value === '') return 'none'
  if (Array.isArray(value)) return value.join(', ')
  return typeof value === 'object' ? shown(Object.values(value)) : String(value)
}
