// The schedule of a running service: everything that it does at an interval.

import { join } from 'node:path'
import type { Cluster } from '../cluster/open.js'
import { finishErasures } from '../control/erasure/erase.js'
import { StoreFiles } from '../control/erasure/files.js'
import { applyLinks } from '../control/jobs/apply-links.js'
import { closeBilling, watchThresholds } from '../control/jobs/close-billing.js'
import { finishPlanWrites } from '../control/jobs/finish-plan-writes.js'
import { finishPublishes } from '../control/jobs/finish-publishes.js'
import { pruneHistory } from '../control/jobs/prune-history.js'
import { Schedule } from '../control/jobs/schedule.js'
import { settleDue } from '../control/jobs/settle-due.js'
import { tellExpired } from '../control/jobs/tell-override-ends.js'
import { tellTrialEnds } from '../control/jobs/tell-trial-ends.js'
import { segmentsPerTurn } from '../entities/idempotency/dedupe.js'
import type { KeyArchive } from '../entities/idempotency/key-archive.js'
import { aliveMs } from '../entities/idempotency/paid-writes.js'
import { collectWhenIdle } from '../host/idle-gc.js'
import type { ResponseCache } from '../kept/response-cache.js'
import type { Services } from '../kit/services.js'
import { report, reportNode } from './gauges.js'
import type { Memory } from './memory.js'
import type { Opening } from './opening.js'

/** Interval of the search for companies, trials and overrides that are due by time. */
const dueMs = 2_000
/** How often what time alone brings is written down; readers see it to the millisecond without (CR-76). */
const endedMs = 10_000
const flushMs = 1_000
const sweepMs = 1_000
const gaugesMs = 2_000
/** How often it is looked whether files of the stores hold what was erased. */
const filesMs = 60_000
/** How often keys of holds that are over for a day are removed from Postgres. */
const pruneMs = 3_600_000
/** How often former definitions, keys and traits are removed. */
const pruneHistoryMs = 86_400_000
/** How often some of the keys in Redis are looked at: all of them in six hours (src/redis/sweep.ts). */
const sweepKeysMs = 10_000
/** How often it is looked whether keys can leave Redis. */
const sealMs = (redisKeysMs: number): number => Math.min(10_000, redisKeysMs / 4)

/** The parts of a running service that tasks use. */
interface Running {
  readonly services: Services
  readonly memory: Memory
  readonly oldKeys: KeyArchive
  readonly cluster: Cluster | null
  /** Whether this node does what is done once in a cluster. */
  isHere(): boolean
}

/** Start the tasks of the HTTP thread. `opened` stops them and writes everything they gathered. */
export function startTasks(
  { config, opened, later }: Opening,
  services: Services,
  answers: ResponseCache,
  memory: Memory,
  oldKeys: KeyArchive,
  cluster: Cluster | null,
): void {
  const { redisKeysMs, idleCollections, databaseUrl, clickhouseUrl, dataDir } = config
  const isHere = () => cluster === null || cluster.node.isFirst
  const running: Running = { services, memory, oldKeys, cluster, isHere }
  const schedule = new Schedule(services.log)
  scheduleKeys(schedule, running, redisKeysMs)
  scheduleDue(schedule, running)
  if (cluster === null && databaseUrl === null && clickhouseUrl === null) {
    const files = new StoreFiles(services, join(dataDir, 'journal'))
    schedule.every(filesMs, 'files of the stores may hold what was erased', () => files.clear())
  }
  schedule.every(gaugesMs, 'gauges are not updated', async () => {
    if (cluster !== null) reportNode(cluster, services.metrics)
    await report(services, later.yielding, memory.definitions.catalogs.ids())
  })
  const { clock } = memory.definitions
  schedule.every(endedMs, 'what has ended by time is not written down', () =>
    services.shards.sweep(clock.wall(), clock.testClocks()),
  )
  const flush = scheduleFlushes(schedule, running, answers)
  opened.add(async () => {
    await schedule.stop()
    await flush()
  })
  if (!idleCollections) return
  const stopCollecting = collectWhenIdle()
  opened.add(async () => stopCollecting())
}

