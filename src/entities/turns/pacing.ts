// API writers wait for their row in Postgres, and a journal is projected in order. So an environment's events may
// cause only a bounded number of writes that Postgres does not have yet; its next write waits until there are fewer.
// Other environments then wait for at most that many (security 5). Nothing is refused, and nothing waits
// while Postgres is stalled.
import type { Sequence } from '../../journal/journal.js'

interface PacingOptions {
  /** Writes of an environment that Postgres does not show yet, from which on its next wait. */
  readonly behindMax: number
  /** The position of a shard in Postgres. */
  readonly position: (shard: number) => Sequence
  /** Resolves when Postgres shows a record; rejects when it does not in good time. */
  readonly reached: (shard: number, sequence: Sequence) => Promise<void>
}

interface Written {
  readonly shard: number
  readonly sequence: Sequence
}

interface Environment {
  /** Writes that have begun and are not durable yet. */
  begun: number
  /** Durable writes that Postgres may not show yet, oldest first. */
  readonly behind: Written[]
  readonly waiting: { readonly writes: number; readonly go: () => void }[]
  isServed: boolean
  /** Called when writes have ended. */
  ended: () => void
}

/** Remembered writes per environment, as a multiple of the bound: more come while Postgres is away. */
const rememberedTimes = 4

export class Pacing {
  private readonly environments = new Map<string, Environment>()
  /** Position of Postgres when a wait for it failed. */
  private stalled: Written | null = null

  constructor(private readonly options: PacingOptions) {}

  /** A write is durable. */
  written(environmentId: string, shard: number, sequence: Sequence): void {
    const environment = this.of(environmentId)
    this.trim(environment)
    if (environment.behind.length < this.options.behindMax * rememberedTimes)
      environment.behind.push({ shard, sequence })
  }

  /**
   * Do writes of events when their environment may: at once where it may now, else in the order of asking.
   *
   * writes  how many they are.
   */
  run<T>(environmentId: string, writes: number, work: () => Promise<T>): Promise<T> {
    const environment = this.of(environmentId)
    const counted = (): Promise<T> =>
      work().finally(() => {
        environment.begun -= writes
        environment.ended()
        this.forget(environmentId, environment)
      })
    if (environment.waiting.length === 0 && this.hasRoom(environment)) {
      environment.begun += writes
      return counted()
    }
    const turn = new Promise<void>(go => environment.waiting.push({ writes, go }))
    if (!environment.isServed) void this.serve(environment)
    return turn.then(counted)
  }

  private of(environmentId: string): Environment {
    let environment = this.environments.get(environmentId)
    if (environment === undefined) {
      environment = { begun: 0, behind: [], waiting: [], isServed: false, ended: () => {} }
      this.environments.set(environmentId, environment)
    }
    return environment
  }

  private async serve(environment: Environment): Promise<void> {
    environment.isServed = true
    while (environment.waiting.length > 0) {
      if (this.hasRoom(environment)) {
        const { writes, go } = environment.waiting.shift()!
        environment.begun += writes
        go()
      } else await this.fewer(environment)
    }
    environment.isServed = false
  }

  private hasRoom(environment: Environment): boolean {
    this.trim(environment)
    return environment.begun + environment.behind.length < this.options.behindMax || this.isStalled()
  }

  /** Resolves when Postgres has the older half of the missing writes, or is stalled, or when writes have ended. */
  private async fewer(environment: Environment): Promise<void> {
    const { behind } = environment
    const ended = new Promise<void>(resolve => {
      environment.ended = resolve
    })
    if (behind.length === 0) return ended
    const wanted = new Map<number, Sequence>()
    for (const { shard, sequence } of behind.slice(0, Math.ceil(behind.length / 2)))
      wanted.set(shard, Math.max(wanted.get(shard) ?? 0, sequence))
    const reaching = [...wanted].map(([shard, sequence]) =>
      this.options.reached(shard, sequence).catch(() => {
        this.stalled = { shard, sequence: this.options.position(shard) }
      }),
    )
    await (environment.begun > 0 ? Promise.race([Promise.all(reaching), ended]) : Promise.all(reaching))
  }

  private isStalled(): boolean {
    if (this.stalled === null) return false
    if (this.options.position(this.stalled.shard) === this.stalled.sequence) return true
    this.stalled = null
    return false
  }

  private trim({ behind }: Environment): void {
    const { position } = this.options
    let shown = 0
    while (shown < behind.length && position(behind[shown]!.shard) >= behind[shown]!.sequence) shown++
    if (shown > 0) behind.splice(0, shown)
  }

  private forget(environmentId: string, environment: Environment): void {
    this.trim(environment)
    if (environment.begun + environment.behind.length + environment.waiting.length > 0) return
    if (!environment.isServed) this.environments.delete(environmentId)
  }
}
