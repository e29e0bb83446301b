// Telling a store that is away from a statement that is wrong.
import { ServiceError } from '../errors.js'

const codes = new Set([
  // The socket: nobody there, gone, or silent.
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
  // Postgres: stopping, crashed, starting; too many connections; out of disk or memory; a statement's time is up.
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
  // ClickHouse: too slow, too many at once, connection or socket trouble, read-only, memory, cancelled, disk.
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
 * A failure of the store itself as `store_away` (503), anything else as it came.
 *
 * store    named to the caller: 'Postgres' or 'ClickHouse'.
 * returns  a ServiceError that keeps the driver's error as its cause, or `error` itself: a ServiceError, or a
 *          statement that is wrong and so our own bug.
 * source   decision 5.
 */
export function asStoreError(error: unknown, store: 'Postgres' | 'ClickHouse' = 'Postgres'): unknown {
  if (!isAway(error)) return error
  return new ServiceError('store_away', `${store} is away; try again`, { cause: error })
}

/** Whether an error says that the store did not answer, rather than that it refused the statement. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof ServiceError) return false
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return codes.has(code) || code.startsWith('08')
  // The ClickHouse client's own timeout and a socket that closed early carry no code.
  return error.message === 'Timeout error.' || error.message === 'socket hang up'
}

/**
 * Reject with `store_away` when a store has not answered within `ms`. What was asked may still happen: only for
 * reads, and for writes that are safe to send again.
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
