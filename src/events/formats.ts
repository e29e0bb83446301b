// Newline-delimited events (NDJSON): each line is parsed on its own, so that an invalid one does not affect the
// others.
import { outline } from '../json-bounds.js'
import { withExactQuantities } from './quantities.js'

/** Media types of one event per line. */
export const lineTypes: ReadonlySet<string> = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
])

/** An unreadable entry in a list of events. It is stored as failed for this reason (EV-7). */
export class Unparsable {
  constructor(
    readonly given: unknown,
    readonly reason: string,
  ) {}
}

/**
 * One entry per non-blank line: the parsed value, or an `Unparsable`.
 *
 * max      at most one entry more than this is read.
 * source   decision, EV-7 for lines.
 */
export function readLines(text: string, max: number): readonly unknown[] {
  const events: unknown[] = []
  for (let from = 0; from < text.length && events.length <= max; ) {
    const end = text.indexOf('\n', from)
    const line = text.slice(from, end < 0 ? text.length : end).trim()
    if (line !== '') events.push(readLine(line))
    from = end < 0 ? text.length : end + 1
  }
  return events
}

function readLine(line: string): unknown {
  try {
    const { text } = outline(line)
    return withExactQuantities(JSON.parse(text), text)
  } catch {
    return new Unparsable(line, 'the line is not valid JSON')
  }
}
