// The journal's tail folded over the snapshots.
import { IdTable } from '../../src/core/id-table.js'
import type { Fact } from '../../src/core/message.js'
import type { JournalDisk } from '../../src/journal/disk.js'
import { FactReader } from '../../src/journal/fact-read.js'
import type { Chunk } from '../../src/journal/frame.js'
import { RecordFlag, type Sequence } from '../../src/journal/journal.js'
import { FileJournalReader } from '../../src/journal/reader.js'
import type { Actor, Actors } from './actors.js'
import { replayFact } from './snapshots.js'

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
  /** Adds actors from their snapshots, never over one in memory. */
  readonly load: (ids: readonly string[]) => Promise<void>
  /** Facts that the directory and the idempotency window want once more; null: nobody does. */
  readonly again: ((facts: readonly Fact[]) => void) | null
  /** Claims of records up to here were heard of. */
  readonly heard: Sequence
}

/** Chunks whose snapshots are on their way while an earlier one is folded. */
const chunksAhead = 4
/** Snapshots asked for by one statement. */
const loadedAtOnce = 10_000

/**
 * Fold the tail into its actors.
 *
 * returns  the records read.
 * errors   JournalCorrupt; those of `load`.
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
    await Promise.allSettled(read.map(one => one.loaded))
    await reader.close()
  }
}

/** A chunk, and the snapshots it needs on their way. */
interface Read {
  readonly chunk: Chunk
  /** Of each record: the number of its actor; `nobody` or `unknown` for one without. */
  readonly numbers: Int32Array
  readonly loaded: Promise<void>
}

/** A fact that is no actor's, or not of one that is to be folded. */
const nobody = -1
/** Its id is not of the form that has a number. */
const unknown = -2

/** The actors that the tail names. */
class Tail {
  readonly #replay: Replay
  readonly #facts = new FactReader()
  readonly #table = new IdTable()
  /** By number; undefined before the first fact of one that has no snapshot. */
  readonly #actors: (Actor | undefined | null)[] = []
  readonly #ids: string[] = []

  constructor(replay: Replay) {
    this.#replay = replay
  }

  /** Find whose facts these are, and ask for those that are not in memory. */
  look(chunk: Chunk): Read {
    const numbers = new Int32Array(chunk.count)
    const cold: number[] = []
    const odd: string[] = []
    for (let i = 0; i < chunk.count; i++) numbers[i] = this.#numberOf(chunk, i, cold, odd)
    const loaded = this.#load(cold, odd)
    loaded.catch(() => {})
    return { chunk, numbers, loaded }
  }

  async fold({ chunk, numbers, loaded }: Read): Promise<void> {
    await loaded
    const { again, heard } = this.#replay
    const told: Fact[] = []
    for (let i = 0; i < chunk.count; i++) {
      const number = numbers[i]!
      const flags = chunk.flags(i)
      const tells = again !== null && ((flags & RecordFlag.identity) !== 0 || chunk.sequence(i) > heard)
      if (number === nobody && !tells) continue
      const actor = number < 0 ? null : this.#actors[number]
      const from = chunk.factAt(i)
      const fact =
        actor && !tells
          ? this.#facts.passing(chunk.bytes, from, chunk.factEnd(i), actor.state)
          : this.#facts.read(chunk.bytes, from, chunk.factEnd(i))
      if (number !== nobody) replayFact(actor ?? this.#actorOf(number, fact), fact, chunk.sequence(i))
      if (tells && ((flags & RecordFlag.identity) !== 0 || fact.ik !== undefined)) told.push(fact)
    }
    if (again !== null && told.length > 0) again(told)
  }

  #numberOf(chunk: Chunk, index: number, cold: number[], odd: string[]): number {
    const facts = this.#facts
    const from = chunk.factAt(index)
    const end = chunk.factEnd(index)
    if (!facts.seek(chunk.bytes, from, end)) {
      const { k, id } = facts.read(chunk.bytes, from, end)
      if (k === 'e' || !this.#wants(id)) return nobody
      if (!this.#keep(id)) odd.push(id)
      return unknown
    }
    const { kind, high, low } = facts
    let number = this.#table.find(kind, high, low)
    if (number < 0) {
      number = this.#table.add(kind, high, low)
      const { id } = facts.read(chunk.bytes, from, end)
      this.#ids.push(id)
      const actor = this.#wants(id) ? this.#keep(id) : null
      this.#actors.push(actor)
      if (actor === undefined) cold.push(number)
    }
    return this.#actors[number] === null ? nobody : number
  }

  #wants(id: string): boolean {
    return this.#replay.only === null || this.#replay.only.has(id)
  }

  /** The actor in memory, changed from now on: nobody lets go of one before its facts are folded. */
  #keep(id: string): Actor | undefined {
    const { actors } = this.#replay
    const actor = actors.get(id)
    if (actor) actors.dirty.add(actor)
    return actor
  }

  async #load(cold: readonly number[], odd: readonly string[]): Promise<void> {
    const { load } = this.#replay
    const ids = [...cold.map(number => this.#ids[number]!), ...odd]
    for (let at = 0; at < ids.length; at += loadedAtOnce) await load(ids.slice(at, at + loadedAtOnce))
    for (const number of cold) this.#actors[number] = this.#keep(this.#ids[number]!)
    for (const id of odd) this.#keep(id)
  }

  #actorOf(number: number, fact: Fact): Actor {
    const { actors } = this.#replay
    const actor = this.#keep(fact.id) ?? actors.make(fact.k as 'c' | 'u', fact.id, fact.env)
    actors.dirty.add(actor)
    if (number !== unknown) this.#actors[number] = actor
    return actor
  }
}
