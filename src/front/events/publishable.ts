// Limits on events of publishable keys, whose value is public. source: decisions
import { performance } from 'node:perf_hooks'
import type { CatalogData } from '../../core/model/definitions.js'
import { flattenTraits } from '../../core/values/trait-value.js'
import type { DirectoryKind } from '../../entities/directory/directory.js'
import type { Wanted } from '../../entities/directory/entities.js'
import { ServiceError } from '../../errors.js'
import type { Judged } from '../../events/judge.js'
import type { Sender } from './claims.js'

type Keys = Readonly<Record<string, string>>

/** Whether `refuseBeyond` applies to a sender. */
export function isPublic({ key }: Sender): boolean {
  return key.kind === 'publishable'
}

/** Largest quantity of one event of this sender; infinite for a secret key. */
export function quantityMaxOf(sender: Sender): number {
  return isPublic(sender) ? limitsOf(sender).quantityMax : Number.POSITIVE_INFINITY
}

/** Whether this sender may send events of names that no definition counts. */
export function namesEvents(sender: Sender): boolean {
  return !isPublic(sender) || limitsOf(sender).nameEvents
}

/** Whether a publishable key may send an event of this name now; a name that it may counts from then on. */
export function mayName(sender: Sender, name: string): boolean {
  if (eventNames(catalogOf(sender)).has(name)) return true
  return limitsOf(sender).nameEvents && sender.services.quotas.takePublicName(sender.environmentId, name)
}

/**
 * Refuse an event that the environment does not allow to its publishable keys. A signed context comes from a
 * server and says all that the event says of its company and user, so it may create and name them.
 *
 * errors  forbidden (403): a quantity above the bound; a new company, company key, user key, event name or trait name
 *         where these are switched off; a new user beyond those of an hour.
 */
export function refuseBeyond(sender: Sender, judged: Judged): void {
  const limits = limitsOf(sender)
  if (judged.type === 'track') {
    if ((judged.body.quantity ?? 1) > limits.quantityMax)
      throw refused(`count more than ${limits.quantityMax} at once`)
    refuseEventName(sender, judged.body.event)
  }
  if (sender.signed) return
  if (judged.type === 'identify' && !limits.nameTraits) {
    refuseNames(sender, 'user', judged.body.traits)
    refuseNames(sender, 'company', judged.body.company?.traits)
  }
  const addsKeys = judged.type === 'identify'
  const { company, user } = keysOf(judged)
  if (company !== null) refuseKeys(sender, 'company', company, addsKeys)
  if (user !== null) refuseKeys(sender, 'user', user, addsKeys)
}

function refuseEventName(sender: Sender, name: string): void {
  if (mayName(sender, name)) return
  throw refused(
    limitsOf(sender).nameEvents ? 'send events of more names' : 'send events that no definition names',
  )
}

/** The keys of the company and user that an event may create or change; null: of none. */
function keysOf(judged: Judged): { readonly company: Keys | null; readonly user: Keys | null } {
  switch (judged.type) {
    case 'identify':
      return { company: judged.body.company?.keys ?? null, user: judged.body.keys }
    case 'track':
      return { company: judged.body.company ?? null, user: judged.body.user ?? null }
    case 'flag_check':
    case 'inference':
      return { company: null, user: null }
  }
}

/**
 * addsKeys  the event gives an entity that exists the keys it does not have. A key that joins a stranger's to a known
 *           one's would make the two one (security M6), and so would a new entity with several keys once a server
 *           writes one of them.
 */
function refuseKeys(sender: Sender, kind: DirectoryKind, keys: Keys, addsKeys: boolean): void {
  const limits = limitsOf(sender)
  const { directory, quotas } = sender.services
  const { environmentId } = sender
  const mayAdd = kind === 'company' ? limits.addCompanyKeys : limits.addUserKeys
  const plural = kind === 'company' ? 'companies' : 'users'
  const pairs = Object.entries(keys)
  const resolution = directory.resolve(kind, environmentId, keys)
  if (resolution.found === null) {
    if (resolution.reason !== 'unknown' || pairs.length === 0) return
    if (kind === 'company' && !limits.createCompanies) throw refused('make companies')
    if (!mayAdd && pairs.length > 1) throw refused(`make ${plural} with more than one key`)
    if (kind === 'user' && !quotas.takePublicUser(environmentId, limits.createUsers, performance.now()))
      throw refused(`make more than ${limits.createUsers} users in an hour`)
    return
  }
  if (mayAdd || !(addsKeys || directory.isUnconfirmed(resolution.found))) return
  for (const [name, value] of pairs) {
    const { found } = directory.resolve(kind, environmentId, { [name]: value })
    if (found !== resolution.found) throw refused(`add keys to ${plural}`)
  }
}

function refuseNames(
  sender: Sender,
  kind: DirectoryKind,
  traits: Readonly<Record<string, unknown>> | null | undefined,
): void {
  if (!traits) return
  const flat = flattenTraits(traits)
  if ('refused' in flat) return // reported where traits are written
  for (const { name, text } of flat)
    if (text !== null && sender.services.traits.find(sender.environmentId, kind, name) === null)
      throw refused('name new traits')
}

/** Without the right to create companies a publishable key cannot rename one either. */
export function unnamed(sender: Sender, company: Wanted): Wanted {
  if (limitsOf(sender).createCompanies) return company
  return { ...company, name: null }
}

/** Whether an error concerns one event of a batch, which is then stored as failed; the others continue. */
export function isOfOneEvent(error: unknown): error is ServiceError {
  return error instanceof ServiceError && (error.status === 400 || error.status === 403)
}

const refused = (what: string): ServiceError =>
  new ServiceError('forbidden', `In this environment a publishable key may not ${what}`)

const limitsOf = ({ services, environmentId }: Sender) =>
  services.keys.environment(environmentId)!.publishable

const catalogOf = ({ services, environmentId }: Sender): CatalogData => services.catalogs.get(environmentId)

const names = new WeakMap<CatalogData, ReadonlySet<string>>()

/** The event names that an environment's features and rules count. */
export function eventNames(catalog: CatalogData): ReadonlySet<string> {
  let known = names.get(catalog)
  if (known === undefined) {
    const conditions = catalog.flags.flatMap(flag =>
      flag.rules.flatMap(rule => [rule.conditions, ...rule.conditionGroups].flat()),
    )
    const subtypes = [...catalog.features, ...conditions].map(one => one.eventSubtype)
    known = new Set(subtypes.filter(name => name !== null))
    names.set(catalog, known)
  }
  return known
}
