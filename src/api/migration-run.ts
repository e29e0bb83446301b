// A migration begun by a call: waited for, for a while.
import type { Call } from './call.js'

/** Longest wait of an answer for a migration; it goes on by itself after that. source: decision */
const patienceMs = 10_000

/** Begin a migration. Returns when nothing is left to do now, or after a while; what fails is taken up again. */
export async function soon({ services }: Call<unknown, unknown>, migrationId: string): Promise<void> {
  const { migrations, log } = services
  const run = migrations.run(migrationId).catch(error => {
    log.warn({ err: error, migration_id: migrationId }, 'a migration waits for a store')
  })
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, patienceMs)
  })
  await Promise.race([run, late])
  clearTimeout(timer)
}
