// Events sent with a signed context: the signed company and user replace those in the event (AL-14).
import type { SignedContext } from '../../account/signed-contexts.js'
import { ServiceError } from '../../errors.js'
import type { Judged } from '../../events/judge.js'
import { bodyText } from '../../events/text.js'
import { parseExactly } from '../../json.js'

/**
 * A validated event with company, user and their traits replaced by the signed ones.
 *
 * text    the body as it is stored.
 * errors  forbidden (403) for an identify event if the context names no user.
 */
export function withContext(
  judged: Judged,
  text: string,
  signed: SignedContext,
): { readonly judged: Judged; readonly text: string } {
  const said = replacements(judged, signed)
  const body = { ...judged.body, ...said }
  const stored = { ...(parseExactly(text) as object), ...said }
  return { judged: { ...judged, body } as Judged, text: bodyText(stored, false) }
}

function replacements({ type }: Judged, signed: SignedContext): object {
  const { company, user, companyTraits, userTraits } = signed
  switch (type) {
    case 'track':
    case 'inference':
      return { company, user }
    case 'flag_check':
      return { company_id: null, user_id: null, req_company: company, req_user: user }
    case 'identify': {
      if (user === null) throw new ServiceError('forbidden', 'The signed context names no user')
      const half =
        company === null ? null : { keys: company, ...(companyTraits && { traits: companyTraits }) }
      return { keys: user, traits: userTraits ?? undefined, name: undefined, company: half }
    }
  }
}
