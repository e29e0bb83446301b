// Rate limits of accounts and caps of keys (AL-40…46).
import { type RateLimitBucket, rateLimitBuckets } from '../../../../schemas/enums.js'
import type { LimitSetting } from '../../../config.js'
import {
  capped,
  fullBucket,
  type Limit,
  refill,
  type Spent,
  take,
  takeMany,
} from '../../../core/values/bucket.js'
import type { KeyRecord } from '../../../kit/call.js'
import { type BucketCells, SharedBucket } from '../../../wire/bucket-cells.js'
import type { BucketPlace, Budgets } from '../../../wire/front-facts.js'
import type { LimitKind } from '../routing/route.js'
import { type Allowance, allowanceOf, type NamedLevel, refusal, refusalBy } from './allowance.js'
import { BucketPlaces } from './bucket-places.js'

export type { Allowance } from './allowance.js'

/** One limit per bucket. */
export type LimitTable = Readonly<Record<RateLimitBucket, Limit>>

/** The default limits of the interface document. */
export const defaultLimits: LimitTable = {
  global: { ratePerSecond: 300, burst: 600 },
  mutation: { ratePerSecond: 120, burst: 120 },
  events_ingest: { ratePerSecond: 50, burst: 150 },
  analytics: { ratePerSecond: 12, burst: 30 },
}

/** The limits of a setting; null: none. Buckets not named keep the defaults. */
export function limitTable(setting: LimitSetting): LimitTable | null {
  if (setting === 'off') return null
  return setting === 'default' ? defaultLimits : { ...defaultLimits, ...setting }
}

/** Buckets in the order of the table: a refusal names the first exhausted one (AL-42). */
type Chains = Readonly<Record<LimitKind, readonly NamedBucket[]>>

/** Groups of requests that share buckets. Publishable keys have their own, and so have tokens of companies' pages (AL-41). */
const parties = { rest: 0, production: 1, publishable: 2, portal: 3 } as const
type Party = keyof typeof parties
const partyNames = Object.keys(parties) as Party[]

/** A kind of request that takes from a bucket. */
const kindOf: Readonly<Record<RateLimitBucket, LimitKind>> = {
  global: 'read',
  mutation: 'mutation',
  events_ingest: 'ingest',
  analytics: 'analytics',
}

/** The account or capped key that buckets belong to. */
interface Owner {
  readonly accountId: string
  readonly keyId: string
  readonly percent: number
}

// The buckets of one account, or of one capped key. Global and mutation exist twice (AL-41); events ingest and
// analytics once (decision 35), or once for each environment; of publishable keys, and of tokens, all of them once for each
// environment.
class Budget {
  /** Events ingest and analytics of all environments together; null: each has its own. */
  private readonly together: { readonly ingest: NamedBucket; readonly analytics: NamedBucket } | null
  private readonly pairs: readonly (readonly [global: NamedBucket, mutation: NamedBucket])[]
  /** By party. */
  private readonly environments = [
    new Map<string, Chains>(),
    new Map<string, Chains>(),
    new Map<string, Chains>(),
    new Map<string, Chains>(),
  ] as const
  /** The buckets used last. */
  private last: {
    readonly environmentId: string
    readonly party: Party
    readonly chains: Chains
  } | null = null

  constructor(
    readonly table: LimitTable,
    private readonly owner: Owner,
    nowMs: number,
    scope: LimitsScope,
    private readonly places: BucketPlaces | null,
  ) {
    // nodes know a shared bucket by the party and environment that it is opened with
    this.together =
      scope === 'environment'
        ? null
        : {
            ingest: this.bucket('events_ingest', 'production', '', nowMs),
            analytics: this.bucket('analytics', 'production', '', nowMs),
          }
    this.pairs = [this.pair('rest', '', nowMs), this.pair('production', '', nowMs)]
  }

  private pair(
    party: Party,
    environmentId: string,
    nowMs: number,
  ): readonly [global: NamedBucket, mutation: NamedBucket] {
    return [
      this.bucket('global', party, environmentId, nowMs),
      this.bucket('mutation', party, environmentId, nowMs),
    ]
  }

