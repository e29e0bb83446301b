// Tells store outages from wrong statements.
import { ServiceError } from '../errors.js'

const codes = new Set([
  // Socket errors: refused, closed, timed out.
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOENT',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ERR_STREAM_PREMATURE_CLOSE',
  // The Postgres driver.
  'CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  // Postgres: stopping, crashed, starting; too many connections; out of disk or memory; statement timeout.
  '57P01',
  '57P02',
  '57P03',
  '53000',
  '53100',
  '53200',
  '53300',
  '57014',
  '55P03',
  '25006',
  // This process was replaced by another owner, and ends.
  'TG503',
  // ClickHouse: timeout, too many queries, connection or socket trouble, read-only, memory, cancelled, disk.
  '159',
  '164',
  '202',
  '203',
  '209',
  '210',
  '236',
  '241',
  '242',
  '243',
  '252',
  '394',
])

/**
 * Convert an outage of the store to `store_away` (503); other errors are returned unchanged.
 *
 * store    named to the caller: 'Postgres' or 'ClickHouse'.
 * returns  a ServiceError with the driver's error as its cause, or `error` itself: a ServiceError, or the error of a
 *          wrong statement, which is a bug of ours.
 * source   decision 5.
 */
export function asStoreError(error: unknown, store: 'Postgres' | 'ClickHouse' = 'Postgres'): unknown {
  if (!isAway(error)) return error
  return new ServiceError('store_away', `${store} is away; try again`, { cause: error })
}

/** Whether an error means that the store did not answer, rather than that it refused the statement. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof ServiceError) return false
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return codes.has(code) || code.startsWith('08')
  // The ClickHouse client's timeout and a closed socket have no code.
  return error.message === 'Timeout error.' || error.message === 'socket hang up'
}

/**
 * Reject with `store_away` when a store has not answered within `ms`. The statement may still run, so use it only for
 * reads and for writes that are safe to repeat.
 */
export async function within<T>(
  ms: number,
  answer: Promise<T>,
  store: 'Postgres' | 'ClickHouse' = 'Postgres',
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const refuse = () => reject(new ServiceError('store_away', `${store} did not answer in time; try again`))
    timer = setTimeout(refuse, ms)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
