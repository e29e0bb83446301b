import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { nodeDisk } from '../../src/journal/disk.js'
import { type FileJournal, type FileJournalOptions, openFileJournal } from '../../src/journal/file-journal.js'
import { Group } from '../../src/journal/frame.js'
import {
  JournalCorrupt,
  JournalFailed,
  type NewRecord,
  RecordFlag,
  type Sequence,
} from '../../src/journal/journal.js'
import { FileJournalReader } from '../../src/journal/reader.js'
import { journalGeneration, segmentPath } from '../../src/journal/segment.js'
import { Random } from '../random.js'
import { MemoryDisk } from './disk.js'
import { range, record } from './records.js'

const directory = '/j/shard-00'
const firstSegment = segmentPath(directory, 1)

const open = (disk: MemoryDisk, more: Partial<FileJournalOptions> = {}) =>
  openFileJournal({ directory, disk, padBytes: 0, ...more })

async function readAll(
  disk: MemoryDisk,
  upTo: Sequence,
  from = 0,
  chunkBytes = 4096,
): Promise<(NewRecord & { sequence: number })[]> {
  const reader = new FileJournalReader({ directory, disk, chunkBytes })
  const found = []
  for await (const records of reader.read(from, upTo))
    for (const { sequence, flags, month, row, ledger, fact } of records) {
      const texts = { row: row.toString(), ledger: ledger.toString(), fact: fact.toString() }
      found.push({ sequence, flags, month, ...texts })
    }
  await reader.close()
  return found
}

const expected = (from: number, to: number) =>
  range(from, to).map((r, i) => ({
    ...r,
    sequence: from + i,
    flags: r.ledger === '' ? r.flags : r.flags | RecordFlag.rows,
  }))

t.test('a durable group that is held is told once it is released', async t => {
  const disk = new MemoryDisk()
  let release = () => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  const told: Sequence[] = []
  let asked = 0
  const { journal } = await open(disk, {
    committed: sequence => told.push(sequence),
    held: () => (asked++ === 0 ? held : null),
  })
  const appended = journal.append(range(1, 3))
  while (asked === 0) await new Promise(resolve => setImmediate(resolve))
  t.same([journal.committed, told], [0, [0]])
  t.equal((await readAll(disk, 3)).length, 3, 'it is durable')
  release()
  t.equal(await appended, 3)
  t.same([journal.committed, told], [3, [0, 3]])
  t.equal(await journal.append(range(4, 5)), 5)
  await journal.close()
})

t.test('appended records are read back equal, in order, from any position to any position', async t => {
  const disk = new MemoryDisk()
  const { journal } = await open(disk, { segmentBytes: 1500 })
  for (let n = 1; n <= 100; n += 5) t.equal(await journal.append(range(n, n + 4)), n + 4)
  t.equal(journal.committed, 100)
  t.ok(disk.files.size > 3, 'several segments')
  for (const [from, upTo] of [
    [0, 100],
    [0, 1],
    [3, 7],
    [50, 51],
    [99, 100],
    [100, 100],
    [17, 83],
  ] as const)
    t.same(await readAll(disk, upTo, from), expected(from + 1, upTo), `(${from}, ${upTo}]`)
})

t.test('a row is taken as text or as bytes, the rows of the ledger or none', async t => {
  const seal = (records: readonly NewRecord[]) => {
    const group = new Group()
    group.begin(1)
    for (const one of records) group.add(one)
    return Buffer.from(group.seal())
  }
  const texts = range(1, 12)
  t.same(seal(texts.map(one => ({ ...one, row: Buffer.from(one.row) }))), seal(texts))
  const without = texts.map(({ ledger, ...one }) => one)
  t.same(seal(without), seal(texts.map(one => ({ ...one, ledger: '' }))), 'as journals before them have it')
  // a record of 0.1.0, byte by byte
  const old = seal([{ flags: 5, month: 674, row: '{"é":1}', fact: '{}' }]).subarray(24)
  t.same(
    old.toString('hex'),
    `${'11000000'}05${'a202'}${'08000000'}${Buffer.from('{"é":1}{}').toString('hex')}`,
  )
})

t.test('a reader goes on where it stopped, and also back', async t => {
  const disk = new MemoryDisk()
  const { journal } = await open(disk, { segmentBytes: 1000 })
  const reader = new FileJournalReader({ directory, disk, chunkBytes: 256 })
  const take = async (from: number, upTo: number): Promise<number[]> => {
    const found: number[] = []
    for await (const records of reader.read(from, upTo)) found.push(...records.map(r => r.sequence))
    return found
  }
  await journal.append(range(1, 30))
  t.same(
    await take(0, 10),
    expected(1, 10).map(r => r.sequence),
  )
  await journal.append(range(31, 60))
  t.same(
    await take(10, 60),
    expected(11, 60).map(r => r.sequence),
  )
  t.same(await take(5, 6), [6])
  await journal.append(range(61, 61))
  t.same(await take(60, 61), [61])
})

