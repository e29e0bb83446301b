// A start waits for a Postgres that is named by URL and does not answer yet.
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError } from '../config.js'
import { ServiceError } from '../errors.js'
import { isAway, within } from './away.js'
import { closePostgres, openPostgres, type PostgresAddress } from './postgres.js'

const againMs = 250
/** An answer to the first statement takes no longer. The driver connects again and again to a port that hangs up. */
const answerMs = 3_000

/**
 * Wait until Postgres lets this process in.
 *
 * waits   told once, with the reason, when it does not answer at the first try; waited for.
 * signal  ends the waiting.
 * errors  ConfigError when Postgres answers and refuses: a password, a role or a database is wrong; or a pooler does that
 *         the settings do not name. AbortError.
 */
export async function untilPostgresAnswers(
  address: PostgresAddress,
  waits: (reason: unknown) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  for (let tries = 0; ; tries++) {
    const error = await refusalOf(address)
    if (error === null) return
    if (refusesSettings(error))
      throw new ConfigError(
        `DATABASE_URL leads to a pooler (${(error as Error).message}). Set TOLLGATE_POSTGRES_POOLER=true.`,
      )
    if (!isAway(error) && !(error instanceof ServiceError))
      throw new ConfigError(
        `The Postgres of DATABASE_URL does not let Tollgate in: ${(error as Error).message}. ` +
          'Check the user, the password and the database that the URL names.',
      )
    if (tries === 0) await waits(error)
    await sleep(againMs, undefined, signal === undefined ? {} : { signal })
  }
}

/** A pooler takes no limits for a connection; all its errors have this code. */
const refusesSettings = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === '08P01' &&
  /startup parameter/.test(error.message)

async function refusalOf(address: PostgresAddress): Promise<unknown> {
  const sql = openPostgres(address, { max: 1, statementTimeoutMs: answerMs, lasts: 'tollgate, starting' })
  try {
    await within(answerMs, sql`select 1`)
    return null
  } catch (error) {
    return error
  } finally {
    await closePostgres(sql, 0).catch(() => {})
  }
}
