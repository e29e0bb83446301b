// The table that all threads read and one at a time writes: against a map, at every interleaving of its accesses, with
// three deliberate faults that the scheduler must find, and under threads of the system.
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads'
import t from 'tap'
import { atomicCells, type Cells } from '../../../src/wire/shared/cells.js'
import { handedChunks, ownChunks } from '../../../src/wire/shared/segments.js'
import { Table, type TableShape } from '../../../src/wire/shared/table.js'
import { Random, seed, times } from '../../random.js'
import { interleave, SteppedThread } from './stepped.js'

const shape: TableShape = { keyWords: 3, thirdMask: -1, slots: 8, indexBits: 4 }
/** Environment 1, a company. */
const third = 2

t.test('a table is a map, whatever is written and removed, and through growth', async t => {
  const random = new Random(seed)
  for (let run = 0; run < times(20); run++) {
    const keyWords = random.pick([3, 4] as const)
    const table = Table.make({ ...shape, keyWords, slots: 16, indexBits: 14 })
    const model = new Map<string, readonly number[]>()
    for (let step = 0; step < 2_000; step++) {
      const key = [random.below(40), random.below(8), 2 * (1 + random.below(3)), random.below(2)] as const
      const [a, b, c, d] = key
      const name = (keyWords === 3 ? [a, b, c] : key).join()
      const had = model.get(name)
      switch (random.below(4)) {
        case 0:
          if (table.delete(a, b, c, d) !== (had !== undefined)) return t.fail(`seed ${seed}: delete ${name}`)
          model.delete(name)
          break
        case 1: {
          const values = [random.below(100), -random.below(2 ** 31)]
          table.set(a, b, c, d, values[0]!, values[1]!)
          model.set(name, [d, ...values])
          break
        }
        default: {
          const found = table.find(a, b, c, d)
          if (found !== (had !== undefined)) return t.fail(`seed ${seed}: find ${name}`)
          if (found && [table.fourth, table.fifth, table.sixth].join() !== had!.join())
            return t.fail(`seed ${seed}: values of ${name}`)
        }
      }
      if (table.size !== model.size) return t.fail(`seed ${seed}: ${table.size} entries, not ${model.size}`)
    }
    const seen: string[] = []
    table.each(2, (a, b) => seen.push(`${a},${b}`))
    t.equal(seen.length, [...model.keys()].filter(name => name.split(',')[2] === '4').length)
    table.deleteAll(2)
    t.equal(table.size, model.size - seen.length, 'a group is removed, and nothing else')
    for (const name of model.keys()) {
      const [a = 0, b = 0, c = 0, d = 0] = name.split(',').map(Number)
      if (table.find(a, b, c, d) !== (c !== 4)) return t.fail(`seed ${seed}: ${name} after a group is gone`)
    }
  }
})

t.test('a table whose index is used up says so', async t => {
  const table = Table.make({ ...shape, indexBits: 1 })
  t.throws(() => {
    for (let i = 0; i < 100; i++) table.set(i, i, third, 0, i, i)
  }, /full/)
  t.ok(table.delete(0, 0, third), 'and goes on')
})

// ── interleavings ──────────────────────────────────────────────────────────────────────────────

class NoLock extends Table {
  protected override lock(): void {}
  protected override unlock(): void {}
}

class NoSecondLook extends Table {
  protected override isSame(): boolean {
    return true
  }
}

class TornGrowth extends Table {
  protected override grow(...[segment, fresh, depth, moves, publish]: Parameters<Table['grow']>): void {
    publish()
    super.grow(segment, fresh, depth, moves, () => {})
  }
}

interface Write {
  readonly from: number
  until: number
  readonly value: number | null
}

