// Parts that both OpenFeature providers share: the company and user of a context, and a check in
// OpenFeature's shape.
import type { Checked, Context, Keys } from './index.js'

/** Attributes of a context that name a company and a user, as `POST /ofrep/v1/evaluate/flags` takes them. */
interface Naming {
  readonly targetingKey?: unknown
  readonly company?: unknown
  readonly companyKey?: unknown
  readonly companyKeyName?: unknown
  readonly user?: unknown
  readonly userKey?: unknown
  readonly userKeyName?: unknown
}

/** The company and user of an evaluation context. The targeting key is a user's. */
export function contextOf(given: object): Context {
  const context = given as Naming
  return {
    company: keysIn(context.company) ?? named(context.companyKey, context.companyKeyName),
    user: keysIn(context.user) ?? named(context.userKey ?? context.targetingKey, context.userKeyName),
  }
}

function keysIn(value: unknown): Keys | null {
  if (typeof value !== 'object' || value === null) return null
  const texts = Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === 'string')
  return texts.length === 0 ? null : Object.fromEntries(texts)
}

function named(value: unknown, name: unknown): Keys | null {
  if (typeof value !== 'string' || value === '') return null
  return { [typeof name === 'string' ? name : 'id']: value }
}

/** A check in OpenFeature's shape. */
export interface Details {
  readonly value: boolean
  readonly variant: 'on' | 'off'
  readonly reason: 'TARGETING_MATCH' | 'DEFAULT' | 'STALE'
  readonly flagMetadata: Readonly<Record<string, string | number | boolean>>
}

export function detailsOf(checked: Checked): Details {
  const { value, rule_id: rule, stale } = checked
  const metadata: Record<string, string | number | boolean> = {}
  for (const [name, member] of Object.entries(checked))
    if (
      name !== 'value' &&
      (typeof member === 'string' || typeof member === 'number' || typeof member === 'boolean')
    )
      metadata[name] = member
  const reason = stale ? 'STALE' : rule === null ? 'DEFAULT' : 'TARGETING_MATCH'
  return { value, variant: value ? 'on' : 'off', reason, flagMetadata: metadata }
}
