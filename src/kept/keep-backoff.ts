// Which ids are not worth keeping for now: what was kept of them changed before it was asked for again. After each such time
// twice as many questions pass until it is tried again.
import { hashOf } from '../core/values/id.js'

const length = 1 << 16
/** At most 2 ** this - 1 questions pass. */
const streakMax = 5

export class KeepBackoff {
  /** By the id's place: how often in a row keeping was of no use, and questions that still pass. Ids may share a place. */
  private readonly streaks = new Uint8Array(length)
  private readonly passing = new Uint8Array(length)

  /** Whether to keep what this question gives; each call counts as a question. */
  tries(id: string): boolean {
    const place = placeOf(id)
    if (this.passing[place] === 0) return true
    this.passing[place]! -= 1
    return false
  }

  /** Something kept is replaced. `wasUsed`: it was given again at least once. */
  judge(id: string, wasUsed: boolean): void {
    const place = placeOf(id)
    const streak = wasUsed ? 0 : Math.min(this.streaks[place]! + 1, streakMax)
    this.streaks[place] = streak
    this.passing[place] = (1 << streak) - 1
  }
}

const placeOf = (id: string): number => hashOf(id) & (length - 1)
