// Idempotency keys between Redis and the filters of past hours, against a plain map: random histories of claims, repeats,
// projection, sealing in steps that stop anywhere, nodes that start anew or hear late, and clocks that step. Time is an
// argument. The product's claims, filters, sealing and scripts run; the journal is what was written.
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { nextSpan } from '../../src/cluster/old-window.js'
import { type Claimed, type ClaimedEvent, ShardClaims } from '../../src/redis/claims.js'
import { OwnedDisk } from '../../src/redis/disk.js'
import { FirstEvents } from '../../src/redis/first-events.js'
import { OldClaims } from '../../src/redis/old-claims.js'
import { keysOf, nameOf, OldKeys, type SealedSpan } from '../../src/redis/old-keys.js'
import type { RedisClient } from '../../src/redis/redis.js'
import { claimsText, type ScriptName } from '../../src/redis/scripts.js'
import { buildSpan, forgetSpan } from '../../src/redis/sealing.js'
import { RedisSlots } from '../../src/redis/slots.js'
import { seed as firstSeed, Random, times } from '../random.js'
import { pagesOf, type StoredEvent } from './cluster/old-keys.js'
import { type Argument, type Left, runScript, Values } from './cluster/scripts.js'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const keptMs = 2 * hourMs
const nodes = 3
const steps = 400
const names = 40
const prefix = '{law}:'

/** A fault on purpose: each dependency of the law is broken once. */
interface Fault extends Left {
  /** An event that ClickHouse names counts, however long ago it was received. */
  readonly ageless?: boolean
  /** Keys are deleted whether or not their filter has them. */
  readonly unfiltered?: boolean
  /** A key that a filter has is a repeat of some event: ClickHouse is not asked. */
  readonly unconfirmed?: boolean
  /** While ClickHouse is away, hits count as new. */
  readonly guessing?: boolean
  /** Filters go an hour after they were sealed. */
  readonly hasty?: boolean
}

/** One node: its filters, and one shard that claims. */
interface Node {
  readonly keys: OldKeys
  readonly claims: OldClaims
  readonly disk: OwnedDisk
}

class History {
  readonly wrong: string[] = []
  gone = 0
  repeats = 0
  unsure = 0
  private readonly random: Random
  /** The clock of Redis and Postgres. Clocks of nodes differ from it. */
  private nowMs = Date.UTC(2026, 0, 1)
  /** How far the test clock of the second environment is ahead. */
  private aheadMs = 0
  private readonly values = new Values()
  /** The model: the last first event of each name. */
  private readonly model = new Map<string, StoredEvent>()
  /** Written events that ClickHouse does not have yet, and those that it has. */
  private behind: StoredEvent[] = []
  private readonly rows: StoredEvent[] = []
  private sealed: (SealedSpan & { readonly atMs: number; forgotten: boolean })[] = []
  private isAway = false
  private events = 0
  private shards = 0
  private readonly underWay = new Map<string, number>()
  private readonly nodes: Node[]
  /** Open while a claim waits between its filters and Redis. */
  private between: (() => void)[] = []

  constructor(
    seed: number,
    private readonly fault: Fault,
  ) {
    this.random = new Random(seed)
    this.nodes = Array.from({ length: nodes }, () => this.start())
  }

  async run(): Promise<void> {
    const { random } = this
    for (let step = 0; step < steps && this.wrong.length === 0; step++) {
      const under = random.chance(0.3) ? this.claim() : null
      if (under === null) await this.claim()
      // other things happen while the claim is on its way to Redis
      for (let i = random.below(4); i > 0; i--) await this.anything()
      await under
    }
    this.isAway = false
    for (let name = 0; name < names; name++) await this.claim(`key ${name}`)
  }

  private anything(): unknown {
    const { random } = this
    return random.pick<() => unknown>([
      () => this.pass(random.pick([1, 60_000, hourMs / 2, 3 * hourMs])),
      () => this.pass(random.pick([1_000, 60_000, 20 * hourMs])),
      () => {
        if (random.chance(0.1)) this.aheadMs += random.pick([1_000, 5 * hourMs])
      },
      () => this.project(),
      () => this.project(),
      () => this.seal(),
      () => this.seal(),
      () => this.forget(),
      () => this.forget(),
      () => this.load(),
      () => {
        this.isAway = random.chance(0.3)
      },
      () => {
        this.nodes[random.below(nodes)] = this.start()
      },
    ])()
  }

  /** The clock of some node: up to a minute beside the others. */
  private get clockMs(): number {
    return this.nowMs + this.random.below(120_001) - 60_000
  }

