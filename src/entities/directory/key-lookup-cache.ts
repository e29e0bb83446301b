// Cache of key lookups by raw bytes: callers send the same keys again and again, and comparing four bytes at a time
// costs less than a text and three map lookups.

/** A body as received, and as text with one character per byte. */
export interface Sent {
  readonly view: DataView
  readonly text: string
}

/** Position of a key `{"name":"value"}` in a body, and of its name and value, without quotes. */
export interface SentKey {
  readonly at: number
  readonly end: number
  readonly nameAt: number
  readonly nameEnd: number
  readonly valueAt: number
  readonly valueEnd: number
}

/** Keys kept: a later one takes the place of an earlier one. There are more places once as many were kept as there are. */
const placesMin = 1 << 6
const placesMax = 1 << 15
// A place: when it was found, whose environment, how long the keys are, and the keys.
const placeBytes = 64
const environmentAt = 8
const lengthAt = 12
const keysAt = 16
/** Allowed length of keys in bytes; the minimum is the shortest object with a member. */
const bytesMax = placeBytes - keysAt
const bytesMin = 8

/** Entities of one kind by the bytes of one key of theirs, as it was sent: `{"name":"value"}`. */
export class KeyLookupCache {
  private places = 0
  private bytes = new DataView(new ArrayBuffer(0))
  private ids: string[] = []
  /** Since there are as many places. */
  private kept = 0
  private readonly numbers = new Map<string, number>()
  /** Asked for last, and its number: from 1. */
  private environmentId = ''
  private environment = 0
  /** Hash of the keys that were looked up last. */
  private hash = 0

  constructor() {
    this.resize(placesMin)
  }

  /**
   * The cached entity id of keys, by their raw bytes.
   *
   * keyEpoch  the directory's key epoch: entries from an earlier epoch are invalid.
   * returns     the id, or null on a miss.
   */
  get(environmentId: string, body: DataView, at: number, end: number, keyEpoch: number): string | null {
    const length = end - at
    if (length < bytesMin || length > bytesMax) return null
    if (environmentId !== this.environmentId) this.enter(environmentId)
    const last = end - 4
    let hash = length
    for (let i = at; i < last; i += 4) {
      hash = Math.imul(hash ^ body.getInt32(i, true), 0x01000193)
      hash ^= hash >>> 15
    }
    hash = Math.imul(hash ^ body.getInt32(last, true), 0x01000193)
    hash ^= hash >>> 15
    this.hash = hash
    const { bytes } = this
    const place = hash & (this.places - 1)
    const from = place * placeBytes
    if (bytes.getInt32(from + lengthAt, true) !== length) return null
    if (bytes.getInt32(from + environmentAt, true) !== this.environment) return null
    if (bytes.getFloat64(from, true) !== keyEpoch) return null
    const keys = from + keysAt - at
    for (let i = at; i < last; i += 4)
      if (bytes.getInt32(keys + i, true) !== body.getInt32(i, true)) return null
    return bytes.getInt32(keys + last, true) === body.getInt32(last, true) ? this.ids[place]! : null
  }

  /** Store the result for the keys of the last `get`. */
  put(body: DataView, at: number, end: number, keyEpoch: number, id: string): void {
    const length = end - at
    if (length < bytesMin || length > bytesMax) return
    if (this.kept === this.places && this.places < placesMax) this.resize(8 * this.places)
    this.kept++
    const { bytes } = this
    const place = this.hash & (this.places - 1)
    const from = place * placeBytes
    const last = end - 4
    bytes.setFloat64(from, keyEpoch, true)
    bytes.setInt32(from + environmentAt, this.environment, true)
    bytes.setInt32(from + lengthAt, length, true)
    const keys = from + keysAt - at
    for (let i = at; i < last; i += 4) bytes.setInt32(keys + i, body.getInt32(i, true), true)
    bytes.setInt32(keys + last, body.getInt32(last, true), true)
    this.ids[place] = id
  }

  private resize(places: number): void {
    this.places = places
    this.bytes = new DataView(new ArrayBuffer(places * placeBytes))
    this.ids = new Array(places).fill('')
    this.kept = 0
  }

  private enter(environmentId: string): void {
    let number = this.numbers.get(environmentId)
    if (number === undefined) {
      number = this.numbers.size + 1
      this.numbers.set(environmentId, number)
    }
    this.environmentId = environmentId
    this.environment = number
  }
}