  /** The copy of a bucket that another node named, refilled up to now. */
  copyOf([, , , party, environmentId, name]: Spent, nowMs: number): NamedBucket {
    const chain = this.applying(kindOf[name], partyNames[party]!, nowMs, environmentId)
    return chain.find(one => one.name === name)!
  }

  /** The applicable buckets, refilled up to now. */
  applying(kind: LimitKind, party: Party, nowMs: number, environmentId: string): readonly NamedBucket[] {
    const chain = this.chains(environmentId, party, nowMs)[kind]
    for (const bucket of chain) refill(bucket, nowMs)
    return chain
  }

  private chains(environmentId: string, party: Party, nowMs: number): Chains {
    const { last } = this
    if (last !== null && last.environmentId === environmentId && last.party === party) return last.chains
    const known = this.environments[parties[party]].get(environmentId)
    const chains = known ?? this.open(environmentId, party, nowMs)
    this.last = { environmentId, party, chains }
    return chains
  }

  private open(environmentId: string, party: Party, nowMs: number): Chains {
    const [global, mutation] = this.pairs[parties[party]] ?? this.pair(party, environmentId, nowMs)
    const own = (name: 'events_ingest' | 'analytics') => this.bucket(name, party, environmentId, nowMs)
    const together = party === 'rest' || party === 'production' ? this.together : null
    const chains = {
      read: [global],
      check: [global],
      mutation: [global, mutation],
      ingest: [global, together?.ingest ?? own('events_ingest')],
      analytics: [global, together?.analytics ?? own('analytics')],
    }
    const environments = this.environments[parties[party]]
    // deleted environments leave entries behind
    if (environments.size >= environmentsMax) {
      environments.clear()
      this.places?.forgotten()
    }
    environments.set(environmentId, chains)
    return chains
  }

  private bucket(name: RateLimitBucket, party: Party, environmentId: string, nowMs: number): NamedBucket {
    const { owner, places } = this
    const full = fullBucket(this.table[name], nowMs)
    const one = { name, owner, party, environmentId, spent: 0 }
    const shared = places === null ? null : places.make(full)
    return shared === null ? { ...one, ...full } : Object.assign(shared, one)
  }
}

/** Most environments with buckets; beyond it, all are dropped and start full again. */
const environmentsMax = 10_000

interface NamedBucket extends NamedLevel {
  readonly owner: Owner
  readonly party: Party
  readonly environmentId: string
  /** Tokens taken here that other nodes were not told of. */
  spent: number
}

const noBuckets: readonly NamedBucket[] = []

const partyOf = ({ kind, companyId }: KeyRecord, production: boolean): Party => {
  if (kind === 'publishable') return 'publishable'
  if (companyId !== undefined) return 'portal'
  return production ? 'production' : 'rest'
}

/** Whether environments share the budgets of events ingest and analytics (decision 35). */
type LimitsScope = 'account' | 'environment'

/** Limits of every account and capped key with requests. Their number bounds the memory. */
export class Limits {
  private readonly accounts = new Map<string, Budget | null>()
  private readonly keys = new Map<string, { readonly percent: number; readonly budget: Budget }>()
  private readonly own = new Map<string, LimitTable | null>()
  /** The account that asked last. */
  private last: { readonly accountId: string; readonly budget: Budget | null } | null = null
  /** Buckets from which tokens were taken since `takeSpent`; null: there are no other nodes. */
  private spent: NamedBucket[] | null = null
  /** Null: there are no extra fronts. */
  private places: BucketPlaces | null = null

  /** `table` null: no limits except an account's own. */
  constructor(
    private readonly table: LimitTable | null,
    private readonly scope: LimitsScope = 'account',
  ) {}

  /**
   * Have extra fronts take from the same buckets, from before there are any.
   *
   * forgotten  called when buckets are replaced, while no thread takes from any.
   */
  lend(cells: BucketCells, forgotten: () => void): void {
    this.places = new BucketPlaces(cells, forgotten)
  }

