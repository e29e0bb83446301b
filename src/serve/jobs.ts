// The schedule of a running service: changes that are due by time, last-seen times, counts of cached checks.
import type { Services } from '../api/kit/services.js'
import type { CheckCounts } from '../core/company/message.js'
import { finishPlanWrites } from '../jobs/finish-plan-writes.js'
import { finishPublishes } from '../jobs/finish-publishes.js'
import { tellExpired } from '../jobs/override-expiry.js'
import { Schedule } from '../jobs/schedule.js'
import { settleDue } from '../jobs/settle-due.js'
import { tellTrialEnds } from '../jobs/trial-ends.js'
import type { Opened } from '../opened.js'

/** Interval of the search for companies, trials and overrides that are due by time. */
const dueMs = 2_000
const flushMs = 1_000

/**
 * Start the jobs of the HTTP thread. `opened` stops them and writes everything they gathered.
 *
 * isHere          whether this node runs the jobs that run once in a cluster.
 * noteChecks      takes counts of checks that were answered from the response cache.
 * environmentIds  environments of all accounts.
 */
export function startJobs(
  services: Services,
  opened: Opened,
  {
    isHere,
    noteChecks,
    environmentIds,
  }: {
    readonly isHere: () => boolean
    readonly noteChecks: (counts: CheckCounts) => void
    readonly environmentIds: () => readonly string[]
  },
): void {
  const { answers, checkedFlags, clock, log, shards, sql, userSeen } = services
  const schedule = new Schedule(log)
  const flushUsers = () => userSeen.flush(shards, id => clock.now(id))
  const flushFlags = () => checkedFlags.flush(sql)
  // Reported in parts, so that requests are served in between.
  const reportSome = (): void => {
    const counts = answers.takeCounts()
    if (counts === null) return
    noteChecks(counts)
    setImmediate(reportSome)
  }
  schedule.every(flushMs, 'counts of cached checks are not reported', () => {
    answers.tick()
    reportSome()
  })
  schedule.every(flushMs, 'last-seen times of users are not written', flushUsers)
  schedule.every(flushMs, 'last-checked times of flags are not written', flushFlags)
  const jobs = [
    () => settleDue(services, environmentIds()),
    finishPlanWrites,
    finishPublishes,
    tellTrialEnds,
    tellExpired,
  ]
  schedule.every(dueMs, 'changes due by time wait for a store', async () => {
    if (!isHere()) return
    for (const job of jobs)
      await job(services).catch(error => log.warn({ err: error }, 'changes due by time wait for a store'))
  })
  opened.add(async () => {
    await schedule.stop()
    for (let counts = answers.takeCounts(); counts !== null; counts = answers.takeCounts()) noteChecks(counts)
    await Promise.all([flushUsers(), flushFlags()])
  })
}
