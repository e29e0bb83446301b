// Environments as small numbers, for slots of shared tables. A number is never used again.

/** Numbers fit into 30 bits beside the kind of an entity. */
const numbersMax = 2 ** 30 - 1

export class EnvironmentNumbers {
  private readonly numbers = new Map<string, number>()
  private lastId = ''
  private last = 0

  /** The number of an environment, from 1. */
  of(environmentId: string): number {
    if (environmentId !== this.lastId) {
      this.last = this.numbers.get(environmentId) ?? this.add(environmentId)
      this.lastId = environmentId
    }
    return this.last
  }

  private add(environmentId: string): number {
    const number = this.numbers.size + 1
    if (number > numbersMax) throw new Error('too many environments')
    this.numbers.set(environmentId, number)
    return number
  }
}
