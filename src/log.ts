// The logger: JSON lines on stdout, without secrets and bodies.
import { destination, type Logger, pino } from 'pino'
import type { Config } from './config.js'

export type { Logger } from 'pino'

/** Members of every request line. */
export interface RequestLine {
  readonly request_id: string
  readonly route: string
  readonly status: number
  readonly duration_ms: number
  readonly environment_id: string | null
  /** Set if the request is traced and sampled. */
  readonly trace_id?: string
}

/** `to`: a file descriptor or path; default stdout. Lines are written in chunks of 4 kB, or after a second. */
export function createLogger(config: Pick<Config, 'logLevel'>, to: number | string = 1): Logger {
  const sink = destination({ dest: to, sync: false, minLength: 4_096, periodicFlush: 1_000 })
  return pino(
    {
      level: config.logLevel,
      base: undefined,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: label => ({ level: label }) },
    },
    sink,
  )
}
