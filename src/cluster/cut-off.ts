// Nodes that Redis reaches and that do not reach each other. Each says in Redis whom it does not reach; from what all say,
// every node draws the same conclusion: who leaves, so that the rest reach one another again.
import type { NodeInfo } from './members.js'

/**
 * Nodes that are to leave: as few as it takes, those that miss the most others first; of equals the one that came last.
 *
 * nodes    by id, with the ids that each says it does not reach.
 */
export function cutOff(
  nodes: ReadonlyMap<string, Pick<NodeInfo, 'sinceMs' | 'unreached'>>,
): ReadonlySet<string> {
  const missing = new Map<string, Set<string>>()
  const miss = (from: string, to: string): void => {
    missing.set(from, (missing.get(from) ?? new Set()).add(to))
  }
  for (const [id, { unreached = [] }] of nodes)
    for (const other of unreached)
      if (other !== id && nodes.has(other)) {
        miss(id, other)
        miss(other, id)
      }
  const leaving = new Set<string>()
  while (missing.size > 0) {
    const [[worst]] = [...missing].sort(
      ([a, lost], [b, others]) =>
        others.size - lost.size || nodes.get(b)!.sinceMs - nodes.get(a)!.sinceMs || (a < b ? 1 : -1),
    ) as [[string, Set<string>]]
    leaving.add(worst)
    for (const other of missing.get(worst)!) {
      const left = missing.get(other)!
      left.delete(worst)
      if (left.size === 0) missing.delete(other)
    }
    missing.delete(worst)
  }
  return leaving
}
