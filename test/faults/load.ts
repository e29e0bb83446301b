// Clients that never give up, and what they remember: what was acknowledged must be there after any fault, each once,
// and nothing that was never asked for.
import type { Test } from 'tap'
import type { Client, Response } from '../harness.js'
import { CreditWorld } from '../interface/credit-world.js'
import type { Random } from '../random.js'

/** A read waits for the stores itself, ten seconds each time. */
const readAttemptsMax = 6
const pauseMs = 20
const attemptsMax = 3_000
const pageMax = 250
const granted = 1_000_000
const holdMs = 50 * 60_000
/** Credits of one hold. */
const held = 3

/** Acknowledgements to one company, as its senders got them. */
interface Told {
  /** Units of events that were acknowledged, by the name of their round. */
  readonly acknowledged: Map<string, number>
  /** Traits set by the one client that sets them, as acknowledged last. */
  readonly traits: Map<string, number>
  /** A trait counted up: acknowledged, and attempts whose fate is not known. */
  added: number
  doubtful: number
  readonly users: Set<string>
  /** Credits drawn by events, and in open holds. */
  drawn: number
  reserved: number
}

interface Acknowledged {
  readonly body: object
  readonly eventId: string
}

export interface LoadOptions {
  readonly random: Random
  /** The Tollgate that runs now; another after every restart. */
  readonly client: () => Client
  readonly companies?: number
}

/**
 * Mixed load: single events and batches with idempotency keys, upserts, identify, traits counted up, new companies,
 * checks, draws and holds of credits. Every request is repeated until it is answered, with the same key.
 */
export class Load {
  readonly told = new Map<string, Told>()
  /** Events that were acknowledged, by idempotency key. */
  readonly events = new Map<string, Acknowledged>()
  /** Ids of new companies by slug; null after a 202, which has no id. */
  readonly made = new Map<string, string | null>()
  /** Answers that a client may not get: each a failure. */
  readonly wrong: string[] = []
  refusals = 0
  /** When requests were sent whose connection broke before their answer, by the monotonic clock. */
  readonly broken: number[] = []
  answers = 0
  checks = 0
  /** The longest time between two answers to requests of one company since `start`, ms. */
  readonly quietMs = new Map<string, number>()
  private readonly heardMs = new Map<string, number>()
  private others = 0
  private creditId = ''
  private drawing = ''
  readonly granted = granted
  private readonly ids = new Map<string, string>()
  private running = false
  private workers: Promise<void>[] = []
  private numbers = 0
  private round = 0

  constructor(private readonly options: LoadOptions) {
    for (let index = 0; index < (options.companies ?? 8); index++) this.tellOf(`co${index}`)
  }

  /** The event that draws credits, one for each of its units. */
  get drawn(): string {
    return this.drawing
  }

  /** The flag that checks ask about; companies on a plan that draws credits, each with a grant. */
  async prepare(): Promise<void> {
    const client = this.options.client()
    const flag = { key: 'load', name: 'l', description: '', flag_type: 'boolean', default_value: true }
    await client.ok('POST', '/flags', flag)
    const world = new CreditWorld(client)
    const credit = await world.credit()
    const { subtype, plan } = await world.metered(credit.id, 1)
    this.creditId = credit.id
    this.drawing = subtype
    for (const slug of this.told.keys()) {
      const { id } = await client.ok('POST', '/companies', { keys: { slug }, base_plan_id: plan.id })
      await world.grant(id, credit.id, granted)
      this.ids.set(slug, id)
    }
  }

  /** Begin a round with this many clients; the events of a round have a name of their own. */
  start(clients: number): void {
    this.running = true
    this.round++
    this.quietMs.clear()
    for (const slug of this.told.keys()) this.heardMs.set(slug, performance.now())
    this.workers = Array.from({ length: clients }, (_, index) => this.work(index))
  }

