// Key pairs that writes are about to give to companies and users. Every node's directory holds the durable
// pairs. Redis decides which of two writes on two nodes gets a new pair. A claim names an entity for some
// minutes, longer than any write takes. A later write with the same pair means that entity, made or not yet.
import { hash } from 'node:crypto'
import type { Fact } from '../core/model/message.js'
import type { Directory, DirectoryKind } from '../entities/directory/directory.js'
import { PairTaken, type SharedPairs, type Target } from '../entities/directory/entities.js'
import { ServiceError } from '../errors.js'
import type { RedisClient } from '../redis/redis.js'

const claimedMs = 300_000

export class PairClaims implements SharedPairs {
  constructor(
    private readonly redis: RedisClient,
    private readonly directory: Directory,
  ) {}

  async take(target: Target): Promise<void> {
    const { kind, environmentId, id, claimed } = target
    const pairs = this.directory.undecided(kind, environmentId, claimed)
    if (pairs.length === 0) return
    const keys = pairs.map(([name, value]) => this.keyOf(kind, environmentId, name, value))
    const answer = await this.claim(id, keys).catch(error => {
      throw new ServiceError('store_away', 'Redis does not answer; try again', { cause: error })
    })
    if (answer === '') return
    const [key, other] = answer
    const pair = pairs[keys.indexOf(key)]!
    throw new PairTaken(() => this.directory.adopt(kind, environmentId, other, [pair]))
  }

  /**
   * Claim all keys or none. With replicas a claim counts when they have it: a Redis that was replaced, and does not know it
   * yet, would give the same pair to another entity than its successor.
   */
  private async claim(id: string, keys: readonly string[]): Promise<'' | readonly [key: string, id: string]> {
    const answer = await this.redis.run<'' | [string, string]>('pairs', id, claimedMs, ...keys)
    if (this.redis.address.replicas > 0) await this.redis.write('touch')
    return answer
  }

  /** Free the pairs that these facts gave up. */
  async free(facts: readonly Fact[]): Promise<void> {
    const given: string[] = []
    for (const fact of facts) {
      if (fact.k === 'e') continue
      const kind = fact.k === 'c' ? 'company' : 'user'
      const free = (name: string, value: string) =>
        given.push(this.keyOf(kind, fact.env, name, value), fact.id)
      for (const effect of fact.fx)
        if (effect.t === 'key' && effect.was !== null) free(effect.name, effect.was)
        else if (effect.t === 'key_removed') free(effect.name, effect.value)
        else if (effect.t === 'deleted') for (const [name, value] of effect.keys) free(name, value)
    }
    if (given.length > 0) await this.redis.run('free', ...given)
  }

  private keyOf(kind: DirectoryKind, environmentId: string, name: string, value: string): string {
    const digest = hash('sha256', JSON.stringify([kind, environmentId, name, value]), 'buffer').subarray(
      0,
      18,
    )
    return this.redis.key(`p:${digest.toString('base64url')}`)
  }
}