t.test('calls that gather while a write runs leave as one group and are acknowledged in order', async t => {
  const disk = new MemoryDisk()
  const { journal } = await open(disk)
  let release = (): void => {}
  disk.hold = new Promise(resolve => {
    release = resolve
  })
  const told: number[] = []
  const first = journal.append([record(1)]).then(last => told.push(last))
  await new Promise(setImmediate)
  const later = [2, 3, 4].map(n => journal.append([record(n)]).then(last => told.push(last)))
  const barrier = journal.append([]).then(last => told.push(last))
  t.equal(journal.committed, 0, 'nothing is acknowledged before its write returns')
  t.ok(journal.pendingBytes > 100)
  t.same(told, [])
  disk.hold = null
  release()
  await Promise.all([first, ...later, barrier])
  t.same(told, [1, 2, 3, 4, 4])
  t.equal(disk.writes, 2, 'one write for the first, one for all that gathered')
  t.equal(journal.pendingBytes, 0)
})

t.test('an open journal goes on after the last record', async t => {
  const disk = new MemoryDisk()
  const { journal } = await open(disk, { padBytes: 4096 })
  await journal.append(range(1, 9))
  await journal.close()
  const again = await open(disk, { padBytes: 4096 })
  t.equal(again.cutBytes, 0, 'zero padding is no torn write')
  t.equal(again.journal.committed, 9)
  t.equal(await again.journal.append(range(10, 12)), 12)
  t.same(await readAll(disk, 12), expected(1, 12))
})

t.test('the names of segments are made durable at every start', async t => {
  const disk = new MemoryDisk()
  const { journal } = await open(disk)
  await journal.append(range(1, 3))
  await journal.close()
  // whoever made the segment may have died before it saw to that
  disk.faults.push({ on: 'sync' })
  await t.rejects(open(disk), /the disk failed/)
  await (await open(disk)).journal.close()
})

t.test('a tail torn at any byte of the last group is cut at the last whole group and reported', async t => {
  const disk = new MemoryDisk()
  const { journal } = await open(disk)
  await journal.append(range(1, 6))
  const whole = disk.files.get(firstSegment)!.length
  await journal.append(range(7, 10))
  const full = Buffer.from(disk.files.get(firstSegment)!)
  for (const padding of [0, 512])
    for (let cut = whole; cut < full.length; cut++) {
      const torn = new MemoryDisk()
      torn.files.set(firstSegment, Buffer.concat([full.subarray(0, cut), Buffer.alloc(padding)]))
      const { journal: opened, cutBytes } = await open(torn)
      if (opened.committed !== 6) t.fail(`cut at ${cut}: committed ${opened.committed}`)
      // Trailing zero bytes of what was written are as good as unwritten.
      if (padding === 0 && cut > whole + 20 && cutBytes === 0) t.fail(`cut at ${cut} is not reported`)
      await opened.append(range(7, 8))
      const read = await readAll(torn, 8)
      if (read.length !== 8 || read[7]!.fact !== record(8).fact) t.fail(`cut at ${cut}: replay differs`)
    }
  t.pass(`${full.length - whole} offsets, with and without padding`)
})

t.test('a write whose sectors arrived out of order is cut too', async t => {
  const disk = new MemoryDisk()
  const { journal } = await open(disk, { padBytes: 8192 })
  await journal.append(range(1, 6))
  const whole = Buffer.from(disk.files.get(firstSegment)!)
  await journal.append(range(7, 60))
  const full = Buffer.from(disk.files.get(firstSegment)!)
  full.set(whole.subarray(0, 512 * 2), 0)
  disk.files.set(firstSegment, full)
  const again = await open(disk)
  t.equal(again.journal.committed, 6)
  t.ok(again.cutBytes > 0)
})

t.test(
  'any flipped bit before the last group stops the start or the read, naming file and offset',
  async t => {
    const disk = new MemoryDisk()
    const { journal } = await open(disk)
    const starts = [0]
    for (let n = 1; n <= 9; n += 3) {
      await journal.append(range(n, n + 2))
      starts.push(disk.files.get(firstSegment)!.length)
    }
    const full = disk.files.get(firstSegment)!
    const lastStart = starts.at(-2)!
    for (let at = 0; at < lastStart; at++) {
      const flipped = Buffer.from(full)
      flipped[at] = flipped[at]! ^ (1 << (at % 8))
      const bad = new MemoryDisk()
      bad.files.set(firstSegment, flipped)
      const start = starts.findLast(s => s <= at)
      for (const trial of [open(bad), readAll(bad, 9)] as Promise<unknown>[]) {
        const error = await trial.then(
          () => null,
          (e: unknown) => e,
        )
        if (!(error instanceof JournalCorrupt)) t.fail(`byte ${at} went unseen`)
        else if (error.file !== firstSegment || error.offset !== start)
          t.fail(`byte ${at}: told ${error.file} ${error.offset}, is ${start}`)
      }
    }
    t.pass(`${lastStart} bytes`)
  },
)

