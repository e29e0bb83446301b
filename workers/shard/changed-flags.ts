// The flags that differ between two versions of an environment's definitions: their kept answers end, and those of other flags stay.
import { isDeepStrictEqual } from 'node:util'
import type { CatalogData, FlagDef } from '../../src/core/model/definitions.js'

type Same = (before: CatalogData, now: CatalogData) => boolean

const isSame =
  (name: keyof CatalogData): Same =>
  (before, now) =>
    isDeepStrictEqual(before[name], now[name])

/** Whether each part of the definitions leaves the answers of all flags but the changed ones as they were. */
const parts: Readonly<Record<keyof CatalogData, Same>> = {
  environmentId: isSame('environmentId'),
  accountId: isSame('accountId'),
  environmentType: isSame('environmentType'),
  version: () => true,
  traits: onlyNewTraits,
  features: isSame('features'),
  // the first flag of a feature shows in checks of its other flags
  flags: (before, now) => isDeepStrictEqual(firstFlags(before.flags), firstFlags(now.flags)),
  plans: isSame('plans'),
  credits: isSame('credits'),
  spendPolicies: isSame('spendPolicies'),
  initialPlanId: isSame('initialPlanId'),
  fallbackPlanId: isSame('fallbackPlanId'),
  trialExpiryPlanId: isSame('trialExpiryPlanId'),
  watches: isSame('watches'),
}

/**
 * Keys of the flags whose checks may be answered otherwise after a change of definitions.
 *
 * returns  keys of changed, new and removed flags; null: something else has changed, and every flag may be answered otherwise.
 */
export function changedFlags(before: CatalogData, now: CatalogData): readonly string[] | null {
  for (const same of Object.values(parts)) if (!same(before, now)) return null
  return keysOfChanged(before.flags, now.flags)
}

/** A name seen for the first time makes a trait. No definition names it yet, so no flag is answered otherwise. */
function onlyNewTraits(before: CatalogData, now: CatalogData): boolean {
  const known = new Map(before.traits.map(trait => [trait.id, trait]))
  const added: string[] = []
  for (const trait of now.traits)
    if (!known.has(trait.id)) added.push(trait.id)
    else if (!isDeepStrictEqual(known.get(trait.id), trait)) return false
  if (now.traits.length - added.length !== known.size) return false
  const { traits: _, ...definitions } = before
  return added.length === 0 || !namesAny(definitions, new Set(added))
}

function namesAny(value: unknown, ids: ReadonlySet<string>): boolean {
  if (typeof value === 'string') return ids.has(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(member => namesAny(member, ids))
}

function firstFlags(flags: readonly FlagDef[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>()
  for (const { featureId, key } of flags)
    if (featureId !== null && !first.has(featureId)) first.set(featureId, key)
  return first
}

function keysOfChanged(before: readonly FlagDef[], now: readonly FlagDef[]): readonly string[] {
  const keys = new Set<string>()
  const known = new Map(before.map(flag => [flag.id, flag]))
  for (const flag of now) {
    const former = known.get(flag.id)
    known.delete(flag.id)
    if (former !== undefined && isDeepStrictEqual(former, flag)) continue
    keys.add(flag.key)
    if (former !== undefined) keys.add(former.key)
  }
  for (const { key } of known.values()) keys.add(key)
  return [...keys]
}
