// The last snapshot of an entity that was sent, and what a shard's answer changes of it.
import type { SnapshotParts } from '../../wire/snapshot-parts.js'
import { fullFrame, type HeldParts, nameOfMetric, partialFrame } from './frames.js'
import type { Held } from './subscriber.js'

/** An entity whole, as a frame; null: its state is not known yet. */
export function frameOf(held: Held): Uint8Array | null {
  if (held.frame === null && held.parts !== null) held.frame = fullFrame(held.kind, held.id, held.parts)
  return held.frame
}

/** Merge a shard's answer. Returns the frame for the other subscribers; null: nothing changed. */
export function merged(held: Held, told: SnapshotParts): Uint8Array | null {
  const before = held.parts
  held.mark = told.mark
  held.untilMs = told.untilMs
  if (told.isWhole || before === null) {
    const parts = {
      members: new Map(told.members),
      metrics: new Map(told.metrics.map(text => [nameOfMetric(text), text])),
    }
    held.parts = parts
    if (before !== null && areEqual(before, parts)) return null
    changed(held)
    return before === null ? null : frameOf(held)
  }
  if (told.members.size + told.metrics.length === 0) return null
  for (const [name, text] of told.members) before.members.set(name, text)
  for (const text of told.metrics) before.metrics.set(nameOfMetric(text), text)
  changed(held)
  return partialFrame(held.kind, held.id, told)
}

function changed(held: Held): void {
  held.frame = null
  held.sequence++
  held.changedAtMs = performance.now()
}

/** Whether two snapshots are equal. */
function areEqual(one: HeldParts, other: HeldParts): boolean {
  for (const part of ['members', 'metrics'] as const) {
    if (one[part].size !== other[part].size) return false
    for (const [name, text] of one[part]) if (other[part].get(name) !== text) return false
  }
  return true
}
