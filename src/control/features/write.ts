// Creates the traits of features, for features and for entitlements sold by quantity.
import type { Sql } from 'postgres'
import type { TraitRegistry } from '../../catalog/traits.js'
import type { Services } from '../../kit/services.js'
import { asJson } from '../../kit/sql.js'
import { slugOf } from '../flags/write.js'
import { ensureFeatureTraits } from '../traits/rows.js'

/** A trait name made from a feature's name: "Seat count" → `seat_count`. */
export function traitNameOf(name: string): string {
  return slugOf(name).replaceAll('-', '_')
}

/**
 * Create a company trait in every environment of the account, under a name not in use.
 *
 * returns  its path.
 */
export async function makeLimitTrait(
  sql: Sql,
  { keys, traits }: Pick<Services, 'keys' | 'traits'>,
  accountId: string,
  featureName: string,
  nowMs: number,
): Promise<readonly string[]> {
  const environmentIds = keys.environments(accountId).map(environment => environment.id)
  const taken = await limitTraitNames(sql, accountId)
  const isFree = (name: string) => !taken.has(name) && !isDefined(traits, environmentIds, name)
  const base = `${traitNameOf(featureName)}_limit`
  let name = base
  for (let i = 2; !isFree(name); i++) name = `${base}_${i}`
  await ensureFeatureTraits(sql, traits, environmentIds, [[name]], nowMs)
  return [name]
}

function isDefined(traits: TraitRegistry, environmentIds: readonly string[], name: string): boolean {
  return environmentIds.some(id => traits.find(id, 'company', name) !== null)
}

async function limitTraitNames(sql: Sql, accountId: string): Promise<Set<string>> {
  const rows = await sql<{ hierarchy: readonly string[] }[]>`
    select usage_limit_trait_hierarchy as hierarchy from features
    where account_id = ${accountId} and usage_limit_trait_hierarchy is not null`
  return new Set(rows.map(row => row.hierarchy.join('.')))
}

/**
 * Ensure that a feature has a usage-limit trait. Features other than licences get theirs when first sold in advance.
 * Needs a definitions transaction of the whole account, because the trait is defined in every environment.
 *
 * source  EN-2.
 */
export async function ensureUsageLimitTrait(
  sql: Sql,
  services: Pick<Services, 'keys' | 'traits'>,
  accountId: string,
  featureId: string,
  nowMs: number,
): Promise<void> {
  const [feature] = await sql<{ name: string; limit: readonly string[] | null }[]>`
    select name, usage_limit_trait_hierarchy as limit from features
    where id = ${featureId} and account_id = ${accountId}`
  if (!feature || feature.limit) return
  const hierarchy = await makeLimitTrait(sql, services, accountId, feature.name, nowMs)
  await sql`update features set usage_limit_trait_hierarchy = ${asJson(sql, hierarchy)} where id = ${featureId}`
}