  /**
   * The buckets that a request of this kind takes from, for a front.
   *
   * returns  null: no limits; `here`: this thread alone can take from them.
   */
  placesOf(
    key: KeyRecord,
    kind: LimitKind,
    production: boolean,
    nowMs: number,
    environmentId: string,
  ): Budgets | 'here' | null {
    return this.alone(() => {
      const account = this.accountBudget(key.accountId, nowMs)
      if (account === null) return null
      const party = partyOf(key, production)
      const shared = account.applying(kind, party, nowMs, environmentId)
      const own = this.ownOf(key, account.table, kind, party, nowMs, environmentId)
      if (![...shared, ...own].every(one => one instanceof SharedBucket)) return 'here'
      const placeOf = (one: NamedBucket): BucketPlace => {
        const { place, limit } = one as unknown as SharedBucket
        return { name: one.name, place, limit }
      }
      return { shared: shared.map(placeOf), own: own.map(placeOf) }
    })
  }

  /** Look at buckets, and take from them, while no other thread does. */
  private alone<T>(work: () => T): T {
    return this.places === null ? work() : this.places.cells.alone(work)
  }

  /** Keep from now on what is taken, for `takeSpent`. */
  share(): void {
    this.spent ??= []
  }

  /** Tokens taken here since the last call, by bucket. */
  takeSpent(): readonly Spent[] {
    const spent = this.spent ?? []
    this.spent = []
    return spent.map(bucket => {
      const { owner, party, environmentId, name, spent: count } = bucket
      bucket.spent = 0
      return [owner.accountId, owner.keyId, owner.percent, parties[party], environmentId, name, count]
    })
  }

  /**
   * Take from the buckets of this node what another node took from its copies. Each node takes on its own in between, so
   * that all together may take more than there is. A level below 0 makes up for it before the next request passes.
   *
   * nowMs  a monotonic clock.
   */
  spentElsewhere(spent: readonly Spent[], nowMs: number): void {
    for (const one of spent) {
      const [accountId, id, percent, , , , count] = one
      const account = this.accountBudget(accountId, nowMs)
      if (account === null) continue
      const budget = id === '' ? account : this.keyBudget({ id, accountId }, percent, account.table, nowMs)
      takeMany(budget.copyOf(one, nowMs), count)
    }
  }

  /**
   * Set or remove the limits of one account.
   *
   * table    a table; `null`: no limits; `undefined`: the defaults.
   * effect   its buckets start full, and those of its capped keys at their next request.
   */
  setAccount(accountId: string, table: LimitTable | null | undefined): void {
    this.alone(() => {
      if (table === undefined) this.own.delete(accountId)
      else this.own.set(accountId, table)
      this.accounts.delete(accountId)
      this.spent &&= this.spent.filter(({ owner }) => owner.accountId !== accountId)
      this.last = null
      this.keys.clear()
      this.places?.forgotten()
    })
  }

  /**
   * Take one request from every budget it counts against, or from none.
   *
   * production     AL-41: a request without an environment counts as production.
   * nowMs          a monotonic clock (AL-44).
   * environmentId  the request's; '' for one without.
   * returns        what the headers say, or null where nothing is limited.
   * source         AL-40…46, decision 35. Publishable keys and tokens of companies' pages have buckets of their own, so that
   *                they use up nothing that a server needs: decision.
   */
  admit(
    key: KeyRecord,
    kind: LimitKind,
    production: boolean,
    nowMs: number,
    environmentId = '',
  ): Allowance | null {
    if (this.places === null) return this.takeOne(key, kind, production, nowMs, environmentId)
    return this.places.cells.alone(() => this.takeOne(key, kind, production, nowMs, environmentId))
  }

  private takeOne(
    key: KeyRecord,
    kind: LimitKind,
    production: boolean,
    nowMs: number,
    environmentId: string,
  ): Allowance | null {
    const account = this.accountBudget(key.accountId, nowMs)
    if (account === null) return null
    const party = partyOf(key, production)
    const shared = account.applying(kind, party, nowMs, environmentId)
    const own = this.ownOf(key, account.table, kind, party, nowMs, environmentId)
    const refused = refusalBy(shared, own)
    if (refused !== null) return refused
    this.takeAll(shared)
    this.takeAll(own)
    return allowanceOf(shared, own)
  }

