// Checks at a fixed rate, independent of their outcome: each is timed from when it was due, so that a stall of one
// second shows in every request due within it.
import { Asker, atRate, constantly } from './asker.js'

/** Times are kept in steps of a fiftieth of a millisecond, up to a minute. */
const stepsPerMs = 50
const slowestMs = 60_000

/** Times of requests. */
class Times {
  private readonly counts = new Uint32Array(slowestMs * stepsPerMs + 1)
  count = 0
  slowestMs = 0

  add(ms: number): void {
    this.counts[Math.min(this.counts.length - 1, Math.floor(ms * stepsPerMs))]!++
    this.count++
    this.slowestMs = Math.max(this.slowestMs, ms)
  }

  /** The time that this share of the requests took at most, ms. */
  quantile(share: number): number {
    let left = Math.ceil(this.count * share)
    for (let step = 0; step < this.counts.length; step++) {
      left -= this.counts[step]!
      if (left <= 0) return (step + 1) / stepsPerMs
    }
    return slowestMs
  }
}

export class Pacer {
  times = new Times()
  /** Answers that were no 200, by status. */
  readonly wrong = new Map<string, number>()
  private readonly asker: Asker
  private connections = 0
  /** Whether each connection asks again once it is answered. */
  private again = false
  private end = () => {}

  constructor(path: string, body: string) {
    this.asker = new Asker(
      constantly(path, body),
      (status, begunMs) => this.hear(status, begunMs),
      () => this.count('closed'),
    )
  }

  async open(port: number, connections: number): Promise<void> {
    this.connections = connections
    await this.asker.open(port, connections)
  }

  /** Send at this rate from now on; null: as many as there are connections, each after the one before. */
  start(perSecond: number | null): void {
    this.stop()
    this.times = new Times()
    if (perSecond !== null) {
      this.end = atRate(perSecond, dueMs => this.asker.ask(dueMs))
      return
    }
    this.again = true
    for (let index = 0; index < this.connections; index++) this.asker.ask(performance.now())
  }

  /** Send no more; requests in flight still count. */
  stop(): void {
    this.end()
    this.again = false
  }

  close(): void {
    this.stop()
    this.asker.close()
  }

  private hear(status: string, begunMs: number): void {
    if (status !== '200') this.count(status)
    if (status !== 'closed') this.times.add(performance.now() - begunMs)
    if (this.again) this.asker.ask(performance.now())
  }

  private count(status: string): void {
    this.wrong.set(status, (this.wrong.get(status) ?? 0) + 1)
  }
}
