// The dialog that publishes a draft: it shows the changes of the draft and the companies that they reach, and asks how
// these companies move to the new version.
import { useQuery } from '@tanstack/react-query'
import { Fragment, useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { count, figure, money } from '../app/format.js'
import { Go, useHere } from '../app/place.js'
import { Badge, Button, Failure, type Tone } from '../ui/basics.js'
import { FormDialog } from '../ui/form.js'
import { useCompanyNames } from './company-names.js'
import { alike, type Diff, inText, memberWords, plainly } from './plan-words.js'

const strategies = [
  ['leave', 'Leave companies on their version'],
  ['immediate', 'Move companies now'],
  ['end_of_billing_period', 'Move each at the end of its period'],
] as const

export function Publish({ diff: given, onClose }: { readonly diff: Diff; readonly onClose: () => void }) {
  // as it was when the dialog was opened: there is no draft any more once it is published
  const [diff] = useState(given)
  const { environment, production } = useHere()
  const draft = diff.draft_version!
  const preview = useQuery({
    queryKey: [environment.id, 'plan', diff.plan_id, 'preview', draft.id],
    enabled: diff.published_version !== null,
    queryFn: () =>
      api.post('/plan-version-migrations/preview', {
        body: {
          plan_id: diff.plan_id,
          plan_version_id_to: draft.id,
          target_plan_type: diff.plan_type,
        } as never,
      }),
    retry: false,
  })
  const totals = preview.data?.totals
  const isOnPlan = diff.company_count > 0
  const noneMoves = totals !== undefined && totals.companies > 0 && totals.would_move === 0
  return (
    <FormDialog
      title={`Publish v${draft.version} of ${diff.plan_name}`}
      onClose={onClose}
      fields={
        isOnPlan
          ? [
              {
                name: 'strategy',
                label: 'Companies on an older version',
                kind: 'choice',
                options: strategies,
                initial: diff.published_version === null || noneMoves ? 'leave' : 'immediate',
                hint: `${count(diff.company_count, 'company is', 'companies are')} on this plan.${noneMoves ? ' None of them can be moved.' : ''}`,
              },
            ]
          : []
      }
      note={
        <>
          {!isOnPlan && (
            <p className="mb-3 text-sm text-muted">
              No company is on it yet. Companies can be put on it as soon as it is published.
            </p>
          )}
          {preview.isLoading && (
            <p className="mb-3 text-sm text-muted" role="status">
              Looking at the companies that a move would reach
            </p>
          )}
          {preview.data && <Felt preview={preview.data} />}
          {preview.error ? <Failure error={preview.error} retry={() => preview.refetch()} /> : null}
        </>
      }
      act={({ strategy = 'leave' }) => ({
        title: `Publish v${draft.version} of ${diff.plan_name}`,
        verb: 'Publish',
        differences: [
          {
            what: 'In force',
            before: diff.published_version ? `v${diff.published_version.version}` : 'nothing',
            after: `v${draft.version}`,
          },
          ...diff.changes.slice(0, shownChanges).map(change => ({
            what: change.member ? `${change.name}: ${memberWords(change.member)}` : change.name,
            before: change.before === null ? null : plainly(change.before, change.member),
            after: change.after === null ? 'removed' : plainly(change.after, change.member),
          })),
          ...(diff.changes.length > shownChanges
            ? [{ what: 'And', before: null, after: `${diff.changes.length - shownChanges} more changes` }]
            : []),
          ...(isOnPlan
            ? [{ what: 'Companies', before: null, after: strategies.find(([id]) => id === strategy)![1] }]
            : []),
        ],
        ...(production && { typed: diff.plan_name }),
        run: () =>
          api.put('/plans/version/{plan_version_id}/publish', {
            path: { plan_version_id: draft.id },
            body: { excluded_company_ids: [], migration_strategy: strategy as 'leave' } as never,
          }),
        done: `v${draft.version} of ${diff.plan_name} is published`,
      })}
    />
  )
}

/** Changes that the dialog lists one by one. */
const shownChanges = 20

/** Companies of each kind that the dialog names at first. */
const namedCompanies = 3
/** Companies that it names where all are asked for. */
const namedMax = 100

/** The companies that would feel a move, in sum, with the first of each kind. */
function Felt({
  preview: { companies, totals },
}: {
  readonly preview: Schemas['PlanVersionMigrationPreview']
}) {
  type Company = (typeof companies)[number]
  /** The kind of which all companies are named. */
  const [listed, setListed] = useState<string | null>(null)
  const rows: readonly {
    readonly number: number
    readonly what: string
    readonly tone: Tone
    readonly isOf: (one: Company) => boolean
    readonly why: (one: Company) => string
  }[] = [
    {
      number: totals.would_fail,
      what: 'cannot be moved',
      tone: 'danger',
      isOf: one => one.would_fail,
      why: one => (one.failure_reason && failureWords[one.failure_reason]) ?? one.note ?? '',
    },
    {
      number: totals.exceeding,
      what: 'exceed a limit at once',
      tone: 'danger',
      isOf: one => one.exceeded_limits.length > 0,
      why: one =>
        one.exceeded_limits
          .map(({ feature_name: name, usage, limit }) => `used ${figure(usage)} of ${figure(limit)} ${name}`)
          .join(', '),
    },
    {
      number: totals.losing,
      what: 'lose a feature or get less of it',
      tone: 'warn',
      isOf: one => one.losses.length > 0,
      why: one => one.losses.map(({ feature_name: name }) => name).join(', '),
    },
    {
      number: totals.price_changing,
      what: 'pay something else',
      tone: 'warn',
      isOf: one => one.prices.length > 0,
      why: one =>
        one.prices
          .map(({ currency, before, after }) => `${money(before, currency)} → ${money(after, currency)}`)
          .join(', '),
    },
    {
      number: totals.gaining,
      what: 'gain a feature or get more of it',
      tone: 'plain',
      isOf: one => one.gains.length > 0,
      why: () => '',
    },
  ]
  const namedOf = ({ what, tone, isOf }: (typeof rows)[number]) =>
    tone === 'plain' ? [] : companies.filter(isOf).slice(0, listed === what ? namedMax : namedCompanies)
  const names = useCompanyNames(rows.flatMap(row => namedOf(row).map(one => one.company_id)))
  return (
    <div className="mb-3 rounded-md border border-line px-3 py-2">
      <p className="text-sm text-muted">
        {totals.truncated ? 'Of the first ' : 'Of '}
        {count(totals.companies, 'company', 'companies')} that a move would reach:
      </p>
      <ul className="mt-1 space-y-1 text-sm">
        {rows.map(row => {
          const { number, what, tone, why } = row
          return (
            <li key={what}>
              <Badge tone={number > 0 ? tone : 'plain'}>{figure(number)}</Badge> {what}{' '}
              {number > namedCompanies && tone !== 'plain' && (
                <Button
                  look="quiet"
                  aria-expanded={listed === what}
                  aria-label={`${listed === what ? 'Fewer' : 'List'}: companies that ${what}`}
                  onClick={() => setListed(was => (was === what ? null : what))}
                >
                  {listed === what ? 'Fewer' : 'List'}
                </Button>
              )}
              {alike(namedOf(row), why).map(([reason, same]) => (
                <span key={reason} className="block pl-4 text-xs">
                  {same.map((one, i) => (
                    <Fragment key={one.company_id}>
                      {i > 0 && ', '}
                      <Go to={`/companies/${one.company_id}`} className={inText}>
                        {names.size === 0 ? '…' : names.get(one.company_id) || one.company_id}
                      </Go>
                    </Fragment>
                  ))}{' '}
                  <span className="text-muted">{reason}</span>
                </span>
              ))}
            </li>
          )
        })}
      </ul>
    </div>
  )
}

/** Failures whose words in the preview name an operation for programs: people use a page. */
const failureWords: Readonly<Partial<Record<string, string>>> = {
  not_paid:
    'The version costs something, and no subscription bills the company for the plan; “Change plan” on its page can move it',
}
