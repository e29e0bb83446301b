// Writes to companies and users: find the entity, check the body, wait until the answer may leave.
import type { Keys, TraitUpsert } from '../../../schemas/companies.js'
import { keysMax } from '../../core/company/entity-bounds.js'
import type { CompanyMessage, EntityWrite, UserMessage } from '../../core/model/message.js'
import { inferType } from '../../core/values/trait-value.js'
import { type DirectoryKind, isServiceId } from '../../entities/directory/directory.js'
import type { Target } from '../../entities/directory/entities.js'
import type { Answered } from '../../entities/shards/shards.js'
import { ServiceError } from '../../errors.js'
import { aheadMsMax } from '../../events/judge.js'
import { halfPair } from '../../json.js'
import { type EntityCall, entityUnknown, isKnown, orRefused, type Refusals } from '../../kit/entities.js'
import type { Exact } from '../../kit/long.js'
import { requireTime } from '../../kit/time.js'

const nameLengthMax = 255

/** The body members that upserts of companies and users share. */
interface EntityBody {
  readonly keys?: Keys | undefined
  readonly id?: string | null | undefined
  readonly name?: string | null | undefined
  readonly traits?: Readonly<Record<string, unknown>> | undefined
  readonly remove_keys?: readonly string[] | undefined
  readonly last_seen_at?: string | null | undefined
  readonly created_at?: string | null | undefined
  readonly update_only?: boolean | null | undefined
}

/**
 * Validate keys beyond what their parser checks: the count, the names, and text that every store returns unchanged.
 *
 * errors  value_invalid (400).
 * source  CU-2; the bound on the count and refusing unpaired surrogates: decisions.
 */
export function requireKeys(keys: Keys, member = 'keys'): void {
  const names = Object.keys(keys)
  if (names.length > keysMax) throw new ServiceError('value_invalid', `${member}: more than ${keysMax}`)
  for (const name of names) {
    if (name.length === 0 || name.length > nameLengthMax)
      throw new ServiceError('value_invalid', `${member}: names have 1 to ${nameLengthMax} characters`)
    if (halfPair.test(name) || halfPair.test(keys[name]!))
      throw new ServiceError('value_invalid', `${member}: not a text`)
  }
}

/** Whether an entity may be deleted: it exists, or its deletion is not durable yet (CU-50). */
export function isRemovable(call: EntityCall, kind: DirectoryKind, id: string): boolean {
  const { directory } = call.services
  return (
    isServiceId(kind, 'id', id) &&
    (directory.has(call.environment.id, id) || directory.isEnding(call.environment.id, id))
  )
}

/**
 * The entity that lookup keys name.
 *
 * returns  its id.
 * errors   not_found (404) when no entity matches, and when two do.
 * source   CU-3; decision 15.
 */
export function lookedUp(call: EntityCall, kind: DirectoryKind, keys: Keys): string {
  const { found } = call.services.directory.resolve(kind, call.environment.id, keys)
  if (found === null) throw entityUnknown(kind)
  return found
}

/**
 * The entity that the keys of a write name, or null if it must be created.
 *
 * errors  keys_ambiguous (400) for two entities; not_found (404) for an unknown service id, which never creates.
 * source  CU-3, CU-11; EV-32 for keys that hold a service id.
 */
export function namedBy(call: EntityCall, kind: DirectoryKind, keys: Keys): string | null {
  const resolution = call.services.directory.resolve(kind, call.environment.id, keys)
  if (resolution.found !== null) return resolution.found
  if (resolution.reason === 'ambiguous') throw ambiguous(kind)
  if (resolution.reason === 'unknown_id') throw entityUnknown(kind)
  return null
}

function ambiguous(kind: DirectoryKind): ServiceError {
  return new ServiceError(
    'keys_ambiguous',
    `keys match multiple ${kind === 'company' ? 'companies' : 'users'}`,
  )
}

