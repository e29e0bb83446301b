// Definitions by their names: plans, features and credits that records mention, and companies by their keys.
import type { CompanyDetail } from '../../../schemas/companies.js'
import type { Credit } from '../../../schemas/credits.js'
import type { FeatureDetail } from '../../../schemas/features.js'
import type { PlanDetail } from '../../../schemas/plans.js'
import type { BillingProduct } from '../../../schemas/prices.js'
import type { EntityTraitDefinition } from '../../../schemas/traits.js'
import type { Client } from '../client.js'
import { keysLabel, keysQuery, keysText } from './keys.js'
import { meant } from './mapping.js'
import { MemberFault } from './members.js'

/** Ids of companies that are remembered. */
const companiesMax = 20_000
const pageSize = 250
const namesShown = 10

interface Named {
  readonly id: string
  readonly names: readonly string[]
}

const byName = ({ id, name }: Pick<Credit, 'id' | 'name'>): Named => ({ id, names: [name] })

export class Names {
  private readonly lists = new Map<string, Promise<readonly unknown[]>>()
  private readonly companyIds = new Map<string, string>()

  constructor(private readonly client: Client) {}

  /** A plan by id or name. errors: MemberFault. */
  async plan(member: string, given: string): Promise<PlanDetail> {
    const plans = await this.list<PlanDetail>('/plans?plan_type=plan')
    return this.one(member, 'plan', given, plans, byName)
  }

  /** An add-on by id or name. errors: MemberFault. */
  async addOn(member: string, given: string): Promise<PlanDetail> {
    const plans = await this.list<PlanDetail>('/plans?plan_type=add_on')
    return this.one(member, 'add-on', given, plans, byName)
  }

  /** A feature by id, name or the key of its flag. errors: MemberFault. */
  async feature(member: string, given: string): Promise<FeatureDetail> {
    const features = await this.list<FeatureDetail>('/features?')
    return this.one(member, 'feature', given, features, ({ id, name, flags }) => ({
      id,
      names: [name, ...flags.map(flag => flag.key)],
    }))
  }

  /** A credit by id or name. errors: MemberFault. */
  async credit(member: string, given: string): Promise<Credit> {
    const credits = await this.list<Credit>('/billing/credits?')
    return this.one(member, 'credit', given, credits, byName)
  }

  /** A trait of companies by id or name. errors: MemberFault. */
  async trait(member: string, given: string): Promise<EntityTraitDefinition> {
    const traits = await this.list<EntityTraitDefinition>('/entity-trait-definitions?entity_type=company')
    return this.one(member, 'trait', given, traits, ({ id, hierarchy }) => ({
      id,
      names: [hierarchy.join('.')],
    }))
  }

  /** A product of a payment provider by its external id. errors: MemberFault. */
  async product(member: string, given: string): Promise<BillingProduct> {
    const products = await this.list<BillingProduct>('/billing/products?')
    return this.one(member, 'product', given, products, one => ({
      id: one.product_id,
      names: [one.external_id],
    }))
  }

  /** The id of a company by keys. errors: MemberFault. */
  async companyId(member: string, keys: unknown): Promise<string> {
    const text = keysText(keys)
    const known = this.companyIds.get(text)
    if (known !== undefined) return known
    const found = await this.client.attempt('GET', `/companies/lookup?${keysQuery(keys)}`)
    if (found.error !== null)
      throw new MemberFault(member, `${member}: no company has ${keysLabel(keys)}; import companies first`)
    const { id } = found.data as CompanyDetail
    if (this.companyIds.size >= companiesMax) this.companyIds.clear()
    this.companyIds.set(text, id)
    return id
  }

  /** All rows of a list, read once. */
  private list<T>(path: string): Promise<readonly T[]> {
    const known = this.lists.get(path) as Promise<readonly T[]> | undefined
    if (known) return known
    const read = (async () => {
      const rows: T[] = []
      for (;;) {
        const page = await this.client.ask<T[]>('GET', `${path}&limit=${pageSize}&offset=${rows.length}`)
        rows.push(...page)
        if (page.length < pageSize) return rows
      }
    })()
    this.lists.set(path, read)
    return read
  }

  private one<T>(
    member: string,
    what: string,
    given: string,
    all: readonly T[],
    named: (one: T) => Named,
  ): T {
    const lower = given.toLowerCase()
    const by = (fits: (one: Named) => boolean) => all.filter(one => fits(named(one)))
    for (const found of [
      by(({ id }) => id === given),
      by(({ names }) => names.includes(given)),
      by(({ names }) => names.some(name => name.toLowerCase() === lower)),
    ]) {
      if (found.length === 1) return found[0]!
      if (found.length > 1)
        throw new MemberFault(
          member,
          `${member}: ${found.length} ${what}s are called ${JSON.stringify(given)}; use an id: ${found.map(one => named(one).id).join(', ')}`,
        )
    }
    const names = all.map(one => named(one).names[0]!)
    const there =
      names.length === 0
        ? `there is none`
        : `there are ${names.slice(0, namesShown).join(', ')}${names.length > namesShown ? ', …' : ''}`
    throw new MemberFault(
      member,
      `${member}: no ${what} is called ${JSON.stringify(given)}${meant(given, names)}; ${there}`,
    )
  }
}
