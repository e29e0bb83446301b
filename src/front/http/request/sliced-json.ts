// Long answers become JSON a little in each turn of the event loop, environments by turns: no check waits for a list of another
// caller (security H3, H6).
import { ServiceError } from '../../../errors.js'
import { jsonText } from '../../../json.js'
import { Turns } from '../../stream/turns.js'

const turns = new Turns()
/** How long an answer is written at once before it waits for turns, ms. */
const atOnceMs = 1
/** Characters of a list. One that has more is asked for in smaller pages. source: decision */
const listLengthMax = 33_554_432
/** Lists inside of lists that are divided: rules of flags, conditions of rules. */
const depthMax = 6

/**
 * Write a list, or a record of lists, as JSON.
 *
 * group    whose answer it is.
 * paid     called with the characters written, when all is, or when it is refused: both cost.
 * returns  the text in pieces; a promise where it takes more than a moment.
 * errors   query_invalid (400) for a list that is too long.
 */
export function slicedJson(
  data: unknown,
  group: string,
  paid: (characters: number) => void,
): readonly string[] | Promise<readonly string[]> {
  const writer = new Writer(data, paid)
  if (writer.run()) return writer.pieces
  return new Promise((resolve, reject) => {
    const next = (): void => {
      try {
        if (writer.run()) resolve(writer.pieces)
        else turns.run(next, group)
      } catch (error) {
        reject(error)
      }
    }
    turns.run(next, group)
  })
}

class Writer {
  readonly pieces: string[] = []
  private readonly parts: Iterator<string>
  private readonly most: number
  private length = 0

  constructor(
    data: unknown,
    private readonly paid: (characters: number) => void,
  ) {
    this.parts = partsOf(data, 0)
    this.most = Array.isArray(data) && data.length > 1 ? listLengthMax : Number.POSITIVE_INFINITY
  }

  /** Write for a moment; returns whether all is written. */
  run(): boolean {
    const endMs = performance.now() + atOnceMs
    for (;;) {
      const { done, value } = this.parts.next()
      if (done) {
        this.paid(this.length)
        return true
      }
      this.pieces.push(value)
      this.length += value.length
      if (this.length > this.most) {
        this.paid(this.length)
        throw new ServiceError(
          'query_invalid',
          `limit: the list would be longer than ${listLengthMax} characters; ask for fewer at once`,
        )
      }
      if (performance.now() > endMs) return false
    }
  }
}

/** The JSON of a value in parts: lists and records that hold lists are divided. */
function* partsOf(value: unknown, depth: number): Generator<string, void> {
  if (depth < depthMax && Array.isArray(value) && value.length > 1) {
    for (const [place, one] of value.entries()) {
      yield place === 0 ? '[' : ','
      yield* partsOf(one ?? null, depth + 1)
    }
    yield ']'
  } else if (depth < depthMax && holdsLists(value)) {
    let before = '{'
    for (const [name, member] of Object.entries(value)) {
      if (member === undefined) continue
      yield `${before}${JSON.stringify(name)}:`
      yield* partsOf(member, depth + 1)
      before = ','
    }
    yield before === '{' ? '{}' : '}'
  } else yield jsonText(value)
}

function holdsLists(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype)
    return false
  return Object.values(value).some(one => Array.isArray(one) && one.length > 1)
}
