// The journal's tail folded over the snapshots.

import type { Fact } from '../../../src/core/model/message.js'
import { IdReader } from '../../../src/core/values/id.js'
import { IdTable } from '../../../src/core/values/id-table.js'
import type { JournalDisk } from '../../../src/journal/disk.js'
import type { Chunk } from '../../../src/journal/frame.js'
import { RecordFlag, type Sequence } from '../../../src/journal/journal.js'
import { FileJournalReader } from '../../../src/journal/reader.js'
import { companyKind, FactReader, userKind } from '../../../src/journal/records/fact-reader.js'
import type { Actor, Actors } from '../actors.js'
import { replayFact } from '../snapshots/snapshots.js'

export interface Replay {
  readonly directory: string
  /** The real one unless given. */
  readonly disk?: JournalDisk | undefined
  readonly actors: Actors
  /** Records after `from`, up to and including `upTo`. */
  readonly from: Sequence
  readonly upTo: Sequence
  /** The actors to fold; null for every one that the tail names. */
  readonly only: ReadonlySet<string> | null
  /** Adds actors from their snapshots, never over one in memory; returns those of them that are in memory then. */
  readonly load: (ids: readonly string[]) => Promise<readonly Actor[]>
  /** Receives facts that the directory and the idempotency window need again; null: none are needed. */
  readonly again: ((facts: readonly Fact[]) => void) | null
  /** Claims of records up to here are known to the HTTP thread. */
  readonly heard: Sequence
}

/** Chunks whose snapshots are on their way while an earlier one is folded. */
const chunksAhead = 16
/** Snapshots asked for by one statement: many, as each statement walks along the whole index. */
const loadedAtOnce = 25_000

/**
 * Fold the tail into its actors.
 *
 * returns  the records read.
 * errors   JournalCorrupt; errors of `load`.
 */
export async function replayTail(replay: Replay): Promise<number> {
  const reader = new FileJournalReader({
    directory: replay.directory,
    ...(replay.disk ? { disk: replay.disk } : {}),
  })
  const tail = new Tail(replay)
  const read: Read[] = []
  let count = 0
  try {
    for await (const chunk of reader.chunks(replay.from, replay.upTo, chunksAhead + 2)) {
      read.push(tail.look(chunk))
      if (read.length > chunksAhead) await tail.fold(read.shift()!)
      count += chunk.count
    }
    for (const one of read) await tail.fold(one)
    return count
  } finally {
    await tail.loads
    await reader.close()
  }
}

/** A chunk, and the snapshots it needs on their way. */
interface Read {
  readonly chunk: Chunk
  /** By record: the number of its actor; `nobody` or `unknown` for one without. */
  readonly numbers: Int32Array
  /** Actors that it needs, of chunks before it too. */
  readonly wanted: Wanted
}

/** Actors to be loaded together. */
class Wanted {
  /** By number; ids without a number, by id. */
  readonly cold: number[] = []
  readonly odd: string[] = []
  /** null: not asked for yet. */
  loaded: Promise<void> | null = null

  get size(): number {
    return this.cold.length + this.odd.length
  }
}

/** A fact that is no actor's, or not of one that is to be folded. */
const nobody = -1
/** Its id is not of the form that has a number. */
const unknown = -2

/** Above the number of records in a chunk. */
const recordsMax = 2 ** 24

/**
 * Records of a chunk in the order of their actors, each actor's in their own: an actor is in the processor's cache while all
 * its facts are folded. Records of nobody are left out.
 */
function byActor(numbers: Int32Array): Float64Array {
  const keys = new Float64Array(numbers.length)
  let count = 0
  for (let i = 0; i < numbers.length; i++)
    if (numbers[i] !== nobody) keys[count++] = (numbers[i]! - unknown) * recordsMax + i
  const order = keys.subarray(0, count).sort()
  for (let n = 0; n < count; n++) order[n]! %= recordsMax
  return order
}

/** The actors that the tail names. */
class Tail {
  readonly #replay: Replay
  readonly #facts = new FactReader()
  readonly #table = new IdTable()
  /** By number; undefined before the first fact of one that has no snapshot. */
  readonly #actors: (Actor | undefined | null)[] = []
  readonly #ids: string[] = []
  readonly #bits = new IdReader()
  /** The shard began without actors in memory, so an actor first named in the tail is not there either. */
  readonly #none: boolean
  #wanted = new Wanted()
  /** Settles when everything asked for is here, or is not to be had. */
  loads: Promise<unknown> = Promise.resolve()

  constructor(replay: Replay) {
    this.#replay = replay
    this.#none = replay.actors.size === 0
  }

