// Common parts of companies and users: keys, traits, a name and times (CU rules).

import type { Entity, KeyPair, WriteReply } from '../model/entity-state.js'
import type { Effect, EntityWrite } from '../model/message.js'
import type { Refusal } from '../model/requests.js'
import { decimalToText, parseDecimal, sum } from '../values/amount.js'
import { wholeDigits } from '../values/exact-json.js'
import type { Quantity } from '../values/quantity.js'
import { NamedTexts } from '../values/text-map.js'
import { clientTraitsLengthMax, keysMax, removedTraitsMax, traitsRefusal } from './entity-bounds.js'

/**
 * The effects of a write on an entity.
 *
 * entity   as it is; may not exist yet, then the write creates it.
 * write    keys, names and traits wanted; the directory has already decided the claims.
 * touches  true for upserts: `updated_at` moves though nothing else changes, and traits are always taken.
 *          False for events.
 * returns  effects and the pairs that become free, or a refusal that changes nothing.
 *          `entity_full` where it would become larger than entity-bounds.ts allows.
 * source   CU-11, CU-12, CU-15, CU-16, CU-17, CU-30, CU-34, CU-46, EV-42.
 */
export function decideWrite(
  entity: Readonly<Entity>,
  write: EntityWrite,
  nowMs: number,
  touches: boolean,
):
  | { readonly effects: Effect[]; readonly reply: WriteReply }
  | { readonly refused: Refusal; readonly detail?: string } {
  const effects: Effect[] = []
  const freed: KeyPair[] = []
  const created = !entity.exists
  if (created) {
    if (write.addKeys.length === 0) return { refused: 'no_key_given' }
    effects.push({ t: 'created', name: write.name ?? write.addKeys[0]![1], atMs: write.createdAtMs ?? nowMs })
  } else if (write.name !== null && write.name !== entity.name) effects.push({ t: 'named', name: write.name })

  let keysLeft = created ? 0 : entity.keys.size
  for (const [name, value] of write.addKeys) {
    const had = created ? undefined : entity.keys.text(name)
    if (had === value) continue
    if (had !== undefined) freed.push([name, had])
    else keysLeft++
    effects.push({ t: 'key', name, value, was: had ?? null })
  }
  for (const name of write.removeKeys) {
    const had = created ? undefined : entity.keys.text(name)
    if (had === undefined) continue
    keysLeft--
    freed.push([name, had])
    effects.push({ t: 'key_removed', name, value: had })
  }
  if (keysLeft < 1) return { refused: 'no_key_left' }
  if (keysLeft > keysMax && keysLeft > entity.keys.size)
    return { refused: 'entity_full', detail: `keys: more than ${keysMax}` }
  const tooLarge = tooManyTraits(entity, created, write)
  if (tooLarge !== null) return { refused: 'entity_full', detail: tooLarge }

  for (const trait of write.introduces) effects.push({ t: 'trait_introduced', trait })
  const held: string[] = []
  for (const { name, value, client } of write.traits) {
    const given = client ? entity.clientTraits : entity.traits
    const had = created ? undefined : given?.get(name)
    const removed = created || client ? undefined : entity.removedTraits?.get(name)
    const writtenAtMs = (had ?? removed)?.updatedAtMs ?? Number.NEGATIVE_INFINITY
    // an older event does not overwrite (EV-42); an upsert counts as of now, whatever the stored time
    if (!touches && writtenAtMs > write.atMs) continue
    if (value === null ? had === undefined : had?.value === value) {
      if (!client && writtenAtMs < write.atMs) held.push(name)
    } else effects.push({ t: client ? 'client_trait' : 'trait', name, value, atMs: write.atMs })
  }
  if (held.length > 0) effects.push({ t: 'traits_held', names: held, atMs: write.atMs })
  if (write.lastSeenAtMs !== null) effects.push({ t: 'seen_set', atMs: write.lastSeenAtMs })
  if (touches && !created) effects.push({ t: 'touched' })
  return { effects, reply: { created, freed } }
}

const noTraits = new NamedTexts()

/** Why the entity would get too many traits, or null. Publishable keys write into a part of their own. */
function tooManyTraits(
  { traits, clientTraits }: Readonly<Entity>,
  created: boolean,
  { traits: writes }: EntityWrite,
): string | null {
  if (!writes.some(({ client }) => client)) return traitsRefusal(created ? noTraits : traits, writes)
  return (
    traitsRefusal(
      created ? noTraits : traits,
      writes.filter(({ client }) => !client),
    ) ??
    traitsRefusal(
      created ? noTraits : (clientTraits ?? noTraits),
      writes.filter(({ client }) => client),
      clientTraitsLengthMax,
    )
  )
}

/** Whether adding these pairs would change the value of a name the entity already has (CU-13). */
export function remaps(entity: Readonly<Entity>, pairs: readonly (readonly [string, string])[]): boolean {
  return pairs.some(([name, value]) => {
    const had = entity.keys.text(name)
    return had !== undefined && had !== value
  })
}

/**
 * The effects of making sure that an entity exists: all of the write when it does not, else none.
 *
 * returns  for one that exists, the pairs of the write that it does not hold are free again (EV-34: events add no keys).
 */
