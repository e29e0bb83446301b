// Nodes that reach Redis but not each other. Each node writes to Redis the ids of the nodes that it cannot
// reach. From these lists every node computes the same result: the nodes that leave, so that the rest reach
// one another again.
import type { NodeInfo } from './leases.js'

/**
 * Returns the nodes that are to leave: as few as possible, starting with the node that misses the most
 * others. Among equals the youngest node leaves.
 *
 * nodes    by id, with the ids that each cannot reach.
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
