// Companies and users as handlers meet them: whether an id is known, and what a caller hears of a refusal.
import type { Refusal } from '../core/model/requests.js'
import { type DirectoryKind, isServiceId } from '../entities/directory/directory.js'
import { Refused } from '../entities/shards/shards.js'
import { type ErrorCode, ServiceError } from '../errors.js'
import type { Call } from './call.js'

/** Error code and message for each refusal of an actor. */
export type Refusals = Readonly<Partial<Record<Refusal, readonly [code: ErrorCode, message: string]>>>

/** A call to a handler of companies or users. */
export type EntityCall = Call<unknown, unknown>

/** The environment and time at which entities are read. */
export type EntityPlace = Pick<EntityCall, 'services' | 'environment' | 'nowMs'>

const noun = { company: 'Company', user: 'User' } as const

/** The 404 for an unknown or deleted company or user. */
export function entityUnknown(kind: DirectoryKind): ServiceError {
  return new ServiceError('not_found', `${noun[kind]} not found`)
}

/** Whether an entity of this kind and environment has this id. */
export function isKnown(call: EntityPlace, kind: DirectoryKind, id: string): boolean {
  return isServiceId(kind, 'id', id) && call.services.directory.has(call.environment.id, id)
}

/**
 * An answer of an actor, without waiting for Postgres.
 *
 * refusals  what the caller hears of each refusal.
 * errors    those of the table; others pass.
 */
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
