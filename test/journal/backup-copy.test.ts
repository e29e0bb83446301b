// A backup's copy of a journal in use: whole groups up to one record, in files a journal opens from.
import t from 'tap'
import { copySegments } from '../../src/journal/backup-copy.js'
import { openFileJournal } from '../../src/journal/file-journal.js'
import { JournalCorrupt, type NewRecord, type Sequence } from '../../src/journal/journal.js'
import { FileJournalReader } from '../../src/journal/reader.js'
import { listSegments, segmentPath } from '../../src/journal/segment.js'
import { MemoryDisk } from './disk.js'

const from = '/j/shard-00'
const to = '/k/shard-00'
const groups = 20
const perGroup = 5

const range = (first: number): NewRecord[] =>
  Array.from({ length: perGroup }, (_, i) => ({
    flags: 1,
    month: 600,
    row: '',
    fact: `{"fact":${first + i}}`,
  }))

async function written(more: object = {}): Promise<MemoryDisk> {
  const disk = new MemoryDisk()
  const { journal } = await openFileJournal({
    directory: from,
    disk,
    segmentBytes: 500,
    padBytes: 256,
    ...more,
  })
  for (let group = 0; group < groups; group++) await journal.append(range(1 + group * perGroup))
  return disk
}

async function copied(disk: MemoryDisk, upTo: Sequence): Promise<void> {
  for await (const { first, pieces } of copySegments(from, upTo, disk)) {
    const file = await disk.open(segmentPath(to, first), 'new')
    let at = 0
    for await (const piece of pieces) {
      await file.write(piece, at, 0)
      at += piece.length
    }
    await file.close()
  }
}

t.test('a journal opened over the copy ends at the record and goes on after it', async t => {
  for (const upTo of [0, perGroup, 7 * perGroup, groups * perGroup]) {
    const disk = await written()
    await copied(disk, upTo)
    const { journal, cutBytes } = await openFileJournal({ directory: to, disk, mustReach: upTo })
    t.equal(journal.committed, upTo)
    t.equal(cutBytes, 0)
    t.equal(await journal.append(range(upTo + 1)), upTo + perGroup)
    const reader = new FileJournalReader({ directory: to, disk })
    const facts: string[] = []
    for await (const records of reader.read(0, upTo + perGroup))
      facts.push(...records.map(({ fact }) => fact.toString()))
    t.same(
      facts,
      Array.from({ length: upTo + perGroup }, (_, i) => `{"fact":${i + 1}}`),
    )
    await reader.close()
    await journal.close()
  }
})

t.test('a missing or broken part is an error, never left out', async t => {
  const all = groups * perGroup
  const gone = await written()
  const segments = await listSegments(gone, from)
  await gone.remove(segmentPath(from, segments[2]!))
  await t.rejects(copied(gone, all), JournalCorrupt, 'a segment that is gone')
  await t.rejects(copied(await written(), all + perGroup), /ends before record/)
  await t.rejects(copied(await written(), perGroup + 1), JournalCorrupt, 'the middle of a group')
  const broken = await written()
  const file = await broken.open(segmentPath(from, segments[1]!), 'write')
  await file.write(Buffer.from([0x55]), 60, 0)
  await t.rejects(copied(broken, all), JournalCorrupt, 'a byte that is another')
})
