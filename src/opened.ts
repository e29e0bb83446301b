// The result of a start, and the stack of what to close.
import type { Logger } from 'pino'
import type { Services } from './kit/services.js'
import type { ClickHouseAddress } from './storage/clickhouse.js'
import type { PostgresAddress } from './storage/postgres.js'

/** A running Tollgate. */
export interface Tollgate {
  readonly port: number
  readonly services: Services
  /** The value of the bootstrap key, if this start generated it. */
  readonly madeKey: string | null
  /** Make a one-time token that signs the operator in to the console. */
  signInToken(): Promise<string>
  /** Drain requests, flush, checkpoint, close. Safe to call twice. */
  stop(): Promise<void>
}

/** A stack of opened resources, closed in reverse order after a stop or a failed start. */
export class Opened {
  private readonly closers: (() => Promise<unknown>)[] = []
  private readonly waiting: (() => void)[] = []
  /** The embedded ClickHouse's process; its pid is null while it restarts. */
  clickhouse: { readonly pid: number | null } | null = null

  add(close: () => Promise<unknown>): void {
    this.closers.push(close)
  }

  /** Register a function to run once requests are served. */
  whenServing(then: () => void): void {
    this.waiting.push(then)
  }

  /** Run the registered functions: requests are served from now on. */
  serves(): void {
    for (const then of this.waiting.splice(0)) then()
  }

  async close(log: Logger): Promise<void> {
    for (const close of this.closers.splice(0).reverse())
      await close().catch(error => log.error({ err: error }, 'could not be closed'))
  }
}

/** Addresses of the stores. */
export interface Addresses {
  readonly postgres: PostgresAddress
  readonly clickhouse: ClickHouseAddress
}
