// A snapshot of a company or user on its way from its shard to the data stream: one text of lines, since texts cross
// threads together and lists one by one. JSON as the service writes it has no line ends.
//
//   head                 mark, until when it is valid, how many members, whether it is whole
//   name, text …         members by turns
//   text …               metrics, each in one line

/** A snapshot, or its changed parts. */
export interface SnapshotParts {
  /** Mark of this state; a later request names it. */
  readonly mark: string
  /** All parts; false: only parts changed since the requested mark. */
  readonly isWhole: boolean
  /** The first instant at which it may change by time alone, epoch ms; Infinity: none is foreseen. */
  readonly untilMs: number
  /** JSON texts of members by their names, `metrics` apart. */
  readonly members: ReadonlyMap<string, string>
  /** JSON text of each metric; of a user none. */
  readonly metrics: readonly string[]
}

/** errors: none; texts must be JSON without line ends. */
export function writeParts({ mark, isWhole, untilMs, members, metrics }: SnapshotParts): string {
  let text = `${mark} ${untilMs} ${members.size} ${isWhole}`
  for (const [name, value] of members) text += `\n${name}\n${value}`
  for (const metric of metrics) text += `\n${metric}`
  return text
}

export function readParts(text: string): SnapshotParts {
  const lines = text.split('\n')
  const [mark, untilMs, count, isWhole] = lines[0]!.split(' ')
  const members = new Map<string, string>()
  const end = 1 + 2 * Number(count)
  for (let at = 1; at < end; at += 2) members.set(lines[at]!, lines[at + 1]!)
  return {
    mark: mark!,
    isWhole: isWhole === 'true',
    untilMs: Number(untilMs),
    members,
    metrics: lines.slice(end),
  }
}