  /** A claim does not take hours. */
  private pass(ms: number): void {
    const isUnderWay = [...this.underWay.values()].some(count => count > 0)
    this.nowMs += isUnderWay ? Math.min(ms, 1_000) : ms
    const kept = this.fault.hasty === true ? hourMs : 25 * hourMs
    this.sealed = this.sealed.filter((span, i, all) => span.atMs > this.nowMs - kept || i === all.length - 1)
  }

  private slots(): RedisSlots {
    const run = async (name: ScriptName, ...given: readonly Argument[]) => {
      if (name === 'claim') await new Promise<void>(resolve => this.between.push(resolve))
      return runScript(this.values, this.nowMs, prefix, name, given, this.fault)
    }
    const append = (_: number, ...given: readonly Argument[]) => run('write', ...given)
    const claim = (ttlMs: number, sealedMs: number, words: readonly string[]) =>
      run('claim', ttlMs, sealedMs, claimsText(words))
    const values = async (keys: readonly string[]) => keys.map(key => this.values.text(key, this.nowMs))
    const key = (name: string) => prefix + name
    const all = { run, write: run, append, claim, values, key, connection: 0 }
    const redis = all as unknown as RedisClient
    return new RedisSlots(redis, [redis])
  }

  /** A node begins with the newest filters. */
  private start(): Node {
    const keys = new OldKeys(this.newest())
    const first = new FirstEvents(async (span, wanted) => {
      if (this.isAway) throw new Error('ClickHouse is away')
      return this.rows
        .filter(({ key, receivedAtMs: at }) => wanted.includes(key) && at >= span.fromMs && at < span.toMs)
        .map(row => ({ ...row, capturedAtMs: 1, print: 7 }))
    })
    const { fault } = this
    const find: FirstEvents['find'] = async suspect => {
      if (fault.unconfirmed === true)
        return { eventId: 'evt_invented', receivedAtMs: this.nowMs, capturedAtMs: 1, print: 7 }
      const found = await first.find(suspect).catch(error => {
        if (fault.guessing === true) return null
        throw error
      })
      return found && (fault.ageless === true ? { ...found, receivedAtMs: this.nowMs } : found)
    }
    const shard = ++this.shards
    this.values.hash(`${prefix}marks`).set(String(shard), '1:node')
    const slots = this.slots()
    const disk = new OwnedDisk(slots, shard, '1:node')
    const inRedis = new ShardClaims(slots, shard, disk, async function* () {})
    disk.calls.begin('1', 1, 0)
    return { keys, disk, claims: new OldClaims(inRedis, keys, find, () => keys.replace(this.newest())) }
  }

  private newest() {
    return { untilMs: this.sealed.at(-1)?.toMs ?? 0, spans: [...this.sealed] }
  }

  private async claim(key = `key ${this.random.below(names)}`): Promise<void> {
    const env = this.random.pick(['env a', 'env b'])
    const { claims, disk } = this.random.pick(this.nodes)
    const receivedAtMs = this.clockMs + (env === 'env a' ? 0 : this.aheadMs)
    const eventId = `evt_${String(++this.events).padStart(11, '0')}`
    const event: ClaimedEvent = { env, key, eventId, capturedAtMs: 1, receivedAtMs, print: 7 }
    const name = `${env} ${key}`
    const others = this.underWay.get(name) ?? 0
    this.underWay.set(name, others + 1)
    const claiming = claims.claim([event])
    let fate: Claimed | null = null
    void claiming.then(([one]) => {
      fate = one!
    })
    while (fate === null) {
      await nextTurn()
      const open = this.between
      this.between = []
      for (const resolve of open) resolve()
    }
    await this.judge(fate, event, name, disk)
    await disk.tell()
    this.underWay.set(name, this.underWay.get(name)! - 1)
  }

  private async judge(fate: Claimed, event: ClaimedEvent, name: string, disk: OwnedDisk): Promise<void> {
    const expected = this.model.get(name)
    if (fate === 'unsure') {
      this.unsure++
      if (!this.isAway) this.wrong.push(`${name} is unsure though ClickHouse answers`)
      return
    }
    if (fate === 'busy') {
      // an open claim of any key holds the floor of its shard
      const others = [...this.underWay.values()].reduce((sum, count) => sum + count, -1)
      if (others === 0) this.wrong.push(`${name} is busy, and no claim is under way`)
      return
    }
    const isFree = expected === undefined || expected.receivedAtMs <= event.receivedAtMs - dayMs
    if ('first' in fate) {
      this.repeats++
      if (isFree) this.wrong.push(`EV-26 ${name} is free, and a repeat of ${fate.first.eventId}`)
      else if (fate.first.eventId !== expected.eventId) this.wrong.push(`EV-27 ${name} repeats another event`)
      return
    }
    const { held } = fate
    if (!isFree) this.wrong.push(`EV-25 ${name} is counted twice`)
    // the record is written
    disk.add(held, 0) // these bytes have no header: they end at 0
    await disk.write(`${prefix}file`, Buffer.from('x'), 0)
    const stored = {
      env: event.env,
      key: event.key,
      eventId: event.eventId,
      receivedAtMs: event.receivedAtMs,
    }
    this.model.set(name, stored)
    this.behind.push(stored)
  }

