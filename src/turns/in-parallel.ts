// Work on many items, a few at a time.

/**
 * Work on every item, `atOnce` of them at the same time.
 *
 * returns  results in the order of the items.
 * errors   the first of `work`; items under way go on.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++
      results[at] = await work(items[at]!)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  return results
}
