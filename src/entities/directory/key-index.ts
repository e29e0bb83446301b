// A map from key pairs to the state that writes under way keep of them. Environment, kind and name are stored once for all their
// pairs, and a lookup builds no text.
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

  get(kind: EntityType, environmentId: string, name: string, value: string): T | undefined {
    const environment = this.environments.get(environmentId)
    return environment && namesOf(environment, kind).get(name)?.get(value)
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
    values.set(value, to)
  }

  delete(kind: EntityType, environmentId: string, name: string, value: string): void {
    const environment = this.environments.get(environmentId)
    if (environment === undefined) return
    const names = namesOf(environment, kind)
    const values = names.get(name)
    if (values?.delete(value) && values.size === 0) names.delete(name)
  }

  forgetEnvironment(environmentId: string): void {
    this.environments.delete(environmentId)
  }
}
