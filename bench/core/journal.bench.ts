// How many records a second one shard can frame, checksum and make durable, and read back, by group size.
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openFileJournal } from '../../src/journal/file-journal.js'
import { Group } from '../../src/journal/frame.js'
import { type NewRecord, RecordFlag } from '../../src/journal/journal.js'
import { FileJournalReader } from '../../src/journal/reader.js'
import { eventRow, monthOf, type RowEvent } from '../../src/journal/records/event-row.js'

const event: RowEvent = {
  id: 'evt_3mK9tQxYzAb',
  type: 'track',
  subtype: 'api_call',
  body: '{"event":"api_call","company":{"id":"acme-corporation-1"},"quantity":3}',
  quantity: 3,
  mode: 'normal',
  capturedAtMs: Date.UTC(2026, 2, 15, 10),
  sentAtMs: null,
  receivedAtMs: Date.UTC(2026, 2, 15, 10),
  apiKeyId: 'key_3mK9tQxYzAb',
  idempotencyKey: null,
  companyId: 'comp_3mK9tQxYzAb',
  userId: null,
  leaseId: null,
  reservationId: null,
  failure: null,
  derivedFrom: null,
}
const extra = {
  environmentId: 'env_3mK9tQxYzAb',
  featureIds: ['feat_3mK9tQxYzAb'],
  at: event.receivedAtMs,
}
const fact =
  '{"k":"c","id":"comp_3mK9tQxYzAb","env":"env_3mK9tQxYzAb","at":1773568800000,"fx":[{"t":"used","subtype":"api_call","quantity":3,"atMs":1773568800000}]}'

const record = (): NewRecord => ({
  flags: RecordFlag.event,
  month: monthOf(event.capturedAtMs),
  row: eventRow(event, extra),
  fact: `${fact.slice(0, -1)}}`,
})

function rate(what: string, count: number, startedMs: number, more = ''): void {
  const elapsed = (performance.now() - startedMs) / 1000
  console.log(
    `${what.padEnd(46)} ${Math.round(count / elapsed)
      .toLocaleString('en')
      .padStart(12)} records/s ${more}`,
  )
}

function benchRows(): void {
  const count = 1_000_000
  const started = performance.now()
  let bytes = 0
  for (let i = 0; i < count; i++) bytes += eventRow(event, extra).length
  rate('event row text', count, started, `${Math.round(bytes / count)} characters`)
}

function benchEncode(): void {
  const group = new Group()
  const rounds = 2_000
  let bytes = 0
  const started = performance.now()
  for (let round = 0; round < rounds; round++) {
    group.begin(1)
    for (let i = 0; i < 500; i++) group.add(record())
    bytes += group.seal().length
  }
  rate(
    'row text + frame + crc32, groups of 500',
    rounds * 500,
    started,
    `${Math.round(bytes / rounds / 500)} bytes each`,
  )
}

async function benchAppend(perGroup: number, count: number): Promise<void> {
  const root = mkdtempSync(join(process.cwd(), 'bench-journal-'))
  try {
    const { journal } = await openFileJournal({ directory: join(root, 'shard-00') })
    const started = performance.now()
    for (let done = 0; done < count; done += perGroup) {
      const records: NewRecord[] = []
      for (let i = 0; i < perGroup; i++) records.push(record())
      const durable = journal.append(records)
      if (journal.pendingBytes > 8 << 20 || perGroup < 500) await durable
    }
    await journal.append([])
    rate(`append durable, ${perGroup} a call`, count, started)
    if (perGroup === 500) await benchRead(join(root, 'shard-00'), journal.committed)
    await journal.close()
  } finally {
    rmSync(root, { recursive: true })
  }
}

async function benchRead(directory: string, upTo: number): Promise<void> {
  const reader = new FileJournalReader({ directory })
  const started = performance.now()
  let count = 0
  for await (const records of reader.read(0, upTo)) count += records.length
  rate('read back, checked', count, started)
  await reader.close()
}

benchRows()
benchEncode()
await benchAppend(1, 10_000)
await benchAppend(10, 100_000)
await benchAppend(100, 500_000)
await benchAppend(500, 1_000_000)
