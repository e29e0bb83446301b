// Keys that fronts were told of, by the numbers under which fronts name them.
import type { KeyRecord } from '../../kit/call.js'

/** Most keys, each with an environment, that have a number. */
const keysMax = 100_000

interface ToldKey {
  readonly key: KeyRecord
  readonly environmentId: string
}

export class ToldKeys {
  private readonly numbers = new Map<string, number>()
  private readonly keys: ToldKey[] = []
  /** The edition of keys under which all of this is so. */
  private edition = -1

  /** The number of a key under an edition; null: there are too many. */
  tell(key: KeyRecord, environmentId: string, edition: number): number | null {
    if (edition !== this.edition) {
      this.numbers.clear()
      this.keys.length = 0
      this.edition = edition
    }
    const name = `${key.id} ${environmentId}`
    const known = this.numbers.get(name)
    if (known !== undefined) return known
    if (this.keys.length >= keysMax) return null
    this.numbers.set(name, this.keys.length)
    return this.keys.push({ key, environmentId }) - 1
  }

  /** Null: the edition is an earlier one. */
  find(number: number, edition: number): ToldKey | null {
    return edition === this.edition ? (this.keys[number] ?? null) : null
  }
}
