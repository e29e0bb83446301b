// Applies facts to the memory of a node's HTTP thread: entities and their keys, members, traits seen first,
// and keys of holds. A fact that arrives twice or late changes nothing.
import type { TraitRegistry } from '../catalog/traits.js'
import type { Fact } from '../core/model/message.js'
import type { Directory } from '../entities/directory/directory.js'
import type { HoldKeys } from '../entities/idempotency/hold-keys.js'

export interface Remembered {
  readonly directory: Directory
  readonly traits: Pick<TraitRegistry, 'introduce' | 'isFull'>
  readonly holdKeys: Pick<HoldKeys, 'know'>
}

export function applying({ directory, traits, holdKeys }: Remembered): (facts: readonly Fact[]) => void {
  return facts => {
    for (const fact of facts) {
      directory.replay(fact)
      if (fact.k === 'e') continue
      const kind = fact.k === 'c' ? 'company' : 'user'
      for (const effect of fact.fx)
        if (effect.t === 'trait_introduced') {
          const { name, hierarchy, traitType } = effect.trait
          if (!traits.isFull(fact.env, kind)) traits.introduce(fact.env, kind, name, hierarchy, traitType)
        } else if (effect.t === 'credit_hold' && effect.key !== undefined)
          holdKeys.know({
            environmentId: fact.env,
            kind: effect.k === 'lease' ? 'extension' : 'reservation',
            key: effect.key,
            companyId: fact.id,
            usedMs: fact.at,
          })
    }
  }
}
