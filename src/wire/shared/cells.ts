// Access to cells that threads share. Tables take it as an argument: in the service it is `Atomics`; a test puts a
// scheduler in its place, which stops every thread at every access and tries the interleavings (test/wire/shared).

export interface Cells {
  /**
   * Data between two loads that tell whether it was written meanwhile, or under a lock: a thread's reads and writes of it
   * keep their order among these.
   */
  read(cells: Int32Array, at: number): number
  write(cells: Int32Array, at: number, value: number): void
  load(cells: Int32Array, at: number): number
  store(cells: Int32Array, at: number, value: number): void
  /** Put `value` where `expected` is; the value that was there. */
  exchangeIf(cells: Int32Array, at: number, expected: number, value: number): number
  /** Give the other threads a moment, or until the cell has another value than this. */
  wait(cells: Int32Array, at: number, value: number): void
}

/** Longest sleep of a thread that waits for a cell; nobody wakes it. */
const waitMs = 1

/**
 * Processors of this kind keep the order of a thread's loads among each other, and of its stores, and the engine moves none
 * of them over a call of `Atomics`. Other processors need a call of `Atomics` for each access.
 */
const keepsOrder = process.arch === 'x64'

export const atomicCells: Cells = {
  read: keepsOrder ? (cells, at) => cells[at]! : (cells, at) => Atomics.load(cells, at),
  write: keepsOrder
    ? (cells, at, value) => {
        cells[at] = value
      }
    : (cells, at, value) => {
        Atomics.store(cells, at, value)
      },
  load: (cells, at) => Atomics.load(cells, at),
  store: (cells, at, value) => {
    Atomics.store(cells, at, value)
  },
  exchangeIf: (cells, at, expected, value) => Atomics.compareExchange(cells, at, expected, value),
  wait: (cells, at, value) => {
    Atomics.wait(cells, at, value, waitMs)
  },
}