/** The keys to store: all but the reserved name that holds the service id. */
export function pairsOf(kind: DirectoryKind, keys: Keys): Keys {
  const pairs = Object.entries(keys).filter(([name, value]) => !isServiceId(kind, name, value))
  return Object.fromEntries(pairs)
}

/** An upsert ready to be sent. Send it in the same tick, so that no other request comes in between. */
export interface ReadyWrite {
  readonly target: Target
  readonly write: EntityWrite
  /** No entity matched and no other request is creating it. */
  readonly creates: boolean
}

/**
 * Find the entity of an upsert and claim its keys.
 *
 * errors  400 for two matches, for a key both given and removed, and for a body without id and keys; 404 when there
 *         is no entity to update.
 * source  CU-10, CU-11, CU-14, CU-15, CU-17. An unknown id is ignored if keys are given: decision.
 */
export function readyUpsert(call: EntityCall, kind: DirectoryKind, body: EntityBody): ReadyWrite {
  const keys = body.keys ?? {}
  const write = writeOf(call, kind, body)
  const byKeys = namedBy(call, kind, keys)
  const byId = body.id != null && isKnown(call, kind, body.id) ? body.id : null
  if (byId !== null && byKeys !== null && byId !== byKeys) throw ambiguous(kind)
  const found = byId ?? byKeys
  if (found === null) {
    if (body.update_only === true) throw entityUnknown(kind)
    if (Object.keys(keys).length === 0)
      throw body.id == null ? new ServiceError('value_invalid', 'keys: none given') : entityUnknown(kind)
  }
  return ready(call, kind, found, keys, write)
}

/**
 * Claim the keys of an entity that is always created.
 *
 * errors  400 when a key is in use or none is given, and for an id, because the service assigns ids.
 * source  interface document, "always creates"; refusing `id`: decision.
 */
export function readyCreate(call: EntityCall, kind: DirectoryKind, body: EntityBody): ReadyWrite {
  const keys = body.keys ?? {}
  if (body.id != null || Object.entries(keys).some(([name, value]) => isServiceId(kind, name, value)))
    throw new ServiceError('value_invalid', 'id: the service makes the ids of what is created')
  if (Object.keys(keys).length === 0) throw new ServiceError('value_invalid', 'keys: none given')
  const write = writeOf(call, kind, body)
  const { found, ...other } = call.services.directory.resolve(kind, call.environment.id, keys)
  if (found !== null || ('reason' in other && other.reason !== 'unknown'))
    throw new ServiceError('state_conflict', 'keys: a key is in use')
  return ready(call, kind, null, keys, write)
}

function ready(
  call: EntityCall,
  kind: DirectoryKind,
  found: string | null,
  keys: Keys,
  write: EntityWrite,
): ReadyWrite {
  const target = call.services.entities.target(kind, call.environment.id, found, pairsOf(kind, keys))
  return { target, write, creates: found === null }
}

function writeOf(call: EntityCall, kind: DirectoryKind, body: EntityBody): EntityWrite {
  const keys = body.keys ?? {}
  requireKeys(keys)
  const removeKeys = body.remove_keys ?? []
  const both = removeKeys.find(name => Object.hasOwn(keys, name))
  if (both !== undefined) throw new ServiceError('value_invalid', `remove_keys: ${both} is also given`)
  return call.services.entities.write(
    kind,
    call.environment.id,
    {
      keys: pairsOf(kind, keys),
      removeKeys,
      name: body.name,
      traits: body.traits,
      lastSeenAtMs:
        body.last_seen_at == null ? null : pastTime(body.last_seen_at, 'last_seen_at', call.nowMs),
      createdAtMs: body.created_at == null ? null : pastTime(body.created_at, 'created_at', call.nowMs),
    },
    call.nowMs,
  )
}

/** A time that has passed, but for the skew that clocks may have: later ones would stay for ever (CU-46). */
function pastTime(text: string, member: string, nowMs: number): number {
  const ms = requireTime(text, member)
  if (ms > nowMs + aheadMsMax)
    throw new ServiceError('value_invalid', `${member}: at most 5 minutes in the future`)
  return ms
}

