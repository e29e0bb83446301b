// Facts of a key that a front may know: with them it answers the checks that the main thread would let in for the key alone.
import { haveBudgets } from '../../core/credits/budget.js'
import type { CatalogData } from '../../core/model/definitions.js'
import { ServiceError } from '../../errors.js'
import type { EnvironmentRecord, KeyRecord } from '../../kit/call.js'
import type { Services } from '../../kit/services.js'
import type { Editions } from '../../wire/editions.js'
import type { KeyFacts } from '../../wire/front-facts.js'
import { readsUserTraits } from '../checks/handlers.js'
import { environmentOf, refusalOf } from '../http/admission/admit.js'
import type { Limits } from '../http/admission/limits.js'
import { askNobody } from '../http/request/request.js'
import type { Route } from '../http/routing/route.js'
import type { ToldKeys } from './told-keys.js'

interface FactsParts {
  readonly services: Pick<Services, 'catalogs' | 'clock' | 'directory' | 'keys'>
  readonly limits: Limits
  readonly editions: Editions
  /** A route of checks. */
  readonly route: Route
  /** A route of events. */
  readonly eventsRoute: Route
  readonly told: ToldKeys
}

/**
 * The facts of a key.
 *
 * environmentId  as the header has it; '' without one.
 * returns        null: the main thread must judge each check of the key, as of keys with conditions and tokens of companies,
 *                and of publishable keys where the environment requires a signed context.
 */
export function factsOf(parts: FactsParts, secret: string, environmentId: string): KeyFacts | null {
  const { limits, editions, route } = parts
  const { catalogs, clock, directory, keys } = parts.services
  const key = keys.find(secret, askNobody)
  if (key === null || key instanceof Promise || !isPlain(key)) return null
  const environment = environmentOf(key, environmentId, keys)
  if (environment === null || refusalOf(route, key, environment, environmentId, null) !== null) return null
  const { id } = environment
  const budgets = budgetsOf(limits, route, key, environment)
  if (budgets === 'here') return null
  const number = directory.numberOf(id)
  const catalog = catalogOf(catalogs, id)
  if (catalog === null) return null
  return {
    edition: editions.ofAll,
    keyId: key.id,
    environmentId: id,
    environment: number,
    environmentEdition: editions.of(number),
    clock: clock.testClock(id),
    budgets,
    events: eventsOf(parts, key, environment, environmentId),
    readsUserTraits: readsUserTraits(catalog),
    haveBudgets: haveBudgets(catalog.spendPolicies),
    flags: catalog.flags.length,
    isPublic: key.kind === 'publishable',
    version: catalog.version,
  }
}

/** environmentId: as the header has it. */
function eventsOf(
  { limits, editions, eventsRoute, told }: FactsParts,
  key: KeyRecord,
  environment: EnvironmentRecord,
  environmentId: string,
): KeyFacts['events'] {
  // publishable keys have names of their own for idempotency keys; events of a read-only key are stored as failed (EV-6)
  if (key.kind !== 'secret') return null
  if (key.readonly || refusalOf(eventsRoute, key, environment, environmentId, null) !== null) return null
  const budgets = budgetsOf(limits, eventsRoute, key, environment)
  const number = told.tell(key, environment.id, editions.ofAll)
  return budgets === 'here' || number === null ? null : { number, budgets }
}

function budgetsOf(limits: Limits, { limit }: Route, key: KeyRecord, environment: EnvironmentRecord) {
  const production = environment.environmentType === 'production'
  return limits.placesOf(key, limit, production, performance.now(), environment.id)
}

const isPlain = ({ kind, conditions, actor, companyId }: KeyRecord): boolean =>
  (kind === 'secret' || kind === 'publishable') &&
  conditions == null &&
  actor === undefined &&
  companyId === undefined

/** Definitions of an environment; null: it is only just made, or gone. */
function catalogOf(catalogs: FactsParts['services']['catalogs'], environmentId: string): CatalogData | null {
  try {
    return catalogs.get(environmentId)
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}