  /** Let every client end what it has begun. */
  async stop(): Promise<void> {
    this.running = false
    await Promise.all(this.workers)
  }

  /** A company of the load, by its key, and the credit that it draws from. */
  get accounts(): readonly {
    readonly slug: string
    readonly companyId: string
    readonly creditId: string
  }[] {
    const { creditId } = this
    return [...this.ids].map(([slug, companyId]) => ({ slug, companyId, creditId }))
  }

  /** Companies made by others, so that they are not taken for invented ones. */
  adopt(...slugs: readonly string[]): void {
    this.others += slugs.length
  }

  private async work(index: number): Promise<void> {
    const { random } = this.options
    while (this.running) {
      const kind = random.below(21)
      if (kind < 9) await this.single()
      else if (kind < 11) await this.batch()
      else if (kind < 13) await this.upsert(index)
      else if (kind < 14) await this.countUp()
      else if (kind < 16) await this.identify()
      else if (kind < 17) await this.makeCompany()
      else if (kind < 18) await this.draw()
      else if (kind < 19) await this.hold()
      else await this.check()
    }
  }

  // ── what clients do ────────────────────────────────────────────────────────────────────────────

  private event(slug: string): { body: object; key: string; name: string; quantity: number } {
    const quantity = 1 + this.options.random.below(3)
    const key = `${this.round}-${++this.numbers}`
    const name = `call${this.round}`
    const body = { event: name, company: { slug }, quantity }
    return { key, name, quantity, body: { event_type: 'track', idempotency_key: key, body } }
  }

  private async single(): Promise<void> {
    const slug = this.anyCompany()
    const { body, key, name, quantity } = this.event(slug)
    const answer = await this.insist('POST', '/events', body, 201)
    if (answer === null) return
    this.events.set(key, { body, eventId: answer.body.data.event_id })
    this.count(slug, name, quantity)
  }

  private async batch(): Promise<void> {
    const events = Array.from({ length: 1 + this.options.random.below(30) }, () => {
      const slug = this.anyCompany()
      return { slug, ...this.event(slug) }
    })
    const bodies = { events: events.map(({ body }) => body) }
    const answer = await this.insist('POST', '/event-batch', bodies, 201)
    if (answer === null) return
    for (const [index, { key, body, name, slug, quantity }] of events.entries()) {
      this.events.set(key, { body, eventId: answer.body.data.events[index].event_id })
      this.count(slug, name, quantity)
    }
  }

  /** Note that a request of this company was answered. */
  private heard(slug: string): void {
    const nowMs = performance.now()
    const quietMs = nowMs - this.heardMs.get(slug)!
    this.heardMs.set(slug, nowMs)
    if (quietMs > (this.quietMs.get(slug) ?? 0)) this.quietMs.set(slug, quietMs)
  }

  private count(slug: string, name: string, quantity: number): void {
    this.heard(slug)
    const { acknowledged } = this.told.get(slug)!
    acknowledged.set(name, (acknowledged.get(name) ?? 0) + quantity)
  }

  private async upsert(index: number): Promise<void> {
    const slug = this.anyCompany()
    const value = ++this.numbers
    const trait = `by${index}`
    const answer = await this.insist(
      'POST',
      '/companies',
      { keys: { slug }, traits: { [trait]: value } },
      200,
    )
    if (answer === null) return
    this.heard(slug)
    this.told.get(slug)!.traits.set(trait, value)
  }

  private async countUp(): Promise<void> {
    const slug = this.anyCompany()
    const told = this.told.get(slug)!
    const body = { keys: { slug }, trait: 'counted', incr: 1 }
    const answer = await this.insist('POST', '/company-traits', body, 200, () => told.doubtful++)
    if (answer === null) return
    this.heard(slug)
    told.added++
  }

