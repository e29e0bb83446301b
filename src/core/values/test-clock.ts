// Test clocks of environments (decisions 10, 11).

/** A test clock: a running offset from the wall clock, or a frozen instant. Epoch ms. */
export type TestClock =
  | { readonly kind: 'ticking'; readonly offsetMs: number }
  | { readonly kind: 'frozen'; readonly atMs: number }

/** The present of an environment, epoch ms. `test`: its test clock, if it has one. */
export function presentOf(test: TestClock | null | undefined, wallMs: number): number {
  if (!test) return wallMs
  return test.kind === 'frozen' ? test.atMs : wallMs + test.offsetMs
}
