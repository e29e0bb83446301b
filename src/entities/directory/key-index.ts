// A map from key pairs to values. Environment, kind and name are stored once for all their pairs, so a pair costs
// only its value and a map entry, and a lookup builds no text.
import type { EntityType } from '../../../schemas/enums.js'

interface Names<T> {
  readonly company: Map<string, Map<string, T>>
  readonly user: Map<string, Map<string, T>>
}

// not by a dynamic member name, whose lookup would cost as much as a map
function namesOf<T>(environment: Names<T>, kind: EntityType): Map<string, Map<string, T>> {
  return kind === 'company' ? environment.company : environment.user
}

export class KeyIndex<T> {
  private readonly environments = new Map<string, Names<T>>()
  private count = 0
  /** Rises with every pair that is set. */
  changes = 0

  get size(): number {
    return this.count
  }

  get(kind: EntityType, environmentId: string, name: string, value: string): T | undefined {
    const environment = this.environments.get(environmentId)
    return environment && namesOf(environment, kind).get(name)?.get(value)
  }

  /** Number of names of a kind. */
  names(kind: EntityType, environmentId: string): number {
    const environment = this.environments.get(environmentId)
    return environment === undefined ? 0 : namesOf(environment, kind).size
  }

  hasName(kind: EntityType, environmentId: string, name: string): boolean {
    const environment = this.environments.get(environmentId)
    return environment !== undefined && namesOf(environment, kind).has(name)
  }

  set(kind: EntityType, environmentId: string, name: string, value: string, to: T): void {
    let environment = this.environments.get(environmentId)
    if (environment === undefined) {
      environment = { company: new Map(), user: new Map() }
      this.environments.set(environmentId, environment)
    }
    const names = namesOf(environment, kind)
    let values = names.get(name)
    if (values === undefined) {
      values = new Map()
      names.set(name, values)
    }
    const before = values.size
    values.set(value, to)
    this.changes++
    this.count += values.size - before
  }

  delete(kind: EntityType, environmentId: string, name: string, value: string): void {
    const environment = this.environments.get(environmentId)
    if (environment === undefined) return
    const names = namesOf(environment, kind)
    const values = names.get(name)
    if (!values?.delete(value)) return
    this.count--
    if (values.size === 0) names.delete(name)
  }

  forgetEnvironment(environmentId: string): void {
    const environment = this.environments.get(environmentId)
    if (environment === undefined) return
    for (const names of [environment.company, environment.user])
      for (const values of names.values()) this.count -= values.size
    this.environments.delete(environmentId)
  }
}