/** One run of two or three threads; the first violation, or null. */
function violated(kind: typeof Table, random: Random): string | null {
  const clock = { now: 0 }
  const chunks = ownChunks()
  const { shared } = kind.make(shape, chunks)
  const open = (cells: Cells) => kind.open(shared, chunks, cells)
  const history = new Map<number, Write[]>()
  const writesOf = (key: number) => {
    const writes = history.get(key) ?? [{ from: -1, until: -1, value: null }]
    history.set(key, writes)
    return writes
  }
  const keys = 14
  // some are there from the start
  for (let key = 0; key < 5; key++) {
    open(atomicCells).set(key, key, third, 0, 1_000 + key, 1_000 + key)
    writesOf(key).push({ from: 0, until: 0, value: 1_000 + key })
  }
  let wrong: string | null = null
  const script = (ops: number, writes: number) => () => {
    if (ops-- === 0) return null
    const key = random.below(keys)
    const from = clock.now
    if (random.chance(writes)) {
      const value = random.chance(0.2) ? null : 1 + random.below(900)
      const write: Write = { from, until: Number.POSITIVE_INFINITY, value }
      writesOf(key).push(write)
      const work = (cells: Cells) => {
        const table = open(cells)
        if (value === null) table.delete(key, key, third)
        else table.set(key, key, third, 0, value, value)
      }
      return {
        thread: new SteppedThread(work),
        ended: (now: number) => {
          write.until = now
        },
      }
    }
    const thread = new SteppedThread(cells => {
      const table = open(cells)
      if (!table.find(key, key, third)) return null
      return table.fifth === table.sixth ? table.fifth : -1
    })
    return {
      thread,
      ended: (now: number) => {
        wrong ??= judged(writesOf(key), thread.result!.value as number | null, from, now, key)
      },
    }
  }
  const threads = random.chance(0.5)
    ? [script(4, 1), script(6, 0)]
    : [script(3, 1), script(3, 0.7), script(5, 0)]
  try {
    interleave(threads, random, clock)
  } catch (error) {
    return (error as Error).message
  }
  if (wrong !== null) return wrong
  const table = open(atomicCells)
  let present = 0
  for (let key = 0; key < keys; key++) {
    const value = table.find(key, key, third) ? table.fifth : null
    if (value !== null) present++
    const fault = judged(writesOf(key), value, clock.now, clock.now, key)
    if (fault !== null) return `at the end: ${fault}`
  }
  return table.size === present ? null : `${table.size} entries are counted, ${present} are there`
}

/** A value is right if a write of it may have been the last one at some instant of the reading. */
function judged(writes: readonly Write[], value: number | null, from: number, until: number, key: number) {
  const isOver = (one: Write) => writes.some(other => other.from > one.until && other.until < from)
  const may = writes.some(one => one.value === value && one.from <= until && !isOver(one))
  return may ? null : `key ${key} is read as ${value}`
}

t.test('no interleaving of two or three threads shows anything but what was written', async t => {
  for (let run = 0; run < times(150); run++) {
    const fault = violated(Table, new Random(seed + run))
    if (fault !== null) return t.fail(`seed ${seed + run}: ${fault}`)
  }
})

for (const [name, kind] of [
  ['no lock', NoLock],
  ['no second look', NoSecondLook],
  ['torn growth', TornGrowth],
] as const)
  t.test(`the scheduler notices a deliberate fault: ${name}`, async t => {
    for (let run = 0; run < 3_000; run++)
      if (violated(kind, new Random(seed + run)) !== null) return t.pass(`after ${run + 1} runs`)
    t.fail('not noticed')
  })

// ── threads of the system ──────────────────────────────────────────────────────────────────────

t.test('two threads read what this one writes, and take its memory as it grows', async t => {
  const big: TableShape = { ...shape, slots: 64, indexBits: 10 }
  const ports: MessagePort[] = []
  const table = Table.make(
    big,
    ownChunks(chunk => {
      for (const port of ports) port.postMessage(chunk)
    }),
  )
  const state = new Int32Array(new SharedArrayBuffer(8))
  for (let key = 0; key < 50; key++) table.set(key, key, third, 0, 0, 0)
  const heard = [0, 1].map(() => {
    const { port1, port2 } = new MessageChannel()
    ports.push(port1)
    const worker = new Worker(new URL('./table-thread.js', import.meta.url), {
      workerData: { shared: table.shared, chunks: table.chunks, port: port2, state, kept: 50 },
      transferList: [port2],
    })
    return new Promise<{ reads: number; wrong: string | null }>((resolve, reject) => {
      worker.once('message', resolve)
      worker.once('error', reject)
    })
  })
  // both read before the first growth that they have to hear of
  while (Atomics.load(state, 1) < 2) await new Promise(resolve => setTimeout(resolve, 5))
  const random = new Random(seed)
  for (let value = 1; value <= times(40_000); value++) {
    table.set(value % 50, value % 50, third, 0, value, value)
    const other = 50 + random.below(20_000)
    if (random.chance(0.6)) table.set(other, other, third, 0, value, value)
    else table.delete(other, other, third)
  }
  Atomics.store(state, 0, 1)
  for (const { reads, wrong } of await Promise.all(heard)) {
    t.equal(wrong, null)
    t.ok(reads > 0)
  }
  for (const port of ports) port.close()
})

t.test('a chunk that was not handed on is no memory', async t => {
  const table = Table.make(shape)
  const other = Table.open(
    table.shared,
    handedChunks([], () => null),
  )
  t.throws(() => other.find(1, 1, third), /handed/)
})
