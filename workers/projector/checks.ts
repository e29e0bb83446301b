// Flag checks on their way to ClickHouse. They are counted, not journaled: kept in memory while ClickHouse is
// away, up to a bound.
import { randomUUID } from 'node:crypto'
import type { ClickHouse } from '../../src/storage/clickhouse.js'
import { insertSettings } from './clickhouse.js'

/** Lines of each table that wait at most; the oldest are dropped beyond it. */
const linesMax = 200_000
/** Lines of one insert. */
const insertMax = 50_000
/** Fewer lines than these wait for more, for so many ticks: an insert costs ClickHouse about as much whatever it holds. */
const fewLines = 5_000
const fewTicks = 3

/** Content of one insert; sent again with the same token until it is stored. */
interface Batch {
  readonly token: string
  readonly lines: readonly string[]
}

export class CheckWriter {
  readonly #clickhouse: Pick<ClickHouse, 'insertRaw'>
  readonly #dropped: (lines: number) => void
  readonly #waiting = { flag_checks: [] as string[], events: [] as string[] }
  readonly #sending: { flag_checks: Batch | null; events: Batch | null } = { flag_checks: null, events: null }
  #flushing: Promise<void> | null = null
  /** Since rows were sent last. */
  #ticks = 0
  /** Send nothing for now. */
  held = false

  constructor(clickhouse: Pick<ClickHouse, 'insertRaw'>, dropped: (lines: number) => void) {
    this.#clickhouse = clickhouse
    this.#dropped = dropped
  }

  add(counts: readonly string[], rows: readonly string[]): void {
    this.#add('flag_checks', counts)
    this.#add('events', rows)
  }

  /** Called once a second: sends the waiting rows, few of them every third time. */
  tick(): void {
    const lines = this.#waiting.flag_checks.length + this.#waiting.events.length
    if (++this.#ticks < fewTicks && lines < fewLines) return
    this.#ticks = 0
    void this.flush()
  }

  /** Resolves when the insert in progress has succeeded or failed. */
  get sent(): Promise<void> {
    return this.#flushing ?? Promise.resolve()
  }

  /** Send all rows added before this call, unless held: a flush in progress may have passed their table. */
  async finish(): Promise<void> {
    await this.sent
    await this.flush()
  }

  /** Send the waiting rows, unless held. Never rejects: rows that could not be sent wait for the next call. */
  flush(): Promise<void> {
    if (this.held) return this.sent
    // settled: a table whose insert is under way is not sent again because the other table's insert failed
    this.#flushing ??= Promise.allSettled([this.#send('flag_checks'), this.#send('events')]).then(() => {
      this.#flushing = null
    })
    return this.#flushing
  }

  #add(table: 'flag_checks' | 'events', lines: readonly string[]): void {
    const waiting = this.#waiting[table]
    for (const line of lines) waiting.push(line)
    const excess = waiting.length - linesMax
    if (excess <= 0) return
    waiting.splice(0, excess)
    this.#dropped(excess)
  }

  async #send(table: 'flag_checks' | 'events'): Promise<void> {
    for (;;) {
      const batch = this.#sending[table] ?? this.#next(table)
      if (batch === null) return
      this.#sending[table] = batch
      await this.#clickhouse.insertRaw({
        table,
        rows: batch.lines.join('\n'),
        token: batch.token,
        settings: insertSettings,
      })
      this.#sending[table] = null
    }
  }

  #next(table: 'flag_checks' | 'events'): Batch | null {
    const lines = this.#waiting[table].splice(0, insertMax)
    return lines.length === 0 ? null : { token: `checks:${randomUUID()}`, lines }
  }
}
