// Finds the caller that a value in a key header names: a key, or on the portal a token of one company.

import { isAccessToken } from '../../../account/access-tokens.js'
import type { KeyRecord } from '../../../kit/call.js'
import type { KeyAsker, Services } from '../../../kit/services.js'
import type { Route } from '../routing/route.js'

/** As `Keys.find`, and tokens of companies where a route takes them. */
export function findCaller(
  { scope }: Route,
  { keys, accessTokens }: Services,
  secret: string,
  asker: KeyAsker,
): KeyRecord | null | Promise<KeyRecord | null> {
  return scope === 'portal' && isAccessToken(secret) ? accessTokens.find(secret) : keys.find(secret, asker)
}
