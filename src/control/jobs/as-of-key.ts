// A request that a job makes in the place of its caller.
import type { Call } from '../../kit/call.js'
import type { Services } from '../../kit/services.js'

/**
 * The request as its key made it, at its instant. Null while its environment is not known.
 *
 * keyId  only the id of the key was stored.
 * nowMs  the environment's present at the request, epoch ms.
 */
export function asOfKey<Body>(
  services: Services,
  environmentId: string,
  keyId: string,
  body: Body,
  nowMs: number,
): Call<Body, unknown> | null {
  const environment = services.keys.environment(environmentId)
  if (environment === null) return null
  return {
    services,
    key: { ...namelessKey, id: keyId, accountId: environment.accountId },
    environment,
    environmentOrNull: environment,
    params: {},
    query: {},
    body,
    text: '',
    nowMs,
    remoteIp: '',
    userAgent: '',
  }
}

const namelessKey = {
  name: '',
  description: null,
  kind: 'secret',
  scopes: [],
  readonly: false,
  environmentId: null,
  rateLimitPercent: null,
} as const
