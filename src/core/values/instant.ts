// Times on the wire: RFC 3339, UTC, milliseconds (decision 9).

const rfc3339 =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ]((?!24)\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)([Zz]|[+-]\d{2}:?\d{2})?)?$/

/** The years the wire writes with four digits and the stores know: from 0001, in UTC. */
const earliestMs = Date.parse('0001-01-01T00:00:00Z')
const latestMs = Date.parse('9999-12-31T23:59:59.999Z')

/** An instant as the wire writes it. `ms` epoch ms; fractions are cut off. source: decision 9 */
export function isoTime(ms: number): string {
  if (ms !== lastMs) {
    lastText = textOf(Math.trunc(ms))
    lastMs = ms
  }
  return lastText
}

// One cached text: writes that are acknowledged together have one time.
let lastMs = Number.NaN
let lastText = ''

const minuteMs = 60_000
/** Texts of minutes up to the seconds. A view of a company has hundreds of times, many of them in the same minutes. */
const minutes = new Map<number, string>()
const minutesMax = 4_096
const seconds = Array.from({ length: 60 }, (_, n) => `${String(n).padStart(2, '0')}.`)
const milliseconds = Array.from({ length: 1_000 }, (_, n) => `${String(n).padStart(3, '0')}Z`)

// A fifth of the time of `toISOString`, and few pieces to join when the text becomes part of a longer one.
function textOf(ms: number): string {
  const minute = Math.floor(ms / minuteMs)
  let text = minutes.get(minute)
  if (text === undefined) {
    const whole = new Date(minute * minuteMs).toISOString() // throws for what is no instant
    text = whole.slice(0, whole.lastIndexOf(':') + 1)
    if (minutes.size >= minutesMax) minutes.clear()
    minutes.set(minute, text)
  }
  const rest = ms - minute * minuteMs
  const second = Math.floor(rest / 1_000)
  return text + seconds[second] + milliseconds[rest - second * 1_000]
}

/** The same for a value that may be absent. */
export function isoTimeOrNull(ms: number | null | undefined): string | null {
  return ms === null || ms === undefined ? null : isoTime(ms)
}

/**
 * An instant in a body: a date and a time with its zone, fractions beyond the millisecond cut off.
 *
 * returns  epoch ms, or null when the text is no such time or not of the years 1 to 9999.
 * source   interface document, wire encodings; decision 40
 */
export function parseTime(text: string): number | null {
  const parts = rfc3339.exec(text)
  return parts === null || parts[3] === undefined ? null : instantOf(parts)
}

/** An instant in a query or in what is stored: without an offset, and for a bare date, UTC is meant (decision). */
export function parseTimeOrDate(text: string): number | null {
  const parts = rfc3339.exec(text)
  return parts === null ? null : instantOf(parts)
}

function instantOf(parts: RegExpExecArray): number | null {
  const [, day, time = '00:00:00.000', zone = 'Z'] = parts
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone.toUpperCase()
  const ms = Date.parse(`${day}T${shorten(time)}${offset}`)
  // Date.parse turns 30 February into 1 March: such a day is no day.
  if (!(ms >= earliestMs && ms <= latestMs) || Number.isNaN(Date.parse(`${day}T00:00:00Z`))) return null
  return isoTime(Date.parse(`${day}T00:00:00Z`)).startsWith(day!) ? ms : null
}

// More than three digits of a second are not portable in Date.parse.
function shorten(time: string): string {
  return time.length > 12 ? time.slice(0, 12) : time
}
