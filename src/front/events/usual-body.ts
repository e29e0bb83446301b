// The body of usual events as it is read: places of their parts in what was received, and what their shard needs of them.
import { Buffer } from 'node:buffer'
import { random } from '../../account/ids.js'
import { publishableMark } from '../../entities/idempotency/dedupe.js'
import { newScanned, Scan, type Scanned } from '../../events/scan.js'

/** One body is read after the other. */
export const scan = new Scan()
/** Scanned events of a body; reused for the next body. */
export const found: Scanned[] = []

export interface UsualList {
  /** Events at the beginning that are of the usual kind. */
  readonly count: number
  /** There are no others, and the body is as it should be. */
  readonly whole: boolean
}

export const nothingUsual: UsualList = { count: 0, whole: false }

/**
 * Scan a body `{"events": […]}`.
 *
 * negative  whether quantities may be below zero.
 * mayCount  whether an event of the usual shape may be counted; null: each.
 */
export function scanList(
  text: string,
  byteLength: number,
  negative: boolean,
  mayCount: ((one: Scanned) => boolean) | null,
): UsualList {
  scan.begin(text, byteLength)
  if (!scan.list()) return nothingUsual
  for (let count = 0; ; ) {
    if (count === found.length) found.push(newScanned())
    const one = found[count]!
    if (!scan.event(one, negative) || (mayCount !== null && !mayCount(one))) return { count, whole: false }
    count++
    const more = scan.next()
    if (more !== true) return { count, whole: more === null }
  }
}

/** Scan a body that is one event; null when it is not of the usual shape. */
export function scanOne(body: Buffer, negative: boolean): Scanned | null {
  scan.beginBytes(body)
  found[0] ??= newScanned()
  const one = found[0]
  return scan.event(one, negative) && scan.isAtEnd() ? one : null
}

/** An event on its way to a shard: filled anew for each. */
export const use = {
  bodyAt: 0,
  bodyLength: 0,
  nameAt: 0,
  nameLength: 0,
  keyAt: 0,
  keyLength: 0,
  quantity: 1,
  idHigh: 0,
  idLow: 0,
  sentAtMs: null as number | null,
  companyId: '',
  userId: null as string | null,
}

/** Fill `use` with the rest of an event, its id the one drawn last; returns `text` and what it needs besides. */
export function fill(one: Scanned, text: string): string {
  let whole = text
  if (one.stored === null) {
    use.bodyAt = one.bodyAt
    use.bodyLength = one.bodyEnd - one.bodyAt
  } else {
    const stored = Buffer.from(one.stored).toString('latin1')
    use.bodyAt = text.length
    use.bodyLength = stored.length
    whole += stored
  }
  use.nameAt = one.nameAt
  use.nameLength = one.nameEnd - one.nameAt
  use.keyAt = one.keyAt
  use.keyLength = one.keyEnd - one.keyAt
  use.quantity = one.quantity
  use.idHigh = random.high
  use.idLow = random.low
  use.sentAtMs = one.sentAtMs
  return whole
}

/**
 * The same with copies of the event's own parts, behind `text`: one of many shards gets no text of the others' events.
 *
 * marked   its key is in the namespace of publishable keys.
 */
export function fillWithCopies(one: Scanned, text: string, marked: boolean): string {
  const { text: whole } = scan
  const { bodyAt, bodyEnd, nameAt, nameEnd, keyAt, keyEnd, stored } = one
  const isInside = stored === null && nameAt >= bodyAt && nameEnd <= bodyEnd
  let copied = fill(one, text)
  if (stored === null) {
    use.bodyAt = copied.length
    copied += whole.slice(bodyAt, bodyEnd)
  }
  use.nameAt = isInside ? use.bodyAt + nameAt - bodyAt : copied.length
  if (!isInside) copied += whole.slice(nameAt, nameEnd)
  if (keyEnd === keyAt) return copied
  if (marked) return mark(one, copied)
  use.keyAt = copied.length
  return copied + whole.slice(keyAt, keyEnd)
}

/** The key of `use` in its own namespace, as JSON writes its name; returns `text` with it. */
export function mark(one: Scanned, text: string): string {
  const name = `${markInJson}${scan.text.slice(one.keyAt, one.keyEnd)}`
  use.keyAt = text.length
  use.keyLength = name.length
  return text + name
}

/** `publishableMark` inside a string of JSON. */
const markInJson = JSON.stringify(publishableMark).slice(1, -1)
