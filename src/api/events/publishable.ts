// What events of a publishable key may not do: anybody has its value. source: decisions, security 3 and 6
import type { CatalogData } from '../../core/catalog.js'
import { flattenTraits } from '../../core/flags/trait-value.js'
import type { DirectoryKind } from '../../engine/directory/directory.js'
import type { Wanted } from '../../engine/directory/entities.js'
import { ServiceError } from '../../errors.js'
import type { Judged } from '../../events/judge.js'
import type { Sender } from './claims.js'

type Keys = Readonly<Record<string, string>>

/** Whether a sender's events are judged by `refuseBeyond`. */
export function isPublic({ key }: Sender): boolean {
  return key.kind === 'publishable'
}

/** The most that an event of this sender may count at once; infinite for a secret key. */
export function quantityMaxOf(sender: Sender): number {
  return isPublic(sender) ? limitsOf(sender).quantityMax : Number.POSITIVE_INFINITY
}

/** Whether this sender may send events of any name. */
export function namesEvents(sender: Sender): boolean {
  return !isPublic(sender) || limitsOf(sender).nameEvents
}

/**
 * Refuse what the environment does not let its publishable key do. What a signed context says of company and user was
 * said by a server: it may make and name them.
 *
 * errors  forbidden (403): a quantity beyond the bound; a new company, company key, event name or trait name where
 *         these are switched off.
 */
export function refuseBeyond(sender: Sender, judged: Judged): void {
  const limits = limitsOf(sender)
  if (judged.type === 'track') {
    if ((judged.body.quantity ?? 1) > limits.quantityMax)
      throw refused(`count more than ${limits.quantityMax} at once`)
    if (!limits.nameEvents && !eventNames(catalogOf(sender)).has(judged.body.event))
      throw refused('send events that no definition names')
  }
  if (sender.signed) return
  const keys = companyKeysOf(judged)
  if (keys !== null) refuseCompany(sender, keys, judged.type === 'identify')
  if (judged.type === 'identify' && !limits.nameTraits) {
    refuseNames(sender, 'user', judged.body.traits)
    refuseNames(sender, 'company', judged.body.company?.traits)
  }
}

function companyKeysOf(judged: Judged): Keys | null {
  if (judged.type === 'identify') return judged.body.company?.keys ?? null
  return judged.type === 'track' ? (judged.body.company ?? null) : null
}

function refuseCompany(sender: Sender, keys: Keys, addsKeys: boolean): void {
  const { createCompanies, addCompanyKeys } = limitsOf(sender)
  const { directory } = sender.services
  const resolution = directory.resolve('company', sender.environmentId, keys)
  if (resolution.found === null) {
    if (!createCompanies && resolution.reason === 'unknown' && Object.keys(keys).length > 0)
      throw refused('make companies')
    return
  }
  if (addCompanyKeys || !addsKeys) return
  for (const [name, value] of Object.entries(keys)) {
    const { found } = directory.resolve('company', sender.environmentId, { [name]: value })
    if (found !== resolution.found) throw refused('add keys to companies')
  }
}

function refuseNames(
  sender: Sender,
  kind: DirectoryKind,
  traits: Readonly<Record<string, unknown>> | null | undefined,
): void {
  if (!traits) return
  const flat = flattenTraits(traits)
  if ('refused' in flat) return // told where they are written
  for (const { name, text } of flat)
    if (text !== null && sender.services.traits.find(sender.environmentId, kind, name) === null)
      throw refused('name new traits')
}

/** A company that is there already keeps its name where publishable keys make none. */
export function unnamed(sender: Sender, company: Wanted): Wanted {
  if (limitsOf(sender).createCompanies) return company
  return { ...company, name: null }
}

/** Whether an error is about one event of a batch: that one is stored as failed, the others go on. */
export function isOfOneEvent(error: unknown): error is ServiceError {
  return error instanceof ServiceError && (error.status === 400 || error.status === 403)
}

const refused = (what: string): ServiceError =>
  new ServiceError('forbidden', `In this environment a publishable key may not ${what}`)

const limitsOf = ({ services, environmentId }: Sender) =>
  services.keys.environment(environmentId)!.publishable

const catalogOf = ({ services, environmentId }: Sender): CatalogData => services.catalogs.get(environmentId)

const names = new WeakMap<CatalogData, ReadonlySet<string>>()

/** The event names that features and rules of an environment count. */
function eventNames(catalog: CatalogData): ReadonlySet<string> {
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
