// Reads that requests make at the same time: asked together, never older than the question.
import t from 'tap'
import { SharedReads } from '../../src/kit/shared-reads.js'
import { catalogData } from '../core/make.js'

/** A store whose reads end when they are told to. */
function slowStore() {
  const reads: { ids: readonly string[]; end: (error?: Error) => void }[] = []
  let version = 0
  const load = (ids: readonly string[]) => {
    const seen = version
    return new Promise<ReadonlyMap<string, string>>((resolve, reject) => {
      const end = (error?: Error) =>
        error ? reject(error) : resolve(new Map(ids.map(id => [id, `${id}${seen}`])))
      reads.push({ ids, end })
    })
  }
  const begun = async (count: number) => {
    while (reads.length < count) await new Promise(resolve => setImmediate(resolve))
  }
  return { reads, load, begun, change: () => void version++ }
}

t.test('reads of one tick are one read', async t => {
  const shared = new SharedReads()
  const { reads, load, begun } = slowStore()
  const asked = [shared.many('x', ['a', 'b'], load), shared.many('x', ['b', 'c'], load)]
  await begun(1)
  reads[0]!.end()
  const [first, second] = await Promise.all(asked)
  t.same(reads[0]!.ids, ['a', 'b', 'c'])
  t.equal(first!.get('b'), 'b0')
  t.equal(second!.get('c'), 'c0')
  t.equal(reads.length, 1)
})

t.test('a read begins after each of its callers asked', async t => {
  const shared = new SharedReads()
  const { reads, load, begun, change } = slowStore()
  const early = shared.many('x', ['a'], load)
  await begun(1)
  change()
  const late = [shared.many('x', ['a'], load), shared.many('x', ['d'], load)]
  reads[0]!.end()
  t.equal((await early).get('a'), 'a0')
  await begun(2)
  t.same(reads[1]!.ids, ['a', 'd'])
  reads[1]!.end()
  t.equal((await late[0]!).get('a'), 'a1')
  change()
  const last = shared.many('x', ['a'], load)
  await begun(3)
  reads[2]!.end()
  t.equal((await last).get('a'), 'a2', 'nothing is kept')
})

t.test('a failed read fails its own callers, and no others', async t => {
  const shared = new SharedReads()
  const { reads, load, begun } = slowStore()
  const lost = [shared.many('x', ['a'], load), shared.many('x', ['b'], load)]
  await begun(1)
  const next = shared.many('x', ['a'], load)
  const other = shared.many('y', ['a'], load)
  await begun(2)
  reads[0]!.end(new Error('away'))
  for (const one of lost) await t.rejects(one, { message: 'away' })
  await begun(3)
  reads[1]!.end()
  reads[2]!.end()
  t.equal((await other).get('a'), 'a0')
  t.equal((await next).get('a'), 'a0')
})

t.test('for no ids nothing is read', async t => {
  const { load, reads } = slowStore()
  t.equal((await new SharedReads().many('x', [], load)).size, 0)
  t.same(reads, [])
})

t.test('definitions are kept until the catalog changes', async t => {
  const shared = new SharedReads()
  const { reads, load, begun, change } = slowStore()
  const [before, after] = [catalogData({ version: 1 }), catalogData({ version: 2 })]
  const first = shared.ofCatalog(before, 'x', ['a', 'b'], load)
  await begun(1)
  reads[0]!.end()
  t.equal((await first).get('b'), 'b0')
  change()
  t.equal((await shared.ofCatalog(before, 'x', ['a'], load)).get('a'), 'a0', 'no read')
  const more = shared.ofCatalog(before, 'x', ['a', 'c'], load)
  await begun(2)
  reads[1]!.end()
  t.same(reads[1]!.ids, ['c'])
  t.equal((await more).get('a'), 'a0')
  const changed = shared.ofCatalog(after, 'x', ['a'], load)
  await begun(3)
  reads[2]!.end()
  t.equal((await changed).get('a'), 'a1')
  const other = shared.ofCatalog(after, 'y', ['a'], load)
  await begun(4)
  reads[3]!.end()
  t.equal((await other).get('a'), 'a1', 'each name has its own')
})

t.test('a read that began under the former catalog answers nobody who has the new one', async t => {
  const shared = new SharedReads()
  const { reads, load, begun, change } = slowStore()
  const [before, after] = [catalogData({ version: 1 }), catalogData({ version: 2 })]
  const early = shared.ofCatalog(before, 'x', ['a'], load)
  await begun(1)
  change()
  const late = shared.ofCatalog(after, 'x', ['a'], load)
  await begun(2)
  for (const read of reads) read.end()
  t.equal((await early).get('a'), 'a0')
  t.equal((await late).get('a'), 'a1')
})

t.test('what is shown beside definitions is kept for a time', async t => {
  const shared = new SharedReads()
  const catalog = catalogData({})
  let reads = 0
  const load = async (ids: readonly string[]) => new Map(ids.map(id => [id, ++reads]))
  await shared.ofCatalog(catalog, 'x', ['a'], load, 0)
  await new Promise(resolve => setTimeout(resolve, 2))
  t.equal((await shared.ofCatalog(catalog, 'x', ['a'], load, 0)).get('a'), 2, 'read again')
  await shared.ofCatalog(catalog, 'y', ['a'], load, 600_000)
  t.equal((await shared.ofCatalog(catalog, 'y', ['a'], load, 600_000)).get('a'), 3, 'not yet')
})

t.test(
  'values with a life are read anew at half of it, while they are given; past it they are waited for',
  async t => {
    let nowMs = 0
    const shared = new SharedReads(() => nowMs)
    const { reads, load, begun, change } = slowStore()
    const catalog = catalogData()
    const ask = () => shared.ofCatalog(catalog, 'x', ['a'], load, 1_000)
    const first = ask()
    await begun(1)
    reads[0]!.end()
    t.equal((await first).get('a'), 'a0')
    change()
    nowMs = 499
    t.equal((await ask()).get('a'), 'a0')
    t.equal(reads.length, 1)
    nowMs = 500
    t.equal((await ask()).get('a'), 'a0', 'given at once')
    await begun(2)
    t.equal((await ask()).get('a'), 'a0')
    reads[1]!.end()
    await new Promise(resolve => setImmediate(resolve))
    t.equal((await ask()).get('a'), 'a1')
    t.equal(reads.length, 2, 'one read')
    change()
    nowMs = 1_000
    t.equal((await ask()).get('a'), 'a1')
    await begun(3)
    reads[2]!.end(new Error('away'))
    await new Promise(resolve => setImmediate(resolve))
    nowMs = 1_500
    t.equal((await ask()).get('a'), 'a1', 'a failed read changes nothing until their time is up')
    nowMs = 1_501
    const late = ask()
    await begun(4)
    reads[3]!.end()
    t.equal((await late).get('a'), 'a2')
  },
)
