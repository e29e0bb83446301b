// Clients of a simulated Tollgate: they repeat every request until it is answered, and remember the answers.

import { readyTrait, readyUpsert, replyWhenShown } from '../../../src/control/entities/write.js'
import type { CreditMessage, CreditReply } from '../../../src/core/model/account-state.js'
import type { CompanyDescription } from '../../../src/core/model/descriptions.js'
import type { Question } from '../../../src/core/model/message.js'
import { amountFromNumber } from '../../../src/core/values/amount.js'
import { Lost, Refused } from '../../../src/entities/shards/shards.js'
import { ServiceError } from '../../../src/errors.js'
import type { Sender } from '../../../src/front/events/claims.js'
import { ingestOne } from '../../../src/front/events/ingest.js'
import { ingestMany } from '../../../src/front/events/many.js'
import { ingestOneBytes, ingestText } from '../../../src/front/events/usual.js'
import { type Answer, Deferred } from '../../../src/kit/call.js'
import { orRefused } from '../../../src/kit/entities.js'
import { acksIn } from '../../events/acks.js'
import type { Random } from '../../random.js'
import { environmentId, type Machine, type Service } from './machine.js'
import type { World } from './world.js'

export const planId = 'plan_1'
export const creditId = 'bcrd_1'
/** The event that draws credits, one each. */
export const drawing = 'draws'
/** An event whose use reaches a limit, with a webhook subscription to that. */
export const limited = 'call0'
export const usageLimit = 3
export const granted = 10_000
/** Credits of the company that only holds credits. */
export const poorGranted = 20
const poor = 'poor'
const briefHoldMs = 1_000
const longHoldMs = 3_600_000

/** The connection broke before the answer arrived. */
class Broken extends Error {}

/** The answers that all clients received about one company. */
export class Told {
  id = ''
  /** Units of events by name: acknowledged, and ever sent. */
  readonly acknowledged = new Map<string, number>()
  readonly sent = new Map<string, number>()
  /** Last acknowledged values of traits, each written by one client. */
  readonly traits = new Map<string, string>()
  /** A trait with increments: acknowledged ones, and attempts with an unknown outcome. */
  added = 0
  doubtful = 0
  readonly users = new Set<string>()
  /** Credits in holds that outlast the run. */
  held = 0

  constructor(readonly slug: string) {}
}

export interface Acknowledged {
  readonly event: object
  readonly eventId: string
}

export class Clients {
  readonly told = new Map<string, Told>()
  /** Acknowledged events with a key, by key. */
  readonly events = new Map<string, Acknowledged>()
  /** Events without a key: acknowledged ids, and attempts with an unknown outcome. */
  readonly keyless = new Set<string>()
  doubtfulKeyless = 0
  answers = 0
  private readonly random: Random
  private readonly world: World
  private numbers = 0
  private running = 0
  private ending = false

  constructor(private readonly machine: Machine) {
    this.world = machine.world
    this.random = machine.world.random
  }

  get idle(): boolean {
    return this.running === 0
  }

  /** Companies on a plan that draws credits, each with a grant. Nothing fails during this step. */
  async prepare(companies: number): Promise<void> {
    for (let index = 0; index < companies; index++) await this.make(`co${index}`, granted)
    await this.make(poor, poorGranted)
  }

  start(clients: number): void {
    for (let index = 0; index < clients; index++)
      this.spawn(async () => {
        while (!this.ending) {
          await this.act(index)
          await this.world.pause(this.world.delay(5, 300))
        }
      })
  }

  /** Let every client finish its work. */
  stop(): void {
    this.ending = true
  }

  /** Run a task as a client. */
  spawn(work: () => Promise<void>): void {
    this.running++
    this.world.nature.run(() =>
      work()
        .catch(error => this.wrong(error instanceof Error ? (error.stack ?? error.message) : String(error)))
        .finally(() => {
          this.running--
        }),
    )
  }

  private wrong(text: string): void {
    this.machine.wrong.push(text)
  }

  private async act(index: number): Promise<void> {
    const kind = this.random.below(20)
    if (kind < 5) return this.single()
    if (kind < 7) return this.batch()
    if (kind < 8) return this.withoutKey()
    if (kind < 9) return this.again()
    if (kind < 11) return this.upsert(index)
    if (kind < 12) return this.countUp()
    if (kind < 14) return this.identify()
    if (kind < 15) return this.shared()
    if (kind < 16) return this.draw()
    if (kind < 17) return this.hold(briefHoldMs)
    if (kind < 18) return this.hold(longHoldMs)
    if (kind < 19) return this.remake(index)
    return this.look()
  }