t.test('a broken or missing older segment stops the read', async t => {
  const disk = new MemoryDisk()
  const { journal } = await open(disk, { segmentBytes: 300 })
  for (let n = 1; n <= 40; n++) await journal.append([record(n)])
  const segments = [...disk.files.keys()].sort()
  t.ok(segments.length > 3)
  const middle = segments[1]!
  const bytes = Buffer.from(disk.files.get(middle)!)
  disk.files.set(middle, bytes.subarray(0, bytes.length - 1))
  await t.rejects(readAll(disk, 40), JournalCorrupt, 'a cut segment that is not the newest is no torn tail')
  disk.files.delete(middle)
  await t.rejects(readAll(disk, 40), JournalCorrupt)
  t.same(await readAll(disk, 40, 39), expected(40, 40), 'what lies behind the break can still be read')
})

t.test('a journal that ends before what is stored elsewhere does not open', async t => {
  const disk = new MemoryDisk()
  const { journal } = await open(disk)
  await journal.append(range(1, 3))
  await journal.close()
  await t.rejects(open(disk, { mustReach: 4 }), JournalCorrupt)
  await t.rejects(open(new MemoryDisk(), { mustReach: 4 }), JournalCorrupt)
  t.equal((await open(disk, { mustReach: 3 })).journal.committed, 3)
})

t.test('a failed write acknowledges nothing, and nothing after it, until reopen', async t => {
  for (const kept of ['none', 'all', 10, 70] as const) {
    const disk = new MemoryDisk()
    const { journal } = await open(disk)
    await journal.append(range(1, 3))
    disk.faults.push({ on: 'write', kept })
    await t.rejects(journal.append(range(4, 5)), JournalFailed, `kept ${kept}`)
    await t.rejects(journal.append([record(6)]), JournalFailed)
    t.equal(journal.committed, 3)
    t.equal(journal.pendingBytes, 0)
    await journal.reopen()
    t.equal(await journal.append([record(4)]), 4)
    t.same(await readAll(disk, 4), expected(1, 4))
    t.equal((await open(disk)).journal.committed, 4)
  }
})

t.test('records gathered behind a failed write fail with it', async t => {
  const disk = new MemoryDisk()
  const { journal } = await open(disk)
  let release = (): void => {}
  disk.hold = new Promise(resolve => {
    release = resolve
  })
  disk.faults.push({ on: 'write', kept: 'all' })
  const calls = [journal.append([record(1)])]
  await new Promise(setImmediate)
  calls.push(journal.append([record(2)]), journal.append([]))
  disk.hold = null
  release()
  for (const call of await Promise.allSettled(calls)) t.equal(call.status, 'rejected')
  await journal.reopen()
  t.equal(await journal.append([record(1)]), 1)
  t.same(await readAll(disk, 1), expected(1, 1))
})

t.test('a failure while a segment is begun, and one while reopening, are survived', async t => {
  for (const fault of ['open', 'sync'] as const) {
    const disk = new MemoryDisk()
    const { journal } = await open(disk, { segmentBytes: 100 })
    await journal.append(range(1, 5))
    disk.faults.push({ on: fault })
    await t.rejects(journal.append([record(6)]), JournalFailed)
    disk.faults.push({ on: 'truncate' })
    await t.rejects(journal.reopen(), 'the disk is still bad')
    await t.rejects(journal.append([record(6)]), JournalFailed)
    await journal.reopen()
    t.equal(await journal.append([record(6)]), 6)
    await journal.append([record(7)])
    t.same(await readAll(disk, 7), expected(1, 7), fault)
    t.equal((await open(disk)).journal.committed, 7)
  }
})

t.test('trim forgets whole segments at or before a position and never the newest', async t => {
  const disk = new MemoryDisk()
  const { journal } = await open(disk, { segmentBytes: 300 })
  for (let n = 1; n <= 40; n++) await journal.append([record(n)])
  const firsts = (): number[] =>
    [...disk.files.keys()].map(p => Number(p.slice(-28, -8))).sort((a, b) => a - b)
  const before = firsts()
  await journal.trim(before[2]! - 2)
  t.same(firsts(), before.slice(1), 'one record short of the second boundary')
  await journal.trim(before[2]! - 1)
  t.same(firsts(), before.slice(2))
  t.same(await readAll(disk, 40, before[2]! - 1), expected(before[2]!, 40))
  await t.rejects(readAll(disk, 40, 0), JournalCorrupt, 'what was forgotten is not skipped silently')
  await journal.trim(40)
  t.equal(firsts().length, 1)
  t.equal((await open(disk)).journal.committed, 40)
  await journal.close()
  await t.rejects(journal.append([record(41)]), JournalFailed)
})

