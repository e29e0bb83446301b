// The present per environment: the wall clock, never backwards, shifted by the environment's test clock (decisions
// 10, 11).
import type { Sql } from 'postgres'
import { presentOf, type TestClock } from '../core/values/test-clock.js'
import { WallClock } from '../host/wall-clock.js'

/** Years on the wire have four digits. */
const latestMs = Date.UTC(9999, 0, 1)

/** A requested test clock: an instant or an offset from the wall clock, running unless frozen. */
export type ClockWish =
  | { readonly atMs: number; readonly frozen: boolean }
  | { readonly offsetMs: number; readonly frozen: boolean }

/**
 * The test clock for a request.
 *
 * wish       `atMs` epoch ms, or `offsetMs` from the wall clock.
 * presentMs  the environment's present; the new one may not be earlier.
 * wallMs     the wall clock.
 * returns    the clock, or the fault: `earlier` than the present, or `too_late` for a four-digit year.
 * source     decision 11.
 */
export function testClockTarget(
  wish: ClockWish,
  presentMs: number,
  wallMs: number,
): TestClock | 'earlier' | 'too_late' {
  const atMs = 'atMs' in wish ? wish.atMs : wallMs + wish.offsetMs
  if (!(atMs < latestMs)) return 'too_late'
  if (atMs < presentMs) return 'earlier'
  return wish.frozen ? { kind: 'frozen', atMs } : { kind: 'ticking', offsetMs: atMs - wallMs }
}

/**
 * The clock of the HTTP thread. A test clock is in force from the tick it is set, and is then stored. If that
 * fails, the former clock is restored and the caller gets the error.
 */
export class ServiceClock {
  readonly #sql: Sql
  readonly #wall: WallClock
  readonly #test = new Map<string, TestClock>()
  readonly #listeners: ((environmentId: string) => void)[] = []
  /** Clocks are stored in the order they were set. */
  #writes: Promise<unknown> = Promise.resolve()

  /** floorMs  earliest possible present. */
  constructor(options: { sql: Sql; source?: () => number; floorMs?: number }) {
    this.#sql = options.sql
    this.#wall = new WallClock(options.floorMs, options.source)
  }

  /** Read the test clocks again: another node has set one. */
  async reload(): Promise<void> {
    const had = [...this.#test.keys()]
    await this.load()
    for (const id of new Set([...had, ...this.#test.keys()]))
      for (const listener of this.#listeners) listener(id)
  }

  /** Load the test clocks, at start. */
  async load(): Promise<void> {
    const rows = await this.#sql<
      { id: string; clock_offset_ms: string | number | null; clock_frozen_at: Date | null }[]
    >`
      select id, clock_offset_ms, clock_frozen_at from environments
      where clock_offset_ms is not null or clock_frozen_at is not null`
    this.#test.clear()
    for (const row of rows) {
      const clock: TestClock =
        row.clock_frozen_at === null
          ? { kind: 'ticking', offsetMs: Number(row.clock_offset_ms) }
          : { kind: 'frozen', atMs: row.clock_frozen_at.getTime() }
      this.#test.set(row.id, clock)
    }
  }

  wall(): number {
    return this.#wall.now()
  }

  now(environmentId: string): number {
    return presentOf(this.#test.get(environmentId), this.wall())
  }

  testClock(environmentId: string): TestClock | null {
    return this.#test.get(environmentId) ?? null
  }

  /** The present of each environment that has a test clock, epoch ms. */
  presents(): ReadonlyMap<string, number> {
    const wallMs = this.wall()
    return new Map([...this.#test].map(([id, clock]) => [id, presentOf(clock, wallMs)]))
  }

  /** All test clocks, by environment. */
  testClocks(): Readonly<Record<string, TestClock>> {
    return Object.fromEntries(this.#test)
  }

  setTestClock(
    environmentId: string,
    clock: TestClock | null,
    record: ((tx: Sql) => Promise<void>) | null = null,
  ): Promise<void> {
    const former = this.#test.get(environmentId) ?? null
    this.#hold(environmentId, clock)
    const written = this.#writes.then(() => this.#write(environmentId, clock, record))
    this.#writes = written.catch(() => {})
    return written.catch(error => {
      if (this.testClock(environmentId) === clock) this.#hold(environmentId, former)
      throw error
    })
  }

  forgetEnvironment(environmentId: string): void {
    this.#test.delete(environmentId)
  }

  /** Register a listener, called in the same tick when an environment's time jumps. */
  onJump(listener: (environmentId: string) => void): void {
    this.#listeners.push(listener)
  }

  #hold(environmentId: string, clock: TestClock | null): void {
    if (clock) this.#test.set(environmentId, clock)
    else this.#test.delete(environmentId)
    for (const listener of this.#listeners) listener(environmentId)
  }

  async #write(
    environmentId: string,
    clock: TestClock | null,
    record: ((tx: Sql) => Promise<void>) | null,
  ): Promise<void> {
    const set = (sql: Sql) => sql`
      update environments set
        clock_offset_ms = ${clock?.kind === 'ticking' ? clock.offsetMs : null},
        clock_frozen_at = ${clock?.kind === 'frozen' ? new Date(clock.atMs) : null}
      where id = ${environmentId}`
    if (record === null) {
      await set(this.#sql)
      return
    }
    await this.#sql.begin(async transaction => {
      const tx = transaction as unknown as Sql
      await set(tx)
      await record(tx)
    })
  }
}
