// The short answer to a write of a company or user (`Prefer: return=minimal`): its id, name, keys and times. Entitlements,
// figures and billing are most of an entity, and most of what a full answer costs.
import type { CompanyWritten } from '../../../schemas/companies.js'
import type { UserWritten } from '../../../schemas/users.js'
import type { WriteReply } from '../../core/model/entity-state.js'
import type { Answer } from '../../kit/call.js'
import { type EntityCall, entityUnknown } from '../../kit/entities.js'
import { companyBrief, userBrief } from './view.js'

/** Part of the message of a write that is answered in short. */
export const shortly = { shows: { type: 'brief' } } as const

/** A company as the write left it. errors: not_found (404) when there is no company. source: decision */
export function companyInShort({ brief }: WriteReply): Answer {
  if (brief === undefined) throw entityUnknown('company')
  const data: CompanyWritten = { ...companyBrief(brief), keys: Object.fromEntries(brief.keys) }
  return inShort(data)
}

/** The same of a user. */
export function userInShort({ services }: EntityCall, { brief }: WriteReply): Answer {
  if (brief === undefined) throw entityUnknown('user')
  const seenAtMs = services.userSeen.of(brief.id)
  const data: UserWritten = { ...userBrief(brief, seenAtMs), keys: Object.fromEntries(brief.keys) }
  return inShort(data)
}

const inShort = (data: object): Answer => ({ data, headers: { 'Preference-Applied': 'return=minimal' } })
