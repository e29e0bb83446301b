// Events one per line (NDJSON): each line is read alone, so that one that cannot be read costs the others nothing.
import { outline } from '../json.js'
import { withExactQuantities } from './quantities.js'

/** Media types of one event per line. */
export const lineTypes: ReadonlySet<string> = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/x-jsonlines',
])

/** Something in a list of events that could not be read as one: stored as failed for this reason (EV-7). */
export class Unread {
  constructor(
    readonly given: unknown,
    readonly reason: string,
  ) {}
}

/**
 * One entry per line that is not blank: what it parses to, or an Unread.
 *
 * max      lines are read until there is one more than this.
 * source   decision, EV-7 for lines
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
    return new Unread(line, 'the line is not valid JSON')
  }
}
