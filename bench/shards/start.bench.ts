// How long a start takes with a past: 100 000 companies and 1 000 000 facts, half with an idempotency key, after a kill (the journal's tail is
// replayed) and after a stop (it is not); and how quickly facts are folded into companies.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { derivedId } from '../../src/core/values/id.js'
import { openFileJournal } from '../../src/journal/file-journal.js'
import type { NewRecord } from '../../src/journal/journal.js'
import { FileJournalReader } from '../../src/journal/reader.js'
import { factBytes } from '../../src/journal/records/fact-bytes.js'
import { FactReader } from '../../src/journal/records/fact-reader.js'
import { Actors } from '../../workers/shard/actors.js'
import { replayTail } from '../../workers/shard/records/replay.js'
import { replayFact } from '../../workers/shard/snapshots/snapshots.js'
import { median } from '../median.js'
import { sendPast, startProduct, stop } from '../product.js'
import { root } from '../record.js'

const companies = Number(process.env.BENCH_COMPANIES ?? 100_000)
const facts = Number(process.env.BENCH_EVENTS ?? 1_000_000)
const perBatch = 1_000
const rounds = 3
const reading = new FactReader()
const work = join(root, 'data', `bench-start-${process.pid}`)

mkdirSync(work, { recursive: true })
try {
  await replay()
  await starts()
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** Fold a tail as a shard does at its start, against reading each record by itself; rounds alternate, medians. */
async function replay(): Promise<void> {
  const directory = join(work, 'journal')
  const { journal } = await openFileJournal({ directory })
  const at = Date.UTC(2026, 2, 15, 10)
  const ids = Array.from({ length: companies }, (_, n) => derivedId('comp_', n))
  for (let done = 0; done < facts; done += perBatch) {
    const records: NewRecord[] = []
    for (let n = done; n < done + perBatch; n++) {
      const fx = [
        { t: 'used', subtype: 'api_call', quantity: 1, atMs: at },
        { t: 'seen', atMs: at },
      ] as const
      const fact = factBytes({ k: 'c', id: ids[n % companies]!, env: 'env_23456789ABC', at, fx })
      records.push({ flags: 1, month: 674, row: 'x'.repeat(330), fact })
    }
    await journal.append(records)
  }
  const made = () => {
    const actors = new Actors(companies)
    for (const id of ids) actors.make('c', id, 'env_23456789ABC')
    return actors
  }
  const ways = {
    'each record read by itself and folded': async (actors: Actors) => {
      const reader = new FileJournalReader({ directory })
      for await (const records of reader.read(0, journal.committed))
        for (const record of records) {
          const fact = reading.read(record.fact, 0, record.fact.length)
          const actor = actors.get(fact.id)!
          replayFact(actor, fact, record.sequence)
          actors.dirty.add(actor)
        }
      await reader.close()
    },
    'replayed as a start does': async (actors: Actors) => {
      const load = async () => []
      const upTo = journal.committed
      await replayTail({ directory, actors, from: 0, upTo, only: null, load, again: null, heard: 0 })
    },
  }
  const samples = new Map(Object.keys(ways).map(way => [way, [] as { wall: number; cpu: number }[]]))
  for (let round = 0; round < rounds; round++)
    for (const [way, work] of Object.entries(ways)) {
      const actors = made()
      const begunMs = performance.now()
      const before = process.cpuUsage()
      await work(actors)
      const { user, system } = process.cpuUsage(before)
      samples
        .get(way)!
        .push({ wall: (facts / (performance.now() - begunMs)) * 1_000, cpu: (facts / (user + system)) * 1e6 })
    }
  for (const [way, of] of samples) {
    tell(`facts ${way}`, median(of.map(one => one.wall)), 'facts/s (goal 500,000)')
    tell('  the same for each second of CPU', median(of.map(one => one.cpu)), 'facts')
  }
  await journal.close()
}

async function starts(): Promise<void> {
  const dataDir = join(work, 'data')
  // the line `ready` in the log has the begin and end of each phase
  const settings = { TOLLGATE_CHECKPOINT_INTERVAL_MS: '3600000', TOLLGATE_LOG_LEVEL: 'info' }
  const empty = await startProduct(dataDir, settings)
  tell('start on an empty directory', empty.readyMs, 'ms')
  const begunMs = performance.now()
  await sendPast(empty.port, facts, companies)
  const seconds = ((performance.now() - begunMs) / 1_000).toFixed(0)
  console.log(
    `${facts.toLocaleString('en')} events for ${companies.toLocaleString('en')} companies sent in ${seconds} s`,
  )
  await stop(empty.child, 'SIGKILL')
  const killed = await startProduct(dataDir, settings)
  tell('start after a kill', killed.readyMs, 'ms')
  await stop(killed.child)
  const stopped = await startProduct(dataDir, settings)
  tell('start after a stop', stopped.readyMs, 'ms (goal 3,000)')
  await stop(stopped.child)
}

function tell(what: string, value: number, unit: string): void {
  console.log(what.padEnd(48), Math.round(value).toLocaleString('en'), unit)
}
