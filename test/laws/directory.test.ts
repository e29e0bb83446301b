// Law: writes, deletions, refusals, journal failures and deaths of a shard overlap at random. Once all is
// quiet, every pair belongs to the one company that holds it, and the directory finds exactly the existing
// companies. At no instant would a kill bring back a pair with two owners, or a company that a client knows
// to be deleted.

import t from 'tap'
import { TraitRegistry } from '../../src/catalog/traits.js'
import { compileCatalog } from '../../src/core/catalog.js'
import { apply, decideCompany, newCompany } from '../../src/core/company/company.js'
import { keyPairs } from '../../src/core/company/entity.js'
import { decodeCompany, encodeCompany } from '../../src/core/company/state.js'
import type { Company } from '../../src/core/model/company-state.js'
import type { CompanyMessage, Fact, Question } from '../../src/core/model/message.js'
import type { Refusal } from '../../src/core/model/requests.js'
import { shardOf } from '../../src/core/values/id.js'
import { Directory } from '../../src/entities/directory/directory.js'
import { Entities } from '../../src/entities/directory/entities.js'
import { Refused, type Shards } from '../../src/entities/shards/shards.js'
import { ServiceError } from '../../src/errors.js'
import { sentKey } from '../control/sent-key.js'
import { catalogData } from '../core/make.js'
import { seed, times } from '../random.js'

const runs = times(150)
const env = 'env_1'
const catalog = compileCatalog(catalogData())

