// Usage as rating reads it: what it will ask for, found by a first pass, and the answers, from sums between instants.
import type { UsageReader } from './facts.js'
import type { EventSum } from './line.js'

/** A sum that rating asks for. Times are epoch ms. */
interface UsageNeed {
  readonly subtype: string
  readonly fromMs: number
  readonly untilMs: number
  readonly receivedMs: number
}

/** The value of a trait that rating asks for: the one it had before an instant. */
interface TraitNeed {
  readonly name: string
  readonly beforeMs: number
}

/** A value of a trait before an instant. */
export interface TraitValue extends TraitNeed {
  readonly value: bigint
}

/** Usage between two neighbouring instants, of the events received before another. */
export interface UsagePiece extends EventSum {
  readonly subtype: string
  readonly receivedMs: number
  readonly startMs: number
}

const none: EventSum = { quantity: 0n, count: 0, firstId: null, lastId: null }

/** Notes what is asked for and answers nothing: the first of two passes. */
export class UsageNeeds implements UsageReader {
  private readonly needs = new Map<string, UsageNeed>()
  private readonly values = new Map<string, TraitNeed>()

  sum(subtype: string, fromMs: number, untilMs: number, receivedMs: number): EventSum {
    if (untilMs > fromMs)
      this.needs.set(`${fromMs} ${untilMs} ${receivedMs} ${subtype}`, {
        subtype,
        fromMs,
        untilMs,
        receivedMs,
      })
    return none
  }

  trait(name: string, beforeMs: number): bigint {
    this.values.set(`${beforeMs} ${name}`, { name, beforeMs })
    return 0n
  }

  get asked(): readonly UsageNeed[] {
    return [...this.needs.values()]
  }

  get traits(): readonly TraitNeed[] {
    return [...this.values.values()]
  }

  /** The instants between which usage must be known, ascending. */
  get bounds(): number[] {
    const bounds = new Set(this.asked.flatMap(one => [one.fromMs, one.untilMs]))
    return [...bounds].sort((a, b) => a - b)
  }

  get received(): number[] {
    return [...new Set(this.asked.map(one => one.receivedMs))].sort((a, b) => a - b)
  }

  get subtypes(): string[] {
    return [...new Set(this.asked.map(one => one.subtype))].sort()
  }
}

/** Answers from pieces whose starts are the bounds that `UsageNeeds` named; pieces without events may be missing. */
export class UsageTable implements UsageReader {
  private readonly pieces = new Map<string, UsagePiece[]>()

  private readonly traits: ReadonlyMap<string, bigint>

  constructor(pieces: readonly UsagePiece[], traits: readonly TraitValue[] = []) {
    this.traits = new Map(traits.map(({ name, beforeMs, value }) => [`${beforeMs} ${name}`, value]))
    for (const piece of pieces) {
      const key = `${piece.receivedMs} ${piece.subtype}`
      const own = this.pieces.get(key)
      if (own) own.push(piece)
      else this.pieces.set(key, [piece])
    }
    for (const own of this.pieces.values()) own.sort((a, b) => a.startMs - b.startMs)
  }

  sum(subtype: string, fromMs: number, untilMs: number, receivedMs: number): EventSum {
    const own = this.pieces.get(`${receivedMs} ${subtype}`) ?? []
    let quantity = 0n
    let count = 0
    let firstId: string | null = null
    let lastId: string | null = null
    for (const piece of own) {
      if (piece.startMs < fromMs) continue
      if (piece.startMs >= untilMs) break
      quantity += piece.quantity
      count += piece.count
      firstId ??= piece.firstId
      lastId = piece.lastId ?? lastId
    }
    return { quantity, count, firstId, lastId }
  }

  trait(name: string, beforeMs: number): bigint {
    return this.traits.get(`${beforeMs} ${name}`) ?? 0n
  }
}
