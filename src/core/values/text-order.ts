// The order of texts.

/** Text order by code units, the same everywhere. */
export const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
