// The final checks of a simulation: everything acknowledged is there once, nothing else is, and every store
// shows the state.
import { isDeepStrictEqual } from 'node:util'
import type { CompanyDescription, UserSnapshot } from '../../../src/core/model/descriptions.js'
import { amountFromDecimal, amountFromNumber } from '../../../src/core/values/amount.js'
import type { Row } from '../../../workers/projector/fold.js'
import {
  type Clients,
  countsOf,
  creditId,
  drawing,
  granted,
  limited,
  poorGranted,
  type Told,
  usageLimit,
} from './clients.js'
import { environmentId, type Machine, type Service } from './machine.js'

/** The state of all actors, by id: a restart must bring it back. */
export type Known = ReadonlyMap<string, CompanyDescription | UserSnapshot | null>

/** Read the state of every actor. All of it is durable by then. */
export async function describeAll(machine: Machine, clients: Clients): Promise<Known> {
  const { postgres } = machine
  const known = new Map<string, CompanyDescription | UserSnapshot | null>()
  for (const [kind, table] of [
    ['c', postgres.companies],
    ['u', postgres.users],
  ] as const)
    for (const id of table.keys())
      known.set(
        id,
        await clients.insist(async service => {
          const { shards } = service.services
          const { nowMs } = service.call()
          const { reply } = await shards.ask<CompanyDescription>(kind, environmentId, id, describe, nowMs)
          // Reading may have settled changes by time. This answer waits until they are durable.
          if (kind === 'c') await shards.ask(kind, environmentId, id, { type: 'credits' }, nowMs)
          return reply
        }),
      )
  return known
}

const describe = { type: 'describe' } as const

export class Verification {
  constructor(
    private readonly machine: Machine,
    private readonly clients: Clients,
  ) {}

  private must(holds: boolean, law: string): void {
    if (!holds) this.machine.wrong.push(law)
  }

  /**
   * Compare everything with the answers that clients received. The stores have caught up, and nothing fails.
   */
  all(known: Known): void {
    const service = this.machine.service!
    for (const told of this.clients.told.values()) this.company(service, told, known)
    this.invented()
    this.eventsOnce()
    this.ledger(known)
    this.projected(known)
    if (this.machine.catalog.watches) this.notices(known)
    this.must(this.machine.postgres.putAside.length === 0, `put aside: ${this.machine.postgres.putAside[0]}`)
  }

  /** A restart brings back the same state, except for times that move by reading alone. */
  same(before: Known, after: Known): void {
    for (const [id, one] of before) {
      const other = after.get(id)
      if (one === null || other === null || other === undefined) {
        this.must(one === null && other === null, `${id} is gone after a restart`)
        continue
      }
      const [was, is] = [durable(one), durable(other)]
      this.must(
        isDeepStrictEqual(was, is),
        `a restart changed ${id}: ${JSON.stringify(was)} to ${JSON.stringify(is)}`,
      )
    }
  }

  private company(service: Service, told: Told, known: Known): void {
    const { slug } = told
    const { found } = service.directory.resolve('company', environmentId, { slug })
    if (found === null) return this.must(false, `${slug} is not in the directory`)
    this.must(told.id === '' || told.id === found, `${slug} was ${told.id} and is ${found}`)
    const description = known.get(found) as CompanyDescription | null | undefined
    if (!description) return this.must(false, `${slug} (${found}) has no actor`)
    const counted = countsOf(description)
    for (const name of new Set([...counted.keys(), ...told.acknowledged.keys()])) {
      const least = told.acknowledged.get(name) ?? 0
      const most = name === 'keyless' ? (told.sent.get(name) ?? 0) : least
      const units = counted.get(name) ?? 0
      this.must(units >= least && units <= most, `${slug} counts ${units} of ${name}, acknowledged ${least}`)
    }
    const traits = new Map(description.state.traits.map(([name, value]) => [name, value]))
    for (const [name, value] of told.traits)
      this.must(traits.get(name) === value, `${slug}: ${name} is ${traits.get(name)}, told ${value}`)
    const added = Number(traits.get('counted') ?? 0)
    this.must(
      added >= told.added && added <= told.added + told.doubtful,
      `${slug}: counted up to ${added}, acknowledged ${told.added}, in doubt ${told.doubtful}`,
    )
    this.members(service, told, found)
    this.credits(told, description)
  }

