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

/** Characters that a terminal obeys in place of showing them, but for line feed and tab; and those that turn the direction of text. */
const obeyed =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones meant
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * Text for a terminal: names of companies, plans and keys are written by others, and move no cursor. Each such character is
 * shown as JSON and YAML write it, so that a document stays the same document.
 *
 * source  security 41.
 */
export const inert = (text: string): string =>
  text.replaceAll(obeyed, one => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