  private async identify(): Promise<void> {
    const slug = this.anyCompany()
    const mail = `u${this.options.random.below(20)}@${slug}`
    const body = { keys: { mail }, traits: { seen: this.round }, company: { keys: { slug } } }
    const key = `identify ${++this.numbers}`
    const event = { event_type: 'identify', idempotency_key: key, body }
    if ((await this.insist('POST', '/events', event, 201)) !== null) this.told.get(slug)!.users.add(mail)
  }

  private async makeCompany(): Promise<void> {
    const slug = `made${++this.numbers}`
    const answer = await this.insist('POST', '/companies', { keys: { slug } }, 200)
    if (answer !== null) this.made.set(slug, answer.body.data.id ?? null)
  }

  private async draw(): Promise<void> {
    const slug = this.anyCompany()
    const quantity = 1 + this.options.random.below(5)
    const body = { event: this.drawing, company: { slug }, quantity }
    const event = { event_type: 'track', idempotency_key: `draw ${++this.numbers}`, body }
    if ((await this.insist('POST', '/events', event, 201)) === null) return
    this.count(slug, this.drawing, quantity)
    this.told.get(slug)!.drawn += quantity
  }

  private async hold(): Promise<void> {
    const slug = this.anyCompany()
    const body = {
      company_id: this.ids.get(slug),
      credit_type_id: this.creditId,
      amount: held,
      idempotency_key: `hold ${++this.numbers}`,
      expires_at: new Date(Date.now() + holdMs).toISOString(),
    }
    if ((await this.insist('POST', '/billing/credits/reservations', body, 201)) !== null)
      this.told.get(slug)!.reserved += held
  }

  private async check(): Promise<void> {
    const slug = this.anyCompany()
    const answer = await this.insist('POST', '/flags/load/check', { company: { slug } }, 200)
    if (answer === null) return
    this.checks++
    this.heard(slug)
    if (answer.body.data.value !== true) this.wrong.push(`a check said ${answer.body.data.value}`)
  }

