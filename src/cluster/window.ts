// The idempotency window of a node in a cluster. Shards claim keys in Redis (src/redis/claims.ts). This
// thread remembers none, not even those that it reads at its start, and every event counts as the first with its key.
import { type Claim, Dedupe } from '../entities/idempotency/dedupe.js'

export class SharedWindow extends Dedupe {
  constructor() {
    super(1)
  }

  override reserve(): void {}

  override load(): void {}

  override loadWords(): void {}

  override loadPacked(): void {}

  override isFull(): boolean {
    return false
  }

  override room(): number {
    return Number.MAX_SAFE_INTEGER
  }

  override begin(): number {
    return 0
  }

  override end(): void {}

  override prepare(): void {}

  override siftPrepared(): void {}

  override claimFor(): Claim | null {
    return null
  }

  override claimPrepared(): Claim | null {
    return null
  }

  override find(): Claim | null {
    return null
  }

  override isConfirmedAt(): boolean {
    return true
  }

  override confirm(): void {}

  override confirmAt(): void {}

  override release(): void {}

  override releaseAt(): void {}

  override print(): void {}
}
