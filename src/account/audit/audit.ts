// Writes the audit log. Rows for definitions, keys, environments and limits are written in the transaction of the
// change, and added to the hash chain when they have their responses. Other rows are queued with the response and written
// in batches, with their places in the chain.
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import { isAway } from '../../storage/away.js'
import { appendRows, type ChainHead, chainHead, extendChain, StoredMeanwhile } from './chain.js'
import { countedForMs, Floods } from './floods.js'
import { type RequestedChange, type Row, rowOf, rowOfEvent, type SystemEvent, writeRows } from './row.js'

const flushAfterMs = 500
const rowsPerStatement = 200
/** Queued bytes while Postgres is down. */
const pendingBytesMax = 67_108_864
/** Bytes of a row besides its texts. */
const rowBytes = 500

/** A sample of failed authentications. */
interface FailedAuthentications {
  readonly remoteIp: string
  /** The first characters of the key, as far as they may be logged. */
  readonly keyPrefix: string
  readonly count: number
}

/** The audit log's writer. A flood while Postgres is down costs bounded memory and the oldest rows. */
export class AuditLog {
  private pending: Row[] = []
  private bytes = 0
  private dropped = 0
  private timer: NodeJS.Timeout | null = null
  private flushing: Promise<void> | null = null
  private failures: FailedAuthentications[] = []
  private failuresTimer: NodeJS.Timeout | null = null
  private readonly floods = new Floods()
  private floodsTimer: NodeJS.Timeout | null = null

  /** accountId  the account for failed authentications. */
  constructor(
    private readonly sql: Sql,
    private readonly log: Logger,
    private readonly accountId: string,
    private readonly bytesMax = pendingBytesMax,
  ) {}

  /** Add rows left by an earlier process to the chain. */
  async open(): Promise<void> {
    await extendChain(this.sql, true)
  }

  /**
   * Queue a row with its response; written within a second. An existing row gets its response. Refused
   * requests and reads of one key get a bounded number of rows, the others are counted in one (floods.ts).
   *
   * begun  the row was written with its change.
   */
  note(change: RequestedChange, begun = false): void {
    if (begun || this.floods.admits(change)) this.add(rowOf(change))
    this.floodsTimer ??= setTimeout(() => this.endFloods(), countedForMs).unref()
  }

  private endFloods(): void {
    this.noteFlood('refused')
    this.noteFlood('read')
    this.floods.renew()
    this.floodsTimer = null
  }

  private noteFlood(kind: 'refused' | 'read'): void {
    const flood = this.floods.take(kind)
    if (flood === null) return
    const { status, remote_ip: remoteIp } = flood.samples[0]!
    const event: SystemEvent = {
      kind: kind === 'read' ? 'read' : 'auth_failure',
      accountId: this.accountId,
      what: `requests/${kind}`,
      resourceType: 'request',
      status,
      remoteIp,
      detail: flood,
    }
    this.add(rowOfEvent(event, Date.now()))
  }

  /**
   * Write the row of a change in the change's own transaction, so that neither exists without the other. `note`
   * adds the response; if it is never called, the row remains without one.
   */
  async within(tx: Sql, change: RequestedChange): Promise<void> {
    await writeRows(tx, [rowOf(change)], false)
  }

  /** Write a system event now. Rejects on failure. */
  async record(event: SystemEvent): Promise<void> {
    await writeRows(this.sql, [rowOfEvent(event, Date.now())], true)
    this.flushSoon()
  }

  /** Record failed authentications: one row per ten seconds, with at most 20 samples. */
  failed(sample: FailedAuthentications): void {
    this.failures.push(sample)
    this.failuresTimer ??= setTimeout(() => this.noteFailures(), countedForMs).unref()
  }

  private noteFailures(): void {
    if (this.failuresTimer) clearTimeout(this.failuresTimer)
    this.failuresTimer = null
    const samples = this.failures.splice(0)
    if (samples.length === 0) return
    this.add(
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

  /** The end of the chain, covering everything answered so far. */
  async head(): Promise<ChainHead> {
    await this.flush()
    return chainHead(this.sql)
  }

  /**
   * Write all queued rows. Failures are logged, not thrown: rows stay queued while Postgres is down, and a reader
   * afterwards fails by itself.
   */
  async flush(): Promise<void> {
    this.noteFailures()
    // reads are counted until their time ends: a read of the log must not be a row of itself
    this.noteFlood('refused')
    await this.drain()
  }

  private async drain(): Promise<void> {
    if (this.timer) clearTimeout(this.timer)
    this.timer = null
    // rows queued during a batch are written in the next one
    await this.flushing
    this.flushing ??= this.write().finally(() => {
      this.flushing = null
    })
    await this.flushing
  }

  private add(row: Row): void {
    this.pending.push(row)
    this.bytes += weight(row)
    while (this.bytes > this.bytesMax && this.pending.length > 1) {
      this.bytes -= weight(this.pending.shift()!)
      this.dropped++
    }
    this.flushSoon()
  }

  private flushSoon(delayMs = flushAfterMs): void {
    this.timer ??= setTimeout(() => void this.drain(), delayMs).unref()
  }

  private async write(): Promise<void> {
    if (this.dropped > 0) this.log.error({ rows: this.dropped }, 'audit log rows dropped')
    this.dropped = 0
    while (this.pending.length > 0) {
      const batch = this.pending.splice(0, rowsPerStatement)
      for (const row of batch) this.bytes -= weight(row)
      try {
        const stored = await appendRows(this.sql, batch)
        if (stored.length > 0) await writeRows(this.sql, stored, true)
      } catch (error) {
        if (!isAway(error) && !(error instanceof StoredMeanwhile)) {
          this.log.error({ err: error, rows: batch.length }, 'audit log rows refused')
          continue
        }
        this.log.warn({ err: error, rows: batch.length + this.pending.length }, 'audit log not written')
        this.pending = [...batch, ...this.pending]
        for (const row of batch) this.bytes += weight(row)
        this.flushSoon(2 * flushAfterMs)
        return
      }
    }
    try {
      await extendChain(this.sql, false)
    } catch (error) {
      this.log.warn({ err: error }, 'audit log rows are not in the chain yet')
      this.flushSoon(2 * flushAfterMs)
    }
  }
}

function weight(row: Row): number {
  return rowBytes + row.url.length + (row.req_body?.length ?? 0) + (row.resp_body?.length ?? 0)
}
