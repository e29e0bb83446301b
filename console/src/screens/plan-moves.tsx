// Moves of companies to a version of a plan: how far they are, what failed, and what may be done about them.
import { useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'
import { api, type Schemas } from '../app/api.js'
import { count, figure, timeOf, words } from '../app/format.js'
import { Go, useHere } from '../app/place.js'
import { type Act, useAct } from '../ui/act.js'
import { Badge, Button } from '../ui/basics.js'
import { alike, inText } from './plan-words.js'

type Migration = Schemas['PlanVersionMigration']

const strategyWords: Readonly<Record<Migration['strategy'], string>> = {
  leave: 'Left on their version',
  immediate: 'At once',
  end_of_billing_period: 'At the end of their period',
  scheduled: 'At a set time',
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
  const planId = own[0]?.plan_id
  // A migration is taken back by a move.
  const moves = useQuery({
    queryKey: [environment.id, 'plan-moves', planId],
    enabled: planId !== undefined,
    queryFn: () => api.get('/plan-moves', { query: { plan_id: planId!, limit: 50 } }),
    refetchInterval: 5_000,
  })
  if (own.length === 0) return null
  return (
    <>
      <h3 className="mt-4 mb-1 font-semibold">Moving companies</h3>
      <ul className="divide-y divide-line">
        {own.map(one => (
          <Moving
            key={one.id}
            migration={one}
            back={moves.data?.find(({ reverts_id }) => reverts_id === one.id)}
          />
        ))}
      </ul>
    </>
  )
}

function Moving({
  migration: one,
  back,
}: {
  readonly migration: Migration
  /** The move that takes it back. */
  readonly back: Schemas['PlanMove'] | undefined
}) {
  const { may, production } = useHere()
  const act = useAct()
  const { total_companies: all, completed_companies: done, failed_companies: failed } = one
  const isPaused = one.paused_at !== null
  const runs = one.status === 'pending' || one.status === 'in_progress' || isPaused
  const left = all - done - failed - one.skipped_companies
  const path = { plan_version_migration_id: one.id }
  const pause = () => api.post('/plan-version-migrations/{plan_version_migration_id}/pause', { path })
  const resume = () => api.post('/plan-version-migrations/{plan_version_migration_id}/resume', { path })
  const ask = ({
    of,
    what,
    ...rest
  }: Pick<Act, 'title' | 'verb' | 'danger' | 'run' | 'done' | 'undo'> & {
    /** Number of companies that it is about, and what becomes of them. */
    readonly of: number
    readonly what: string
  }) =>
    void act({
      ...rest,
      differences: [{ what: count(of, 'company', 'companies'), before: null, after: what }],
      ...(production && { typed: rest.verb }),
    })
  return (
    <li className="py-2">
      <div className="flex items-start justify-between gap-x-3">
        <span>
          {strategyWords[one.strategy]}{' '}
          <span className="text-xs text-muted">since {timeOf(one.created_at)}</span>
        </span>
        <Badge
          className="shrink-0"
          tone={one.status === 'failed' ? 'danger' : one.status === 'completed' ? 'ok' : 'plain'}
        >
          {isPaused ? 'paused' : (statusWords[one.status] ?? words(one.status))}
        </Badge>
      </div>
      {all > 0 && (
        <progress
          className="mt-1 block h-2 w-full overflow-hidden rounded bg-raised [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-raised [&::-webkit-progress-value]:bg-accent"
          aria-label="Companies moved"
          max={all}
          value={done + one.skipped_companies}
        />
      )}
      <p className="mt-1 text-xs text-muted">
        {figure(done)} of {count(all, 'company', 'companies')} moved
        {one.skipped_companies > 0 && `, ${figure(one.skipped_companies)} skipped`}
        {failed > 0 && `, ${figure(failed)} failed`}
        {runs && !isPaused && one.next_due_at && `; the next on ${timeOf(one.next_due_at)}`}
        {isPaused && `; ${figure(left)} wait until it goes on`}
        {one.status === 'cancelled' && left > 0 && `; ${figure(left)} stay on their version`}
      </p>
      {back && (
        <p className="text-xs text-muted">
          Taken back since {timeOf(back.created_at)}: {figure(back.completed_companies)} of{' '}
          {count(back.total_companies, 'company', 'companies')}
          {back.failed_companies > 0 && `, ${figure(back.failed_companies)} failed`}
          {back.skipped_companies > 0 && `, ${figure(back.skipped_companies)} stay as they are`}
        </p>
      )}
      {one.error && <p className="text-xs text-danger">{one.error}</p>}
      {failed > 0 && <FailedMoves migrationId={one.id} />}
      {may.write && (
        <p className="mt-1 -ml-1 flex flex-wrap gap-x-2">
          {runs && (
            <Button
              look="quiet"
              onClick={() =>
                ask(
                  isPaused
                    ? {
                        title: 'Go on moving companies',
                        verb: 'Go on',
                        of: left,
                        what: 'moved as before',
                        run: resume,
                        done: 'Moving goes on',
                        undo: pause,
                      }
                    : {
                        title: 'Pause moving companies',
                        verb: 'Pause',
                        of: left,
                        what: 'wait until it goes on',
                        run: pause,
                        done: 'Moving is paused',
                        undo: resume,
                      },
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
                ask({
                  title: 'Move the rest now',
                  verb: 'Move now',
                  of: left,
                  what: 'moved at once',
                  run: () =>
                    api.post('/plan-version-migrations/{plan_version_migration_id}/complete-now', {
                      path,
                      body: {},
                    }),
                  done: 'The rest is moved now',
                })
              }
            >
              Move now
            </Button>
          )}
          {runs && (
            <Button
              look="quiet"
              onClick={() =>
                ask({
                  title: 'Stop moving companies',
                  verb: 'Stop',
                  danger: true,
                  of: left,
                  what: 'stay on their version',
                  run: () =>
                    api.post('/plan-version-migrations/{plan_version_migration_id}/cancel', { path }),
                  done: 'Moving has stopped',
                })
              }
            >
              Stop
            </Button>
          )}
          {done > 0 && back === undefined && (
            <Button
              look="quiet"
              onClick={() =>
                ask({
                  title: 'Take this move back',
                  verb: 'Take back',
                  danger: true,
                  of: done,
                  what: 'get their former version and price again',
                  run: () =>
                    api.post('/plan-version-migrations/{plan_version_migration_id}/revert', { path }),
                  done: 'The move is taken back',
                })
              }
            >
              Take back
            </Button>
          )}
          {failed > 0 && (
            <Button
              look="quiet"
              onClick={() =>
                ask({
                  title: 'Try failed companies again',
                  verb: 'Try again',
                  of: failed,
                  what: 'tried again',
                  run: () =>
                    api.post('/plan-version-migrations/{plan_version_migration_id}/retry', {
                      path,
                      body: {},
                    }),
                  done: 'They are tried again',
                })
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
