// Calls in which a shard claimed keys, numbered within its epoch, and the floor: every call before it is settled. A call is
// settled when each of its keys has its record, or was given back, or when the call itself is void. All of that is answered
// by Redis first.
//
// The floor is kept in Redis. So any shard knows of a claim below it that its event is in the journal.
import type { ClaimCall } from '../core/usage/batch.js'
import type { Sequence } from '../journal/journal.js'

/** How far an epoch is settled. */
interface Floor {
  /** The first call that may not be settled. */
  readonly n: number
  /** Records of that call and later ones come after this sequence. */
  readonly behind: Sequence
  /** As it is kept: `epoch:n:behind`. */
  readonly text: string
}

const none: Floor = { n: 0, behind: 0, text: '' }

export class Calls {
  /** In the order of their numbers. */
  private readonly open = new Map<number, ClaimCall>()
  private next = 1
  private committed: Sequence = 0
  private kept = none
  /** The epoch in which keys can be claimed; '' before the claims of former epochs are decided. */
  epoch = ''

  /** Claims of former epochs are decided, and this floor is kept. */
  begin(epoch: string, n: number, committed: Sequence): void {
    this.end()
    this.epoch = epoch
    this.next = n
    this.committed = committed
    this.kept = { n, behind: committed, text: `${epoch}:${n}:${committed}` }
  }

  /** The epoch is over: nothing of its open calls is written any more. */
  end(): void {
    this.epoch = ''
    this.open.clear()
  }

  /** A call for some keys. */
  call(keys: number): ClaimCall {
    const n = this.next++
    const call = { epoch: this.epoch, n, behind: this.committed, left: keys }
    this.open.set(n, call)
    return call
  }

  /** Some keys of a call have their records, or were given back. */
  settle(call: ClaimCall, keys: number): void {
    if (call.epoch !== this.epoch) return
    call.left -= keys
    if (call.left === 0) this.open.delete(call.n)
  }

  /** A call without an answer: whatever it claimed, or still claims, is free. */
  void(call: ClaimCall): void {
    if (call.epoch !== this.epoch) return
    this.open.delete(call.n)
  }

  /** Records up to here are durable. */
  reached(committed: Sequence): void {
    if (committed > this.committed) this.committed = committed
  }

  /** Whether a call of this epoch may not be settled. */
  isOpen(n: number): boolean {
    return this.open.has(n)
  }

  /** The floor, if it is this far beyond the one that is kept: a call, or a number of records. null: it is not. */
  beyond(records: number): Floor | null {
    const [first] = this.open.values()
    const n = first?.n ?? this.next
    const behind = first?.behind ?? this.committed
    if (this.epoch === '' || (n === this.kept.n && behind - this.kept.behind < records)) return null
    return { n, behind, text: `${this.epoch}:${n}:${behind}` }
  }

  /** This floor is in Redis, and in its replicas. */
  keep(floor: Floor): void {
    if (floor.text.startsWith(`${this.epoch}:`) && floor.behind >= this.kept.behind && floor.n >= this.kept.n)
      this.kept = floor
  }

  /** Records after this sequence are needed to decide the claims of this epoch when it is over. */
  get needed(): Sequence {
    return this.kept.behind
  }
}
