// Segments made of files that were written before: by nobody else's record, whatever such a file held.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { copySegments } from '../../src/journal/backup-copy.js'
import { type FileJournal, type FileJournalOptions, openFileJournal } from '../../src/journal/file-journal.js'
import { JournalCorrupt, type NewRecord, type Sequence } from '../../src/journal/journal.js'
import { FileJournalReader } from '../../src/journal/reader.js'
import { isSegment, listSegments, listSpares, segmentPath } from '../../src/journal/segment.js'
import { Random } from '../random.js'
import { MemoryDisk } from './disk.js'
import { range, record } from './records.js'

const directory = '/j/shard-00'
const segmentBytes = 2_000
/** Bytes written ahead of a preallocated file. */
const spareBytes = segmentBytes + (segmentBytes >> 4)

/** Groups of one of these have one size: a file's later groups begin where its older ones did. */
const even = (n: Sequence): NewRecord => ({ flags: 0, month: 1, row: '', fact: `{"n":${1_000 + n}}` })

const open = (disk: MemoryDisk, more: Partial<FileJournalOptions> = {}) =>
  openFileJournal({ directory, disk, segmentBytes, padBytes: 500, ...more })

/** Appends `count` records, a few at a time. */
async function fill(journal: FileJournal, count: number, atOnce = 3): Promise<void> {
  for (let left = count; left > 0; left -= atOnce) {
    const from = journal.committed + 1
    await journal.append(range(from, from + Math.min(left, atOnce) - 1))
  }
}

/** Whether the records in (from, upTo] are those that were appended. */
async function assertRead(disk: MemoryDisk, from: Sequence, upTo: Sequence, reader = reads(disk)) {
  let next = from + 1
  for await (const records of reader.read(from, upTo))
    for (const { sequence, fact } of records) {
      if (sequence !== next || fact.toString() !== record(next).fact)
        throw new Error(`record ${sequence} where ${next} should be`)
      next++
    }
  if (next !== upTo + 1) throw new Error(`read up to ${next - 1} instead of ${upTo}`)
}

const reads = (disk: MemoryDisk, chunkBytes = 700) => new FileJournalReader({ directory, disk, chunkBytes })

/** A journal whose newest segment has few records, in a file that held others before. */
async function reused(): Promise<{ disk: MemoryDisk; journal: FileJournal; first: Sequence; path: string }> {
  const disk = new MemoryDisk()
  const { journal } = await open(disk)
  const begun = async () => (await listSegments(disk, directory)).length
  while ((await begun()) < 4) await fill(journal, 3)
  // as many are kept as were begun: by the second time all that may go have gone
  await journal.trim(journal.committed)
  const before = (await listSegments(disk, directory)).at(-1)
  while ((await listSegments(disk, directory)).at(-1) === before) await fill(journal, 1, 1)
  const first = (await listSegments(disk, directory)).at(-1)!
  return { disk, journal, first, path: segmentPath(directory, first) }
}

t.test('the next segment is written ahead, a little with every group, and begun without growing', async t => {
  const disk = new MemoryDisk()
  const { journal } = await open(disk)
  const lengths: number[] = []
  while ((await listSegments(disk, directory)).length === 1) {
    await fill(journal, 1, 1)
    await new Promise(setImmediate)
    const [spare] = await listSpares(disk, directory)
    if (spare !== undefined) lengths.push(disk.files.get(spare)!.length)
  }
  t.ok(lengths.length > 3, 'while the first is filled')
  t.equal(lengths.at(-1), spareBytes)
  const newest = segmentPath(directory, (await listSegments(disk, directory)).at(-1)!)
  t.equal(disk.files.get(newest)!.length, spareBytes)
  const written = disk.writes
  disk.zeros = 0
  await fill(journal, 3)
  t.ok(disk.writes > written)
  t.equal(disk.files.get(newest)!.length, spareBytes, 'a group is written over what is there')
  t.equal(disk.zeros, 0, 'with no zeros behind it')
  await assertRead(disk, 0, journal.committed)
})