export function decideEnsure(
  entity: Readonly<Entity>,
  write: EntityWrite,
  nowMs: number,
): ReturnType<typeof decideWrite> {
  if (!entity.exists) return decideWrite(entity, write, nowMs, false)
  const freed = write.addKeys.filter(([name, value]) => entity.keys.text(name) !== value)
  return { effects: [], reply: { created: false, freed } }
}

/**
 * An atomic increment of a number trait, exact for decimals of any length.
 *
 * by       whole number.
 * returns  the text after adding `by` (absent counts as 0), or null for a text that is no number.
 * source   CU-36, CU-32.
 */
export function incremented(entity: Readonly<Entity>, name: string, by: Quantity): string | null {
  const text = entity.exists ? (entity.traits.text(name) ?? '0') : '0'
  if (!Number.isFinite(Number(text))) return null
  // whole numbers have more digits than other decimals may have
  const digits = wholeDigits(text)
  const parsed =
    digits === null ? parseDecimal(text.replace(/^([+-]?)\./, '$10.')) : { units: BigInt(digits), scale: 0 }
  return parsed && decimalToText(sum(parsed, { units: BigInt(by), scale: 0 }))
}

/**
 * Change an entity by one effect. Returns false when the effect is not one of an entity's own.
 *
 * atMs  `now` of the fact the effect belongs to.
 */
export function applyToEntity(entity: Entity, effect: Effect, atMs: number): boolean {
  switch (effect.t) {
    case 'created':
      entity.exists = true
      entity.name = effect.name
      entity.createdAtMs = effect.atMs
      entity.updatedAtMs = Math.max(effect.atMs, atMs)
      return true
    case 'key': {
      const had = entity.keys.get(effect.name)
      entity.keys.put(effect.name, effect.value, had?.createdAtMs ?? atMs, atMs)
      entity.updatedAtMs = atMs
      return true
    }
    case 'key_removed':
      entity.keys.delete(effect.name)
      entity.updatedAtMs = atMs
      return true
    case 'named':
      entity.name = effect.name
      entity.updatedAtMs = atMs
      return true
    case 'trait':
      if (effect.value === null) {
        entity.traits.delete(effect.name)
        removeTrait(entity, effect.name, effect.atMs)
      } else {
        const had = entity.traits.get(effect.name)
        entity.traits.put(effect.name, effect.value, had?.createdAtMs ?? atMs, effect.atMs)
        entity.removedTraits?.delete(effect.name)
      }
      entity.updatedAtMs = atMs
      return true
    case 'client_trait':
      entity.clientTraits ??= new NamedTexts()
      if (effect.value === null) entity.clientTraits.delete(effect.name)
      else {
        const had = entity.clientTraits.get(effect.name)
        entity.clientTraits.put(effect.name, effect.value, had?.createdAtMs ?? atMs, effect.atMs)
      }
      return true
    case 'traits_held':
      for (const name of effect.names) {
        const had = entity.traits.get(name)
        if (had === undefined) removeTrait(entity, name, effect.atMs)
        else entity.traits.put(name, had.value, had.createdAtMs, effect.atMs)
      }
      return true
    case 'once':
      return true
    case 'touched':
      entity.updatedAtMs = atMs
      return true
    case 'seen':
      if (entity.lastSeenAtMs === null || entity.lastSeenAtMs < effect.atMs) entity.lastSeenAtMs = effect.atMs
      return true
    case 'seen_set':
      entity.lastSeenAtMs = effect.atMs
      return true
    case 'trait_introduced':
      return true
    case 'plan':
    case 'used':
    case 'joined':
    case 'left':
    case 'deleted':
    case 'override':
    case 'override_removed':
    case 'override_over':
    case 'overdraft_limit':
    case 'add_ons':
    case 'plan_changed':
    case 'trial_ended':
    case 'schedule':
    case 'subscription':
    case 'subscription_removed':
    case 'cycle_counted':
    case 'credit_grant':
    case 'credit_draw':
    case 'credit_refund':
    case 'credit_hold':
    case 'credit_commit':
    case 'credit_release':
    case 'credit_zero_out':
    case 'credit_transfer':
    case 'credit_enrol':
    case 'credit_renew':
    case 'credit_topup':
    case 'credit_external':
      return false
  }
}

/** Remember when a trait was removed, for as many as are remembered. */
function removeTrait(entity: Entity, name: string, atMs: number): void {
  entity.removedTraits ??= new NamedTexts()
  const { removedTraits } = entity
  removedTraits.put(name, '', 0, atMs)
  if (removedTraits.size <= removedTraitsMax) return
  let [oldest, oldestMs] = ['', Number.POSITIVE_INFINITY]
  for (const [other, { updatedAtMs }] of removedTraits)
    if (updatedAtMs < oldestMs) [oldest, oldestMs] = [other, updatedAtMs]
  removedTraits.delete(oldest)
}

/** The pairs an entity holds. */
export function keyPairs(entity: Readonly<Entity>): KeyPair[] {
  return [...entity.keys].map(([name, key]) => [name, key.value])
}

/** Remove everything from a deleted entity except its identity. */
export function clearEntity(entity: Entity): void {
  entity.exists = false
  entity.name = ''
  entity.keys = new NamedTexts()
  entity.traits = new NamedTexts()
  entity.clientTraits = null
  entity.removedTraits = null
  entity.lastSeenAtMs = null
}
