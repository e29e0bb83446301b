// Finds the domain events in a shard's records. Without a webhook that asks for them it costs one look at the
// catalog.
import type { Catalog } from '../../../src/core/catalog.js'
import {
  companyNotices,
  creditCrossings,
  crossings,
  entityNotice,
  lastOf,
  readCredits,
  readLimits,
  touchedFeatures,
} from '../../../src/core/company/domain-events.js'
import { encodeUser } from '../../../src/core/company/state.js'
import { LiveCompany } from '../../../src/core/live/live-company.js'
import type { Company } from '../../../src/core/model/company-state.js'
import type { Watches } from '../../../src/core/model/definitions.js'
import type { Effect } from '../../../src/core/model/message.js'
import type { CreditReading, DomainEvent, LimitReading } from '../../../src/core/model/notices.js'
import type { Actor } from '../actors.js'
import { describeCompany } from '../checks/describe.js'

/** An actor's readings before a record's effects are applied. */
interface ReadingsBefore {
  readonly catalog: Catalog
  readonly watches: Watches
  readonly notices: readonly DomainEvent[]
  readonly limits: readonly LimitReading[]
  readonly credits: ReadonlyMap<string, CreditReading>
}

const noCredits: ReadonlyMap<string, CreditReading> = new Map()

/**
 * Look at an actor before a record's effects are applied.
 *
 * returns  null where no webhook asks for anything.
 */
export function lookBefore(
  actor: Actor,
  catalog: Catalog | undefined,
  fx: readonly Effect[],
  at: number,
): ReadingsBefore | null {
  const watches = catalog?.data.watches
  if (!catalog || !watches || fx.length === 0) return null
  const unread = { catalog, watches, limits: [], credits: noCredits }
  if (actor.k === 'u') return { ...unread, notices: userNotices(actor, fx) }
  const company = actor.state
  const notices: DomainEvent[] = companyNotices(company, fx)
  if (fx.some(({ t }) => t === 'deleted') && watches.types.includes('company.deleted'))
    notices.push({
      subject: 'company_gone',
      type: 'company.deleted',
      last: lastOf(describeCompany(company, catalog, at)),
    })
  if (!company.exists) return { ...unread, notices }
  return { catalog, watches, notices, ...readings(company, catalog, watches, fx, at) }
}

/** Compare after they are applied: the record's domain events, in order. */
export function lookAfter(
  actor: Actor,
  { catalog, watches, notices, limits, credits }: ReadingsBefore,
  fx: readonly Effect[],
  at: number,
): readonly DomainEvent[] {
  const { state } = actor
  const told: DomainEvent[] = []
  const tell = (notice: DomainEvent) => {
    if (watches.types.includes(notice.type)) told.push(notice)
  }
  for (const notice of notices) tell(notice)
  if (actor.k !== 'c' || !state.exists || limits.length + credits.size === 0) return told
  const now = readings(actor.state, catalog, watches, fx, at)
  for (const after of now.limits) {
    const before = limits.find(one => one.featureId === after.featureId)
    for (const limit of before ? crossings(before, after) : [])
      tell({ subject: 'limit', type: limit.type, limit })
  }
  for (const [creditId, after] of now.credits)
    for (const credit of creditCrossings(creditId, credits.get(creditId)!, after))
      tell({ subject: 'credit', type: credit.type, credit })
  return told
}

function readings(company: Company, catalog: Catalog, watches: Watches, fx: readonly Effect[], at: number) {
  const asks = (start: string) => watches.types.some(type => type.startsWith(start))
  const live = new LiveCompany(company, catalog, at)
  return {
    limits: asks('entitlement.') ? readLimits(live, touchedFeatures(live, fx, watches)) : [],
    credits: asks('credit.') ? readCredits(live, fx, watches) : noCredits,
  }
}

function userNotices(
  actor: Extract<Actor, { readonly k: 'u' }>,
  fx: readonly Effect[],
): readonly DomainEvent[] {
  if (fx.some(({ t }) => t === 'deleted'))
    return [{ subject: 'user_gone', type: 'user.deleted', last: lastOf(encodeUser(actor.state)) }]
  const type = entityNotice('user', fx)
  return type ? [{ subject: 'entity', type }] : []
}
