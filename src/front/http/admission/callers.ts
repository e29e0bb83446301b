// Finds the caller of the portal that a value in a key header names: a key, or a token of one company.

import { isAccessToken } from '../../../account/access-tokens.js'
import type { KeyRecord } from '../../../kit/call.js'
import type { KeyAsker, Services } from '../../../kit/services.js'

/** As `Keys.find`, and tokens of companies. */
export function findCaller(
  { keys, accessTokens }: Services,
  secret: string,
  asker: KeyAsker,
): KeyRecord | null | Promise<KeyRecord | null> {
  return isAccessToken(secret) ? accessTokens.find(secret, asker) : keys.find(secret, asker)
}
