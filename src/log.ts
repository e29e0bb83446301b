// The logger: JSON lines on stdout. Never a secret, never a body.
import { destination, type Logger, pino } from 'pino'
import type { Config } from './config.js'

export type { Logger } from 'pino'

/** Members every request line carries. */
export interface RequestLine {
  readonly request_id: string
  readonly route: string
  readonly status: number
  readonly duration_ms: number
  readonly environment_id: string | null
  /** Where requests are traced and this one is kept. */
  readonly trace_id?: string
}

/** `to`: a file descriptor or a path; stdout by default. Lines are written when 4 kB gathered or a second has passed. */
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