/** A trait write ready to be sent in the same tick. */
interface ReadyTrait {
  readonly target: Target
  readonly message: (CompanyMessage | UserMessage) & { readonly type: 'increment_trait' | 'upsert' }
}

/**
 * Find or create the entity of a trait write. The keys do not change an existing entity.
 *
 * upsert   builds the message that creates it: companies and users have different ones.
 * errors   400 for both or neither of `set` and `incr`, and for two matches; 404 with `update_only` for no match.
 * source   CU-36; keys of a trait write only identify: decision.
 */
export function readyTrait(
  call: EntityCall,
  kind: DirectoryKind,
  body: Exact<TraitUpsert>,
  upsert: (write: EntityWrite, updateOnly: boolean) => ReadyTrait['message'],
): ReadyTrait {
  const { entities } = call.services
  const environmentId = call.environment.id
  requireKeys(body.keys)
  if ((body.set == null) === (body.incr == null))
    throw new ServiceError('value_invalid', 'exactly one of set and incr is needed')
  const updateOnly = body.update_only === true
  const found = namedBy(call, kind, body.keys)
  const pairs = pairsOf(kind, body.keys)
  if (found === null && updateOnly) throw entityUnknown(kind)
  if (found === null && Object.keys(pairs).length === 0)
    throw new ServiceError('value_invalid', 'keys: none given')
  const { name, hierarchy } = traitPath(call, kind, body.trait)
  const introduction = entities.introduce(
    kind,
    environmentId,
    name,
    hierarchy,
    body.incr == null ? inferType(body.set) : 'number',
  )
  // if another request is still creating it, this one creates it too, in case the other fails
  const makes = found === null || call.services.directory.isUnconfirmed(found)
  const target = entities.target(kind, environmentId, found, makes ? pairs : {})
  const write: EntityWrite = {
    addKeys: target.claimed,
    removeKeys: [],
    name: null,
    traits: body.set == null ? [] : [{ name, value: body.set }],
    introduces: introduction ? [introduction] : [],
    lastSeenAtMs: null,
    atMs: call.nowMs,
  }
  const message =
    body.incr == null
      ? upsert(write, updateOnly)
      : ({ type: 'increment_trait', write, name, by: body.incr, updateOnly } as const)
  return { target, message }
}

// A known name is used as written. Dots in a new name mean nesting (CU-33).
function traitPath(call: EntityCall, kind: DirectoryKind, name: string) {
  const known = call.services.traits.find(call.environment.id, kind, name)
  if (known) return { name, hierarchy: known.hierarchy }
  const parts = name.split('.')
  if (parts.includes('')) return { name, hierarchy: [name] }
  if (parts.length > 5) throw new ServiceError('value_invalid', 'trait: nested deeper than 5')
  return { name, hierarchy: parts }
}

/**
 * Wait for a write of an actor, and until Postgres shows it, or is known to be away: the write is taken all the same.
 *
 * refusals  what the caller hears of each refusal.
 * errors    those; 503 when it is not certain that the write was made.
 */
export async function replyWhenShown<Reply>(
  call: EntityCall,
  written: Promise<Answered<Reply>>,
  refusals: Refusals,
): Promise<Reply> {
  const { reply, shard, sequence } = await orRefused(written, refusals)
  await shown(call, [{ shard, sequence }])
  return reply
}

/**
 * These writes are durable: their caller hears no 503 any more. Waits until Postgres shows them; lists follow later
 * where it does not.
 *
 * returns  whether Postgres shows them.
 */
export async function shown(
  call: EntityCall,
  written: readonly Pick<Answered<unknown>, 'shard' | 'sequence'>[],
): Promise<boolean> {
  call.taken?.()
  const { projections } = call.services
  const reached = written.map(({ shard, sequence }) => projections.reached('postgres', shard, sequence))
  return (await Promise.allSettled(reached)).every(({ status }) => status === 'fulfilled')
}
