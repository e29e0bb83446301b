// Limits on events of publishable keys, whose value is public. source: decisions

import type { CatalogData } from '../../core/definitions.js'
import { flattenTraits } from '../../core/flags/trait-value.js'
import type { DirectoryKind } from '../../engine/directory/directory.js'
import type { Wanted } from '../../engine/directory/entities.js'
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

/** Whether this sender may send events of any name. */
export function namesEvents(sender: Sender): boolean {
  return !isPublic(sender) || limitsOf(sender).nameEvents
}

/**
 * Refuse an event that the environment does not allow to its publishable keys. A signed context comes from a
 * server, so it may create and name its company and user.
 *
 * errors  forbidden (403): a quantity above the bound; a new company, company key, event name or trait name where
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
