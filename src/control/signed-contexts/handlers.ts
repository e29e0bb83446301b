// Secrets for signed contexts, and a route that signs a context for servers without the code to do it.
import type {
  ContextSecretRoll,
  ContextSecretView,
  SignedContextCreate,
} from '../../../schemas/signed-contexts.js'
import { reaches } from '../../account/conditions.js'
import { environmentRecord } from '../../account/keys.js'
import { contextLengthMax, newContextSecret, signContext } from '../../account/signed-contexts.js'
import { ServiceError } from '../../errors.js'
import type { Call, EnvironmentRecord, Handler } from '../../kit/call.js'
import { isoTime } from '../../kit/time.js'
import { rollSecret } from './store.js'

/** Default validity of a context, seconds. */
const secondsDefault = 3_600

function named({ services, key, params }: Call<unknown, unknown>): EnvironmentRecord {
  const environment = services.keys.environment(params.environment_id!)
  if (environment?.accountId !== key.accountId || !reaches(key, environment.id))
    throw new ServiceError('not_found', 'Environment not found')
  return environment
}

function secretView({ id, contextSecrets }: EnvironmentRecord, nowMs: number): ContextSecretView {
  const former = contextSecrets?.former ?? null
  return {
    environment_id: id,
    secret: contextSecrets?.secret ?? null,
    former_until: former !== null && former.untilMs > nowMs ? isoTime(former.untilMs) : null,
  }
}

/** GET /environments/{environment_id}/context-secret. */
export const getContextSecret: Handler = call => ({
  data: secretView(named(call), call.services.clock.wall()),
})

/**
 * POST /environments/{environment_id}/context-secret: creates a new secret. Contexts signed with the former one are
 * accepted for `overlap_seconds` more; with 0 they are invalid from this answer on.
 */
export const rollContextSecret: Handler<ContextSecretRoll> = async call => {
  const { services, body } = call
  const { id } = named(call)
  const nowMs = services.clock.wall()
  const untilMs = nowMs + (body.overlap_seconds ?? 0) * 1_000
  const row = await rollSecret(services.sql, id, newContextSecret(), nowMs, untilMs)
  if (row === null) throw new ServiceError('not_found', 'Environment not found')
  const environment = environmentRecord(row)
  services.keys.putEnvironment(environment)
  return { data: secretView(environment, nowMs) }
}

/**
 * POST /signed-contexts: signs a context for the request's environment.
 *
 * errors  400 when the environment has no secret yet, or the context is too long for a header.
 */
export const createSignedContext: Handler<SignedContextCreate> = call => {
  const { services, environment, body } = call
  const secrets = environment.contextSecrets
  if (secrets === null)
    throw new ServiceError(
      'state_conflict',
      'Make a secret first: POST /environments/{environment_id}/context-secret',
    )
  const { expires_in_seconds: seconds, ...said } = body
  const exp = Math.floor(services.clock.wall() / 1_000) + (seconds ?? secondsDefault)
  const signed_context = signContext(secrets.secret, environment.id, { exp, ...said })
  if (signed_context.length > contextLengthMax)
    throw new ServiceError('value_invalid', `The context is longer than ${contextLengthMax} characters`)
  return { data: { signed_context, expires_at: isoTime(exp * 1_000) } }
}
