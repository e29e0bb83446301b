// Lines that the client tells about itself: a line at a time, and not the same line again and again.

/** Takes lines; `console` and pino's loggers fit. */
export interface Logger {
  warn(line: string): void
  error(line: string): void
  info?(line: string): void
}

/** The same subject is told again after this long, ms. */
const againMs = 60_000
/** Subjects that are remembered. */
const subjectsMax = 1_000

const silent: Logger = { warn: () => {}, error: () => {} }

/** A logger that tells each subject once in a minute, with the number of lines that were left out. */
export class Teller {
  private readonly told = new Map<string, { atMs: number; left: number }>()
  private readonly logger: Logger

  /** logger  undefined: the console; null: nothing is told. */
  constructor(logger: Logger | null | undefined) {
    const { console } = globalThis as { readonly console?: Logger }
    this.logger = logger === null ? silent : (logger ?? console ?? silent)
  }

  warn(subject: string, line: string): void {
    this.tell('warn', subject, line)
  }

  error(subject: string, line: string): void {
    this.tell('error', subject, line)
  }

  info(line: string): void {
    this.logger.info?.(`tollgate: ${line}`)
  }

  /** A subject is over: its next line is told at once. */
  over(subject: string): boolean {
    return this.told.delete(subject)
  }

  private tell(level: 'warn' | 'error', subject: string, line: string): void {
    const nowMs = Date.now()
    const last = this.told.get(subject)
    if (last !== undefined && nowMs - last.atMs < againMs) {
      last.left++
      return
    }
    if (this.told.size >= subjectsMax) this.told.clear()
    this.told.set(subject, { atMs: nowMs, left: 0 })
    const more = last !== undefined && last.left > 0 ? ` (and ${last.left} more like it)` : ''
    this.logger[level](`tollgate: ${line}${more}`)
  }
}
