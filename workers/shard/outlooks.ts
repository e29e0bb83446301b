// Outlooks of many companies for one preview. Companies that are not in memory are read in one statement. The work is done in
// slices: other requests of the shard are answered in between.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Outlooks } from '../../src/core/company/outlook.js'
import type { OutlooksRequest } from '../../src/core/company/shard-request.js'
import type { Replies } from '../../src/wire/message-codec.js'
import type { ShardOptions } from '../../src/wire/shard-options.js'
import { type Actor, type Actors, timeOf } from './actors.js'
import type { Catalogs } from './catalogs.js'
import { readSnapshots, type SnapshotStore } from './snapshots/snapshots.js'

/** The time of a slice, ms: a check waits no longer for outlooks. */
const sliceMs = 2
/** Companies are read again when actors left memory meanwhile; after so many reads the request is refused. */
const readsMax = 8

/** The parts of a shard that outlooks need. */
interface Place {
  readonly actors: Actors
  readonly catalogs: Catalogs
  readonly storage: { readonly snapshots: Pick<SnapshotStore, 'find'> }
  readonly task: { readonly options: Pick<ShardOptions, 'generation'> }
  /** Actors asked of storage. */
  coldLoads: number
  /** Resolves when no actor is forgotten any more. */
  loadLost(): Promise<void>
  settle(actor: Actor, env: string, at: number): void
  turn(work: () => void): void
  tellReply(write: (replies: Replies) => void): void
}

/** Answer the request, some turns later. */
export function tellOutlooks(place: Place, request: OutlooksRequest): void {
  const { n } = request
  outlooksOf(place, request).then(
    outlooks => place.tellReply(replies => replies.answered(n, outlooks, 0)),
    () => place.tellReply(replies => replies.failed(n, 'store_away', 'A company cannot be loaded now')),
  )
}

async function outlooksOf(place: Place, { env, at, companyIds, question }: OutlooksRequest): Promise<string> {
  const { actors, catalogs } = place
  const outlooks = new Outlooks(question, companyIds.length)
  let left: readonly number[] = [...companyIds.keys()]
  for (let reads = 0; left.length > 0; reads++) {
    if (reads === readsMax) throw new Error('actors leave memory faster than companies are read')
    // a company may have come into memory by now: it is answered from there, where all that is written of it is until it leaves
    const departures = await loaded(
      place,
      left.map(i => companyIds[i]!),
    )
    const again: number[] = []
    await inSlices(place, left, i => {
      const id = companyIds[i]!
      const actor = actors.lost.has(id) ? undefined : actors.get(id)
      if (actor === undefined) {
        if (actors.departures !== departures) again.push(i)
      } else if (actor.k === 'c' && actor.state.exists) {
        const present = timeOf(actor, at)
        place.settle(actor, env, present)
        outlooks.add(i, actor.state, catalogs.of(env), present)
      }
    })
    left = again
  }
  return outlooks.text()
}

/** Load the companies that are not in memory. Returns the departures before: while their count stands, an absent actor has no snapshot. */
async function loaded(place: Place, ids: readonly string[]): Promise<number> {
  const { actors, storage, task } = place
  // the request came within a turn, which ends first
  await nextTurn()
  if (actors.lost.size > 0) await place.loadLost()
  const { departures } = actors
  const absent = ids.filter(id => !actors.get(id))
  if (absent.length === 0) return departures
  place.coldLoads += absent.length
  const found = await storage.snapshots.find(absent)
  await inSlices(place, readSnapshots(found, task.options.generation), actor => {
    // an actor that left meanwhile may have changed since its snapshot was read
    if (actors.departures === departures) actors.addAbsent(actor)
  })
  return departures
}

/** Do something with each item, a slice in a turn of the loop. */
async function inSlices<T>(place: Place, items: Iterable<T>, work: (item: T) => void): Promise<void> {
  const all = items[Symbol.iterator]()
  for (let next = all.next(); !next.done; ) {
    place.turn(() => {
      const endMs = performance.now() + sliceMs
      do {
        work(next.value as T)
        next = all.next()
      } while (!next.done && performance.now() < endMs)
    })
    if (!next.done) await nextTurn()
  }
}