/** Pseudo-random numbers below a bound. */
function dice(start: number): (below: number) => number {
  let state = start >>> 0
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

interface Pending {
  readonly fact: Fact
  readonly resolve: (answered: unknown) => void
  readonly reject: (error: Error) => void
  readonly reply: unknown
}

/** A shard: decides at once, acknowledges by groups, loses groups, dies and restarts. */
class FakeShard {
  readonly actors = new Map<string, Company>()
  private readonly durable = new Map<string, ReturnType<typeof encodeCompany>>()
  private readonly journal: Fact[] = []
  private pending: Pending[] = []
  private refusals: { readonly refusal: Refusal; readonly reject: (error: Error) => void }[] = []
  private dead: { readonly promise: Promise<void>; readonly resolve: () => void } | null = null

  constructor(private readonly directory: Directory) {}

  ask(id: string, message: CompanyMessage, nowMs: number): Promise<unknown> {
    if (this.dead) return Promise.reject(new ServiceError('starting'))
    const actor = this.actors.get(id) ?? newCompany(id, env)
    this.actors.set(id, actor)
    const decision = decideCompany(actor, catalog, message, nowMs)
    if ('refused' in decision) {
      const { refused: refusal } = decision
      return new Promise((_, reject) => this.refusals.push({ refusal, reject }))
    }
    for (const effect of decision.effects) apply(actor, effect, nowMs)
    const fact: Fact = { k: 'c', id, env, at: nowMs, fx: decision.effects }
    return new Promise((resolve, reject) => {
      this.pending.push({ fact, resolve, reject, reply: decision.reply })
    })
  }

  /** Refusals do not wait for the disk, so they may overtake earlier decisions. */
  tell(): void {
    for (const { refusal, reject } of this.refusals.splice(0)) reject(new Refused(refusal))
  }

  restarted(): Promise<void> {
    return this.dead?.promise ?? Promise.resolve()
  }

  /** The group is durable, and its replies are sent in order. */
  commit(): void {
    this.tell()
    for (const { resolve, reply } of this.keep()) resolve({ reply, shard: 0, sequence: 0 })
  }

  /** The append failed: the decisions of the group are dropped. */
  fail(): void {
    this.tell()
    const group = this.pending
    this.pending = []
    this.actors.clear()
    for (const [id, snapshot] of this.durable) this.actors.set(id, decodeCompany(snapshot))
    for (const { reject } of group) reject(new ServiceError('overloaded'))
  }

  /** The thread dies, with its group durable or not. The replies are lost either way. */
  die(written: boolean): void {
    if (this.dead) return
    const lost = [...this.refusals.splice(0), ...this.pending]
    if (written) this.keep()
    else this.fail()
    let resolve!: () => void
    const promise = new Promise<void>(settle => {
      resolve = settle
    })
    this.dead = { promise, resolve }
    for (const { reject } of lost) reject(new ServiceError('starting'))
  }

  /** The state of a company after a kill at this instant. */
  kept(id: string): Company | null {
    const snapshot = this.durable.get(id)
    const company = snapshot ? decodeCompany(snapshot) : null
    return company?.exists ? company : null
  }

  keptAll(): readonly Company[] {
    return [...this.durable.keys()].flatMap(id => this.kept(id) ?? [])
  }

  /** Restart the shard: it reports the facts of its journal. */
  revive(): void {
    if (!this.dead) return
    for (const fact of this.journal) this.directory.replay(fact)
    this.dead.resolve()
    this.dead = null
  }

  private keep(): readonly Pending[] {
    const group = this.pending
    this.pending = []
    for (const { fact } of group) {
      this.journal.push(fact)
      let kept = newCompany(fact.id, env)
      const had = this.durable.get(fact.id)
      if (had) kept = decodeCompany(had)
      for (const effect of fact.fx) apply(kept, effect, fact.at)
      this.durable.set(fact.id, structuredClone(encodeCompany(kept)))
    }
    return group
  }
}

/** The steps of the services around the directory, with few names and values, so that they collide. */
class World {
  readonly directory = new Directory()
  readonly shards = [new FakeShard(this.directory), new FakeShard(this.directory)]
  readonly entities: Entities
  readonly running = new Set<Promise<unknown>>()
  /** Violations at some instant. */
  readonly wrong: string[] = []
  /** Number of deletions that answered 503. */
  doubts = 0
  private nowMs = 1

  constructor(private readonly roll: (below: number) => number) {
    const owner = (id: string) => this.shards[shardOf(id, 2)]!
    const doors = {
      ask: (_kind: string, _env: string, id: string, message: CompanyMessage | Question, nowMs: number) =>
        message.type === 'brief'
          ? Promise.resolve({ reply: null, shard: 0, sequence: 0 })
          : owner(id).ask(id, message as CompanyMessage, nowMs),
      restarted: (id: string) => owner(id).restarted(),
    }
    this.entities = new Entities(
      this.directory,
      doors as unknown as Shards,
      new TraitRegistry(),
      undefined,
      1,
    )
  }

  private keys(): Record<string, string> {
    const { roll } = this
    const keys: Record<string, string> = {}
    for (let i = 1 + roll(2); i > 0; i--) keys['abc'[roll(3)]!] = String(roll(3))
    return keys
  }

  step(): void {
    const { roll, shards } = this
    const shard = shards[roll(2)]!
    switch (roll(13)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return this.upsert(this.keys())
      case 5:
        return this.ensure(this.keys())
      case 6:
      case 7:
        return this.remove(this.keys())
      case 8:
      case 9:
        return shard.commit()
      case 10:
        return shard.tell()
      case 11:
        return roll(2) === 0 ? shard.fail() : shard.commit()
      default:
        if (roll(3) > 0) return shard.revive()
        return shard.die(roll(2) === 0)
    }
  }

  private found(keys: Record<string, string>): string | null | undefined {
    const resolution = this.directory.resolve('company', env, keys)
    if (resolution.found !== null) return resolution.found
    return resolution.reason === 'unknown' ? null : undefined
  }

  private upsert(keys: Record<string, string>): void {
    const id = this.found(keys)
    if (id === undefined) return
    const removeKeys = this.roll(3) === 0 ? ['a', 'b', 'c'].filter(name => !(name in keys)) : []
    const write = this.entities.write('company', env, { keys, removeKeys }, this.nowMs)
    const target = this.entities.target('company', env, id, keys)
    const preventRemap = this.roll(4) === 0
    const message: CompanyMessage = {
      type: 'upsert',
      write,
      updateOnly: false,
      preventRemap,
      basePlanId: null,
      basePlanPriceId: null,
    }
    this.run(this.entities.ask(target, message, this.nowMs++))
  }

  private ensure(keys: Record<string, string>): void {
    const id = this.found(keys)
    if (id === undefined) return
    const write = this.entities.write('company', env, { keys }, this.nowMs)
    const target = this.entities.target('company', env, id, keys)
    this.run(this.entities.ask(target, { type: 'ensure', write }, this.nowMs++))
  }

  /** A company that was reported as deleted stays deleted. */
  private remove(keys: Record<string, string>): void {
    const resolution = this.directory.resolve('company', env, keys)
    if (resolution.found === null && resolution.reason === 'ambiguous') return
    const id = this.entities.removable('company', env, keys)
    if (id === null) return
    const told = () => {
      if (this.shards[shardOf(id, 2)]!.kept(id)) this.wrong.push(`${id} was told to be gone`)
    }
    const removed = this.entities.remove('company', env, id, this.nowMs++).then(told, error => {
      if (error instanceof Refused) told()
      else this.doubts++
    })
    this.run(removed)
  }

  /** After every step: check the state after a kill, and that keys are found both by bytes and by text. */
  look(): void {
    const holders = new Map<string, string>()
    for (const company of this.shards.flatMap(shard => shard.keptAll()))
      for (const [name, value] of keyPairs(company)) {
        const pair = `${name}=${value}`
        if (holders.has(pair))
          this.wrong.push(`a kill leaves ${pair} to ${holders.get(pair)} and ${company.id}`)
        holders.set(pair, company.id)
      }
    for (const name of ['a', 'b', 'c'])
      for (const value of ['0', '1', '2']) {
        const { body, key } = sentKey(name, value)
        const id = this.directory.find('company', env, name, value)
        const there = id !== null && this.directory.has(env, id) ? id : null
        const met = this.directory.findSent('company', env, body, key)
        if (met !== there) this.wrong.push(`${name}=${value} finds ${there}, by its bytes ${met}`)
      }
  }

  private run(work: Promise<unknown>): void {
    const ended = work.catch(() => {}).then(() => void this.running.delete(ended))
    this.running.add(ended)
  }

  /** Finish all work in progress, repeated deletions included. */
  async quiet(): Promise<void> {
    for (const shard of this.shards) shard.revive()
    for (let i = 0; i < 8; i++) {
      for (const shard of this.shards) {
        shard.commit()
        this.look()
      }
      await new Promise(resolve => setTimeout(resolve, 2))
    }
    for (const shard of this.shards) shard.commit()
    await Promise.all(this.running)
  }

  /** Violations in words; empty when the law holds. */
  faults(): string[] {
    const found = [...this.wrong]
    const holders = new Map<string, string>()
    const existing = this.shards.flatMap(shard => [...shard.actors.values()].filter(one => one.exists))
    for (const company of existing) {
      if (!this.directory.has(env, company.id)) found.push(`${company.id} is not known`)
      for (const [name, value] of keyPairs(company)) {
        const pair = `${name}=${value}`
        if (holders.has(pair)) found.push(`${pair} is held by ${holders.get(pair)} and ${company.id}`)
        holders.set(pair, company.id)
      }
    }
    for (const name of ['a', 'b', 'c'])
      for (const value of ['0', '1', '2']) {
        const pair = `${name}=${value}`
        const id = this.directory.resolve('company', env, { [name]: value }).found
        if (id !== (holders.get(pair) ?? null))
          found.push(`${pair} finds ${id}, held by ${holders.get(pair)}`)
      }
    if (this.directory.size !== existing.length)
      found.push(`${this.directory.size} are known, ${existing.length} there`)
    return found
  }
}

t.test(`pairs and companies agree (seed ${seed}, ${runs} runs)`, async t => {
  let doubts = 0
  for (let run = 0; run < runs; run++) {
    const roll = dice(seed + run)
    const world = new World(roll)
    for (let i = 20 + roll(60); i > 0; i--) {
      world.step()
      world.look()
      // Answers are processed before the next request, as in the service, where each is a separate message.
      await new Promise(resolve => setImmediate(resolve))
    }
    await world.quiet()
    doubts += world.doubts
    const faults = world.faults()
    if (faults.length > 0) return t.fail(`run ${run}: ${faults.join('; ')}`)
  }
  t.ok(doubts > 0, 'deletions failed and were asked for again')
})
