// The law of moves: random moves, pauses, cancels and reverts among edits of plans and passing time. After every step each
// company and each row of a move equals the model (MI-10…33). The seed is printed; TOLLGATE_SEED repeats a run.
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { addMonthsClamped, dayMs } from '../../src/core/values/period.js'
import { type Client, startHere } from '../harness.js'
import { type Body, MovesWorld } from '../interface/moves-world.js'
import { Random, times } from '../random.js'

const random = new Random()
const iso = (ms: number) => new Date(ms).toISOString()

interface Version {
  readonly id: string
  readonly plan: string
  readonly price: number | null
  readonly priceId: string | null
}

interface Company {
  readonly id: string
  version: Version
  /** The anchor of its billing periods, epoch ms; null: it pays nothing. */
  anchorMs: number | null
}

interface Row {
  readonly company: Company
  readonly fromPlan: string
  result: string
  dueMs: number | null
  /** The way back. */
  moved: { readonly was: Company; readonly is: Company } | null
}

interface Move {
  readonly id: string
  /** Null: it takes the rows of another back. */
  readonly to: Version | null
  readonly when: 'at_period_end' | 'now' | 'scheduled'
  readonly atMs: number | null
  readonly rows: Row[]
  isPaused: boolean
}

/** Companies and moves as they must be. */
class Model {
  readonly companies: Company[] = []
  readonly moves: Move[] = []
  nowMs = 0

  /** A change of the plan, version or payment of a company; the moves that wait look at it again. */
  change(company: Company, version: Version): void {
    company.version = version
    if (version.price === null) company.anchorMs = null
    for (const move of this.moves)
      if (!move.isPaused)
        for (const row of move.rows)
          if (row.company === company && row.result === 'pending') this.look(move, row)
  }

  /** Begin a move. `rows`: the companies listed, with the plans that they leave. */
  begin(move: Move): void {
    const plans = new Set(move.rows.map(row => row.fromPlan))
    this.callOff(
      move.rows.map(row => row.company),
      plans,
    )
    this.moves.push(move)
    for (const row of move.rows) this.look(move, row)
  }

  /** MI-16: a newer migration or move takes the place of those that wait. */
  callOff(companies: readonly Company[], plans: ReadonlySet<string>): void {
    for (const older of this.moves)
      for (const row of older.rows)
        if (row.result === 'pending' && companies.includes(row.company) && plans.has(row.fromPlan))
          row.result = 'cancelled'
  }

  /** One company's turn: an outcome, or a date. */
  private look(move: Move, row: Row): void {
    const { company } = row
    if (move.to === null) return this.restore(row)
    const { version } = company
    if (version.id === move.to.id) row.result = 'skipped already_there'
    else if (version.plan !== row.fromPlan) row.result = 'skipped left_plan'
    else if (move.to.price !== null && company.anchorMs === null) row.result = 'failed not_paid'
    else {
      if (move.when === 'scheduled') row.dueMs = move.atMs
      // who has no billing period waits for none (PB-21)
      if (move.when === 'at_period_end') row.dueMs ??= this.periodEnd(company) ?? this.nowMs
      if (move.when === 'now' || (row.dueMs !== null && row.dueMs <= this.nowMs)) this.go(move.to, row)
    }
  }

  private go(to: Version, row: Row): void {
    const { company } = row
    const was = { ...company }
    row.result = 'completed'
    this.change(company, to)
    row.moved = { was, is: { ...company } }
  }

  /** MI-30, MI-31. */
  private restore(row: Row): void {
    const { company, moved } = row
    const { was, is } = moved!
    const pays = (one: Company) => one.anchorMs !== null
    const same = company.version.id === is.version.id && pays(company) === pays(is)
    row.result = same ? 'completed' : 'skipped changed_since'
    if (!same) return
    company.anchorMs = pays(was) ? (company.anchorMs ?? was.anchorMs) : null
    this.change(company, was.version)
    row.moved = { was: is, is: { ...company } }
  }

  pause(move: Move): void {
    move.isPaused = true
    if (move.when === 'at_period_end') for (const row of move.rows) row.dueMs = null
  }

  resume(move: Move): void {
    move.isPaused = false
    for (const row of move.rows) if (row.result === 'pending') this.look(move, row)
  }

  cancel(move: Move): void {
    move.isPaused = false
    for (const row of move.rows) if (row.result === 'pending') row.result = 'cancelled'
  }

  pass(toMs: number): void {
    for (;;) {
      const due = this.moves
        .filter(move => !move.isPaused)
        .flatMap(move => move.rows.map(row => ({ move, row })))
        .filter(({ row }) => row.result === 'pending' && row.dueMs !== null && row.dueMs <= toMs)
        .sort((a, b) => a.row.dueMs! - b.row.dueMs!)[0]
      if (due === undefined) break
      this.nowMs = Math.max(this.nowMs, due.row.dueMs!)
      this.look(due.move, due.row)
    }
    this.nowMs = toMs
  }