  /** Send until it is answered; null when the answer is neither that nor a refusal to try again after. */
  private async insist(
    method: string,
    path: string,
    body: object,
    wanted: number,
    doubt = () => {},
  ): Promise<Response | null> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const sentAtMs = performance.now()
      const answer = await this.options
        .client()
        .send(method, path, body)
        .catch(() => null)
      if (answer === null) this.broken.push(sentAtMs)
      // 202: the write is durable, and the lists follow (decision 32)
      if (answer?.status === wanted || (answer?.status === 202 && wanted === 200)) {
        this.answers++
        return answer
      }
      this.refusals++
      if (answer !== null && answer.status !== 503) {
        this.wrong.push(`${method} ${path} answered ${answer.status} ${JSON.stringify(answer.body)}`)
        return null
      }
      if (answer !== null && !answer.headers.has('retry-after')) this.wrong.push('503 without Retry-After')
      doubt()
      await new Promise(resolve => setTimeout(resolve, pauseMs))
    }
    this.wrong.push(`${method} ${path} was never answered`)
    return null
  }

  /** Resolves once so many more requests were answered. */
  async answered(more: number): Promise<void> {
    const enough = this.answers + more
    while (this.answers < enough) await new Promise(resolve => setTimeout(resolve, pauseMs))
  }

  /** Resolves once a request of every company was answered that is answered after now. */
  async answeredAll(): Promise<void> {
    const sinceMs = performance.now()
    while ([...this.heardMs.values()].some(heardMs => heardMs < sinceMs))
      await new Promise(resolve => setTimeout(resolve, pauseMs))
  }

  // ── what must be there ─────────────────────────────────────────────────────────────────────────

  /** Everything acknowledged, each once; call when no client is under way. */
  async verify(t: Test): Promise<void> {
    const client = this.options.client()
    t.same(this.wrong, [], 'every request was answered, or refused with 503 and Retry-After')
    for (const [slug, told] of this.told) await this.verifyCompany(t, client, slug, told)
    await this.verifyDirectory(t, client)
    await this.verifyEvents(t, client)
  }

  private async verifyCompany(t: Test, client: Client, slug: string, told: Told): Promise<void> {
    const company = await read(client, `/companies/lookup?slug=${slug}`)
    const metrics = company.metrics as { event_subtype: string; period: string; value: number }[]
    const counted = metrics
      .filter(one => one.period === 'all_time')
      .map(one => [one.event_subtype, one.value])
    const acknowledged = Object.fromEntries(told.acknowledged)
    t.same(Object.fromEntries(counted), acknowledged, `${slug}: every event counted once`)
    for (const [trait, value] of told.traits) t.equal(company.traits[trait], value, `${slug}: ${trait}`)
    const added = company.traits.counted ?? 0
    const sure = added >= told.added && added <= told.added + told.doubtful
    t.ok(sure, `${slug}: counted up ${added}, acknowledged ${told.added}, in doubt ${told.doubtful}`)
    t.equal(company.user_count, told.users.size, `${slug}: its users`)
    const [balance] = await read(client, `/billing/credits/balance?company_id=${company.id}`)
    const { drawn, reserved } = told
    t.match(balance, { reserved, remaining: granted - drawn - reserved }, `${slug}: its credits`)
  }

  private async verifyDirectory(t: Test, client: Client): Promise<void> {
    const slugs = [...this.made.keys()]
    const looked = slugs.slice(-20).concat(slugs.slice(0, 20))
    for (const slug of looked) {
      const { id } = await read(client, `/companies/lookup?slug=${slug}`)
      const acknowledged = this.made.get(slug)
      if (acknowledged !== null && id !== acknowledged) t.fail(`${slug} has another id than its answer`)
    }
    const { count } = await read(client, '/companies/count')
    t.equal(count, this.made.size + this.told.size + this.others, 'as many companies as were made')
  }

  private async verifyEvents(t: Test, client: Client): Promise<void> {
    let stored = 0
    const ids = new Set<string>()
    for (let offset = 0; ; offset += pageMax) {
      const page = await read(
        client,
        `/events?event_types=track&event_subtype=call${this.round}&limit=${pageMax}&offset=${offset}`,
      )
      for (const { id } of page) ids.add(id)
      stored += page.length
      if (page.length < pageMax) break
    }
    const keys = [...this.events.keys()]
    const ofRound = keys.filter(key => key.startsWith(`${this.round}-`))
    t.equal(stored, ofRound.length, 'as many events of this round as were acknowledged')
    t.ok(
      ofRound.every(key => ids.has(this.events.get(key)!.eventId)),
      'those that were acknowledged',
    )
    for (let again = 0; again < 10 && keys.length > 0; again++) {
      const key = this.options.random.pick(keys)
      const { body, eventId } = this.events.get(key)!
      const { event_id: id } = await client.ok('POST', '/events', body)
      if (id !== eventId) t.fail(`EV-27 a retry of ${key} is another event`)
    }
  }

  private anyCompany(): string {
    return this.options.random.pick([...this.told.keys()])
  }

  private tellOf(slug: string): void {
    const told = {
      acknowledged: new Map<string, number>(),
      traits: new Map<string, number>(),
      added: 0,
      doubtful: 0,
      users: new Set<string>(),
      drawn: 0,
      reserved: 0,
    }
    this.told.set(slug, told)
  }
}

/** `data` of a read. It is asked again while a store is behind, as long as the answer says when. */
// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
async function read(client: Client, path: string): Promise<any> {
  for (let attempt = 0; ; attempt++) {
    const { status, headers, body } = await client.get(path)
    if (status === 200) return body.data
    if (status !== 503 || !headers.has('retry-after') || attempt === readAttemptsMax)
      throw new Error(`GET ${path} answered ${status}: ${JSON.stringify(body)}`)
    await new Promise(resolve => setTimeout(resolve, 1_000 * Number(headers.get('retry-after'))))
  }
}
