// Division of an idempotency window: one part for the secret keys of each environment, one for its publishable keys,
// and a common rest. So no environment, and no public key, uses up the space of another.
import { hash } from 'node:crypto'

/** The keys of one class in one environment. */
export interface Part {
  /** Its place among all parts: 16 bits. */
  readonly index: number
  /** null: only the code of its environment is known so far. */
  environmentId: string | null
  readonly publishable: boolean
  /** Identifies the environment. */
  readonly code: number
  /** Weight of its keys: `keyWeight` each in memory, 1 in a file. */
  count: number
}

interface Pair {
  readonly secret: Part
  readonly publishable: Part
}

/** A key in memory weighs as much as so many of which only the filter is (key-archive.ts). */
const keyWeight = 25

/** Separate parts, at most; beyond it further environments share the last two. */
const partsMax = 65_536

/** Four bytes that identify an environment in the claims from ClickHouse (event_claims.sql). */
export function environmentCode(environmentId: string): number {
  const digest = hash('sha256', environmentId, 'buffer')
  return digest.readUInt32BE(0)
}

/**
 * Half of `keysMax` keys is divided among the environments, in equal parts for secret and for publishable keys. The
 * other half serves environments that have used up their part; publishable keys, all together, get half of that at
 * most. Until `divide` is called, all of it is shared. A new environment makes the parts of the others smaller; keys
 * beyond them stay until they are old, so that for a day the window may hold a little more than `keysMax`.
 */
export class WindowShares {
  private readonly parts: Part[] = []
  private readonly byCode = new Map<number, Pair>()
  private readonly byName = new Map<string, Pair>()
  private lastName = ''
  private last: Pair | null = null
  private reserve = 0
  private common: number
  private commonOfPublishable: number
  /** Keys beyond the parts, and those of them that are of publishable keys. */
  private beyond = 0
  private beyondOfPublishable = 0

  private readonly weightMax: number

  /** keys in memory; files hold many more. */
  constructor(keysMax: number) {
    this.weightMax = keysMax * keyWeight
    this.common = this.weightMax
    this.commonOfPublishable = this.weightMax
  }

  /** Divide anew among so many environments. */
  divide(environments: number): void {
    const pieces = 4 * Math.max(1, environments)
    this.reserve = Math.floor(this.weightMax / pieces)
    this.common = Math.max(1, Math.ceil(this.weightMax / 2))
    this.commonOfPublishable = Math.floor(this.common / 2)
    this.beyond = 0
    this.beyondOfPublishable = 0
    for (const part of this.parts) this.addBeyond(part, Math.max(0, part.count - this.reserve))
  }

  /** The part of an environment. */
  of(environmentId: string, publishable: boolean): Part {
    if (environmentId !== this.lastName || this.last === null) {
      this.last = this.byName.get(environmentId) ?? this.named(environmentId)
      this.lastName = environmentId
    }
    return publishable ? this.last.publishable : this.last.secret
  }

  /** The same by the code of the environment. */
  ofCode(code: number, publishable: boolean): Part {
    const pair = this.byCode.get(code) ?? this.open(code)
    return publishable ? pair.publishable : pair.secret
  }

  at(index: number): Part {
    return this.parts[index]!
  }

  /** Further keys that fit into a part. */
  room(part: Part): number {
    const own = Math.max(0, this.reserve - part.count)
    const all = this.common - this.beyond
    const common = part.publishable ? Math.min(all, this.commonOfPublishable - this.beyondOfPublishable) : all
    return Math.floor((own + Math.max(0, common)) / keyWeight)
  }

  /** A key was added. */
  added(part: Part): void {
    this.weigh(part, keyWeight)
  }

  /** A key is gone. */
  removed(part: Part): void {
    this.weigh(part, -keyWeight)
  }

  /** So many keys are in files, or (negative) no longer. */
  archived(part: Part, keys: number): void {
    this.weigh(part, keys)
  }

  private weigh(part: Part, weight: number): void {
    const before = Math.max(0, part.count - this.reserve)
    part.count += weight
    this.addBeyond(part, Math.max(0, part.count - this.reserve) - before)
  }

  /** Parts that hold keys and into which no other fits. */
  full(): readonly Part[] {
    return this.parts.filter(part => part.count > 0 && this.room(part) <= 0)
  }

  private addBeyond(part: Part, keys: number): void {
    this.beyond += keys
    if (part.publishable) this.beyondOfPublishable += keys
  }

  private named(environmentId: string): Pair {
    const code = environmentCode(environmentId)
    const pair = this.byCode.get(code) ?? this.open(code)
    pair.secret.environmentId ??= environmentId
    pair.publishable.environmentId ??= environmentId
    this.byName.set(environmentId, pair)
    return pair
  }

  private open(code: number): Pair {
    const last = this.parts.length - 2
    if (this.parts.length >= partsMax)
      return { secret: this.parts[last]!, publishable: this.parts[last + 1]! }
    const part = (publishable: boolean): Part => {
      const made = { index: this.parts.length, environmentId: null, publishable, code, count: 0 }
      this.parts.push(made)
      return made
    }
    const pair = { secret: part(false), publishable: part(true) }
    this.byCode.set(code, pair)
    return pair
  }
}
