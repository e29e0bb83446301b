// Converts errors of statements to errors for the caller.
import { ServiceError } from '../errors.js'
import { asStoreError } from './away.js'

/** Messages for unique violations by index name; others are reported without names. */
const taken: Readonly<Record<string, string>> = {
  flags_account_id_key_key: 'key: another flag has this key',
  flags_feature_id_key: 'feature_id: the feature already has a flag',
}

/**
 * Convert a driver's error to an error for the caller. A bug of ours is returned unchanged.
 *
 * error    anything thrown by a statement; ServiceErrors pass unchanged.
 * returns  400 for errors caused by the data (a duplicate, a text Postgres cannot store, a number out of range),
 *          503 for a database that is down or shutting down; the cause is kept.
 * source   AL-32; decision 5.
 */
export function toFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ServiceError) return error
  const { code, constraint_name: constraint } = error as { code?: unknown; constraint_name?: unknown }
  if (typeof code !== 'string') return error
  const options = { cause: error }
  if (code === '23505')
    return new ServiceError(
      'state_conflict',
      taken[String(constraint)] ?? 'The value is already taken',
      options,
    )
  if (code === 'TG429')
    return new ServiceError('quota_full', error.message, {
      ...options,
      extra: { bucket: 'mutation' },
      retryAfterSeconds: 3_600,
    })
  if (code === '23503') return new ServiceError('not_found', 'A resource the request names is gone', options)
  if (code === '22021' || code === '22P05')
    return new ServiceError('value_invalid', 'A text contains a character that cannot be stored', options)
  if (code === '22003') return new ServiceError('value_invalid', 'A number is out of range', options)
  return asStoreError(error)
}
