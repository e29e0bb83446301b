// Changes of what a company holds, as rows of billing_history (RA-6).
import type { Fact } from '../../src/core/model/message.js'
import type { HistoryEntry } from '../../src/core/rating/history.js'

/** A row of billing_history, without its place. */
export function historyRow(entry: HistoryEntry): Readonly<Record<string, unknown>> {
  const { kind, atMs: at_ms } = entry
  switch (kind) {
    case 'plan':
      return { kind, at_ms, state: entry.plan }
    case 'add_ons':
      return { kind, at_ms, state: entry.addOns }
    case 'subscription':
      return { kind, at_ms, subscription_id: entry.id, state: entry.state }
    case 'gone':
      return { kind, at_ms, state: null }
  }
}

/** When an effect took effect: a change by time is written down later, with its own instant after it. */
export function tookEffect({ fx, at }: Fact, index: number): number {
  for (const effect of fx.slice(index)) {
    if (effect.t === 'plan_changed') return effect.change.atMs
    if (effect.t === 'trial_ended') return effect.trial.atMs
  }
  return at
}
