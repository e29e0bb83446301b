// One simulation from one seed: a machine, its faults, its clients, and the final checks.
import { drawIdsFrom } from '../../../src/account/ids.js'
import { catalogData, credit, entitlement, feature, plan } from '../../core/make.js'
import { Random } from '../../random.js'
import { Clients, creditId, drawing, limited, planId, usageLimit } from './clients.js'
import { type Break, environmentId, Machine, type Settings } from './machine.js'
import { describeAll, type Known, Verification } from './verify.js'
import { World } from './world.js'

export interface Outcome {
  /** Violations; empty when there were none. */
  readonly wrong: readonly string[]
  readonly steps: number
  readonly answers: number
  readonly starts: number
  /** The engine's log, for the analysis of a failing seed. */
  readonly said: readonly string[]
}

const patienceMs = 240_000
const stepsMax = 2_000_000
const companies = 4

const drawingEntitlement = entitlement(drawing, {
  valueType: 'credit',
  valueCreditId: creditId,
  consumptionRate: 1,
})

const catalog = catalogData({
  environmentId,
  features: [feature(drawing)],
  credits: [credit(creditId)],
  plans: [plan(planId, [drawingEntitlement])],
})

/** The same with a webhook: every notice comes from a fact. */
const watched = catalogData({
  ...catalog,
  features: [feature(drawing), feature(limited)],
  plans: [
    plan(planId, [
      drawingEntitlement,
      entitlement(limited, { valueType: 'numeric', valueNumeric: usageLimit }),
    ]),
  ],
  watches: {
    types: ['company.created', 'company.deleted', 'user.created', 'entitlement.limit.reached'],
    featureIds: null,
    creditIds: null,
  },
})

/** Run a seed. Never rejects. */
export async function simulate(seed: number, broken: Break = null): Promise<Outcome> {
  const random = new Random(seed)
  const world = new World(random)
  drawIdsFrom(pool => {
    for (let at = 0; at < pool.length; at += 4) pool.writeUInt32LE(random.below(2 ** 32), at)
  })
  const machine = new Machine(world, settingsOf(random), random.chance(0.4) ? watched : catalog, broken)
  const clients = new Clients(machine)
  try {
    await new Simulation(world, machine, clients).run()
  } catch (error) {
    if (!(error instanceof Violated))
      machine.wrong.push(error instanceof Error ? error.message : String(error))
  }
  const { wrong, starts, said } = machine
  return { wrong, steps: world.steps, answers: clients.answers, starts, said }
}

function settingsOf(random: Random): Settings {
  return {
    shards: 1 + random.below(3),
    segmentBytes: random.pick([2_000, 8_000, 40_000]),
    checkpointMs: random.pick([150, 600, 3_000]),
    actorsMax: random.pick([2, 6, 1_000]),
    pendingBytesMax: random.pick([3_000, 1 << 20]),
    rowsMax: random.pick([3, 20, 500]),
    postgresMs: random.pick([20, 200]),
    clickhouseMs: random.pick([50, 1_000]),
  }
}

/** A check found a violation and recorded it. */
class Violated extends Error {}

class Simulation {
  private readonly random: Random
  private calm = false

  constructor(
    private readonly world: World,
    private readonly machine: Machine,
    private readonly clients: Clients,
  ) {
    this.random = world.random
  }

  async run(): Promise<void> {
    const { world, machine, clients, random } = this
    machine.powerOn()
    await this.until(() => machine.service !== null)
    clients.spawn(() => clients.prepare(companies))
    await this.until(() => clients.idle)
    clients.start(2 + random.below(5))
    this.faults()
    const endsMs = world.nowMs + 300 + random.below(1_500)
    await this.until(() => world.nowMs >= endsMs)
    this.calmDown()
    clients.stop()
    await this.until(() => clients.idle && machine.service !== null)
    await this.judge()
  }

  /** Check everything, then again after a crash. */
  private async judge(): Promise<void> {
    const { machine, clients, world } = this
    const verification = new Verification(machine, clients)
    // Holds with a short expiry have ended by then.
    await this.asClient(() => world.pause(2_500))
    const before = await this.settle()
    verification.all(before)
    if (machine.wrong.length > 0) return
    machine.crash(this.random.pick(['killed', 'power']))
    await this.until(() => machine.service !== null)
    const after = await this.settle()
    verification.same(before, after)
    verification.all(after)
    const keys = [...clients.events.keys()]
    await this.asClient(async () => {
      for (let times = 0; times < 5 && keys.length > 0; times++) await clients.again(this.random.pick(keys))
    })
  }

  /** Wait until the stores have everything, and read every actor. */
  private async settle(): Promise<Known> {
    const { machine, clients } = this
    let known: Known = new Map()
    await this.asClient(async () => {
      const barriers = () =>
        clients.insist(async service => {
          await service.services.projections.barrier('postgres')
          await service.services.projections.barrier('clickhouse')
        })
      await barriers()
      known = await describeAll(machine, clients)
      await barriers()
    })
    return known
  }

  private async asClient(work: () => Promise<void>): Promise<void> {
    this.clients.spawn(work)
    await this.until(() => this.clients.idle)
  }

  /** Run the simulation until a condition holds. A violation ends the run. */
  private async until(done: () => boolean): Promise<void> {
    const { world, machine } = this
    await world.drive(() => machine.wrong.length > 0 || done(), world.nowMs + patienceMs, stepsMax)
    if (machine.wrong.length > 0) throw new Violated()
  }

  // ── faults ───────────────────────────────────────────────────────────────────────────────────

  /** Start faults, each kind as often as drawn for this run. */
  private faults(): void {
    const { machine, world, random } = this
    const { disk, postgres, clickhouse } = machine
    const networks = [postgres.network, clickhouse.network]
    const kinds: readonly (() => void)[] = [
      () => machine.crash('killed'),
      () => machine.crash('power'),
      () => machine.service?.threads.killAny('shard.js'),
      () => machine.service?.threads.killAny('projector.js'),
      () => {
        const network = random.pick(networks)
        network.away = true
        world.after(random.next() * 700, world.nature, () => {
          network.away = false
        })
      },
      () => {
        const network = random.pick(networks)
        const share = random.pick([0.02, 0.2])
        network[random.pick(['refusing', 'losing', 'late'] as const)] = share
        world.after(random.next() * 700, world.nature, () => network.calm())
      },
      () => {
        disk.failing = random.pick([0.02, 0.3, 1])
        world.after(random.next() * 400, world.nature, () => {
          disk.failing = 0
        })
      },
      () => {
        // The clock is set back during a run that has read it, not across a restart.
        if (machine.service === null) return
        machine.service.life.run(() => machine.service!.services.clock.wall())
        world.wallOffMs -= random.below(5_000)
      },
    ]
    const chosen = kinds.filter(() => random.chance(0.6))
    if (chosen.length === 0) return
    const usualMs = random.pick([40, 150, 500])
    const next = () => {
      world.after(random.next() * 2 * usualMs, world.nature, () => {
        if (this.calm) return
        random.pick(chosen)()
        next()
      })
    }
    next()
  }

  private calmDown(): void {
    this.calm = true
    this.world.wallOffMs = 0
    const { disk, postgres, clickhouse } = this.machine
    disk.failing = 0
    postgres.network.calm()
    clickhouse.network.calm()
  }
}
