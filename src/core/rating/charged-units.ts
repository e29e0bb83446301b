// Units that a period holds of each price, and when each was charged: what a credit takes back.
import { lesser } from '../values/amount.js'

/** Units that were charged at one instant, epoch ms; null: nothing was charged for them (RA-29). */
interface Charged {
  readonly units: bigint
  readonly atMs: number | null
}

/** Units that a credit takes back, and when they were charged. */
export interface TakenBack {
  readonly units: bigint
  readonly atMs: number
}

/** Units that went without a credit, and until when they were paid for. */
interface GivenUp extends TakenBack {
  readonly untilMs: number
}

export class ChargedUnits {
  private readonly parts = new Map<string, Charged[]>()
  private readonly givenUp = new Map<string, GivenUp[]>()

  /** openedMs  begin of the time that is paid for: what was not noted was charged then. */
  constructor(private readonly openedMs: number) {}

  add(priceId: string, units: bigint, atMs: number | null): void {
    if (units <= 0n) return
    const parts = this.parts.get(priceId)
    if (parts) parts.push({ units, atMs })
    else this.parts.set(priceId, [{ units, atMs }])
  }

  /**
   * Take units away: those that nothing was charged for first, then those that were charged last.
   *
   * returns  those that were charged, latest first.
   */
  take(priceId: string, units: bigint): TakenBack[] {
    let missing = units
    const takenFrom = (parts: readonly Charged[]): [kept: Charged[], taken: Charged[]] => {
      const kept: Charged[] = []
      const taken: Charged[] = []
      for (const part of parts.toReversed()) {
        const out = lesser(part.units, missing)
        missing -= out
        if (out > 0n) taken.push({ ...part, units: out })
        if (out < part.units) kept.unshift({ ...part, units: part.units - out })
      }
      return [kept, taken]
    }
    const all = this.parts.get(priceId) ?? []
    const [uncharged] = takenFrom(all.filter(one => one.atMs === null))
    const [charged, taken] = takenFrom(all.filter(one => one.atMs !== null))
    this.parts.set(priceId, [...charged, ...uncharged])
    const back = taken.map(one => ({ units: one.units, atMs: one.atMs! }))
    return missing > 0n ? [...back, { units: missing, atMs: this.openedMs }] : back
  }

  /** Units of a price that something was charged for. */
  charged(priceId: string): bigint {
    const parts = this.parts.get(priceId) ?? []
    return parts.reduce((sum, { units, atMs }) => (atMs === null ? sum : sum + units), 0n)
  }

  /** Note that units which nothing was charged for are charged now. */
  settle(priceId: string, nowMs: number): void {
    const parts = this.parts.get(priceId) ?? []
    this.parts.set(
      priceId,
      parts.map(({ units, atMs }) => ({ units, atMs: atMs ?? nowMs })),
    )
  }

  /** When units of a price were charged last. */
  lastMs(priceId: string): number {
    const charged = this.parts.get(priceId)?.filter(one => one.atMs !== null) ?? []
    return charged.at(-1)?.atMs ?? this.openedMs
  }

  /** Note that units which were taken away are not credited: they stay paid for until an instant. source: RA-14 */
  giveUp(priceId: string, taken: readonly TakenBack[], untilMs: number): void {
    const before = this.givenUp.get(priceId) ?? []
    this.givenUp.set(priceId, [...before, ...taken.map(part => ({ ...part, untilMs }))])
  }

  /**
   * Units come: those first that went without a credit and are paid for until then. They count as charged when they were.
   *
   * returns  how many of them are paid for.
   */
  comeBack(priceId: string, units: bigint, untilMs: number): bigint {
    let missing = units
    const kept: GivenUp[] = []
    const parts = this.parts.get(priceId) ?? []
    for (const part of this.givenUp.get(priceId) ?? []) {
      const back = part.untilMs < untilMs ? 0n : lesser(part.units, missing)
      missing -= back
      if (back > 0n) parts.push({ units: back, atMs: part.atMs })
      if (back < part.units) kept.push({ ...part, units: part.units - back })
    }
    this.givenUp.set(priceId, kept)
    this.parts.set(
      priceId,
      parts.sort((a, b) => (a.atMs ?? 0) - (b.atMs ?? 0)),
    )
    return units - missing
  }
}
