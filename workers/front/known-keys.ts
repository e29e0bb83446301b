// Keys that a front knows, until the main thread changes anything that its knowledge rests on.
import type { Editions } from '../../src/wire/editions.js'
import type { KeyFacts } from '../../src/wire/front-facts.js'

/** Most keys, each with an environment, that a front knows. */
const keysMax = 10_000

interface Known {
  readonly key: string
  readonly environmentId: string
  /** Null: the main thread answers its checks. */
  readonly facts: KeyFacts | null
  /** The edition under which that is so. */
  readonly edition: number
}

export class KnownKeys {
  private readonly known = new Map<string, Known>()
  /** Asked and not yet told. */
  private readonly asked = new Set<string>()
  private last: Known | null = null

  constructor(
    private readonly editions: Editions,
    private readonly ask: (key: string, environmentId: string) => void,
  ) {}

  /** environmentId: as the header has it; '' without one. Null: it is not known, or the main thread answers its checks. */
  find(key: string, environmentId: string): KeyFacts | null {
    let one = this.last
    if (one === null || one.key !== key || one.environmentId !== environmentId) {
      one = this.known.get(nameOf(key, environmentId)) ?? null
      if (one === null) return null
      this.last = one
    }
    return one.facts !== null && this.holds(one.facts) ? one.facts : null
  }

  /** Whether nothing has changed that facts rest on. */
  holds({ edition, environment, environmentEdition }: KeyFacts): boolean {
    return this.editions.ofAll === edition && this.editions.of(environment) === environmentEdition
  }

  /** The main thread has taken a key: it is worth knowing. */
  want(key: string, environmentId: string): void {
    const name = nameOf(key, environmentId)
    const one = this.known.get(name)
    if (one !== undefined && one.facts === null && one.edition === this.editions.ofAll) return
    if (this.asked.has(name) || this.asked.size >= keysMax) return
    this.asked.add(name)
    this.ask(key, environmentId)
  }

  /** Forget all: plain values of keys stay no longer than on the main thread. Called once a minute. */
  forget(): void {
    this.known.clear()
    this.asked.clear()
    this.last = null
  }

  told(key: string, environmentId: string, facts: KeyFacts | null, edition: number): void {
    const name = nameOf(key, environmentId)
    this.asked.delete(name)
    if (this.known.size >= keysMax) this.known.clear()
    this.known.set(name, { key, environmentId, facts, edition })
    this.last = null
  }
}

// a header has no line breaks
const nameOf = (key: string, environmentId: string): string => `${key}\n${environmentId}`
