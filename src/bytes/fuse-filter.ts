// Binary fuse filters: immutable sets of 64-bit keys, in 1.13 to 1.4 cells a key. A key of the set is always found. Another
// key is found once in 256 times where a cell has 8 bits, once in 65,536 times where it has 16.
//
// Construction: Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters" (2022), 3-wise.

/** The cells of a filter. */
type FilterCells = Uint8Array | Uint16Array

/** Sizes that follow from the number of keys. */
export interface Shape {
  readonly segmentLength: number
  /** Positions of a key's first cell. */
  readonly firsts: number
  readonly cells: number
}

const shapes = new Map<number, Shape>()

/** The sizes of the filter of so many different keys. */
export function shapeOf(keys: number): Shape {
  let shape = shapes.get(keys)
  if (shape !== undefined) return shape
  const segmentLength = keys < 2 ? 4 : 2 ** Math.min(15, Math.floor(Math.log(keys) / Math.log(3.33) + 2.25))
  const factor = keys < 2 ? 0 : Math.max(1.125, 0.875 + (0.25 * Math.log(1e6)) / Math.log(keys))
  const segments = Math.max(1, Math.ceil(Math.round(keys * factor) / segmentLength) - 2)
  shape = { segmentLength, firsts: segments * segmentLength, cells: (segments + 2) * segmentLength }
  if (shapes.size > 4_096) shapes.clear()
  shapes.set(keys, shape)
  return shape
}

/** Cells of the filter of so many different keys. */
export function filterCells(keys: number): number {
  return keys === 0 ? 0 : shapeOf(keys).cells
}

/** Cells of one key, set by `place`: nothing is made for a look-up. */
let first = 0
let second = 0
let third = 0
let print = 0

function place(high: number, low: number, seed: number, segmentLength: number, firsts: number): void {
  const a = mix(high ^ Math.imul(seed, 0x9e3779b1))
  const b = mix(low ^ a)
  first = Math.floor((a >>> 0) * (firsts / 0x1_0000_0000))
  second = (first + segmentLength) ^ (b & (segmentLength - 1))
  third = (first + 2 * segmentLength) ^ ((b >>> 16) & (segmentLength - 1))
  print = mix(b + 0x7f4a7c15) & 0xffff
}

function mix(value: number): number {
  let mixed = value ^ (value >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return mixed ^ (mixed >>> 16)
}

/**
 * Whether a filter may hold a key.
 *
 * filters                where its cells are, from `at` on.
 * segmentLength, firsts  of its shape; it has a key at least.
 */
export function mayHold(
  filters: FilterCells,
  at: number,
  segmentLength: number,
  firsts: number,
  seed: number,
  high: number,
  low: number,
): boolean {
  place(high, low, seed, segmentLength, firsts)
  const wanted = filters.BYTES_PER_ELEMENT === 1 ? print & 0xff : print
  return (filters[at + first]! ^ filters[at + second]! ^ filters[at + third]!) === wanted
}

/**
 * Build a filter.
 *
 * highs, lows  the two words of each key; the first `count`, all different.
 * into         where its `filterCells(count)` cells go, zeros.
 * returns      its seed.
 * errors       Error when no seed is found: keys are repeated.
 */
export function buildFilter(highs: Uint32Array, lows: Uint32Array, count: number, into: FilterCells): number {
  if (count === 0) return 0
  const shape = shapeOf(count)
  const { segmentLength, firsts } = shape
  const counts = new Uint16Array(shape.cells)
  const keys = new Int32Array(shape.cells)
  const alone = new Int32Array(shape.cells)
  const order = new Int32Array(count)
  const found = new Int32Array(count)
  for (let seed = 1; seed <= 100; seed++) {
    counts.fill(0)
    keys.fill(0)
    for (let i = 0; i < count; i++) {
      place(highs[i]!, lows[i]!, seed, segmentLength, firsts)
      counts[first]!++
      counts[second]!++
      counts[third]!++
      keys[first]! ^= i
      keys[second]! ^= i
      keys[third]! ^= i
    }
    let waiting = 0
    for (let cell = 0; cell < shape.cells; cell++) if (counts[cell] === 1) alone[waiting++] = cell
    let peeled = 0
    while (waiting > 0) {
      const cell = alone[--waiting]!
      if (counts[cell] !== 1) continue
      const key = keys[cell]!
      order[peeled] = key
      found[peeled++] = cell
      place(highs[key]!, lows[key]!, seed, segmentLength, firsts)
      for (const other of [first, second, third]) {
        counts[other]!--
        keys[other]! ^= key
        if (counts[other] === 1) alone[waiting++] = other
      }
    }
    if (peeled < count) continue
    for (let i = count - 1; i >= 0; i--) {
      const key = order[i]!
      const cell = found[i]!
      place(highs[key]!, lows[key]!, seed, segmentLength, firsts)
      // the cell itself is still zero; 8 bits keep the low half of the print
      into[cell] = print ^ into[first]! ^ into[second]! ^ into[third]!
    }
    return seed
  }
  throw new Error('keys of a filter are repeated')
}