  // ── work of clients ──────────────────────────────────────────────────────────────────────────

  private event(told: Told, name = `call${this.random.below(2)}`): { key: string; event: object } {
    const key = `key ${++this.numbers}`
    const quantity = 1 + this.random.below(3)
    add(told.sent, name, quantity)
    const user = this.random.chance(0.2) ? { user: { mail: `u${this.random.below(4)}@${told.slug}` } } : {}
    const body = { event: name, company: { slug: told.slug }, quantity, ...user }
    return { key, event: { event_type: 'track', idempotency_key: key, body } }
  }

  private async single(): Promise<void> {
    const told = this.any()
    const { key, event } = this.event(told)
    const ack = await this.insist(service => ingest(service, event))
    this.acknowledged(told, key, event, ack)
  }

  private async draw(): Promise<void> {
    const told = this.any()
    const { key, event } = this.event(told, drawing)
    const ack = await this.insist(service => ingest(service, event))
    this.acknowledged(told, key, event, ack)
  }

  private async batch(): Promise<void> {
    const drafts = Array.from({ length: 1 + this.random.below(15) }, () => {
      const told = this.any()
      return { told, ...this.event(told) }
    })
    // A batch may contain an event twice.
    const given = this.random.chance(0.3) ? [...drafts, this.random.pick(drafts)] : drafts
    const bodies = given.map(({ event }) => event)
    const asText = this.random.chance(0.7)
    const acks = await this.insist(service =>
      asText ? ingestAsText(service, bodies) : ingestMany(senderOf(service), bodies),
    )
    given.forEach(({ told, key, event }, index) => {
      this.acknowledged(told, key, event, acks[index]!)
    })
  }

  private acknowledged(told: Told, key: string, event: object, ack: string): void {
    const eventId = JSON.parse(ack).event_id as string
    const known = this.events.get(key)
    if (known !== undefined) {
      if (known.eventId !== eventId) this.wrong(`EV-27 ${key} was ${known.eventId} and is ${eventId}`)
      return
    }
    this.events.set(key, { event, eventId })
    const { body } = event as { body: { event: string; quantity: number; user?: { mail: string } } }
    add(told.acknowledged, body.event, body.quantity)
    if (body.user) told.users.add(body.user.mail)
  }

  private async withoutKey(): Promise<void> {
    const told = this.any()
    const event = { event_type: 'track', body: { event: 'keyless', company: { slug: told.slug } } }
    const ack = await this.insist(
      service => {
        add(told.sent, 'keyless', 1)
        return ingest(service, event)
      },
      () => this.doubtfulKeyless++,
    )
    this.keyless.add(JSON.parse(ack).event_id)
    add(told.acknowledged, 'keyless', 1)
  }

  /** EV-27: the acknowledgement of a key never changes. */
  async again(key = this.anyKey()): Promise<void> {
    if (key === null) return
    const { event, eventId } = this.events.get(key)!
    const ack = await this.insist(service => ingest(service, event))
    const id = JSON.parse(ack).event_id
    if (id !== eventId) this.wrong(`EV-27 ${key} was ${eventId} and is ${id}`)
  }

  private async upsert(index: number): Promise<void> {
    const told = this.any()
    const trait = `by${index}`
    const value = String(++this.numbers)
    await this.write({ keys: { slug: told.slug }, traits: { [trait]: value } })
    told.traits.set(trait, value)
    const { postgres } = this.machine
    const shown = [...postgres.tables.traits.values()].find(
      row => row.entity_id === told.id && row.name === trait,
    )
    if (shown?.value !== value)
      this.wrong(`${told.slug}: Postgres shows ${trait} as ${shown?.value}, told ${value}`)
  }

  private async countUp(): Promise<void> {
    const told = this.any()
    await this.insist(
      service => {
        const call = service.call()
        const body = { keys: { slug: told.slug }, trait: 'counted', incr: 1 }
        const { target, message } = readyTrait(call, 'company', body as never, () => {
          throw new Error('nothing is set')
        })
        return replyWhenShown(call, service.services.entities.ask(target, message, call.nowMs), {})
      },
      () => told.doubtful++,
    )
    told.added++
  }

  private async identify(): Promise<void> {
    const told = this.any()
    const mail = `u${this.random.below(4)}@${told.slug}`
    const key = `key ${++this.numbers}`
    const body = { keys: { mail }, traits: { seen: key }, company: { keys: { slug: told.slug } } }
    const event = { event_type: 'identify', idempotency_key: key, body }
    const ack = await this.insist(service => ingest(service, event))
    this.events.set(key, { event, eventId: JSON.parse(ack).event_id })
    told.users.add(mail)
  }

