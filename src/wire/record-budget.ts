// Which checks are kept as single records: so many in each second, whatever they answered, and beyond them denials of single
// checks, so many for each company and minute (FE-101, EX-5).
import { minuteMs } from '../core/values/period.js'

/** Records of checks that one thread may make. */
export interface RecordRates {
  /** Checks kept in each second. */
  readonly perSecond: number
  /** Denials of one company kept in a minute beyond that rate, 0 to 4,095. */
  readonly deniedPerMinute: number
  /** Denials of all companies kept in each second beyond that rate. */
  readonly deniedPerSecond: number
}

/** No single record is made: checks are only counted. */
export const noRecords: RecordRates = { perSecond: 0, deniedPerMinute: 0, deniedPerSecond: 0 }

/** Companies of a minute that are remembered; the denials of others are only counted. */
const companiesMax = 20_000

export class RecordBudget {
  private left = 0
  private deniedLeft = 0
  /** By company: minute × 2^12 + denials taken in it. */
  private readonly taken = new Map<string, number>()
  /** Companies of other minutes were forgotten in this second. */
  private swept = false

  constructor(private readonly rates: RecordRates) {
    this.tick()
  }

  /**
   * Whether a check is kept as a single record; it then counts.
   *
   * denied  of a single check that was denied: the company's id, the environment's for a check without company; else null.
   * atMs    in the environment's time.
   */
  take(denied: string | null, atMs: number): boolean {
    if (this.left > 0) {
      this.left--
      return true
    }
    return denied !== null && this.deniedLeft > 0 && this.takeDenial(denied, atMs)
  }

  /** A second is over. */
  tick(): void {
    this.left = this.rates.perSecond
    this.deniedLeft = this.rates.deniedPerSecond
    this.swept = false
  }

  private takeDenial(name: string, atMs: number): boolean {
    const minute = Math.floor(atMs / minuteMs)
    const had = this.taken.get(name)
    const count = had !== undefined && Math.floor(had / 4_096) === minute ? had % 4_096 : 0
    if (count >= this.rates.deniedPerMinute) return false
    if (had === undefined && this.taken.size >= companiesMax && !this.makeRoom(minute)) return false
    this.taken.set(name, minute * 4_096 + count + 1)
    this.deniedLeft--
    return true
  }

  /** Forget companies of other minutes, once in each second: it reads all. */
  private makeRoom(minute: number): boolean {
    if (this.swept) return false
    this.swept = true
    for (const [name, had] of this.taken) if (Math.floor(had / 4_096) !== minute) this.taken.delete(name)
    return this.taken.size < companiesMax
  }
}
