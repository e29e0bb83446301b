// Numbers that tell fronts when to forget what they know: one for keys, environments and limits, and one for each
// environment's definitions and clock. The main thread raises them before a change is acknowledged.

/** Several environments may share a number: then a change of one makes fronts forget the others too, and ask again. */
const places = 1 << 14

export class Editions {
  private readonly cells: Int32Array

  /** Every thread makes its own over the same memory. */
  constructor(readonly memory: SharedArrayBuffer) {
    this.cells = new Int32Array(memory)
  }

  static make(): Editions {
    return new Editions(new SharedArrayBuffer((places + 1) * Int32Array.BYTES_PER_ELEMENT))
  }

  /** The number of keys, environments and limits. */
  get ofAll(): number {
    return Atomics.load(this.cells, places)
  }

  /** environment: its number in the directory's tables. */
  of(environment: number): number {
    return Atomics.load(this.cells, environment & (places - 1))
  }

  raiseAll(): void {
    Atomics.add(this.cells, places, 1)
  }

  raise(environment: number): void {
    Atomics.add(this.cells, environment & (places - 1), 1)
  }
}