t.test('a trimmed segment becomes a later one; its old records are never read as part of that', async t => {
  const { disk, journal, first, path } = await reused()
  const held = [
    ...disk.files
      .get(path)!
      .toString('latin1')
      .matchAll(/"fact":(\d+),/g),
  ]
  t.ok(
    held.some(([, n]) => Number(n) < first),
    'records of before are in the file',
  )
  t.ok(journal.committed - first < 3, 'few have been written over')
  await assertRead(disk, first - 1, journal.committed)
  const size = disk.files.get(path)!.length
  // killed
  const again = await open(disk)
  t.equal(again.journal.committed, journal.committed)
  t.equal(again.cutBytes, 0, 'what it held before is no torn write')
  t.equal(disk.files.get(path)!.length, size, 'and need not be cut')
  await fill(again.journal, 40)
  await assertRead(disk, first - 1, again.journal.committed)

  const stopped = await reused()
  await stopped.journal.close()
  const left = stopped.disk.files.get(stopped.path)!
  t.ok(left.length < 400, 'a stop leaves nothing of it')
  t.notOk(left.includes(`{"fact":${stopped.first - 1},`))
  t.equal((await open(stopped.disk)).journal.committed, stopped.journal.committed)
})

t.test('a write torn at any byte over what a file held is cut; nothing of before comes back', async t => {
  const { disk, journal, first, path } = await reused()
  const { committed } = journal
  const whole = Buffer.from(disk.files.get(path)!)
  await fill(journal, 3)
  const full = disk.files.get(path)!
  const starts = full.findIndex((byte, at) => byte !== whole[at])
  let reported = 0
  for (let cut = starts; cut < starts + 200; cut++) {
    const torn = new MemoryDisk()
    torn.files.set(path, Buffer.concat([full.subarray(0, cut), whole.subarray(cut)]))
    const { journal: opened, cutBytes } = await open(torn)
    if (opened.committed > committed + 3) t.fail(`cut at ${cut}: committed ${opened.committed}`)
    if (opened.committed < committed) t.fail(`cut at ${cut}: lost ${opened.committed + 1}`)
    if (cutBytes > 0) reported++
    await fill(opened, 12)
    await assertRead(torn, first - 1, opened.committed).catch(error => t.fail(`cut at ${cut}: ${error}`))
    await opened.close()
    if ((await open(torn)).journal.committed !== opened.committed)
      t.fail(`cut at ${cut}: not what was written`)
  }
  t.ok(reported > 100, 'from the header on it is reported')
})

t.test('an old group at the place of the next one is no torn write', async t => {
  const disk = new MemoryDisk()
  const { journal } = await open(disk)
  const add = async () => await journal.append([even(journal.committed + 1)])
  for (let i = 0; i < 200; i++) await add()
  await journal.trim(journal.committed)
  const { length } = await listSegments(disk, directory)
  while ((await listSegments(disk, directory)).length === length) await add()
  await add()
  // killed
  const again = await open(disk)
  t.equal(again.journal.committed, journal.committed)
  t.equal(again.cutBytes, 0)
  for await (const { pieces } of copySegments(directory, journal.committed, disk))
    for await (const piece of pieces) t.ok(piece.length > 0)
})

t.test('a broken group before the last stops the start, in such a file too', async t => {
  const { disk, journal, path } = await reused()
  await fill(journal, 9)
  const whole = disk.files.get(path)!
  const flipped = Buffer.from(whole)
  flipped[60] = flipped[60]! ^ 4
  disk.files.set(path, flipped)
  await t.rejects(open(disk), JournalCorrupt)
})

t.test(
  'a reader at the end of a trimmed segment goes on in the next, even if its file is reused',
  async t => {
    // a file that is open follows its file, not its name: on a real disk
    const root = mkdtempSync(join(tmpdir(), 'tollgate-spares-'))
    t.teardown(() => rmSync(root, { recursive: true }))
    const options = { directory: root, segmentBytes, padBytes: 500 }
    let { journal } = await openFileJournal(options)
    const reader = new FileJournalReader({ directory: root, chunkBytes: 700 })
    let seen = 0
    const catchUp = async () => {
      for await (const records of reader.read(seen, journal.committed))
        for (const { sequence, fact } of records) {
          if (sequence !== ++seen || fact.toString() !== even(sequence).fact)
            t.fail(`record ${sequence} where ${seen} should be`)
        }
    }
    const add = async () => await journal.append([even(journal.committed + 1)])
    const segments = () => readdirSync(root).filter(isSegment).sort()
    for (const bound of [1, 2, 1, 2, 3, 1]) {
      // to the end of a segment and no further: the next record begins another
      for (const { length } = segments(); segments().length === length; await add()) await catchUp()
      const { ino } = statSync(join(root, segments().at(-2)!))
      await journal.trim(seen - 1)
      // of another length from now on: where the reader stands there may be a group of now, or one of before
      await journal.close()
      journal = (await openFileJournal({ ...options, segmentBytes: bound * segmentBytes })).journal
      for (const { length } = segments(); segments().length < length + 3; ) await add()
      await journal.trim(seen)
      const isReused = () => segments().some(name => statSync(join(root, name)).ino === ino)
      while (!isReused()) await add()
      // past its end
      for (let i = 0; i < 60 * bound; i++) await add()
      await catchUp()
      for await (const { pieces } of copySegments(root, seen))
        for await (const piece of pieces) if (piece.length === 0) t.fail('a copy has empty pieces')
      t.equal(seen, journal.committed)
    }
    await reader.close()
    await journal.close()
  },
)

