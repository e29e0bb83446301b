// Which denials are kept as single records once the rate of records is used up: so many for each company and minute (EX-5).
import { minuteMs } from '../core/values/period.js'

/** Companies of a minute that are remembered; the denials of others are only counted. */
const companiesMax = 20_000

export class KeptDenials {
  /** By company: minute × 2^12 + denials taken in it. */
  private readonly taken = new Map<string, number>()

  /** perMinute  records of one company in a minute, 0 to 4,095. */
  constructor(private readonly perMinute: number) {}

  /**
   * Whether a denial is kept; it then counts.
   *
   * name  the company's id; the environment's for a check without company.
   * atMs  in the environment's time.
   */
  take(name: string, atMs: number): boolean {
    if (this.perMinute === 0) return false
    const minute = Math.floor(atMs / minuteMs)
    const had = this.taken.get(name)
    const count = had !== undefined && Math.floor(had / 4_096) === minute ? had % 4_096 : 0
    if (count >= this.perMinute) return false
    if (had === undefined && this.taken.size >= companiesMax && !this.makeRoom(minute)) return false
    this.taken.set(name, minute * 4_096 + count + 1)
    return true
  }

  /** Forgets companies of other minutes. */
  private makeRoom(minute: number): boolean {
    for (const [name, had] of this.taken) if (Math.floor(had / 4_096) !== minute) this.taken.delete(name)
    return this.taken.size < companiesMax
  }
}
