// Output streams, exit codes and failures of commands.

/** Output of a command; tests replace it. */
export interface Io {
  /** Print one line of the result. */
  print(line: string): void
  /** Print one line about the progress, apart from the result. */
  note(line: string): void
  /** Stream for a progress bar; null if it is not a terminal. */
  readonly bar: NodeJS.WriteStream | null
}

/** Exit codes, also listed in `--help`. */
export const exit = {
  done: 0,
  /** The command failed. */
  failed: 1,
  /** Wrong arguments. */
  misused: 2,
  /** Done, with rejects, differences or a broken precondition. */
  findings: 3,
} as const
export type Exit = (typeof exit)[keyof typeof exit]

/** A failure printed as one line, without a stack. */
export class Failure extends Error {
  override readonly name = 'Failure'
}