t.test('after a crash at any write, every acknowledged record is there, and none twice', async t => {
  const random = new Random()
  const { seed } = random
  t.comment(`seed ${seed}`)
  for (let run = 0; run < 60; run++) {
    const disk = new MemoryDisk()
    let acknowledged = 0
    for (let life = 0; life < 4; life++) {
      const { journal } = await open(disk, {
        segmentBytes: 400 + random.below(2000),
        padBytes: random.below(3) * 200,
      })
      if (journal.committed < acknowledged) return t.fail(`seed ${seed}: lost ${acknowledged}`)
      acknowledged = await live(journal, disk, random)
      const read = await readAll(disk, acknowledged, 0, 64 + random.below(4000))
      t.strictSame(read, expected(1, acknowledged))
    }
  }
})

// Appends until a write fails (as a crash would leave it); returns what was acknowledged.
async function live(journal: FileJournal, disk: MemoryDisk, random: Random): Promise<number> {
  for (let step = 0; step < 8; step++) {
    if (random.below(6) === 0) disk.faults.push({ on: 'write', kept: random.below(300) })
    const before = journal.committed
    try {
      await journal.append(range(before + 1, before + 1 + random.below(5)))
    } catch {
      disk.faults.length = 0
      if (random.below(2) === 0) return journal.committed
      await journal.reopen()
    }
  }
  disk.faults.length = 0
  return journal.committed
}

t.test('on a real disk: rotation, a reader beside the writer, a second start', async t => {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-journal-'))
  t.teardown(() => rmSync(root, { recursive: true }))
  const generation = await journalGeneration(nodeDisk, root)
  t.equal(await journalGeneration(nodeDisk, root), generation, 'made once')
  const shard = join(root, 'shard-00')
  let committed = 0
  const { journal } = await openFileJournal({
    directory: shard,
    segmentBytes: 256 << 10,
    padBytes: 16 << 10,
    committed: sequence => {
      committed = sequence
    },
  })
  const reader = new FileJournalReader({ directory: shard, chunkBytes: 64 << 10 })
  const writing = (async () => {
    for (let n = 1; n <= 20_000; n += 100) await journal.append(range(n, n + 99))
    await journal.append([{ flags: 0, month: 0, row: '', fact: 'y'.repeat(3 << 20) }])
  })()
  // between two reads its memory is freed, during one it is not
  const resting = setInterval(() => {
    reader.rest()
    reader.rest()
  }, 0)
  let seen = 0
  while (seen < 20_001) {
    for await (const records of reader.read(seen, committed))
      for (const r of records) {
        if (r.sequence !== seen + 1) throw new Error(`record ${r.sequence} after ${seen}`)
        if (seen < 20_000 && r.fact.toString() !== record(r.sequence).fact) throw new Error(`record ${seen}`)
        seen = r.sequence
      }
    await new Promise(setImmediate)
  }
  clearInterval(resting)
  await writing
  await reader.close()
  await journal.close()
  t.equal(seen, 20_001)
  t.ok(readdirSync(shard).length > 4)
  const again = await openFileJournal({ directory: shard })
  t.equal(again.journal.committed, 20_001)
  t.equal(again.cutBytes, 0)
  await again.journal.close()
})

t.test('ER-6 a journal that is renewed begins a new segment, and its old files are not recycled', async t => {
  const disk = new MemoryDisk()
  const { journal } = await open(disk, { segmentBytes: 1500, padBytes: 100 })
  await journal.append(range(1, 3))
  await journal.renew()
  await journal.trim(3)
  t.same([...disk.files.keys()], [segmentPath(directory, 4)], 'the segment of before is gone')
  await journal.renew()
  t.equal(await journal.append(range(4, 6)), 6, 'records go on')
  t.same(await readAll(disk, 6, 3), expected(4, 6))
  await Promise.all([journal.renew(), journal.append(range(7, 8))])
  await journal.close()
  const again = await open(disk, { mustReach: 8 })
  t.equal(await again.journal.append(range(9, 9)), 9)
  t.same(await readAll(disk, 9, 3), expected(4, 9))
  await again.journal.renew()
  await again.journal.close()
  const empty = await open(disk, { mustReach: 9 })
  t.equal(await empty.journal.append(range(10, 10)), 10, 'a newest segment without records is opened')
  await empty.journal.close()
})
