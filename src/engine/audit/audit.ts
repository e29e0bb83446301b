// The audit log's writer. Rows of definitions, keys, environments and limits are written in the transaction of the change
// itself; other changes are noted as they are answered and written in batches. Then every row joins the chain.
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import { isAway } from '../../storage/away.js'
import { type ChainHead, chainHead, extendChain } from './chain.js'
import { type AskedChange, type Row, rowOf, rowOfEvent, type SystemEvent, writeRows } from './row.js'

const flushAfterMs = 500
const rowsPerStatement = 200
/** Failed authentications of so long are one row. */
const failuresEveryMs = 10_000
/** Kept while Postgres is away. */
const pendingBytesMax = 67_108_864
/** What a row weighs besides its texts. */
const rowBytes = 500

/** Authentications that failed, as they are sampled. */
export interface FailedAuthentications {
  readonly remoteIp: string
  /** The beginning of the key that was shown, as it may be logged. */
  readonly keyPrefix: string
  readonly count: number
}

/** Notes what was asked; a flood while Postgres is away costs a bounded memory and the oldest rows. */
export class AuditLog {
  #pending: Row[] = []
  #bytes = 0
  #dropped = 0
  #timer: NodeJS.Timeout | null = null
  #flushing: Promise<void> | null = null
  #failures: FailedAuthentications[] = []
  #failuresTimer: NodeJS.Timeout | null = null

  /** accountId  whom failed authentications are noted for. */
  constructor(
    private readonly sql: Sql,
    private readonly log: Logger,
    private readonly accountId: string,
    private readonly bytesMax = pendingBytesMax,
  ) {}

  /** Take what an earlier process left into the chain. */
  async open(): Promise<void> {
    await extendChain(this.sql, true)
  }

  /** Note what was answered; written within a second. A row that is there already gets its answer. */
  note(change: AskedChange): void {
    this.#add(rowOf(change))
  }

  /**
   * Write the row of a change in the change's own transaction: without it the change is not made. Its answer is added
   * when it is noted; `note` may come never, and the row stays.
   */
  async within(tx: Sql, change: AskedChange): Promise<void> {
    await writeRows(tx, [rowOf(change)], false)
  }

  /** Write what no key asked for, now. Rejects when it cannot be written. */
  async record(event: SystemEvent): Promise<void> {
    await writeRows(this.sql, [rowOfEvent(event, Date.now())], true)
    this.#flushSoon()
  }

  /** Note authentications that failed: one row for those of ten seconds, with at most 20 of the samples. */
  failed(sample: FailedAuthentications): void {
    this.#failures.push(sample)
    this.#failuresTimer ??= setTimeout(() => this.#noteFailures(), failuresEveryMs).unref()
  }

  #noteFailures(): void {
    if (this.#failuresTimer) clearTimeout(this.#failuresTimer)
    this.#failuresTimer = null
    const samples = this.#failures.splice(0)
    if (samples.length === 0) return
    this.#add(
      rowOfEvent(
        {
          kind: 'auth_failure',
          accountId: this.accountId,
          what: 'authentication/failed',
          resourceType: 'authentication',
          status: 401,
          remoteIp: samples[0]!.remoteIp,
          detail: {
            count: samples.reduce((sum, { count }) => sum + count, 0),
            samples: samples
              .slice(0, 20)
              .map(({ remoteIp, keyPrefix, count }) => ({ remote_ip: remoteIp, shown: keyPrefix, count })),
          },
        },
        Date.now(),
      ),
    )
  }

  /** The end of the chain, with everything answered until now in it. */
  async head(): Promise<ChainHead> {
    await this.flush()
    return chainHead(this.sql)
  }

  /**
   * Write what was noted so far. Failures are logged, not thrown: rows stay while Postgres is away, and whoever reads
   * after this fails by himself.
   */
  async flush(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    this.#noteFailures()
    // what is noted while a batch is under way goes with the next one
    await this.#flushing
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = null
    })
    await this.#flushing
  }

  #add(row: Row): void {
    this.#pending.push(row)
    this.#bytes += weight(row)
    while (this.#bytes > this.bytesMax && this.#pending.length > 1) {
      this.#bytes -= weight(this.#pending.shift()!)
      this.#dropped++
    }
    this.#flushSoon()
  }

  #flushSoon(delayMs = flushAfterMs): void {
    this.#timer ??= setTimeout(() => void this.flush(), delayMs).unref()
  }

  async #write(): Promise<void> {
    if (this.#dropped > 0) this.log.error({ rows: this.#dropped }, 'audit log rows dropped')
    this.#dropped = 0
    while (this.#pending.length > 0) {
      const batch = this.#pending.splice(0, rowsPerStatement)
      for (const row of batch) this.#bytes -= weight(row)
      try {
        await writeRows(this.sql, batch, true)
      } catch (error) {
        if (!isAway(error)) {
          this.log.error({ err: error, rows: batch.length }, 'audit log rows refused')
          continue
        }
        this.log.warn({ err: error, rows: batch.length + this.#pending.length }, 'audit log not written')
        this.#pending = [...batch, ...this.#pending]
        for (const row of batch) this.#bytes += weight(row)
        this.#flushSoon(2 * flushAfterMs)
        return
      }
    }
    try {
      await extendChain(this.sql, false)
    } catch (error) {
      this.log.warn({ err: error }, 'audit log rows are not in the chain yet')
      this.#flushSoon(2 * flushAfterMs)
    }
  }
}

function weight(row: Row): number {
  return rowBytes + row.url.length + (row.req_body?.length ?? 0) + (row.resp_body?.length ?? 0)
}
