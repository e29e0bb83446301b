// What is posted to a shard, in order: many little posts in a turn of its loop, one of many events. In between the loop
// hears what the disk has done, so that what was written is acknowledged and the next group leaves while the next events
// are counted, not after all that came together.
import { isLong, type Packet } from '../../src/protocol/message-codec.js'

export class Mailbox {
  private waiting: Packet[] = []
  /** A long one was taken in this turn. */
  private taken = false

  /** take: what it throws ends the thread, as in any turn. */
  constructor(private readonly take: (cells: Packet) => void) {}

  /** Take it now, or when its turn has come. */
  add(cells: Packet): void {
    if (this.taken || this.waiting.length > 0) this.waiting.push(cells)
    else this.give(cells)
  }

  private give(cells: Packet): void {
    if (isLong(cells)) {
      this.taken = true
      setImmediate(this.turn)
    }
    this.take(cells)
  }

  private readonly turn = (): void => {
    this.taken = false
    let given = 0
    while (given < this.waiting.length && !this.taken) this.give(this.waiting[given++]!)
    this.waiting = this.waiting.slice(given)
  }
}
