// What a command works with: where its words go, and how it says that it failed.

/** The outside of a command, so that tests can stand in for it. */
export interface Io {
  /** One line of what was asked for. */
  print(line: string): void
  /** One line about how it goes; never part of what was asked for. */
  note(line: string): void
  /** Where a progress bar may be drawn; null where nobody looks. */
  readonly bar: NodeJS.WriteStream | null
}

/** How a command ends (also said in `--help`). */
export const exit = {
  done: 0,
  /** It could not be done. */
  failed: 1,
  /** It was asked for in a way that makes no sense. */
  misused: 2,
  /** It was done, and there is something to look at: rejects, differences, a broken precondition. */
  findings: 3,
} as const
export type Exit = (typeof exit)[keyof typeof exit]

/** A failure told in one line, without a stack. */
export class Failure extends Error {
  override readonly name = 'Failure'
}