  /** A company that several clients make at once, by events and by upserts. All get the same one (CU-19). */
  private async shared(): Promise<void> {
    const slug = `shared${this.random.below(1 + Math.floor(this.numbers / 20))}`
    let told = this.told.get(slug)
    if (told === undefined) {
      told = new Told(slug)
      this.told.set(slug, told)
    }
    if (this.random.chance(0.5)) {
      const { key, event } = this.event(told)
      const ack = await this.insist(service => ingest(service, event))
      return this.acknowledged(told, key, event, ack)
    }
    const id = await this.write({ keys: { slug } })
    if (told.id !== '' && told.id !== id) this.wrong(`CU-19 ${slug} was ${told.id} and is ${id}`)
    told.id = id
  }

  private async hold(forMs: number): Promise<void> {
    const told = forMs === longHoldMs ? this.told.get(poor)! : this.any()
    const amount = 1 + this.random.below(3)
    const key = `hold ${++this.numbers}`
    const expiresAtMs = this.world.wallMs + forMs
    const reply = await this.insist(async service => {
      const message: CreditMessage = {
        type: 'credit_reserve',
        creditId,
        amount: amountFromNumber(amount),
        expiresAtMs,
        key,
        featureId: null,
        userId: null,
      }
      return this.ask<CreditReply>(service, told.id, message).catch(
        unless('insufficient_credits', 'expiry_invalid'),
      )
    })
    if (reply !== null && forMs === longHoldMs) told.held += amount
    if (told.slug === poor && told.held > poorGranted)
      this.wrong(`CR-80 ${told.held} credits are held of ${poorGranted}`)
  }

  /**
   * A company of one client: deleted, and made again with its key (CU-50). After an acknowledged deletion a
   * new company must appear. After a deletion with an unknown outcome either may appear, but never both.
   */
  private async remake(index: number): Promise<void> {
    const slug = `own${index}`
    const former = this.told.get(slug)
    if (former !== undefined) {
      this.told.delete(slug)
      const gone = await this.deleted(slug, former.id)
      const id = await this.write({ keys: { slug } })
      if (gone && id === former.id) this.wrong(`CU-50 ${slug} was deleted and is ${id} again`)
      const told = new Told(slug)
      told.id = id
      this.told.set(slug, told)
      return
    }
    const told = new Told(slug)
    told.id = await this.write({ keys: { slug } })
    this.told.set(slug, told)
  }

  /**
   * Delete by keys, once or until acknowledged, sometimes from two clients at once. Returns whether a
   * deletion was acknowledged.
   */
  private async deleted(slug: string, id: string): Promise<boolean> {
    const remove = async (service: Service): Promise<void> => {
      const { entities } = service.services
      const found = entities.removable('company', environmentId, { slug })
      if (found === null) return
      if (found !== id) this.wrong(`${slug} was ${id} and is ${found}`)
      const { nowMs } = service.call()
      await entities.remove('company', environmentId, found, nowMs).catch(unless('not_found'))
    }
    const once = () =>
      this.send(remove).then(
        () => true,
        error => {
          if (!inDoubt(error)) throw error
          return false
        },
      )
    const insistent = this.random.chance(0.6)
    const asked = Array.from({ length: this.random.pick([1, 1, 2]) }, () =>
      insistent ? this.insist(remove).then(() => true) : once(),
    )
    return (await Promise.all(asked)).includes(true)
  }

  /** A company's figures: at least the units acknowledged before the read, at most the units ever sent. */
  private async look(): Promise<void> {
    const told = this.any()
    const least = new Map(told.acknowledged)
    const description = await this.insist(service =>
      this.ask<CompanyDescription | null>(service, told.id, { type: 'describe' }),
    )
    const counted = countsOf(description)
    for (const [name, units] of least)
      if ((counted.get(name) ?? 0) < units)
        this.wrong(`promise 2: ${told.slug} counts ${counted.get(name)} of ${name}, acknowledged ${units}`)
    for (const [name, units] of counted)
      if (units > (told.sent.get(name) ?? 0))
        this.wrong(`promise 3: ${told.slug} counts ${units} of ${name}, sent ${told.sent.get(name)}`)
  }

  // ── requests to the service ──────────────────────────────────────────────────────────────────

