// A program of its own that starts an embedded store or takes the lock, says so, and stays until it is killed:
// what another Tollgate is to the one under test. Arguments: postgres | clickhouse | lock, directory.
import { startEmbeddedClickHouse } from '../../../src/storage/embedded/clickhouse.js'
import { startEmbeddedPostgres } from '../../../src/storage/embedded/postgres.js'
import { lockDataDir } from '../../../src/storage/lock.js'
import { silent } from '../../stores.js'

const [what, directory = ''] = process.argv.slice(2)

async function hold() {
  if (what === 'lock') {
    await lockDataDir(directory)
    return { pid: process.pid, address: null }
  }
  const start = what === 'postgres' ? startEmbeddedPostgres : startEmbeddedClickHouse
  const { pid, address } = await start({ directory, log: silent, durable: false })
  return { pid, address }
}

hold().then(
  held => process.send?.({ held }),
  error => {
    process.send?.({ failure: (error as Error).message })
    process.disconnect()
  },
)
// The channel to the parent alone would not keep the process.
setInterval(() => {}, 60_000)
process.on('disconnect', () => process.exit(1))
