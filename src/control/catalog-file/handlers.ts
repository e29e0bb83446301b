// The catalogue as a document: GET /catalog, POST /catalog/diff, POST /catalog/apply (docs/rules/catalog.md).
import type * as file from '../../../schemas/catalog.js'
import { accountFault, changesAccount, roleEverywhere } from '../../core/console-role.js'
import { KeyedMutex } from '../../entities/turns/one-at-a-time.js'
import { ServiceError } from '../../errors.js'
import type { Call, Handler } from '../../kit/call.js'
import { listPlaceOf } from '../plans/handlers.js'
import { applyChanges } from './apply.js'
import { canonical } from './canonical.js'
import { Companies } from './companies.js'
import { type CompareOptions, compare, type ObjectChange } from './compare.js'
import { documentOf } from './export.js'
import { labelled } from './members.js'
import { problemsOf } from './problems.js'
import { type Definitions, readDefinitions } from './read.js'

/** GET /catalog: the document of the environment, canonical (CA-1, CA-2). */
export const getCatalog: Handler = async call => ({
  data: documentOf(await readDefinitions(call.services.sql, listPlaceOf(call))),
})

interface Compared {
  readonly changes: readonly ObjectChange[]
  /** Why it cannot be applied. */
  readonly problems: readonly string[]
  readonly world: Definitions
  readonly wanted: file.Catalog
  readonly options: CompareOptions
}

async function compared(call: Call<file.CatalogWrite, unknown>): Promise<Compared> {
  const { body, services } = call
  // companies and keys that rules name must be listed
  await services.projections.barrier('postgres')
  const world = await readDefinitions(services.sql, listPlaceOf(call))
  const current = documentOf(world)
  const types = new Map(labelled(current.features ?? []).map(([ref, one]) => [ref, one.feature_type]))
  const wanted = canonical(body.catalog, types)
  const options = { prune: body.prune === true, publish: body.publish ?? null }
  const changes = compare(current, wanted, options)
  const problems = [...problemsOf(current, wanted, changes), ...rights(call, changes)]
  return { changes, problems, world, wanted, options }
}

/**
 * Changes that the caller may not make: prices of models are the account's, limits of publishable keys an admin's. Features,
 * flags and plans are the account's: a person needs the right to change them everywhere, as by their own operations.
 */
function rights({ key, services }: Call<unknown, unknown>, changes: readonly ObjectChange[]): string[] {
  const differs = (section: ObjectChange['section']) =>
    changes.some(one => one.section === section && one.action !== 'keep')
  const isAdmin = key.scopes.includes('admin')
  const problems: string[] = []
  if (differs('model_prices') && (key.environmentId !== null || !isAdmin) && key.bootstrap !== true)
    problems.push('model_prices: only an account-wide key with the scope admin may change them')
  if (differs('publishable_limits') && !isAdmin)
    problems.push('publishable_limits: only a key with the scope admin may change them')
  if (key.actor?.type === 'app_user') {
    const ids = services.keys.environments(key.accountId).map(({ id }) => id)
    const wider = changes.find(isOfAccount)
    if (wider !== undefined && !changesAccount(roleEverywhere(key.actor.roles, ids)))
      problems.push(`${wider.section}: ${accountFault}`)
  }
  return problems
}

/** Whether a change is seen in every environment: of a flag all but its rules, of a plan all but its versions. */
function isOfAccount({ section, action, changes }: ObjectChange): boolean {
  if (action === 'keep') return false
  if (section === 'flags' && action === 'change') return changes.some(({ path }) => !path.startsWith('rules'))
  if (section === 'plans' && action === 'change')
    return changes.some(({ path }) => path === 'external_resource_version')
  return section === 'features' || section === 'flags' || section === 'plans'
}

async function told(
  call: Call<unknown, unknown>,
  { changes, problems, world, options }: Compared,
): Promise<file.CatalogDiff> {
  const companies = new Companies(call, world, options)
  const shown: file.CatalogChange[] = []
  for (const change of changes) {
    const felt = await companies.of(change)
    const { section, ref, action, publishes } = change
    shown.push({
      section,
      name: ref,
      action,
      changes: [...change.changes],
      ...(publishes !== undefined && { publishes }),
      ...(felt && { companies: felt }),
    })
  }
  return { changes: shown, companies: await companies.ofAll(changes), problems: [...problems] }
}

/** POST /catalog/diff: what applying the document would do, and the companies that feel it. Changes nothing. */
export const diffCatalog: Handler<file.CatalogWrite> = async call => ({
  data: await told(call, await compared(call)),
})

const applying = new KeyedMutex()

/**
 * POST /catalog/apply: bring the environment to the document.
 *
 * errors  400 with the first problem of the diff, or that of the object that failed; what came before it is applied, and
 *         the same document goes on from there.
 * source  CA-6. Applications of one account take turns.
 */
export const applyCatalog: Handler<file.CatalogWrite> = call =>
  applying.run(call.key.accountId, async () => {
    const found = await compared(call)
    const [problem] = found.problems
    if (problem !== undefined) throw new ServiceError('value_invalid', problem)
    const diff = await told(call, found)
    await applyChanges(call, found.world, found.wanted, found.changes, found.options)
    const count = (action: ObjectChange['action']) =>
      found.changes.filter(change => change.action === action).length
    const data: file.CatalogApplied = {
      ...diff,
      made: count('make'),
      changed: count('change'),
      archived: count('archive'),
    }
    return { data }
  })
