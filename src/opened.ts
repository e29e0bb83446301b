// What a start has opened, and what it is in the end.
import type { Logger } from 'pino'
import type { Services } from './api/kit/services.js'
import type { ClickHouseAddress } from './storage/clickhouse.js'
import type { PostgresAddress } from './storage/postgres.js'

/** A running Tollgate. */
export interface Tollgate {
  readonly port: number
  readonly services: Services
  /** The bootstrap key's value, when this start made it. */
  readonly madeKey: string | null
  /** Answers what is in flight, flushes, checkpoints, closes. Safe to call twice. */
  stop(): Promise<void>
}

/** What was opened, to be closed in the opposite order whether the start succeeded or not. */
export class Opened {
  private readonly closers: (() => Promise<unknown>)[] = []
  private readonly waiting: (() => void)[] = []
  /** The embedded ClickHouse's process, where there is one; null while it starts again. */
  clickhouse: { readonly pid: number | null } | null = null

  add(close: () => Promise<unknown>): void {
    this.closers.push(close)
  }

  /** Have something done once requests are served. */
  whenServing(then: () => void): void {
    this.waiting.push(then)
  }

  /** Requests are served from now on. */
  serves(): void {
    for (const then of this.waiting.splice(0)) then()
  }

  async close(log: Logger): Promise<void> {
    for (const close of this.closers.splice(0).reverse())
      await close().catch(error => log.error({ err: error }, 'could not be closed'))
  }
}

/** Where the stores are. */
export interface Addresses {
  readonly postgres: PostgresAddress
  readonly clickhouse: ClickHouseAddress
}
