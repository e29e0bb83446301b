// Mailbox of a shard: packets in order. One turn of its loop takes many small packets, or one with many events.
// Between turns the loop handles disk completions, so that written groups are acknowledged and the next group leaves
// while further events are counted, not after all packets that came together.
import { isLong, type Packet } from '../../src/wire/message-codec.js'

export class Mailbox {
  private waiting: Packet[] = []
  /** A long one was taken in this turn. */
  private taken = false

  /** take: an exception from it ends the thread, as in any turn. */
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