  /** Find whose facts these are, and ask for those that are not in memory. */
  look(chunk: Chunk): Read {
    const numbers = new Int32Array(chunk.count)
    const wanted = this.#wanted
    for (let i = 0; i < chunk.count; i++) numbers[i] = this.#numberOf(chunk, i, wanted)
    if (wanted.size >= loadedAtOnce) this.#ask()
    return { chunk, numbers, wanted }
  }

  /** Ask for those who are wanted by now. */
  #ask(): Promise<void> {
    const wanted = this.#wanted
    this.#wanted = new Wanted()
    wanted.loaded = this.#load(wanted)
    this.loads = Promise.allSettled([this.loads, wanted.loaded])
    return wanted.loaded
  }

  async fold({ chunk, numbers, wanted }: Read): Promise<void> {
    await (wanted.loaded ?? this.#ask())
    const { again, heard } = this.#replay
    const told: Fact[] = []
    // facts of two actors have no order among them, but what the directory needs again has
    const order = again === null ? byActor(numbers) : null
    const count = order === null ? chunk.count : order.length
    for (let n = 0; n < count; n++) {
      const i = order === null ? n : order[n]!
      const number = numbers[i]!
      const flags = chunk.flags(i)
      const tells = again !== null && ((flags & RecordFlag.identity) !== 0 || chunk.sequence(i) > heard)
      if (number === nobody && !tells) continue
      const actor = number < 0 ? null : this.#actors[number]
      // its snapshot has it already
      if (actor && !tells && chunk.sequence(i) <= actor.state.sequence) continue
      const from = chunk.factAt(i)
      const rowsAt = chunk.ledgerAt(i)
      const fact =
        actor && !tells
          ? this.#facts.readOf(actor.state, chunk.bytes, from, chunk.factEnd(i), rowsAt)
          : this.#facts.read(chunk.bytes, from, chunk.factEnd(i), rowsAt)
      if (number !== nobody) replayFact(actor ?? this.#actorOf(number, fact), fact, chunk.sequence(i))
      if (tells && ((flags & RecordFlag.identity) !== 0 || fact.ik !== undefined)) told.push(fact)
    }
    if (again !== null && told.length > 0) again(told)
  }

  #numberOf(chunk: Chunk, index: number, { cold, odd }: Wanted): number {
    const facts = this.#facts
    const from = chunk.factAt(index)
    const end = chunk.factEnd(index)
    let known: string | null = null
    if (!facts.seek(chunk.bytes, from, end)) {
      const { k, id } = facts.read(chunk.bytes, from, end)
      if (k === 'e' || !this.#wants(id)) return nobody
      if (!facts.sought(k, id)) {
        if (!this.#keep(id)) odd.push(id)
        return unknown
      }
      known = id
    }
    const { kind, high, low } = facts
    let number = this.#table.find(kind, high, low)
    if (number < 0) {
      number = this.#table.add(kind, high, low)
      const id = known ?? facts.seekedId()
      this.#ids.push(id)
      const actor = !this.#wants(id) ? null : this.#none ? undefined : this.#keep(id)
      this.#actors.push(actor)
      if (actor === undefined) cold.push(number)
    }
    return this.#actors[number] === null ? nobody : number
  }

  #wants(id: string): boolean {
    return this.#replay.only === null || this.#replay.only.has(id)
  }

  /** The actor in memory, marked as changed: eviction waits until its facts are folded. */
  #keep(id: string): Actor | undefined {
    const { actors } = this.#replay
    const actor = actors.get(id)
    if (actor) actors.dirty.add(actor)
    return actor
  }

  async #load({ cold, odd }: Wanted): Promise<void> {
    const { load } = this.#replay
    const ids = cold.map(number => this.#ids[number]!).concat(odd)
    for (let at = 0; at < ids.length; at += loadedAtOnce)
      for (const actor of await load(ids.slice(at, at + loadedAtOnce))) this.#loaded(actor)
  }

  #loaded(actor: Actor): void {
    this.#replay.actors.dirty.add(actor)
    const bits = this.#bits
    bits.readText(actor.state.id)
    const number = this.#table.find(actor.k === 'c' ? companyKind : userKind, bits.high, bits.low)
    if (number >= 0 && this.#ids[number] === actor.state.id) this.#actors[number] = actor
  }

  #actorOf(number: number, fact: Fact): Actor {
    const { actors } = this.#replay
    const actor = this.#keep(fact.id) ?? actors.make(fact.k as 'c' | 'u', fact.id, fact.env)
    actors.dirty.add(actor)
    if (number !== unknown) this.#actors[number] = actor
    return actor
  }
}
