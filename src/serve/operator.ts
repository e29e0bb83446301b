// The operator's socket: a backup while the service runs.
import type { Services } from '../kit/services.js'
import { keepPoint } from '../recovery/backup.js'
import { ControlSocket } from '../recovery/control.js'
import type { Journals } from '../recovery/journals.js'
import type { Opening } from './opening.js'
import type { Stores } from './stores.js'

/** Open the operator's socket. A data directory without support for sockets does not prevent serving. */
export async function listenToOperator(
  { config, log, opened }: Opening,
  { addresses, clickhouse }: Stores,
  { audit, shards, projections }: Services,
  { positions, generation }: Journals,
  accountId: string,
): Promise<void> {
  const keep = async () => {
    // no backup that the log does not tell of
    await audit.record({ kind: 'system', accountId, what: 'backup', resourceType: 'backup' })
    return keepPoint({
      shards,
      projections,
      positions,
      generation,
      postgres: addresses.postgres,
      clickhouse,
      clickhouseAddress: addresses.clickhouse,
      flush: () => audit.flush(),
    })
  }
  try {
    const control = await ControlSocket.listen(config.dataDir, keep, log)
    opened.add(() => control.close())
  } catch (error) {
    log.warn({ err: error }, 'no backup can be taken while this Tollgate runs')
  }
}
