// Former definitions of an environment: kept whenever the shards get another version, and put together again as they were
// at an instant (EX-6).
import { createHash } from 'node:crypto'
import type { Logger } from 'pino'
import type { Sql } from 'postgres'
import type {
  CatalogData,
  CreditDef,
  FeatureDef,
  FlagDef,
  PlanDef,
  PlanVersionDef,
  SpendPolicyDef,
  TraitDef,
} from '../core/model/definitions.js'
import { jsonText, parseExactly } from '../json.js'

/** Parts between two turns of the thread. */
const partsAtOnce = 1_000

/** A plan without its versions, which are parts of their own. */
interface KeptPlan extends Omit<PlanDef, 'versions'> {
  readonly versionIds: readonly string[]
}

type Settings = Pick<
  CatalogData,
  'accountId' | 'environmentType' | 'initialPlanId' | 'fallbackPlanId' | 'trialExpiryPlanId'
>

type Part = readonly [kind: string, id: string, def: unknown]

function* partsOf(data: CatalogData): Generator<Part> {
  const { accountId, environmentType, initialPlanId, fallbackPlanId, trialExpiryPlanId } = data
  const settings: Settings = {
    accountId,
    environmentType,
    initialPlanId,
    fallbackPlanId,
    trialExpiryPlanId,
  }
  yield ['settings', '', settings]
  for (const { id, entityType, name, traitType } of data.traits)
    yield ['trait', id, { id, entityType, name, traitType }]
  for (const one of data.features) yield ['feature', one.id, one]
  for (const one of data.flags) yield ['flag', one.id, one]
  for (const one of data.credits) yield ['credit', one.id, one]
  for (const one of data.spendPolicies) yield ['spend_policy', one.id, one]
  for (const { versions, ...plan } of data.plans) {
    const kept: KeptPlan = { ...plan, versionIds: versions.map(({ id }) => id) }
    yield ['plan', plan.id, kept]
    for (const version of versions) yield ['version', version.id, version]
  }
}

/** Keeps the parts that change. One call at a time for each environment. */
export class DefinitionHistory {
  /** MD5 of the part that was kept last, by kind and id of each environment. */
  private readonly kept = new Map<string, Map<string, string>>()

  constructor(
    private readonly sql: Sql,
    private readonly log: Logger,
  ) {}

  /**
   * Keep the parts of a version that differ from the parts kept last. Never rejects: while Postgres does not answer nothing
   * is kept, and the next version is compared with the parts that were.
   *
   * sinceMs  when the shards got it, in the environment's time.
   */
  async keep(data: CatalogData, sinceMs: number): Promise<void> {
    try {
      await this.write(data, sinceMs)
    } catch (error) {
      this.kept.delete(data.environmentId)
      this.log.warn({ err: error, environment_id: data.environmentId }, 'former definitions are not kept')
    }
  }

  forgetEnvironment(environmentId: string): void {
    this.kept.delete(environmentId)
  }

  private async write(data: CatalogData, sinceMs: number): Promise<void> {
    const { environmentId, version } = data
    const kept = this.kept.get(environmentId) ?? (await this.load(environmentId))
    const gone = new Set(kept.keys())
    const changed: { kind: string; id: string; def: string | null; md5: string }[] = []
    let parts = 0
    for (const [kind, id, def] of partsOf(data)) {
      const name = `${kind} ${id}`
      const text = jsonText(def)
      const md5 = createHash('md5').update(text).digest('hex')
      gone.delete(name)
      if (kept.get(name) !== md5) changed.push({ kind, id, def: text, md5 })
      if (++parts % partsAtOnce === 0) await new Promise(resolve => setImmediate(resolve))
    }
    for (const name of gone) {
      const at = name.indexOf(' ')
      changed.push({ kind: name.slice(0, at), id: name.slice(at + 1), def: null, md5: '' })
    }
    if (changed.length > 0)
      await this.sql`
        insert into definition_history (environment_id, kind, id, version, since_ms, def)
        select ${environmentId}, kind, id, ${version}, ${sinceMs}, def
        from jsonb_to_recordset(${JSON.stringify(changed)}::text::jsonb) as part(kind text, id text, def text)
        where exists (select from environments where id = ${environmentId})
        on conflict do nothing`
    for (const { kind, id, md5 } of changed)
      if (md5 === '') kept.delete(`${kind} ${id}`)
      else kept.set(`${kind} ${id}`, md5)
    this.kept.set(environmentId, kept)
  }

  private async load(environmentId: string): Promise<Map<string, string>> {
    const rows = await this.sql<{ kind: string; id: string; md5: string | null }[]>`
      select distinct on (kind, id) kind, id, md5(def) as md5 from definition_history
      where environment_id = ${environmentId} order by kind, id, version desc`
    return new Map(rows.flatMap(({ kind, id, md5 }) => (md5 === null ? [] : [[`${kind} ${id}`, md5]])))
  }
}

/** The first instant whose definitions are kept, epoch ms; null: none. */
export async function definitionsSince(sql: Sql, environmentId: string): Promise<number | null> {
  const [row] = await sql<{ since_ms: string | null }[]>`
    select min(since_ms) as since_ms from definition_history
    where environment_id = ${environmentId} and kind = 'settings'`
  return row?.since_ms == null ? null : Number(row.since_ms)
}

/** The version of an environment's definitions at an instant; null: it is not kept. */
export async function versionAt(sql: Sql, environmentId: string, atMs: number): Promise<number | null> {
  const [row] = await sql<{ version: string }[]>`
    select version from definition_history
    where environment_id = ${environmentId} and since_ms <= ${atMs}
    order by version desc limit 1`
  return row === undefined ? null : Number(row.version)
}

/**
 * An environment's definitions as they were at a version.
 *
 * traits  the definitions known now: a trait that came since the last change of definitions is among them alone.
 */
export async function definitionsAt(
  sql: Sql,
  environmentId: string,
  version: number,
  traits: readonly TraitDef[],
): Promise<CatalogData> {
  const rows = await sql<{ kind: string; id: string; def: string | null }[]>`
    select distinct on (kind, id) kind, id, def from definition_history
    where environment_id = ${environmentId} and version <= ${version}
    order by kind, id, version desc`
  const all = new Map<string, Map<string, unknown>>()
  for (const { kind, id, def } of rows) {
    const of = all.get(kind) ?? new Map<string, unknown>()
    all.set(kind, of)
    if (def !== null) of.set(id, parseExactly(def))
  }
  const listOf = <T>(kind: string): T[] => [...(all.get(kind)?.values() ?? [])] as T[]
  const settings = all.get('settings')?.get('') as Settings
  const versions = all.get('version')
  const known = new Map(listOf<TraitDef>('trait').map(one => [one.id, one]))
  return {
    environmentId,
    version,
    ...settings,
    traits: [...known.values(), ...traits.filter(({ id }) => !known.has(id))],
    features: listOf<FeatureDef>('feature'),
    flags: listOf<FlagDef>('flag'),
    credits: listOf<CreditDef>('credit'),
    spendPolicies: listOf<SpendPolicyDef>('spend_policy'),
    plans: listOf<KeptPlan>('plan').map(({ versionIds, ...plan }) => ({
      ...plan,
      versions: versionIds.flatMap(id => (versions?.get(id) as PlanVersionDef | undefined) ?? []),
    })),
  }
}
