// How often each of many ids was asked for of late, about: a count-min sketch whose counts are halved now and then.
import { hashOf } from '../core/values/id.js'

const rowBits = 16
const rowLength = 1 << rowBits
const countMax = 255

export class AskCounts {
  /** Two rows: an id has a place in each, and its count is the lesser. */
  private readonly counts = new Uint8Array(2 * rowLength)
  private asked = 0

  /** `halvedAfter`: questions after which all counts are halved. */
  constructor(private readonly halvedAfter: number) {}

  /** An id is asked for. */
  add(id: string): void {
    const [first, second] = placesOf(id)
    const least = Math.min(this.counts[first]!, this.counts[second]!)
    if (least < countMax)
      for (const place of [first, second]) if (this.counts[place] === least) this.counts[place]++
    if (++this.asked < this.halvedAfter) return
    this.asked = 0
    for (let place = 0; place < this.counts.length; place++) this.counts[place]! >>= 1
  }

  /** At most 255; ids that share both places count together. */
  of(id: string): number {
    const [first, second] = placesOf(id)
    return Math.min(this.counts[first]!, this.counts[second]!)
  }
}

function placesOf(id: string): readonly [number, number] {
  const hash = hashOf(id)
  return [hash & (rowLength - 1), rowLength + (hash >>> (32 - rowBits))]
}
