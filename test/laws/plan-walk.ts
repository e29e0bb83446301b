// A random walk over changes of plans on a running service with kills, and a model beside it: the shared part
// of both laws of plans. The seed is printed; TOLLGATE_SEED repeats a run.
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { type Client, Process } from '../harness.js'
import { Random } from '../random.js'
import { temporaryDirectory } from '../stores.js'

export const random = new Random()
export const dayMs = 86_400_000
export const start = Date.UTC(2031, 0, 1)
export const seconds = (ms: number): number => Math.floor(ms / 1000)
export const iso = (ms: number): string => new Date(ms).toISOString()

/** The required members of POST /manage-plan. */
export const none = {
  credit_bundles: [],
  custom_field_values: [],
  pay_in_advance_entitlements: [],
  add_on_selections: [],
}

/** A plan group without its plans. */
export const group = {
  ...Object.fromEntries(
    `checkout_collect_address checkout_collect_email checkout_collect_phone checkout_collect_tax_id
    enable_tax_collection opt_in_enabled prevent_downgrades_when_over_limit prevent_self_service_downgrade
    show_as_monthly_prices show_credits show_feature_description show_hard_limit show_period_toggle
    show_zero_price_as_free sync_customer_billing_details`
      .split(/\s+/)
      .map(name => [name, false]),
  ),
  proration_behavior: 'create_prorations',
  add_on_ids: [],
  ordered_add_ons: [],
  ordered_bundle_list: [],
  ordered_plans: [],
}

/** Strategy to move companies of a plan to a version: POST /plan-version-migrations, and a publish. */
export type Strategy = 'end_of_billing_period' | 'immediate' | 'leave' | 'scheduled'

/** A pending change of a company's plan. */
export interface Pending<Version> {
  readonly migration: number
  readonly to: Version
  /** Null: the date is unknown. */
  readonly atMs: number | null
  readonly strategy: Strategy
}

/** The common part of the models. */
interface Timed {
  readonly nowMs: number
  readonly companies: ReadonlyMap<string, unknown>
  advance(toMs: number): void
  callOff(migration: number): void
}

/** One walk: a service, an environment with a test clock, a model, and the steps so far. */
export abstract class Walk<Model extends Timed, PlanName extends string> {
  /** Plan → its id. */
  readonly plans = new Map<PlanName, string>()
  /** Migration number → its id. */
  readonly migrations = new Map<number, string>()
  /** The steps with their times, printed on a failure. */
  readonly log: string[] = []
  kills = 0
  environmentId = ''

  constructor(
    readonly model: Model,
    private process: Process,
    private readonly dataDir: string,
  ) {}

  get client(): Client {
    return this.process.client
  }

  /** Make plans and companies. The clock stands at `start`. */
  protected abstract prepare(): Promise<void>

  /** One random change. */
  protected abstract change(): Promise<void>

  /**
   * Compare every company with the model.
   *
   * errors  the differences.
   */
  abstract check(): Promise<void>

  async begin(): Promise<void> {
    this.environmentId = (await this.client.ok('GET', '/whoami')).environment_id
    await this.clock(start)
    await this.prepare()
  }

  /** One change, a second after the one before. */
  async step(): Promise<void> {
    await this.pass(1000)
    await this.change()
  }

  async clock(nowMs: number): Promise<void> {
    await this.client.ok('PUT', `/environments/${this.environmentId}/clock`, {
      now: iso(nowMs),
      frozen: true,
    })
  }

  note(text: string): void {
    this.log.push(`${iso(this.model.nowMs)} ${text}`)
  }

  async pass(ms: number): Promise<void> {
    const to = this.model.nowMs + ms
    await this.clock(to)
    this.model.advance(to)
  }

  /** Some days, sometimes so many that much is due at once. */
  async days(): Promise<void> {
    const days = 1 + random.below(random.chance(0.3) ? 90 : 20)
    this.note(`${days} days pass`)
    await this.pass(days * dayMs)
  }

  async kill(): Promise<void> {
    this.note('kill')
    this.kills++
    await this.end()
    this.process = await Process.start(this.dataDir)
  }

  async end(): Promise<void> {
    await this.process.end('SIGKILL')
  }

  companyIds(): string[] {
    return [...this.model.companies.keys()]
  }

  /** Keep the id of the migration that a publish of a version began, if it began one. */
  async noteMigration(number: number, versionId: string): Promise<void> {
    const [migration] = await this.client.ok('GET', `/plan-version-migrations?plan_version_id=${versionId}`)
    if (migration) this.migrations.set(number, migration.id)
  }

  /** Call off one of these migrations, where there are any. */
  async callOffOne(open: readonly number[]): Promise<void> {
    if (open.length === 0) return
    const number = random.pick(open)
    const id = this.migrations.get(number)
    this.note(`call off ${id}`)
    await this.client.ok('POST', `/plan-version-migrations/${id}/cancel`)
    this.model.callOff(number)
  }

  /** A date for strategy `scheduled`, else null. */
  dateOf(strategy: Strategy): number | null {
    return strategy === 'scheduled' ? this.model.nowMs + (1 + random.below(40)) * dayMs : null
  }

  dated(dateMs: number | null) {
    return dateMs === null ? {} : { migration_scheduled_at: iso(dateMs) }
  }

  same(id: string, found: unknown, wanted: unknown): void {
    if (!isDeepStrictEqual(found, wanted))
      throw new Error(
        `${id} is ${JSON.stringify(found, null, 1)}\nbut should be ${JSON.stringify(wanted, null, 1)}`,
      )
  }
}

/** A company's pending migration in the model, and in an answer. */
export function pendingWanted(pending: Pending<{ readonly id: string }> | null) {
  return (
    pending && {
      to: pending.to.id,
      at: pending.atMs === null ? null : iso(pending.atMs),
      strategy: pending.strategy,
    }
  )
}

// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
export function pendingFound({ pending_migration: pending }: any) {
  return pending
    ? { to: pending.to_plan_version_id, at: pending.effective_at, strategy: pending.strategy }
    : null
}

/** The law: after every step, and 100 days after a last kill, every company equals the model. */
export function law(
  title: string,
  steps: number,
  make: (process: Process, dataDir: string) => Walk<Timed, string>,
): void {
  t.test(`${title}, seed ${random.seed}`, async t => {
    const dataDir = await temporaryDirectory(t)
    const walk = make(await Process.start(dataDir), dataDir)
    t.teardown(() => walk.end())
    await walk.begin()
    await walk.check()
    try {
      for (let i = 0; i < steps; i++) {
        await walk.step()
        await walk.check()
      }
      await walk.kill()
      await walk.pass(100 * dayMs)
      await walk.check()
    } catch (error) {
      for (const line of walk.log) t.comment(line)
      throw error
    }
    t.pass(`${steps} steps, ${walk.kills} kills`)
  })
}