/** Tasks that remove idempotency keys, sessions and former definitions that are over. */
function scheduleKeys(
  schedule: Schedule,
  { services, memory: { definitions, divide }, oldKeys, cluster, isHere }: Running,
  redisKeysMs: number,
): void {
  const { dedupe, holdKeys, log, paidWrites, sql } = services
  schedule.every(sweepMs, 'old idempotency keys are not removed', () => {
    divide()
    const { clock } = definitions
    const presents = clock.presents()
    dedupe.sweep(clock.wall(), segmentsPerTurn, presents)
    holdKeys.sweep(clock.wall(), segmentsPerTurn, presents)
    if (dedupe.lacksSome) return
    // a stop does not wait for it
    oldKeys
      .rotate(dedupe, clock.wall())
      .catch(error => log.warn({ err: error }, 'idempotency keys stay in memory'))
  })
  if (cluster !== null) {
    schedule.every(sealMs(redisKeysMs), 'old idempotency keys stay in Redis', () =>
      cluster.sealOldKeys(definitions.clock.wall()),
    )
    schedule.every(sweepKeysMs, 'idempotency keys of the day before stay in Redis', () =>
      cluster.sweepKeys(definitions.clock.wall()),
    )
  }
  schedule.every(pruneMs, 'old keys are not removed', async () => {
    if (!isHere()) return
    await holdKeys.prune(sql)
    await paidWrites.prune(sql)
  })
  schedule.every(pruneHistoryMs, 'former definitions and traits are not removed', async () => {
    if (isHere()) await pruneHistory(sql, definitions.clock.wall())
  })
  schedule.every(aliveMs, 'requests with idempotency keys look abandoned', () => paidWrites.alive(sql))
  schedule.every(pruneMs, 'sessions that are over are not removed', async () => {
    if (isHere()) await services.sessions.sweep()
  })
}

/** Tasks that do what has become due by time, on one node of a cluster. */
function scheduleDue(schedule: Schedule, { services, memory: { definitions }, isHere }: Running): void {
  const environmentIds = () => definitions.catalogs.ids()
  const jobs = [
    () => settleDue(services, environmentIds()),
    finishPlanWrites,
    finishPublishes,
    applyLinks,
    tellTrialEnds,
    tellExpired,
  ]
  schedule.every(dueMs, 'changes due by time wait for a store', async () => {
    if (!isHere()) return
    for (const job of jobs)
      await job(services).catch(error =>
        services.log.warn({ err: error }, 'changes due by time wait for a store'),
      )
  })
  // one may take minutes
  schedule.every(dueMs, 'erasures wait for a store', async () => {
    if (isHere()) await finishErasures(services)
  })
  schedule.every(dueMs, 'billing periods wait to be closed', async () => {
    if (!isHere()) return
    await closeBilling(services, environmentIds())
    await watchThresholds(services)
  })
}

/** Tasks that write gathered counts and times. The answer writes the rest of them, for a stop. */
function scheduleFlushes(
  schedule: Schedule,
  { services, memory: { noteChecks } }: Running,
  answers: ResponseCache,
): () => Promise<void> {
  const { checkedFlags, clock, companyViews, shards, sql, userSeen } = services
  const flushUsers = (all = false) => userSeen.flush(shards, id => clock.now(id), all)
  const flushFlags = () => checkedFlags.flush(sql)
  // Both in parts, so that requests are served in between.
  const sweepSome = (): void => {
    if (answers.sweepSome()) setImmediate(sweepSome)
  }
  const reportSome = (): void => {
    const counts = answers.takeCounts(performance.now())
    if (counts === null) return sweepSome()
    noteChecks(counts)
    setImmediate(reportSome)
  }
  schedule.every(flushMs, 'counts of cached checks are not reported', () => {
    answers.tick()
    companyViews.tick()
    reportSome()
  })
  schedule.every(flushMs, 'last-seen times of users are not written', () => flushUsers())
  schedule.every(flushMs, 'last-checked times of flags are not written', flushFlags)
  return async () => {
    const rest = () => answers.takeCounts(performance.now(), true)
    for (let counts = rest(); counts !== null; counts = rest()) noteChecks(counts)
    await Promise.all([flushUsers(true), flushFlags()])
  }
}
