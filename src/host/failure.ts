// Words for what ended a program: one line, and a stack only for a mistake in the code (S7).

/** Errors that only a mistake in the code throws. */
const mistakes = [TypeError, ReferenceError, RangeError, SyntaxError] as const

/** Advice by the code of the system or of Postgres. */
const advice: Readonly<Record<string, string>> = {
  EADDRINUSE: 'Another program listens there: stop that one, or set TOLLGATE_PORT',
  EADDRNOTAVAIL: 'This machine has no such address: set TOLLGATE_HOST',
  EACCES: 'Give this user the right, or set TOLLGATE_DATA_DIR',
  EPERM: 'Give this user the right, or set TOLLGATE_DATA_DIR',
  EROFS: 'It is mounted read-only: set TOLLGATE_DATA_DIR to a directory that can be written',
  ENOSPC: 'The disk is full: make room, or set TOLLGATE_DATA_DIR',
  EDQUOT: 'The quota of this user is used up: make room, or set TOLLGATE_DATA_DIR',
  EMFILE: 'Too many files are open: raise the limit (ulimit -n) to 65536',
  ENFILE: 'Too many files are open on this machine: raise fs.file-max',
  '28P01': 'Postgres does not know this user or password: see DATABASE_URL',
  '28000': 'Postgres does not let this user in: see DATABASE_URL and its pg_hba.conf',
  '3D000': 'Create the database, or name another in DATABASE_URL',
  '42501': 'The user of DATABASE_URL needs the right to create tables in its database',
  '53300': 'Postgres has no connection left: raise max_connections; a node opens up to 40',
}

/**
 * An error as one line: what was wrong and what to do.
 *
 * error    anything thrown. Errors with a known code get advice; mistakes in the code keep their stack.
 * source   S7.
 */
export function inOneLine(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (mistakes.some(kind => error instanceof kind) && !('code' in error)) return error.stack ?? error.message
  const { message, code } = rootOf(error)
  const known = code === undefined ? undefined : advice[code]
  const whole = error.message === '' || error.message === message ? message : error.message
  const line = whole.trim().replace(/\s*\n\s*/g, ' | ')
  return known === undefined || line.includes(known) ? line : `${line.replace(/\.$/, '')}. ${known}.`
}

/** The innermost error that has a code, else the error itself. */
function rootOf(error: Error & { readonly code?: string }): {
  readonly message: string
  readonly code?: string
} {
  if (error.cause instanceof Error && error.code === undefined) return rootOf(error.cause)
  const message = error.message || error.code || error.name
  return error.code === undefined ? { message } : { message, code: error.code }
}