  /**
   * Charge an admitted request with what its body or its answer costs beyond the one token that `admit` took.
   *
   * tokens   may be more than the budgets have: the requests that follow pass once they have refilled.
   * refuses  false: the work is done or agreed to, so it is charged also where a budget is overdrawn already.
   * returns  null, or the refusal where a budget is overdrawn already: of many at once one alone exceeds it.
   * source   security H3, H5, H6; the tokens of each route are decisions.
   */
  charge(
    key: KeyRecord,
    kind: LimitKind,
    production: boolean,
    tokens: number,
    nowMs: number,
    environmentId = '',
    refuses = true,
  ): Allowance | null {
    return this.alone(() => this.takeMore(key, kind, production, tokens, nowMs, environmentId, refuses))
  }

  private takeMore(
    key: KeyRecord,
    kind: LimitKind,
    production: boolean,
    tokens: number,
    nowMs: number,
    environmentId: string,
    refuses: boolean,
  ): Allowance | null {
    const account = this.accountBudget(key.accountId, nowMs)
    if (account === null || tokens <= 0) return null
    const party = partyOf(key, production)
    const chains = [
      account.applying(kind, party, nowMs, environmentId),
      this.ownOf(key, account.table, kind, party, nowMs, environmentId),
    ]
    if (refuses)
      for (const chain of chains)
        for (const bucket of chain) if (bucket.level < 0) return refusal(bucket, bucket)
    for (const chain of chains) this.takeAll(chain, tokens)
    return null
  }

  private takeAll(chain: readonly NamedBucket[], tokens = 1): void {
    const { spent } = this
    for (const bucket of chain) {
      if (tokens === 1) take(bucket)
      else takeMany(bucket, tokens)
      if (spent === null) continue
      if (bucket.spent === 0) spent.push(bucket)
      bucket.spent += tokens
    }
  }

  private accountBudget(accountId: string, nowMs: number): Budget | null {
    const { last } = this
    if (last !== null && last.accountId === accountId) return last.budget
    const budget = this.budgetOf(accountId, nowMs)
    this.last = { accountId, budget }
    return budget
  }

  private budgetOf(accountId: string, nowMs: number): Budget | null {
    const known = this.accounts.get(accountId)
    if (known !== undefined) return known
    const own = this.own.get(accountId)
    const table = own === undefined ? this.table : own
    const budget =
      table === null
        ? null
        : new Budget(table, { accountId, keyId: '', percent: 0 }, nowMs, this.scope, this.places)
    this.accounts.set(accountId, budget)
    return budget
  }

  /** The buckets of a capped key that apply, refilled up to now; none where the key has no cap. */
  private ownOf(
    key: KeyRecord,
    table: LimitTable,
    kind: LimitKind,
    party: Party,
    nowMs: number,
    environmentId: string,
  ): readonly NamedBucket[] {
    const percent = key.rateLimitPercent
    if (percent === null || percent === 0) return noBuckets
    return this.keyBudget(key, percent, table, nowMs).applying(kind, party, nowMs, environmentId)
  }

  // A changed cap starts full (AL-46).
  private keyBudget(
    key: Pick<KeyRecord, 'id' | 'accountId'>,
    percent: number,
    table: LimitTable,
    nowMs: number,
  ): Budget {
    const known = this.keys.get(key.id)
    if (known !== undefined && known.percent === percent) return known.budget
    if (known !== undefined) this.places?.forgotten()
    const budget = new Budget(
      share(table, percent),
      { accountId: key.accountId, keyId: key.id, percent },
      nowMs,
      this.scope,
      this.places,
    )
    this.keys.set(key.id, { percent, budget })
    return budget
  }
}

function share(table: LimitTable, percent: number): LimitTable {
  const entries = rateLimitBuckets.map(name => [name, capped(table[name], percent)] as const)
  return Object.fromEntries(entries) as Record<RateLimitBucket, Limit>
}
