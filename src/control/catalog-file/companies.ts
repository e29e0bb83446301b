// Which companies feel a change of a catalogue (CA-7).
import type { Sql } from 'postgres'
import type * as file from '../../../schemas/catalog.js'
import type { Call } from '../../kit/call.js'
import type { Fragment } from '../entities/list.js'
import { PlanColumns } from '../plan-versions/columns.js'
import type { CompareOptions, ObjectChange } from './compare.js'
import type { Definitions } from './read.js'
import { Resolver } from './resolve.js'

const shownMax = 100

/** Looks up companies of one environment. */
export class Companies {
  private readonly sql: Sql
  private readonly columns: PlanColumns

  constructor(
    call: Call<unknown, unknown>,
    private readonly world: Definitions,
    private readonly options: CompareOptions,
  ) {
    const { services, environment, nowMs } = call
    this.sql = services.sql
    this.columns = new PlanColumns(services.sql, services.catalogs.get(environment.id), 'l', nowMs)
  }

  /** The companies of one change; null: none feels it. */
  async of(change: ObjectChange): Promise<file.CatalogCompanies | null> {
    const test = this.test(change)
    return test === null ? null : this.meeting(test)
  }

  /** The companies of all changes together, each once. */
  async ofAll(changes: readonly ObjectChange[]): Promise<file.CatalogCompanies> {
    const tests = changes.flatMap(change => this.test(change) ?? [])
    if (tests.length === 0) return { count: 0, companies: [] }
    const { sql } = this
    return this.meeting(tests.reduce((all, one) => sql`${all} or ${one}`))
  }

  private async meeting(test: Fragment): Promise<file.CatalogCompanies> {
    const { sql, world } = this
    const matching = sql`
      from listed l where l.environment_id = ${world.environmentId} and l.kind = 'company' and (${test})`
    const [counted] = await sql<{ count: number }[]>`select count(*)::int as count ${matching}`
    const companies = await sql<{ id: string; name: string }[]>`
      select l.id, l.name ${matching} order by l.name, l.id limit ${shownMax}`
    return { count: counted!.count, companies: companies.map(({ id, name }) => ({ id, name })) }
  }

  private test({ section, ref, action, publishes, changes, from, to }: ObjectChange): Fragment | null {
    const { sql, world } = this
    if (action === 'make' || action === 'keep') return null
    switch (section) {
      case 'plans': {
        const inForce = changes.some(one => one.path === 'published' || one.path.startsWith('published.'))
        const stays = publishes === true && this.options.publish === 'leave'
        const plan = world.plans.rowOf(ref)
        return plan && (inForce || action === 'archive') && !stays
          ? this.columns.on('plan_id', [plan.id]).test
          : null
      }
      case 'features': {
        const feature = world.features.rowOf(ref)
        return feature && this.columns.entitledTo(feature.id).test
      }
      case 'flags':
        return this.flag(from as file.CatalogFlag, to as file.CatalogFlag | null)
      case 'credits': {
        const credit = world.credits.rowOf(ref)
        return credit && sql`${credit.id} = any(l.credits)`
      }
      case 'traits':
        return sql`exists (select 1 from entity_traits t
          where t.entity_id = l.id and t.definition_id = ${new Resolver(world).trait(ref)} offset 0)`
      case 'plan_group': {
        const moved = changes.some(one => one.path === 'fallback_plan' || one.path === 'trial_expiry_plan')
        return moved ? sql`l.plan_id is null or l.plan_until is not null` : null
      }
      case 'bundles':
      case 'model_prices':
      case 'publishable_limits':
        return null
    }
  }

  /** Rules may decide for anybody; a flag without changes of decision is felt by nobody. */
  private flag(from: file.CatalogFlag, to: file.CatalogFlag | null): Fragment | null {
    const decides = (flag: file.CatalogFlag | null) =>
      JSON.stringify([flag?.default_value, flag?.feature, flag?.rules])
    return decides(from) === decides(to) ? null : this.sql`true`
  }
}