  private members(service: Service, told: Told, companyId: string): void {
    const { directory } = service
    this.must(
      directory.membersOf(companyId) === told.users.size,
      `${told.slug} has ${directory.membersOf(companyId)} users, told ${told.users.size}`,
    )
    for (const mail of told.users) {
      const { found } = directory.resolve('user', environmentId, { mail })
      this.must(
        found !== null && directory.isMember(found, companyId),
        `${mail} is no member of ${told.slug}`,
      )
    }
  }

  /** CR-4: the balance is grants less draws. Holds that outlast the run are held. */
  private credits(told: Told, { balances }: CompanyDescription): void {
    const balance = balances[creditId]
    if (balance === undefined) return
    const grant = told.slug === 'poor' ? poorGranted : granted
    const drawn = told.acknowledged.get(drawing) ?? 0
    const { remaining, reserved } = balance
    this.must(reserved === told.held, `${told.slug}: ${reserved} credits are held, told ${told.held}`)
    this.must(
      remaining === grant - drawn - told.held,
      `${told.slug}: ${remaining} credits remain, ${drawn} drawn and ${told.held} held of ${grant}`,
    )
  }

  /** Each change with a subscription is in the outbox once, and nothing else is. */
  private notices(known: Known): void {
    const told = new Map<string, number>()
    for (const row of this.machine.postgres.outbox.values()) {
      const { type, company_id: companyId, happened } = row as Record<string, string>
      const name = `${type} of ${companyId ?? JSON.parse(happened!).id}`
      told.set(name, (told.get(name) ?? 0) + 1)
    }
    for (const [name, count] of told) this.must(count === 1, `${name} is told ${count} times`)
    for (const [id, one] of known) {
      if (one === null) continue
      const kind = 'balances' in one ? 'company' : 'user'
      this.must(told.has(`${kind}.created of ${id}`), `${kind}.created of ${id} is not told`)
      this.must(!told.has(`${kind}.deleted of ${id}`), `${kind}.deleted of ${id} is told, but it is there`)
      if (!('balances' in one)) continue
      const used = countsOf(one).get(limited) ?? 0
      const reached = used >= usageLimit && one.plan !== null
      const name = `entitlement.limit.reached of ${id}`
      this.must(told.has(name) === reached, `${name}: told ${told.has(name)}, used ${used} of ${usageLimit}`)
    }
    const gone = [...told.keys()].filter(name => name.startsWith('company.deleted of '))
    for (const name of gone)
      this.must(told.has(name.replace('deleted', 'created')), `${name} is told, but not that it was made`)
  }

  /** As many companies as clients named. */
  private invented(): void {
    const { postgres } = this.machine
    this.must(
      postgres.companies.size === this.clients.told.size,
      `${postgres.companies.size} companies, named ${this.clients.told.size}: ${[...postgres.companies.values()].map(row => `${row.name} ${row.id}`).sort()}`,
    )
  }