t.test('a backup copies nothing of what a file held before', async t => {
  const { disk, journal, first } = await reused()
  const copied = new Map<Sequence, Buffer>()
  for await (const segment of copySegments(directory, journal.committed, disk)) {
    const pieces: Buffer[] = []
    for await (const piece of segment.pieces) pieces.push(Buffer.from(piece))
    copied.set(segment.first, Buffer.concat(pieces))
  }
  const restored = new MemoryDisk()
  for (const [at, bytes] of copied) restored.files.set(segmentPath(directory, at), bytes)
  t.ok(copied.get(first)!.length < 400)
  const again = await open(restored)
  t.equal(again.journal.committed, journal.committed)
  await assertRead(restored, first - 1, journal.committed)
})

t.test('spares are kept by how many were needed, given back when there is no use or no room', async t => {
  const { disk, journal } = await reused()
  const count = async () => (await listSpares(disk, directory)).length
  await fill(journal, 1_500)
  t.ok((await listSegments(disk, directory)).length > 40)
  await journal.trim(journal.committed)
  const most = await count()
  t.equal(most, 32)
  await journal.trim(journal.committed)
  t.ok((await count()) <= most / 2 + 1, 'fewer when nothing was begun')
  for (let i = 0; i < 5; i++) await journal.trim(journal.committed)
  t.equal(await count(), 0)

  await fill(journal, 400)
  await journal.trim(journal.committed)
  t.ok((await count()) > 1)
  disk.faults.push({ on: 'write', kept: 'none' })
  await t.rejects(journal.append([record(1)]))
  await journal.reopen()
  t.equal(await count(), 0, 'a journal that could not be written gives their room back')

  await fill(journal, 400)
  await journal.trim(journal.committed)
  t.ok((await count()) > 1)
  await journal.close()
  t.equal(await count(), 0, 'at a stop')

  disk.files.set(`${directory}/7.spare`, Buffer.alloc(100))
  const again = await open(disk)
  t.equal(await count(), 0, 'what a kill has left is removed')
  await fill(again.journal, 30)
  t.equal(again.journal.committed, journal.committed + 30)
})

t.test('a disk without room for a spare is tried once per segment', async t => {
  const disk = new MemoryDisk()
  let refused = 0
  const { open: openFile } = disk
  disk.open = async (path, how) => {
    if (!path.endsWith('.spare')) return openFile.call(disk, path, how)
    refused++
    throw new Error('no room')
  }
  const { journal } = await open(disk)
  await fill(journal, 300, 1)
  const { length } = await listSegments(disk, directory)
  t.ok(length > 3)
  t.ok(refused <= length && refused >= length - 1, `${refused} times in ${length} segments`)
  await assertRead(disk, 0, journal.committed)
})

t.test(
  'after a crash at any write what was acknowledged is there, with segments that come again',
  async t => {
    const random = new Random()
    const { seed } = random
    t.comment(`seed ${seed}`)
    for (let run = 0; run < 40; run++) {
      const disk = new MemoryDisk()
      let acknowledged = 0
      let trimmed = 0
      for (let life = 0; life < 4; life++) {
        const { journal } = await open(disk, { segmentBytes: 400 + random.below(1_000) })
        if (journal.committed < acknowledged) return t.fail(`seed ${seed}: lost ${acknowledged}`)
        for (let step = 0; step < 40; step++) {
          if (random.below(12) === 0) disk.faults.push({ on: 'write', kept: random.below(300) })
          try {
            const from = journal.committed + 1
            await journal.append(range(from, from + random.below(5)))
          } catch {
            disk.faults.length = 0
            if (random.below(2) === 0) break
            await journal.reopen()
          }
          if (random.below(5) === 0) {
            trimmed = Math.max(trimmed, journal.committed - random.below(8))
            await journal.trim(trimmed)
          }
        }
        disk.faults.length = 0
        acknowledged = journal.committed
        await assertRead(disk, trimmed, acknowledged, reads(disk, 64 + random.below(3_000))).catch(error =>
          t.fail(`seed ${seed}, run ${run}: ${error}`),
        )
      }
    }
  },
)
