// How long a start takes with a past: 100 000 companies and 1 000 000 facts, after a kill (the journal's tail is
// replayed) and after a stop (it is not); and how quickly facts are folded into companies.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { apply, newCompany } from '../../src/core/company.js'
import { derivedId } from '../../src/core/id.js'
import type { Fact } from '../../src/core/message.js'
import { factText } from '../../src/journal/fact-text.js'
import { openFileJournal } from '../../src/journal/file.js'
import type { NewRecord } from '../../src/journal/journal.js'
import { FileJournalReader } from '../../src/journal/reader.js'
import { post, startProduct, stop } from '../product.js'
import { root } from '../record.js'

const companies = Number(process.env.BENCH_COMPANIES ?? 100_000)
const facts = Number(process.env.BENCH_EVENTS ?? 1_000_000)
const perBatch = 1_000
const work = join(root, 'data', `bench-start-${process.pid}`)

mkdirSync(work, { recursive: true })
try {
  await replay()
  await starts()
} finally {
  rmSync(work, { recursive: true, force: true })
}

/** Read, parse and fold as a shard does at its start. */
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
      const fact = factText({ k: 'c', id: ids[n % companies]!, env: 'env_23456789ABC', at, fx })
      records.push({ flags: 1, month: 674, row: 'x'.repeat(330), fact })
    }
    await journal.append(records)
  }
  const actors = new Map(ids.map(id => [id, newCompany(id, 'env_23456789ABC')]))
  const reader = new FileJournalReader({ directory })
  const begunMs = performance.now()
  const cpu = process.cpuUsage()
  let count = 0
  for await (const records of reader.read(0, journal.committed))
    for (const record of records) {
      const fact = JSON.parse(record.fact.toString('utf8')) as Fact
      const company = actors.get(fact.id)!
      for (const effect of fact.fx) apply(company, effect, fact.at)
      count++
    }
  const used = process.cpuUsage(cpu)
  tell(
    'replay: facts read, parsed and folded',
    (count / (performance.now() - begunMs)) * 1_000,
    'facts/s (goal 500,000)',
  )
  tell('the same for each second of CPU', (count / (used.user + used.system)) * 1e6, 'facts')
  await reader.close()
  await journal.close()
}

async function starts(): Promise<void> {
  const dataDir = join(work, 'data')
  const settings = { TOLLGATE_CHECKPOINT_INTERVAL_MS: '3600000' }
  const empty = await startProduct(dataDir, settings)
  tell('start on an empty directory', empty.readyMs, 'ms')
  const begunMs = performance.now()
  for (let done = 0; done < facts; done += perBatch) {
    const events = Array.from({ length: perBatch }, (_, i) => ({
      event_type: 'track',
      body: { event: 'api_call', company: { slug: `company-${(done + i) % companies}` } },
    }))
    await post(empty.port, '/event-batch', JSON.stringify({ events }))
  }
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
