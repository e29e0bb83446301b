// An actor's whole state to plain JSON and back: for snapshots and for the HTTP thread.

import { decodeAccount, encodeAccount } from '../credits/ledger-json.js'
import type { TopupState } from '../model/account-state.js'
import type { Company } from '../model/company-state.js'
import { Counters } from '../model/counters.js'
import type { CompanyHead, CompanySnapshot, EntitySnapshot, UserSnapshot } from '../model/descriptions.js'
import type { Entity, EntityBrief, User } from '../model/entity-state.js'
import { NamedTexts, type StoredText } from '../values/text-map.js'
import { newCompany } from './company.js'
import { newUser } from './user.js'

export function encodeCompany(company: Readonly<Company>): CompanySnapshot {
  return {
    ...encodeEntity(company),
    plan: company.plan,
    addOns: company.addOns,
    trialedPlanIds: company.trialedPlanIds,
    subscriptions: company.subscriptions,
    schedule: company.schedule,
    overrides: company.overrides,
    counters: [...company.counters].map(([subtype, counter]) => [subtype, counter.stored()] as const),
    credits: [...company.credits.values()].map(encodeAccount),
    idsMade: company.idsMade,
    timeMs: company.timeMs,
    ...(company.overdraftLimit !== null && { overdraftLimit: company.overdraftLimit }),
    ...clientTraitsOf(company),
    ...removedTraitsOf(company),
  }
}

/** The company without its counters and ledgers. */
export function encodeHead(company: Readonly<Company>): CompanyHead {
  return {
    ...encodeEntity(company),
    plan: company.plan,
    subscriptions: company.subscriptions,
    schedule: company.schedule,
    overrides: company.overrides,
    topups: topupsOf([...company.credits.values()]),
    ...(company.overdraftLimit !== null && { overdraftLimit: company.overdraftLimit }),
    ...clientTraitsOf(company),
  }
}

/** The same of a company that is there as its snapshot. */
export function headOf(snapshot: CompanySnapshot): CompanyHead {
  return { ...snapshot, topups: topupsOf(snapshot.credits) }
}

/** Chosen settings of auto top-up, by credit id. */
function topupsOf(
  accounts: readonly { readonly creditId: string; readonly topup: Pick<TopupState, 'settings'> }[],
): CompanyHead['topups'] {
  return accounts.flatMap(({ creditId, topup: { settings } }) =>
    settings === null ? [] : [[creditId, settings]],
  )
}

export function decodeCompany(snapshot: CompanySnapshot): Company {
  const company = newCompany(snapshot.id, snapshot.environmentId)
  decodeEntity(company, snapshot)
  company.plan = snapshot.plan
  if (snapshot.addOns.length > 0) company.addOns = snapshot.addOns
  if (snapshot.trialedPlanIds.length > 0) company.trialedPlanIds = snapshot.trialedPlanIds
  if (snapshot.subscriptions.length > 0) company.subscriptions = snapshot.subscriptions
  company.schedule = snapshot.schedule
  if (snapshot.overrides.length > 0) company.overrides = snapshot.overrides
  if (snapshot.counters.length > 0) company.counters = Counters.from(snapshot.counters)
  for (const one of snapshot.credits) {
    const account = decodeAccount(one, company.id)
    company.credits.set(account.creditId, account)
  }
  company.idsMade = snapshot.idsMade
  company.timeMs = snapshot.timeMs
  company.overdraftLimit = snapshot.overdraftLimit ?? null
  return company
}

export function encodeUser(user: Readonly<User>): UserSnapshot {
  return {
    ...encodeEntity(user),
    memberships: [...user.memberships],
    ...clientTraitsOf(user),
    ...removedTraitsOf(user),
  }
}

export function decodeUser(snapshot: UserSnapshot): User {
  const user = newUser(snapshot.id, snapshot.environmentId)
  decodeEntity(user, snapshot)
  user.memberships = new Map(snapshot.memberships)
  return user
}

export function briefOf({
  id,
  environmentId,
  name,
  createdAtMs,
  updatedAtMs,
  lastSeenAtMs,
}: Readonly<Entity>): EntityBrief {
  return { id, environmentId, name, createdAtMs, updatedAtMs, lastSeenAtMs }
}

function encodeEntity(entity: Readonly<Entity>): EntitySnapshot {
  return {
    id: entity.id,
    environmentId: entity.environmentId,
    exists: entity.exists,
    name: entity.name,
    keys: namedValues(entity.keys),
    traits: namedValues(entity.traits),
    createdAtMs: entity.createdAtMs,
    updatedAtMs: entity.updatedAtMs,
    lastSeenAtMs: entity.lastSeenAtMs,
    sequence: entity.sequence,
  }
}

function decodeEntity(entity: Entity, snapshot: EntitySnapshot): void {
  entity.exists = snapshot.exists
  entity.name = snapshot.name
  entity.keys = NamedTexts.from(snapshot.keys)
  entity.traits = NamedTexts.from(snapshot.traits)
  if (snapshot.clientTraits !== undefined) entity.clientTraits = NamedTexts.from(snapshot.clientTraits)
  if (snapshot.removedTraits !== undefined) entity.removedTraits = NamedTexts.from(snapshot.removedTraits)
  entity.createdAtMs = snapshot.createdAtMs
  entity.updatedAtMs = snapshot.updatedAtMs
  entity.lastSeenAtMs = snapshot.lastSeenAtMs
  entity.sequence = snapshot.sequence
}

const clientTraitsOf = ({ clientTraits }: Readonly<Entity>): Pick<EntitySnapshot, 'clientTraits'> =>
  clientTraits === null || clientTraits.size === 0 ? {} : { clientTraits: namedValues(clientTraits) }

const removedTraitsOf = ({ removedTraits }: Readonly<Entity>): Pick<EntitySnapshot, 'removedTraits'> =>
  removedTraits === null || removedTraits.size === 0 ? {} : { removedTraits: namedValues(removedTraits) }

const namedValues = (texts: NamedTexts): StoredText[] =>
  [...texts].map(([name, one]) => [name, one.value, one.createdAtMs, one.updatedAtMs])