  private eventsOnce(): void {
    const { clients, machine } = this
    const rows = machine.clickhouse.rows('events').filter(({ type }) => type !== 'flag_check')
    const times = new Map<string, number>()
    for (const { id } of rows) times.set(id, (times.get(id) ?? 0) + 1)
    for (const [id, count] of times) this.must(count === 1, `event ${id} is stored ${count} times`)
    for (const [key, { eventId }] of clients.events)
      this.must(times.has(eventId), `${key} was acknowledged as ${eventId}, which is not stored`)
    for (const id of clients.keyless)
      this.must(times.has(id), `event ${id} was acknowledged and is not stored`)
    const keyed = new Map<string, string>()
    for (const { idempotency_key: key, id } of rows) {
      if (key === undefined) continue
      this.must(!keyed.has(key), `${key} is stored as ${keyed.get(key)} and as ${id}`)
      keyed.set(key, id)
    }
    this.must(
      keyed.size === clients.events.size,
      `${keyed.size} keyed events are stored, acknowledged ${clients.events.size}`,
    )
    const keyless = rows.length - keyed.size
    this.must(
      keyless >= clients.keyless.size && keyless <= clients.keyless.size + clients.doubtfulKeyless,
      `${keyless} events without a key, acknowledged ${clients.keyless.size}, in doubt ${clients.doubtfulKeyless}`,
    )
  }

  /** CR-86…89: every movement is in the ledger once, and the ledger adds up to the balance. */
  private ledger(known: Known): void {
    const sums = new Map<string, bigint>()
    const entries = new Map<string, Set<number>>()
    for (const { company_id: id, sequence, amount } of this.machine.clickhouse.rows('credit_ledger')) {
      const seen = entries.get(id) ?? new Set()
      this.must(!seen.has(sequence), `ledger entry ${sequence} of ${id} is stored twice`)
      entries.set(id, seen.add(sequence))
      sums.set(id, (sums.get(id) ?? 0n) + amountFromDecimal(amount)!)
    }
    for (const [id, one] of known) {
      if (one === null || !('balances' in one)) continue
      const account = one.state.credits.find(credit => credit.creditId === creditId)
      if (account === undefined) continue
      this.must(
        (entries.get(id)?.size ?? 0) === account.sequence,
        `${id} made ${account.sequence} ledger entries, ${entries.get(id)?.size} are stored`,
      )
      const remaining = amountFromNumber(one.balances[creditId]!.remaining)
      this.must(sums.get(id) === remaining, `the ledger of ${id} says ${sums.get(id)}, it has ${remaining}`)
    }
  }

  /** Postgres shows the state of the actors. */
  private projected(known: Known): void {
    const { tables } = this.machine.postgres
    const keys = by(tables.keys.values(), 'entity_id')
    const traits = by(tables.traits.values(), 'entity_id')
    const memberships = by(tables.memberships.values(), 'user_id')
    for (const [id, one] of known) {
      if (one === null) {
        this.must(false, `Postgres shows ${id}, which does not exist`)
        continue
      }
      const state = 'balances' in one ? one.state : one
      this.shown(
        `keys of ${id}`,
        keys.get(id),
        state.keys.map(([name, value]) => [name, value]),
      )
      this.shown(
        `traits of ${id}`,
        traits.get(id),
        state.traits.map(([name, value]) => [name, value]),
      )
      if (!('memberships' in state)) continue
      const joined = (memberships.get(id) ?? []).map(row => row.company_id).sort()
      const is = state.memberships.map(([companyId]) => companyId).sort()
      this.must(isDeepStrictEqual(joined, is), `memberships of ${id} are ${is}, Postgres shows ${joined}`)
    }
  }

  private shown(
    what: string,
    rows: readonly Row[] = [],
    state: readonly (readonly [name: string, value: string])[],
  ): void {
    const shown = rows.map(row => `${row.name}=${row.value}`).sort()
    const is = state.map(([name, value]) => `${name}=${value}`).sort()
    this.must(isDeepStrictEqual(shown, is), `${what} are ${is}, Postgres shows ${shown}`)
  }
}

/** The part of a description that neither a read nor time changes. */
function durable(one: CompanyDescription | UserSnapshot): unknown {
  const state = 'balances' in one ? one.state : one
  const { sequence: _sequence, lastSeenAtMs: _seen, ...rest } = state
  return JSON.parse(JSON.stringify(rest))
}

function by(rows: Iterable<Row>, column: string): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(row[column] as string)
    if (group) group.push(row)
    else groups.set(row[column] as string, [row])
  }
  return groups
}
