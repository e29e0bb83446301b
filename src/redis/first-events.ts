// Asks ClickHouse for the first events with some keys: what is asked at about the same time is one statement for each span.
import type { FindFirst, StoredFirst, Suspect } from './old-claims.js'
import type { SealedSpan } from './old-keys.js'

/** Keys of one statement, and statements at once. */
const keysMax = 500
const atOnce = 2
/** Keys that wait, at most: more are refused, so that a slow ClickHouse fills no memory. */
const waitingMax = 20_000

/** A key as ClickHouse has it. */
interface StoredKey extends StoredFirst {
  readonly env: string
  readonly key: string
}

interface Asked {
  readonly suspect: Suspect
  readonly resolve: (first: StoredFirst | null) => void
  readonly reject: (error: unknown) => void
}

export class FirstEvents {
  /** By the ends of their spans. */
  private readonly waiting = new Map<number, Asked[]>()
  private count = 0
  private asking = 0

  constructor(
    private readonly ask: (span: SealedSpan, keys: readonly string[]) => Promise<readonly StoredKey[]>,
  ) {}

  /** errors  those of ClickHouse; Error when too many keys wait. */
  readonly find: FindFirst = suspect =>
    new Promise((resolve, reject) => {
      if (this.count >= waitingMax) return reject(new Error('too many idempotency keys wait for ClickHouse'))
      const { toMs } = suspect.span
      const asked = { suspect, resolve, reject }
      const others = this.waiting.get(toMs)
      if (others === undefined) this.waiting.set(toMs, [asked])
      else others.push(asked)
      this.count++
      // events of one turn are asked together
      setImmediate(() => void this.next())
    })

  private async next(): Promise<void> {
    if (this.asking >= atOnce) return
    const [first] = this.waiting
    if (first === undefined) return
    const [toMs, all] = first
    this.waiting.delete(toMs)
    const some = all.splice(0, keysMax)
    if (all.length > 0) this.waiting.set(toMs, all)
    this.count -= some.length
    this.asking++
    await this.answer(some)
    this.asking--
    void this.next()
  }

  private async answer(some: readonly Asked[]): Promise<void> {
    try {
      const keys = [...new Set(some.map(({ suspect }) => suspect.key))]
      const rows = await this.ask(some[0]!.suspect.span, keys)
      for (const { suspect, resolve } of some) {
        let last: StoredFirst | null = null
        for (const row of rows)
          if (row.key === suspect.key && row.env === suspect.env)
            if (last === null || row.receivedAtMs > last.receivedAtMs) last = row
        resolve(last)
      }
    } catch (error) {
      for (const { reject } of some) reject(error)
    }
  }
}
