// A ClickHouse that was away when the node started: asked again until it has its schema; then it is read and written.
//
// Which idempotency keys were used is in ClickHouse, in the key files and in the journals. A start without ClickHouse
// knows them all when the journals go back to where the files end; else events with an unknown key are refused until
// ClickHouse has been read, as one of them may be a repeat.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { claimsAtOnce, eventClaims } from '../analytics/history.js'
import type { Dedupe } from '../entities/idempotency/dedupe.js'
import type { ClickHouse } from '../storage/clickhouse.js'
import type { ClickHouseGate } from '../storage/clickhouse-gate.js'
import { dropClones } from '../storage/dump.js'
import { migrate } from '../storage/migrate.js'
import type { PostgresAddress } from '../storage/postgres.js'
import type { Projections } from './projections.js'
import { fillWindow } from './warm-up.js'

const againMs = 500

interface LateClickHouseOptions {
  readonly postgres: PostgresAddress
  /** To migrate it. */
  readonly store: ClickHouse
  /** The one that everybody else asks. */
  readonly gate: ClickHouseGate
  readonly log: Logger
}

/** The parts that wait for it, and the keys that are to be read from it. */
interface Awaited {
  readonly projections: Pick<Projections, 'begin'>
  readonly dedupe: Dedupe
  /** From where on keys are to be read, epoch ms. */
  readonly sinceMs: number
}

export class LateClickHouse {
  private away = true
  private readonly stopping = new AbortController()
  private waiting: Promise<void> | null = null

  constructor(private readonly options: LateClickHouseOptions) {}

  /** Parts that do not work yet, in words. */
  degraded(dedupe: Dedupe): readonly string[] {
    return [
      ...(this.away ? ['ClickHouse'] : []),
      ...(dedupe.lacksSome ? ['idempotency window: some keys are in ClickHouse alone'] : []),
    ]
  }

  get isAway(): boolean {
    return this.away
  }

  /**
   * Migrate both stores; ClickHouse may be away.
   *
   * errors  as `migrate`.
   */
  async migrate(mayBeAway: boolean): Promise<void> {
    const { postgres, store, gate } = this.options
    const { clickhouseAway } = await migrate({
      postgres,
      clickhouse: store,
      clickhouseMayBeAway: mayBeAway,
    })
    if (clickhouseAway) return
    // of a backup whose service was killed
    await dropClones(store)
    this.away = false
    gate.open()
  }

  /** Ask until it is there; then read the keys that are missing, and have it written. */
  begin(awaited: Awaited): void {
    this.options.log.warn('ClickHouse is away: its rows wait in the journal, and reads of events are refused')
    this.waiting = this.until(awaited)
  }

  async stop(): Promise<void> {
    this.stopping.abort()
    await this.waiting
  }

  private async until({ projections, dedupe, sinceMs }: Awaited): Promise<void> {
    const { gate, log } = this.options
    let told = ''
    const { signal } = this.stopping
    while (!signal.aborted)
      try {
        if (this.away) await this.migrate(true)
        if (!this.away) {
          projections.begin('clickhouse')
          if (dedupe.lacksSome) await fillWindow(eventClaims(gate, sinceMs, claimsAtOnce), dedupe)
          dedupe.lacksSome = false
          return log.info('ClickHouse is there')
        }
      } catch (error) {
        if (told !== String(error)) log.warn({ err: error }, 'ClickHouse cannot be used yet')
        told = String(error)
      } finally {
        await sleep(againMs, undefined, { signal }).catch(() => {})
      }
  }
}