  periodEnd({ anchorMs }: Company): number | null {
    if (anchorMs === null) return null
    let n = 1
    while (addMonthsClamped(anchorMs, n) <= this.nowMs) n++
    return addMonthsClamped(anchorMs, n)
  }
}

/** The service beside the model. */
class Law {
  readonly model = new Model()
  readonly log: string[] = []
  /** The published version of each plan, by plan id. */
  private readonly published = new Map<string, Version>()

  constructor(
    private readonly client: Client,
    private readonly world: MovesWorld,
  ) {}

  async prepare(): Promise<void> {
    await this.clock(Date.UTC(2031, 0, 5))
    for (const price of [null, null, null, 3000, 5000]) this.note(await this.world.plan(10, price))
    for (let i = 0; i < 9; i++) {
      this.model.nowMs += 3_600_000
      await this.clock(this.model.nowMs)
      const plan = this.anyPlan(i < 5 ? 'paid' : 'free')
      const shown = await this.client.ok('GET', `/plans/${plan}`)
      const id = i < 5 ? await this.world.payer(shown) : await this.world.holder(shown)
      const anchorMs = i < 5 ? this.model.nowMs : null
      this.model.companies.push({ id, version: this.published.get(plan)!, anchorMs })
    }
  }

  private note({ id, active_version: version, monthly_price: price }: Body): Version {
    const made = { id: version.id, plan: id, price: price?.price ?? null, priceId: price?.id ?? null }
    this.published.set(id, made)
    return made
  }

  private anyPlan(kind: 'any' | 'free' | 'paid' = 'any', but = ''): string {
    const fits = [...this.published.values()].filter(
      ({ plan, price }) => plan !== but && (kind === 'any' || (kind === 'free') === (price === null)),
    )
    return random.pick(fits).plan
  }

  private clock(nowMs: number): Promise<void> {
    this.model.nowMs = nowMs
    return this.world.clock(iso(nowMs))
  }

  async pass(ms: number): Promise<void> {
    this.model.pass(this.model.nowMs + ms)
    await this.world.clock(iso(this.model.nowMs))
  }

  async step(): Promise<void> {
    await this.pass(1000)
    const at = random.next()
    if (at < 0.34) await this.move()
    else if (at < 0.44) await this.hold()
    else if (at < 0.5) await this.cancel()
    else if (at < 0.6) await this.revert()
    else if (at < 0.7) await this.publish()
    else if (at < 0.82) await this.edit()
    else {
      const days = 1 + random.below(random.chance(0.3) ? 70 : 20)
      this.log.push(`${iso(this.model.nowMs)} ${days} days pass`)
      await this.pass(days * dayMs)
    }
  }

  private told(text: string): void {
    this.log.push(`${iso(this.model.nowMs)} ${text}`)
  }

  private async move(): Promise<void> {
    const { companies, nowMs } = this.model
    const to = this.published.get(this.anyPlan())!
    const when = random.pick(['now', 'now', 'scheduled', 'at_period_end'] as const)
    const atMs = when === 'scheduled' ? nowMs + (1 + random.below(40)) * dayMs : null
    const byPlan = random.chance(0.6)
    const plans = [this.anyPlan(), this.anyPlan()]
    const named = companies.filter(() => random.chance(0.4)).map(({ id }) => id)
    if (!byPlan && named.length === 0) return
    const filter = byPlan ? { plan_ids: plans } : { company_ids: named }
    const listed = companies
      .filter(one => (byPlan ? plans.includes(one.version.plan) : named.includes(one.id)))
      .filter(one => one.version.id !== to.id)
    this.told(`move to ${to.plan} ${when} ${atMs && iso(atMs)} ${JSON.stringify(filter)}`)
    const body = { plan_id: to.plan, when, filter, ...(atMs !== null && { scheduled_at: iso(atMs) }) }
    const { id } = await this.client.ok('POST', '/plan-moves', body)
    const rows = listed.map(
      (company): Row => ({
        company,
        fromPlan: company.version.plan,
        result: 'pending',
        dueMs: null,
        moved: null,
      }),
    )
    this.model.begin({ id, to, when, atMs, rows, isPaused: false })
  }

  private open(): Move[] {
    return this.model.moves.filter(({ rows }) => rows.some(row => row.result === 'pending'))
  }

  private async hold(): Promise<void> {
    const open = this.open()
    if (open.length === 0) return this.move()
    const move = random.pick(open)
    const what = move.isPaused ? 'resume' : 'pause'
    this.told(`${what} ${move.id}`)
    await this.client.ok('POST', `/plan-moves/${move.id}/${what}`)
    this.model[what](move)
  }

  private async cancel(): Promise<void> {
    const open = this.open()
    if (open.length === 0) return this.move()
    const move = random.pick(open)
    this.told(`cancel ${move.id}`)
    await this.client.ok('POST', `/plan-moves/${move.id}/cancel`)
    this.model.cancel(move)
  }

