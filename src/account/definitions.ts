// Opens keys, clock, traits and catalogs in the order of their dependencies.
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type { Announce } from '../catalog/announce.js'
import { CatalogCache, type Version } from '../catalog/cache.js'
import { DefinitionHistory } from '../catalog/history.js'
import type { Loaders } from '../catalog/load.js'
import { TraitRegistry } from '../catalog/traits.js'
import { type BootstrapConfig, type Bootstrapped, bootstrap } from './bootstrap.js'
import { ServiceClock } from './clock.js'
import { KeyRing } from './keys.js'

export interface Definitions {
  readonly bootstrapped: Bootstrapped
  readonly keys: KeyRing
  readonly clock: ServiceClock
  readonly traits: TraitRegistry
  /** Not started: `start()` loads the catalogs and hands them to the shards. */
  readonly catalogs: CatalogCache
  /** Flush pending writes and stop retrying shards. */
  close(): Promise<void>
}

/**
 * Run bootstrap, then read keys, test clocks and trait definitions. The schema must be migrated.
 *
 * announce  hands a catalog to every shard; see catalog/announce.ts.
 * errors    errors of bootstrap and of the database.
 */
export async function openDefinitions(options: {
  sql: Sql
  log: Logger
  config: BootstrapConfig
  announce: Announce
  loaders?: Loaders
  /** Sends changes made here to other nodes; resolves when they have them. */
  told?: (versions: readonly Version[]) => Promise<void>
  /** Earliest possible present. */
  floorMs?: number
}): Promise<Definitions> {
  const { sql, log, config, announce, loaders, told, floorMs = 0 } = options
  const bootstrapped = await bootstrap(sql, config)
  const clock = new ServiceClock({ sql, floorMs })
  const { pepper, formerPepper, notes } = bootstrapped
  for (const note of notes) log.warn(note)
  const keys = new KeyRing({ sql, log, pepper, formerPepper, nowMs: () => clock.wall() })
  const traits = new TraitRegistry()
  const history = new DefinitionHistory(sql, log)
  const catalogs = new CatalogCache({
    history: {
      present: id => clock.now(id),
      keep: (data, sinceMs) => history.keep(data, sinceMs),
      forgetEnvironment: id => history.forgetEnvironment(id),
    },
    sql,
    log,
    traits,
    announce,
    loaders,
    ...(told === undefined ? {} : { told }),
  })
  await Promise.all([keys.load(), clock.load(), traits.load(sql)])
  keys.watch()
  keys.onEnvironmentRemoved(environmentId => {
    catalogs.forgetEnvironment(environmentId)
    traits.forgetEnvironment(environmentId)
    clock.forgetEnvironment(environmentId)
  })
  return {
    bootstrapped,
    keys,
    clock,
    traits,
    catalogs,
    async close() {
      keys.stop()
      catalogs.close()
      await keys.flush()
    },
  }
}
