// Random numbers from a seed, and draws by popularity: the same for every run.

/** A generator of numbers in [0, 1) with 32 bits of state. */
export class Random {
  private state: number

  constructor(seed: number) {
    this.state = seed >>> 0
  }

  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0
    let mixed = this.state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number below `bound`. */
  below(bound: number): number {
    return Math.floor(this.next() * bound)
  }

  of<T>(values: readonly T[]): T {
    return values[this.below(values.length)]!
  }
}

/** Draws an index below `count`: alike, or by Zipf with s = 1, where index 0 is the most popular. */
export type Draw = (random: Random) => number

export function uniform(count: number): Draw {
  return random => random.below(count)
}

export function zipf(count: number): Draw {
  const sums = new Float64Array(count)
  let sum = 0
  for (let rank = 0; rank < count; rank++) {
    sum += 1 / (rank + 1)
    sums[rank] = sum
  }
  return random => {
    const wanted = random.next() * sum
    let [low, high] = [0, count - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (sums[middle]! <= wanted) low = middle + 1
      else high = middle
    }
    return low
  }
}
