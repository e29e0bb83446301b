// Opens definitions, and the memory of the HTTP thread: the directory, idempotency keys, last-seen times.

import { type Definitions, openDefinitions } from '../account/definitions.js'
import { ModelPrices } from '../account/model-prices.js'
import { loadCredits, loadPlanCreditGrants } from '../catalog/credits.js'
import { plansLoader } from '../catalog/plans.js'
import type { Cluster } from '../cluster/open.js'
import type { CheckCounts } from '../core/model/message.js'
import { Directory } from '../entities/directory/directory.js'
import { CheckedFlags, UserSeen } from '../entities/directory/last-seen.js'
import { Dedupe } from '../entities/idempotency/dedupe.js'
import { HoldKeys } from '../entities/idempotency/hold-keys.js'
import { keyBytes } from '../entities/idempotency/key-table.js'
import { FrontMemory } from '../front/extra/shared-memory.js'
import { ClockMark } from '../recovery/clock-mark.js'
import type { Opening } from './opening.js'
import type { Stores } from './stores.js'

export interface Memory {
  readonly definitions: Definitions
  readonly directory: Directory
  readonly dedupe: Dedupe
  readonly holdKeys: HoldKeys
  /** Idempotency keys that fit into memory. */
  readonly idempotencyKeysMax: number
  readonly userSeen: UserSeen
  readonly checkedFlags: CheckedFlags
  readonly modelPrices: ModelPrices
  /** Memory of extra fronts; null: there are none. */
  readonly fronts: FrontMemory | null
  /** Record which flags and users were checked, when each was last seen, and the counts to be stored. */
  noteChecks(counts: CheckCounts): void
  /** Give each environment its part of the idempotency window; called again when there may be more of them. */
  divide(): void
}

/** Open the memory, empty but for definitions. `opened` closes it. errors: those of bootstrap and of Postgres. */
export async function openMemory(
  { config, log, opened, phases, floorMs, later }: Opening,
  { sql }: Stores,
  cluster: Cluster | null,
): Promise<Memory> {
  const directory = new Directory()
  const fronts = config.fronts > 1 ? new FrontMemory() : null
  if (fronts !== null) directory.lend(fronts.hand)
  const definitions = await phases.time('definitions', () =>
    openDefinitions({
      sql,
      log,
      config,
      announce: async data => {
        fronts?.editions.raise(directory.numberOf(data.environmentId))
        await later.shards?.announce(data)
      },
      loaders: { plans: plansLoader(loadPlanCreditGrants), credits: loadCredits },
      floorMs,
      ...(cluster && { told: cluster.told }),
    }),
  )
  opened.add(() => definitions.close())
  const { clock, catalogs } = definitions
  const mark = new ClockMark(config.dataDir, () => clock.wall(), log)
  opened.add(() => mark.stop())

  if (fronts !== null) {
    definitions.keys.onChange(() => fronts.editions.raiseAll())
    clock.onJump(id => fronts.editions.raise(directory.numberOf(id)))
  }
  const idempotencyKeysMax = Math.floor(config.idempotencyBytes / keyBytes)
  const dedupe = cluster?.window ?? new Dedupe(idempotencyKeysMax)
  const holdKeys = new HoldKeys(idempotencyKeysMax)
  if (cluster !== null)
    holdKeys.shared = (environmentId, name, companyId, nowMs) =>
      cluster.holdKey(environmentId, name, companyId, clock.testClock(environmentId) && nowMs)
  const userSeen = new UserSeen()
  const checkedFlags = new CheckedFlags()
  const modelPrices = new ModelPrices(sql)
  await modelPrices.load()

  let divided = 0
  return {
    definitions,
    directory,
    dedupe,
    holdKeys,
    idempotencyKeysMax,
    userSeen,
    checkedFlags,
    modelPrices,
    fronts,
    noteChecks({ flags, users, rows, counts }) {
      for (const [environmentId, flagKey, atMs] of flags) checkedFlags.note(environmentId, flagKey, atMs)
      for (const { environmentId, ids, atMs } of users)
        for (const [i, userId] of ids.entries()) userSeen.note(userId, environmentId, atMs[i]!)
      later.projections?.recordChecks(rows, counts)
    },
    divide() {
      const environments = catalogs.ids().length
      if (environments === divided) return
      divided = environments
      dedupe.divide(environments)
      holdKeys.divide(environments)
    },
  }
}
