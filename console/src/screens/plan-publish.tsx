// The dialog that publishes a draft: it shows the changes of the draft and the companies that they reach, and asks how
// these companies move to the new version.
import { useQuery } from '@tanstack/react-query'
import { Fragment, useState } from 'react'
import { api, type Schemas } from '../app/api.js'
import { count, figure, money, timeOf, words } from '../app/format.js'
import { Go, useHere } from '../app/place.js'
import { useAct } from '../ui/act.js'
import { Badge, Button, Failure, type Tone } from '../ui/basics.js'
import { FormDialog } from '../ui/form.js'
import { useCompanyNames } from './company-names.js'
import { type Diff, memberWords, plainly } from './plan-words.js'

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
  const noneMoves = totals !== undefined && totals.companies > 0 && totals.would_move === 0
  return (
    <FormDialog
      title={`Publish v${draft.version} of ${diff.plan_name}`}
      onClose={onClose}
      fields={[
        {
          name: 'strategy',
          label: 'Companies on an older version',
          kind: 'choice',
          options: strategies,
          initial: diff.published_version === null || noneMoves ? 'leave' : 'immediate',
          hint: `${count(diff.company_count, 'company is', 'companies are')} on this plan.${noneMoves ? ' None of them can be moved.' : ''}`,
        },
      ]}
      note={
        <>
          {preview.isLoading && (
            <p className="mb-3 text-sm text-muted" role="status">
              Looking at the companies that a move would reach
            </p>
          )}
          {preview.data && <Felt preview={preview.data} />}
          {preview.error ? <Failure error={preview.error} retry={() => preview.refetch()} /> : null}
        </>
      }
      act={({ strategy }) => ({
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
          { what: 'Companies', before: null, after: strategies.find(([id]) => id === strategy)![1] },
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
/** A link between words. It is underlined, because a colour alone does not distinguish it. */
const inText = 'text-accent underline'

/** Companies that the dialog names. */
const namedCompanies = 3
/** Companies whose names are asked for. */
const namedMax = 100

/** The companies that would feel a move, in sum, with the first of each kind. */
function Felt({
  preview: { companies, totals },
}: {
  readonly preview: Schemas['PlanVersionMigrationPreview']
}) {
  type Company = (typeof companies)[number]
  const names = useCompanyNames(companies.slice(0, namedMax).map(one => one.company_id))
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
  return (
    <div className="mb-3 rounded-md border border-line px-3 py-2">
      <p className="text-sm text-muted">
        {totals.truncated ? 'Of the first ' : 'Of '}
        {count(totals.companies, 'company', 'companies')} that a move would reach:
      </p>
      <ul className="mt-1 space-y-1 text-sm">
        {rows.map(({ number, what, tone, isOf, why: whyOf }) => (
          <li key={what}>
            <Badge tone={number > 0 ? tone : 'plain'}>{figure(number)}</Badge> {what}
            {number > 0 &&
              tone !== 'plain' &&
              alike(companies.filter(isOf).slice(0, namedCompanies), whyOf).map(([why, same]) => (
                <span key={why} className="block pl-4 text-xs">
                  {same.map((one, i) => (
                    <Fragment key={one.company_id}>
                      {i > 0 && ', '}
                      <Go to={`/companies/${one.company_id}`} className={inText}>
                        {names.size === 0 ? '…' : names.get(one.company_id) || one.company_id}
                      </Go>
                    </Fragment>
                  ))}{' '}
                  <span className="text-muted">{why}</span>
                </span>
              ))}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Failures whose words in the preview name an operation for programs: people use a page. */
const failureWords: Readonly<Partial<Record<string, string>>> = {
  not_paid:
    'The version costs something, and no subscription bills the company for the plan; “Change plan” on its page can move it',
}

/** Rows with the same words together, in order. */
function alike<T>(rows: readonly T[], wordsOf: (row: T) => string): (readonly [words: string, rows: T[]])[] {
  const groups = new Map<string, T[]>()
  for (const row of rows) groups.set(wordsOf(row), [...(groups.get(wordsOf(row)) ?? []), row])
  return [...groups]
}

type Migration = Schemas['PlanVersionMigration']

const strategyWords: Readonly<Record<Migration['strategy'], string>> = {
  leave: 'Left on their version',
  immediate: 'Moved at once',
  end_of_billing_period: 'Moved at the end of their period',
  scheduled: 'Moved at a set time',
}

const statusWords: Readonly<Partial<Record<Migration['status'], string>>> = {
  cancelled: 'stopped',
  completed: 'done',
  in_progress: 'running',
  pending: 'waiting',
}

/** Moves of companies to a version, how far they are, and what may be done about them. */
export function Migrations({ versionId }: { readonly versionId: string }) {
  const { environment } = useHere()
  const migrations = useQuery({
    queryKey: [environment.id, 'migrations', versionId],
    queryFn: () =>
      api.get('/plan-version-migrations', { query: { plan_version_id: versionId, limit: 5 } as never }),
    refetchInterval: 5_000,
  })
  const own = migrations.data ?? []
  if (own.length === 0) return null
  return (
    <>
      <h3 className="mt-4 mb-1 font-semibold">Moving companies</h3>
      <ul className="divide-y divide-line">
        {own.map(one => (
          <Moving key={one.id} migration={one} />
        ))}
      </ul>
    </>
  )
}

function Moving({ migration: one }: { readonly migration: Migration }) {
  const { may, production } = useHere()
  const act = useAct()
  const { total_companies: all, completed_companies: done, failed_companies: failed } = one
  const isPaused = one.paused_at !== null
  const runs = one.status === 'pending' || one.status === 'in_progress' || isPaused
  const left = all - done - failed - one.skipped_companies
  const path = { plan_version_migration_id: one.id }
  const ask = (title: string, verb: string, what: string, run: () => Promise<unknown>) =>
    void act({
      title,
      verb,
      danger: verb === 'Stop',
      differences: [
        {
          what: count(verb === 'Try again' ? failed : left, 'company', 'companies'),
          before: null,
          after: what,
        },
      ],
      ...(production && { typed: verb }),
      run,
      done: title,
    })
  return (
    <li className="py-2">
      <div className="flex flex-wrap justify-between gap-x-3">
        <span>
          {strategyWords[one.strategy]}{' '}
          <span className="text-xs text-muted">since {timeOf(one.created_at)}</span>
        </span>
        <Badge tone={one.status === 'failed' ? 'danger' : one.status === 'completed' ? 'ok' : 'plain'}>
          {isPaused ? 'paused' : (statusWords[one.status] ?? words(one.status))}
        </Badge>
      </div>
      {all > 0 && (
        <progress
          className="mt-1 block h-2 w-full accent-accent"
          aria-label="Companies moved"
          max={all}
          value={done + one.skipped_companies}
        />
      )}
      <p className="mt-1 text-xs text-muted">
        {figure(done)} of {count(all, 'company', 'companies')} moved
        {one.skipped_companies > 0 && `, ${figure(one.skipped_companies)} skipped`}
        {failed > 0 && `, ${figure(failed)} failed`}
        {runs && one.next_due_at && `; the next on ${timeOf(one.next_due_at)}`}
      </p>
      {one.error && <p className="text-xs text-danger">{one.error}</p>}
      {failed > 0 && <FailedMoves migrationId={one.id} />}
      {may.write && (
        <p className="mt-1 flex gap-2">
          {runs && (
            <Button
              look="quiet"
              onClick={() =>
                isPaused
                  ? ask('Go on moving companies', 'Go on', 'moved as before', () =>
                      api.post('/plan-version-migrations/{plan_version_migration_id}/resume', { path }),
                    )
                  : ask('Pause moving companies', 'Pause', 'wait until it goes on', () =>
                      api.post('/plan-version-migrations/{plan_version_migration_id}/pause', { path }),
                    )
              }
            >
              {isPaused ? 'Go on' : 'Pause'}
            </Button>
          )}
          {runs && one.strategy !== 'immediate' && (
            <Button
              look="quiet"
              onClick={() =>
                ask('Move the rest now', 'Move now', 'moved at once', () =>
                  api.post('/plan-version-migrations/{plan_version_migration_id}/complete-now', {
                    path,
                    body: {},
                  }),
                )
              }
            >
              Move now
            </Button>
          )}
          {runs && (
            <Button
              look="quiet"
              onClick={() =>
                ask('Stop moving companies', 'Stop', 'stay on their version', () =>
                  api.post('/plan-version-migrations/{plan_version_migration_id}/cancel', { path }),
                )
              }
            >
              Stop
            </Button>
          )}
          {failed > 0 && (
            <Button
              look="quiet"
              onClick={() =>
                ask('Try failed companies again', 'Try again', 'tried again', () =>
                  api.post('/plan-version-migrations/{plan_version_migration_id}/retry', { path, body: {} }),
                )
              }
            >
              Try again
            </Button>
          )}
        </p>
      )}
    </li>
  )
}

function FailedMoves({ migrationId }: { readonly migrationId: string }) {
  const { environment } = useHere()
  const failed = useQuery({
    queryKey: [environment.id, 'migrations', migrationId, 'failed'],
    queryFn: () =>
      api.get('/plan-version-company-migrations', {
        query: { migration_id: migrationId, status: 'failed', limit: 10 } as never,
      }),
  })
  return (
    <ul className="mt-1 space-y-0.5 text-xs">
      {alike(failed.data ?? [], one => one.error ?? words(one.error_code)).map(([why, same]) => (
        <li key={why}>
          {same.map((one, i) => (
            <Fragment key={one.id}>
              {i > 0 && ', '}
              <Go to={`/companies/${one.company_id}`} className={inText}>
                {one.company_name || one.company_id}
              </Go>
            </Fragment>
          ))}
          : <span className="text-muted">{why}</span>
        </li>
      ))}
    </ul>
  )
}
