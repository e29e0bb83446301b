// Faults of the key of a request that is refused with 401: there is none, it is at the wrong place, or not known.

/** Parameters that callers of other services put a key in. */
const keyParameter = /(?:^|&)(?:x-service-api-key|x-api-key|api[_-]?key|access_token|token|key)=/i

/**
 * Why a request has no key.
 *
 * header         the header that carries it.
 * authorization  the Authorization header; '' for none.
 * rawQuery       the query without "?".
 */
export function whyNoKey(header: string, authorization: string, rawQuery: string): string {
  if (/^bearer /i.test(authorization))
    return `${header} is missing: the key came as a bearer token in Authorization, send it as ${header} instead`
  if (authorization !== '')
    return `${header} is missing: Authorization is not read, send the key as ${header}`
  if (keyParameter.test(rawQuery))
    return `${header} is missing: a key in the query is not read, as logs keep it; send it as ${header} and roll it`
  return `${header} is missing: send the API key in this header`
}

/** Why a key is not accepted. */
export function whyUnknown(header: string, secret: string): string {
  if (/^bearer /i.test(secret)) return `${header} has the key alone, without "Bearer"`
  if (!/^[sp]k_/.test(secret)) return `${header} is not a key of this service: keys begin with sk_ or pk_`
  return `${header} is not known here: the key was deleted or rolled, or is of another installation`
}
