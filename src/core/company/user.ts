// The user: keys, traits and memberships. Owned by one shard thread, like a company.

import type { User, WriteReply } from '../model/entity-state.js'
import type { Decision, Effect, UserMessage } from '../model/message.js'
import { effectsOf } from '../usage/counter.js'
import { interned } from '../values/shared-names.js'
import { NamedTexts } from '../values/text-map.js'
import {
  applyToEntity,
  clearEntity,
  decideEnsure,
  decideWrite,
  incremented,
  keyPairs,
  remaps,
} from './entity.js'

export function newUser(id: string, environmentId: string): User {
  return {
    id,
    environmentId: interned(environmentId),
    exists: false,
    name: '',
    keys: new NamedTexts(),
    traits: new NamedTexts(),
    clientTraits: null,
    removedTraits: null,
    createdAtMs: 0,
    updatedAtMs: 0,
    lastSeenAtMs: null,
    sequence: 0,
    memberships: new Map(),
  }
}

/**
 * Decide one message to a user. Reads no clock and no store: equal arguments, equal decision.
 *
 * source  CU-10…20, CU-36, CU-40, CU-52, EV-30…35, EV-40…42.
 */
export function decideUser(user: Readonly<User>, message: UserMessage, nowMs: number): Decision<WriteReply> {
  switch (message.type) {
    case 'event': {
      const event = message.event
      const seen: Effect[] =
        event.failure === null && effectsOf(event.mode).seen ? [{ t: 'seen', atMs: event.capturedAtMs }] : []
      if (message.write === null)
        return { reply: nothingFreed, effects: user.exists ? [...seen, ...joins(user, message.joins)] : [] }
      const decided = decideWrite(user, message.write, nowMs, false)
      if ('refused' in decided) return decided
      return told(decided.reply, [...decided.effects, ...joins(user, message.joins), ...seen])
    }
    case 'upsert': {
      if (!user.exists && message.updateOnly) return { refused: 'not_found' }
      if (message.preventRemap && remaps(user, message.write.addKeys)) return { refused: 'key_remap' }
      const decided = decideWrite(user, message.write, nowMs, true)
      if ('refused' in decided) return decided
      const left = message.exactly === null ? [] : leaves(user, message.exactly)
      return told(decided.reply, [
        ...decided.effects,
        ...left,
        ...joins(user, [...message.joins, ...(message.exactly ?? [])]),
      ])
    }
    case 'increment_trait': {
      if (!user.exists && message.updateOnly) return { refused: 'not_found' }
      const text = incremented(user, message.name, message.by)
      if (text === null) return { refused: 'trait_not_a_number' }
      const write = { ...message.write, traits: [{ name: message.name, value: text }] }
      return decideWrite(user, write, nowMs, true)
    }
    case 'ensure': {
      const decided = decideEnsure(user, message.write, nowMs)
      if ('refused' in decided) return decided
      return told(decided.reply, [...decided.effects, ...joins(user, message.joins)])
    }
    case 'seen':
      return { reply: nothingFreed, effects: user.exists ? [{ t: 'seen', atMs: message.atMs }] : [] }
    case 'join':
      if (!user.exists) return { refused: 'not_found' }
      return told(nothingFreed, joins(user, [message.companyId]))
    case 'leave':
      if (!user.memberships.has(message.companyId)) return { refused: 'not_found' }
      return told(nothingFreed, [{ t: 'left', companyId: message.companyId }])
    case 'delete':
      if (!user.exists) return { refused: 'not_found' }
      return {
        reply: { created: false, freed: keyPairs(user) },
        effects: [{ t: 'deleted', keys: keyPairs(user) }],
      }
  }
}

/** The one function that changes a user: live traffic and replay both end here. */
export function applyToUser(user: User, effect: Effect, atMs: number): void {
  if (applyToEntity(user, effect, atMs)) return
  switch (effect.t) {
    case 'joined':
      user.memberships.set(effect.companyId, atMs)
      return
    case 'left':
      user.memberships.delete(effect.companyId)
      return
    case 'deleted':
      clearEntity(user)
      user.memberships = new Map()
      return
    case 'plan':
    case 'trait':
    case 'created':
    case 'key':
    case 'key_removed':
    case 'named':
    case 'trait_introduced':
    case 'client_trait':
    case 'traits_held':
    case 'touched':
    case 'once':
    case 'seen':
    case 'seen_set':
    case 'used':
    case 'override':
    case 'override_removed':
    case 'override_over':
    case 'overdraft_limit':
    case 'add_ons':
    case 'plan_changed':
    case 'trial_ended':
    case 'schedule':
    case 'subscription':
    case 'subscription_removed':
    case 'cycle_counted':
    case 'credit_grant':
    case 'credit_draw':
    case 'credit_refund':
    case 'credit_hold':
    case 'credit_commit':
    case 'credit_release':
    case 'credit_zero_out':
    case 'credit_transfer':
    case 'credit_enrol':
    case 'credit_renew':
    case 'credit_topup':
    case 'credit_external':
      throw new Error(`a user knows no effect ${effect.t}`)
  }
  // a record of a newer build may hold one that this build does not know
  effect satisfies never
  throw new Error('an effect of a newer build')
}

const nothingFreed: WriteReply = { created: false, freed: [] }

/** With the companies that came and went, for those who find users by company. */
function told(reply: WriteReply, effects: readonly Effect[]): Decision<WriteReply> {
  const joined: string[] = []
  const left: string[] = []
  for (const effect of effects) {
    if (effect.t === 'joined') joined.push(effect.companyId)
    else if (effect.t === 'left') left.push(effect.companyId)
  }
  const { created, freed } = reply
  return { reply: { created, freed, joined, left }, effects }
}

function joins(user: Readonly<User>, companyIds: readonly string[]): Effect[] {
  return [...new Set(companyIds)]
    .filter(companyId => !user.memberships.has(companyId))
    .map(companyId => ({ t: 'joined', companyId }))
}

function leaves(user: Readonly<User>, keep: readonly string[]): Effect[] {
  return [...user.memberships.keys()]
    .filter(companyId => !keep.includes(companyId))
    .map(companyId => ({ t: 'left', companyId }))
}