  /** Some written events reach ClickHouse, in any order. */
  private project(): void {
    const later = this.behind.filter(() => this.random.chance(0.2))
    for (const row of this.behind) if (!later.includes(row)) this.rows.push(row)
    this.behind = later
  }

  private async seal(): Promise<void> {
    const last = this.sealed.at(-1)
    const next = nextSpan(last === undefined ? [] : [last], this.clockMs, keptMs)
    if (next === null) return
    const pages = pagesOf(() => this.rows, next.fromMs)
    const limits = { keysMax: this.random.pick([5, 1_000]), partMax: this.random.pick([2, 100]) }
    const built = await buildSpan(pages, next.fromMs, next.toMs, limits)
    // another sealer may have been quicker, and this one may die
    if (this.sealed.some(({ fromMs }) => fromMs === next.fromMs) || this.random.chance(0.1)) return
    this.sealed.push({ ...built, atMs: this.nowMs, forgotten: false })
  }

  /** Some nodes hear of the filters or none; keys leave Redis, all or some. */
  private async forget(): Promise<void> {
    const span = this.sealed.find(({ forgotten }) => !forgotten)
    if (span === undefined) return
    if (this.random.chance(0.5)) this.load()
    const isPart = this.random.chance(0.3)
    const rows = this.rows.filter(() => !isPart || this.random.chance(0.5))
    if (this.fault.unfiltered === true) {
      for (const { env, key, eventId, receivedAtMs } of rows)
        if (receivedAtMs >= span.fromMs && receivedAtMs < span.toMs) {
          const held = `${prefix}i:${nameOf(env, key)}`
          runScript(this.values, this.nowMs, prefix, 'forget', [span.toMs, held, eventId], this.fault)
        }
    } else
      this.gone += await forgetSpan(
        pagesOf(() => rows, span.fromMs),
        span,
        this.slots(),
      )
    span.forgotten = !isPart
  }

  /** A node hears of the newest filters. */
  private load(): void {
    this.random.pick(this.nodes).keys.replace(this.newest())
  }

  get sealedKeys(): number {
    return keysOf(this.sealed)
  }
}

async function lived(seed: number, fault: Fault = {}): Promise<History> {
  const history = new History(seed, fault)
  await history.run()
  return history
}

t.test(`EV-25 EV-26 EV-27 old keys from seed ${firstSeed}`, async t => {
  const runs = times(30)
  const failed: string[] = []
  let gone = 0
  let repeats = 0
  let unsure = 0
  for (let run = 0; run < runs; run++) {
    const history = await lived(firstSeed + run)
    if (history.wrong.length > 0) failed.push(`seed ${firstSeed + run}: ${history.wrong[0]}`)
    gone += history.gone
    repeats += history.repeats
    unsure += history.unsure
  }
  t.comment(`${runs} runs: ${gone} keys left Redis, ${repeats} repeats, ${unsure} in doubt`)
  t.same(failed, [], 'claims are as a plain map of the last day has them')
  t.ok(gone > 5 * runs && repeats > 20 * runs && unsure > runs, 'it was tested')
})

const faults: readonly (readonly [string, Fault, RegExp])[] = [
  ['filters that end earlier count', { filters: true }, /counted twice/],
  ['keys are deleted whoever holds them', { holders: true }, /counted twice/],
  ['keys are deleted that no filter has', { unfiltered: true }, /counted twice/],
  ['stored events count however old', { ageless: true }, /EV-26/],
  ['a hit is not confirmed', { unconfirmed: true }, /EV-26|EV-27/],
  ['a hit counts as new while ClickHouse is away', { guessing: true }, /counted twice/],
  ['filters go too early', { hasty: true }, /counted twice/],
]

for (const [name, fault, shows] of faults)
  t.test(`noticed: ${name}`, async t => {
    let noticed = ''
    let run = 0
    for (; noticed === '' && run < 200; run++) noticed = (await lived(firstSeed + run, fault)).wrong[0] ?? ''
    t.match(noticed, shows, `within ${run} runs`)
  })