  private async make(slug: string, quantity: number): Promise<void> {
    const told = new Told(slug)
    this.told.set(slug, told)
    told.id = await this.write({ keys: { slug } }, planId)
    await this.insist(service =>
      this.ask(service, told.id, {
        type: 'credit_grant',
        creditId,
        reason: 'free',
        quantity,
        count: 1,
        validFromMs: null,
        expiresAtMs: null,
        expiry: null,
        bundleId: null,
      }),
    )
  }

  /** Upsert a company and wait until Postgres has it. Returns its id. */
  private write(
    body: { keys: Record<string, string>; traits?: Record<string, string> },
    basePlanId: string | null = null,
  ): Promise<string> {
    return this.insist(async service => {
      const call = service.call()
      const { target, write } = readyUpsert(call, 'company', body)
      const message = {
        type: 'upsert',
        write,
        updateOnly: false,
        preventRemap: false,
        basePlanId,
        basePlanPriceId: null,
      } as const
      await replyWhenShown(call, service.services.entities.ask(target, message, call.nowMs), {})
      return target.id
    })
  }

  private async ask<Reply>(service: Service, id: string, message: CreditMessage | Question): Promise<Reply> {
    const { nowMs } = service.call()
    const answer = service.services.shards.ask<Reply>('c', environmentId, id, message, nowMs)
    return (await orRefused(answer, {})).reply
  }

  /**
   * Repeat a request until it is answered. `doubt` is called for every attempt with an unknown outcome. Any
   * other 503 means that nothing was done (decision 32).
   */
  async insist<T>(work: (service: Service) => Promise<T>, doubt = () => {}): Promise<T> {
    for (;;)
      try {
        const answer = await this.send(work)
        this.answers++
        return answer
      } catch (error) {
        if (!inDoubt(error)) throw error
        if (error instanceof Broken || error instanceof Lost) doubt()
        await this.world.pause(this.world.delay(50, 1_000))
      }
  }

  /** One request over a slow connection that breaks when the process ends. */
  private send<T>(work: (service: Service) => Promise<T>): Promise<T> {
    const { world, machine } = this
    const { service } = machine
    if (service === null) return Promise.reject(new Broken('nobody listens'))
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void) => {
        if (!service.callers.delete(broken)) return
        world.after(world.delay(0.5), world.nature, settle)
      }
      const broken = () => world.after(world.delay(1), world.nature, () => reject(new Broken('broken')))
      service.callers.add(broken)
      world.after(world.delay(0.5), service.life, () => {
        Promise.resolve()
          .then(() => work(service))
          .then(
            value => answer(() => resolve(value)),
            error => answer(() => reject(error)),
          )
      })
    })
  }

  private any(): Told {
    return this.told.get(`co${this.random.below(this.told.size)}`) ?? this.told.get('co0')!
  }

  private anyKey(): string | null {
    const keys = [...this.events.keys()]
    return keys.length === 0 ? null : this.random.pick(keys)
  }
}

export function countsOf(description: CompanyDescription | null): ReadonlyMap<string, number> {
  const counted = (description?.metrics ?? []).filter(({ period }) => period === 'all_time')
  return new Map(counted.map(({ eventSubtype, value }) => [eventSubtype, Number(value)]))
}

function senderOf(service: Service): Sender {
  const { services, key, nowMs, remoteIp, userAgent } = service.call()
  return { services, key, environmentId, nowMs, remoteIp, userAgent }
}

/** Send one event. Returns its acknowledgement as JSON. */
function ingest(service: Service, event: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const sender = senderOf(service)
    const text = JSON.stringify(event)
    const answer = ingestOneBytes(sender, Buffer.from(text)) ?? ingestOne(sender, event)
    const succeed = ({ json }: Answer) => resolve(json!)
    if (answer instanceof Deferred) answer.listen({ succeed, fail: reject })
    else answer.then(succeed, reject)
  })
}

/** Send events as the text of a body. Returns their acknowledgements. */
async function ingestAsText(service: Service, events: readonly object[]): Promise<readonly string[]> {
  const text = JSON.stringify({ events })
  return acksIn(await ingestText(senderOf(service), text, Buffer.byteLength(text), false, true))
}

/** Whether a request has no final answer yet. */
function inDoubt(error: unknown): boolean {
  return error instanceof Broken || (error instanceof ServiceError && error.status === 503)
}

/** Accepts these refusals as final answers. */
function unless(...refusals: readonly string[]): (error: unknown) => null {
  return error => {
    if (error instanceof Refused && refusals.includes(error.refusal)) return null
    throw error
  }
}

function add(counts: Map<string, number>, name: string, units: number): void {
  counts.set(name, (counts.get(name) ?? 0) + units)
}
