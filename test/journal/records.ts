// Records for tests of the journal: with and without rows, rows of the ledger, and text beyond ASCII, told by a number.
import type { NewRecord, Sequence } from '../../src/journal/journal.js'

/** The record of this number. */
export const record = (n: Sequence): NewRecord => ({
  flags: n % 8,
  month: 600 + (n % 24),
  row: n % 3 === 0 ? '' : `{"n":${n},"é":"${'x'.repeat(n % 50)}€"}`,
  ledger: n % 4 === 0 ? `comp\t${n}\n`.repeat(1 + (n % 3)) : '',
  fact: `{"fact":${n},"😀":1}`,
})

/** The records of these numbers. */
export const range = (from: Sequence, to: Sequence): NewRecord[] =>
  Array.from({ length: to - from + 1 }, (_, i) => record(from + i))
