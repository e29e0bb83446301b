// String interner for texts read from bytes: a repeated text is made once.
/** Strings of repeated byte texts, made once; one slot per hash. */
export class TextCache {
  readonly #held: string[]

  /** slots  a power of two. */
  constructor(slots = 1 << 16) {
    this.#held = new Array<string>(slots).fill('')
  }

  /**
   * The text in bytes [from, end), which are ASCII.
   *
   * hash  any hash of these bytes: equal for equal texts.
   */
  of(bytes: Buffer, from: number, end: number, hash: number): string {
    const slot = (hash ^ (hash >>> 16)) & (this.#held.length - 1)
    const held = this.#held[slot]!
    if (isText(held, bytes, from, end)) return held
    const made = bytes.toString('latin1', from, end)
    this.#held[slot] = made
    return made
  }
}

/** Whether bytes [from, end) are this text, of ASCII. */
export function isText(text: string, bytes: Buffer, from: number, end: number): boolean {
  const length = end - from
  if (text.length !== length) return false
  for (let i = 0; i < length; i++) if (text.charCodeAt(i) !== bytes[from + i]) return false
  return true
}
