// The state that companies and users share, and the state of a user. Types only.
import type { NamedTexts } from '../values/text-map.js'

/** A company or user as far as keys, traits and times go. */
export interface Entity {
  readonly id: string
  readonly environmentId: string
  /** False before the first creating fact and after deletion (CU-50). */
  exists: boolean
  name: string
  keys: NamedTexts
  /** By trait name (hierarchy joined by "."). */
  traits: NamedTexts
  /** Traits set with publishable keys, which anybody may hold. No decision reads them. null: none. */
  clientTraits: NamedTexts | null
  /** Traits that were removed, with the time of it: an older write does not bring them back (EV-42). null: none. */
  removedTraits: NamedTexts | null
  createdAtMs: number
  updatedAtMs: number
  lastSeenAtMs: number | null
  /** Journal sequence of the last fact applied. */
  sequence: number
}

/** A (name, value) key pair. */
export type KeyPair = readonly [name: string, value: string]

/** An entity in passing. */
export type EntityBrief = Pick<
  Entity,
  'id' | 'environmentId' | 'name' | 'createdAtMs' | 'updatedAtMs' | 'lastSeenAtMs'
>

/** An entity after a write, in short: its pairs too. */
export interface WrittenEntity extends EntityBrief {
  readonly keys: readonly KeyPair[]
}

/** Results of an accepted write that other threads need. */
export interface WriteReply {
  readonly created: boolean
  /** Pairs that are free again (CU-12, CU-15, CU-50). */
  readonly freed: readonly KeyPair[]
  /** Companies that a user joined and left (CU-20, CU-40). */
  readonly joined?: readonly string[]
  readonly left?: readonly string[]
  /** The company's outline after the write, where it was asked for (`OutlineQuestion`); null: there is no company. */
  readonly outline?: string | null
  /** The entity after the write, where it was asked for (`BriefQuestion`). */
  readonly brief?: WrittenEntity
}

/** All live state of one user. `memberships` maps company id → when joined, epoch ms. */
export interface User extends Entity {
  memberships: Map<string, number>
}