  private async revert(): Promise<void> {
    const done = this.model.moves.filter(
      ({ to, rows }) => to !== null && rows.some(row => row.moved !== null),
    )
    if (done.length === 0) return this.move()
    const move = random.pick(done.slice(-4))
    this.told(`revert ${move.id}`)
    const { id } = await this.client.ok('POST', `/plan-moves/${move.id}/revert`)
    this.model.cancel(move)
    const rows = move.rows.flatMap(({ company, moved }): Row[] =>
      moved === null
        ? []
        : [{ company, fromPlan: moved.is.version.plan, result: 'pending', dueMs: null, moved }],
    )
    this.model.begin({ id, to: null, when: 'now', atMs: null, rows, isPaused: false })
  }

  /** A new version; its companies stay, or move to it at once. */
  private async publish(): Promise<void> {
    const plan = this.anyPlan()
    const { price } = this.published.get(plan)!
    const strategy = random.pick(['leave', 'immediate'] as const)
    this.told(`publish ${plan}, ${strategy}`)
    if (price !== null) await this.world.draft(plan, 10 + random.below(90), 1000 + random.below(9000))
    else await this.world.limitDraft(plan, 10 + random.below(90))
    const { draft_version: draft } = await this.client.ok('GET', `/plans/${plan}`)
    await this.client.ok('PUT', `/plans/version/${draft.id}/publish`, { migration_strategy: strategy })
    const made = this.note(await this.client.ok('GET', `/plans/${plan}`))
    if (strategy === 'leave') return
    const on = this.model.companies.filter(one => one.version.plan === plan && one.version.id !== made.id)
    this.model.callOff(on, new Set([plan]))
    for (const company of on) this.model.change(company, made)
    await this.lookAgain()
  }

  /** Another plan for one company: given, or bought. */
  private async edit(): Promise<void> {
    const company = random.pick(this.model.companies)
    const isPaid = company.anchorMs !== null
    const to = this.published.get(this.anyPlan(isPaid ? 'paid' : 'free', company.version.plan))!
    this.told(`${company.id} ${isPaid ? 'buys' : 'is given'} ${to.plan}`)
    // a downgrade begins a new period (EN-95)
    if (isPaid && to.price! < company.version.price!) company.anchorMs = this.model.nowMs
    if (isPaid) await this.world.buy(company.id, to.plan, to.priceId!)
    else await this.client.ok('PUT', `/company-plans/${company.id}`, { base_plan_id: to.plan })
    this.model.change(company, to)
    await this.lookAgain()
  }

  /** Moves notice within some seconds that a company has changed; a repetition of what failed makes them look now. */
  private async lookAgain(): Promise<void> {
    for (const { id } of this.open()) await this.retry(id)
    for (const { id } of this.model.moves.slice(-6)) await this.retry(id)
  }

  private retry(id: string): Promise<unknown> {
    return this.client.post(`/plan-moves/${id}/retry`, { reasons: ['version_gone'] })
  }

  async check(): Promise<void> {
    for (const move of this.model.moves.slice(-12)) {
      // what is due is done before the answer
      await this.client.ok('GET', `/plan-moves/${move.id}`)
      const wanted = Object.fromEntries(move.rows.map(({ company, result }) => [company.id, result]))
      this.same(`the rows of ${move.id}`, await this.world.outcomes(move.id), wanted)
    }
    for (const company of this.model.companies) {
      const { plan, version, pays, periodEnd } = await this.world.stands(company.id)
      const end = this.model.periodEnd(company)
      const wanted = {
        plan: company.version.plan,
        version: company.version.id,
        pays: company.anchorMs === null ? null : `${company.version.price}×1`,
        periodEnd: end === null ? null : end / 1000,
      }
      this.same(company.id, { plan, version, pays, periodEnd: pays === null ? null : periodEnd }, wanted)
    }
  }

  private same(what: string, found: unknown, wanted: unknown): void {
    if (!isDeepStrictEqual(found, wanted))
      throw new Error(
        `${what}: ${JSON.stringify(found, null, 1)}\nshould be ${JSON.stringify(wanted, null, 1)}`,
      )
  }
}

t.test(`moves, pauses, reverts and edits, seed ${random.seed}`, async t => {
  const { client } = await startHere(t)
  const law = new Law(client, await MovesWorld.of(client))
  await law.prepare()
  await law.check()
  const steps = times(40)
  try {
    for (let i = 0; i < steps; i++) {
      await law.step()
      await law.check()
    }
  } catch (error) {
    throw new Error(`${(error as Error).message}\nafter:\n${law.log.join('\n')}`)
  }
  const results = new Map<string, number>()
  for (const { rows } of law.model.moves)
    for (const { result } of rows) results.set(result, (results.get(result) ?? 0) + 1)
  t.ok(results.size > 2, `${steps} steps, ${law.model.moves.length} moves: ${JSON.stringify([...results])}`)
})
