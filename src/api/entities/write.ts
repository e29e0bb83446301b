// Writes to companies and users: whom a call means, what keeps a body from being stored, when an answer may leave.
import type { Keys, TraitUpsert } from '../../../schemas/companies.js'
import { keysMax } from '../../core/company/entity-bounds.js'
import type { CompanyMessage, EntityWrite, Refusal, UserMessage } from '../../core/company/message.js'
import { inferType } from '../../core/flags/trait-value.js'
import { type DirectoryKind, isServiceId } from '../../engine/directory/directory.js'
import type { Target } from '../../engine/directory/entities.js'
import { type Answered, Refused } from '../../engine/shards/shards.js'
import { type ErrorCode, ServiceError } from '../../errors.js'
import { halfPair } from '../../json.js'
import type { Call } from '../kit/call.js'
import { requireTime } from '../kit/time.js'

/** What a room tells of each refusal of an actor. */
export type Refusals = Readonly<Partial<Record<Refusal, readonly [code: ErrorCode, message: string]>>>

const nameLengthMax = 255

/** The body members that an upsert of either kind has. */
interface EntityBody {
  readonly keys?: Keys | undefined
  readonly id?: string | null | undefined
  readonly name?: string | null | undefined
  readonly traits?: Readonly<Record<string, unknown>> | undefined
  readonly remove_keys?: readonly string[] | undefined
  readonly last_seen_at?: string | null | undefined
  readonly update_only?: boolean | null | undefined
}

/** A call to a room of entities. */
export type EntityCall = Call<unknown, unknown>

/** Where and when entities are read. */
export type EntityPlace = Pick<EntityCall, 'services' | 'environment' | 'nowMs'>

/**
 * See that keys are keys: what their parser cannot say of names, and text that every store gives back as it was.
 *
 * errors  value_invalid (400).
 * source  CU-2; the bound on their number, and half a surrogate pair being no text: decisions.
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

const noun = { company: 'Company', user: 'User' } as const

/** No such company or user, or no more. */
export function entityUnknown(kind: DirectoryKind): ServiceError {
  return new ServiceError('not_found', `${noun[kind]} not found`)
}

/** Whether an id is one of this kind's, of an entity of this environment. */
export function isKnown(call: EntityPlace, kind: DirectoryKind, id: string): boolean {
  return isServiceId(kind, 'id', id) && call.services.directory.has(call.environment.id, id)
}

/** Whether it may be deleted: it is known, or was until a deletion that is not durable yet (CU-50). */
export function isRemovable(call: EntityCall, kind: DirectoryKind, id: string): boolean {
  const { directory } = call.services
  return (
    isServiceId(kind, 'id', id) &&
    (directory.has(call.environment.id, id) || directory.isEnding(call.environment.id, id))
  )
}

/**
 * The entity a lookup means.
 *
 * returns  its id.
 * errors   not_found (404) when nothing matches, and when two do.
 * source   CU-3; decision 15.
 */
export function lookedUp(call: EntityCall, kind: DirectoryKind, keys: Keys): string {
  const { found } = call.services.directory.resolve(kind, call.environment.id, keys)
  if (found === null) throw entityUnknown(kind)
  return found
}

/**
 * The entity that keys of a write name, or null when it is to be made.
 *
 * errors  keys_ambiguous (400) for two; not_found (404) for a service id that names none, which never creates.
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

/** The keys an entity holds, without the reserved name that addresses it. */
export function pairsOf(kind: DirectoryKind, keys: Keys): Keys {
  const pairs = Object.entries(keys).filter(([name, value]) => !isServiceId(kind, name, value))
  return Object.fromEntries(pairs)
}

/** An upsert ready to be sent: nothing may wait between this and its sending, so that nobody comes in between. */
export interface ReadyWrite {
  readonly target: Target
  readonly write: EntityWrite
  /** Nobody matched, and nobody else is making it: this call does. */
  readonly creates: boolean
}

/**
 * Settle whom an upsert is for and claim its keys.
 *
 * errors  400 for two matches, a name both given and removed, and nothing to find or make it by; 404 for nobody
 *         to update.
 * source  CU-10, CU-11, CU-14, CU-15, CU-17. An id that names nobody is passed over where keys are given: decision.
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
 * Claim the keys of an entity that is made in any case.
 *
 * errors  400 when a key is in use or none is given, and for an id: the service makes those.
 * source  api/companies.md "always creates"; refusing `id`: decision.
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
      lastSeenAtMs: body.last_seen_at == null ? null : requireTime(body.last_seen_at, 'last_seen_at'),
    },
    call.nowMs,
  )
}

/** A trait write ready to be sent. */
export interface ReadyTrait {
  readonly target: Target
  readonly message: (CompanyMessage | UserMessage) & { readonly type: 'increment_trait' | 'upsert' }
}

/**
 * Settle whose trait is meant; its keys find or make the entity and change nothing of one that is there.
 *
 * upsert   the message that sets: a company's and a user's differ.
 * errors   400 for both or neither of `set` and `incr`, and for two matches; 404 for nobody with `update_only`.
 * source   CU-36; keys of a trait write only identify: decision.
 */
export function readyTrait(
  call: EntityCall,
  kind: DirectoryKind,
  body: TraitUpsert,
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
  // one that is being made by another call is made by this one too, should that fail
  const makes = found === null || call.services.directory.isUnconfirmed(found)
  const target = entities.target(kind, environmentId, found, makes ? pairs : {})
  const write: EntityWrite = {
    addKeys: makes ? Object.entries(pairs) : [],
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

// A name is found as it is written; a new one with dots in it is a nested one (CU-33).
function traitPath(call: EntityCall, kind: DirectoryKind, name: string) {
  const known = call.services.traits.find(call.environment.id, kind, name)
  if (known) return { name, hierarchy: known.hierarchy }
  const parts = name.split('.')
  if (parts.includes('')) return { name, hierarchy: [name] }
  if (parts.length > 5) throw new ServiceError('value_invalid', 'trait: nested deeper than 5')
  return { name, hierarchy: parts }
}

/**
 * Wait for a write of an actor, and until Postgres shows it.
 *
 * refusals  what the caller hears of each refusal.
 * errors    those; 503 when the write, or seeing to it, failed: it may have been made.
 */
export async function settled<Reply>(
  call: EntityCall,
  written: Promise<Answered<Reply>>,
  refusals: Refusals,
): Promise<Reply> {
  const { reply, shard, sequence } = await orRefused(written, refusals)
  await call.services.projections.reached('postgres', shard, sequence)
  return reply
}

/** The same, without waiting for Postgres. */
export async function orRefused<T>(answer: Promise<T>, refusals: Refusals): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof Refused && error.refusal === 'entity_full')
      throw new ServiceError('value_invalid', error.detail, { cause: error })
    const row = error instanceof Refused ? refusals[error.refusal] : undefined
    if (!(error instanceof Refused) || row === undefined) throw error
    throw new ServiceError(row[0], error.detail ?? row[1], { cause: error })
  }
}
