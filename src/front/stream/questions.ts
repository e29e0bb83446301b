// Questions of the data stream to shards: which entities may have changed, and what they are now.
import type { StreamServices } from './services.js'
import type { Held } from './subscriber.js'

/** Most requests of the stream in flight to shards. Few, because checks queue behind them. */
const askingMax = 32
/** Delay before a shard that did not answer gets another request, ms. */
const retryMs = 100

export class Questions {
  private asking = 0
  /** Entities that wait until fewer requests are in flight, by environment: the one whose turn is next comes first. */
  private readonly wanted = new Map<string, Set<Held>>()

  constructor(
    private readonly services: Pick<StreamServices, 'changes' | 'clock' | 'shards'>,
    /** Called before a question: the catalog's flags are read when they changed. */
    private readonly readFlags: (environment: Held['environment']) => void,
    /** Called with a shard's answer; null: there is no such entity. */
    private readonly heard: (held: Held, reply: string | null) => void,
  ) {}

  /** Ask about an entity when there is room (`askWanted`). */
  want(held: Held): void {
    const { id } = held.environment
    const others = this.wanted.get(id)
    if (others === undefined) this.wanted.set(id, new Set([held]))
    else others.add(held)
  }

  /** Whether an entity may differ from its last sent state. */
  isDue(held: Held, presentMs: number): boolean {
    const { changes } = this.services
    if (held.parts === null || held.version !== held.environment.version) return true
    if (changes.at(held.place) !== held.change || changes.epoch(held.shard) !== held.era) return true
    return (
      held.kind === 'company' && (changes.usageVersion(held.place) !== held.uses || presentMs >= held.untilMs)
    )
  }

  /** Ask the shards about entities that wait, as many at once as may be, of each environment in turn. */
  askWanted(): void {
    while (this.asking < askingMax && this.wanted.size > 0) {
      const [id, others] = this.wanted.entries().next().value!
      const held = others.values().next().value!
      others.delete(held)
      this.wanted.delete(id)
      if (others.size > 0) this.wanted.set(id, others)
      if (held.environment.held.get(held.id) === held) this.ask(held)
    }
  }

  private ask(held: Held): void {
    const { changes, shards, clock } = this.services
    const { environment, kind, id } = held
    held.asking = true
    held.questions++
    this.asking++
    this.readFlags(environment)
    const nowMs = clock.now(environment.id)
    const before = [held.era, held.change, held.version]
    held.era = changes.epoch(held.shard)
    held.change = changes.at(held.place)
    if (kind === 'company') held.uses = changes.usageVersion(held.place)
    held.version = environment.version
    const [era, change, version] = before
    const usedOnly =
      held.parts !== null &&
      era === held.era &&
      change === held.change &&
      version === held.version &&
      nowMs < held.untilMs
    const answered = () => {
      held.asking = false
      this.asking--
    }
    shards.put(
      kind === 'company' ? 'c' : 'u',
      environment.id,
      id,
      { type: 'engine', since: held.parts === null ? '' : held.mark, usedOnly },
      nowMs,
      {
        resolve: ({ reply }) => {
          answered()
          this.heard(held, reply as string | null)
          this.askWanted()
        },
        reject: () => {
          answered()
          held.version = -1
          held.retryAtMs = performance.now() + retryMs
        },
      },
    )
  }
}
