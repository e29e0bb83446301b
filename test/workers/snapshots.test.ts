// Snapshots in the real Postgres: a statement that was given up may run after its successor. How they are read.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { newCompany } from '../../src/core/company/company.js'
import { encodeCompany, encodeUser } from '../../src/core/company/state.js'
import { newUser } from '../../src/core/company/user.js'
import { SnapshotReader, snapshotText } from '../../src/journal/records/snapshot-text.js'
import { companyActor } from '../../workers/shard/actors.js'
import {
  postgresSnapshots,
  type SnapshotRow,
  snapshotLine,
  storeChanged,
} from '../../workers/shard/snapshots/snapshots.js'
import { seed } from '../random.js'
import { startStores } from '../stores.js'

const row = (sequence: number, generation = 'g1'): SnapshotRow => ({
  id: 'comp_1',
  kind: 'c',
  environmentId: 'env_1',
  generation,
  sequence,
  state: `{"sequence":${sequence}}`,
})

t.test('an older snapshot never takes the place of a newer, a checkpoint never moves back', async t => {
  const { sql } = await startStores(t)
  const snapshots = postgresSnapshots(sql)
  const kept = async () => (await snapshots.find(['comp_1'])).map(lines => lines.toString())
  await snapshots.put([row(7)])
  await snapshots.put([row(5)])
  t.same(await kept(), [snapshotLine(row(7))])
  await snapshots.put([row(9)])
  t.same(await kept(), [snapshotLine(row(9))])
  await snapshots.put([row(2, 'g2')])
  t.same(await kept(), [snapshotLine(row(2, 'g2'))], 'sequences of another generation are no older')

  await snapshots.checkpointed('g1', 0, 7)
  await snapshots.checkpointed('g1', 0, 5)
  const [checkpoint] = await sql`select sequence from checkpoints where generation = 'g1' and shard = 0`
  t.equal(Number(checkpoint!.sequence), 7)
})

t.test('states with quotes, line breaks and other signs come back as they were', async t => {
  const { sql } = await startStores(t)
  const snapshots = postgresSnapshots(sql)
  const texts = ['"', "it's", 'a\nb\r\n\tc', '\\N', '\\', '{},NULL', '\u2028\u0001', '\u{1f600}', '']
  const rows = texts.map((text, i) => ({ ...row(i), id: `comp_${i}`, state: JSON.stringify({ text }) }))
  await snapshots.put(rows)
  const found = (await snapshots.find(rows.map(({ id }) => id))).map(String).join('\n')
  t.same(new Set(found.split('\n')), new Set(rows.map(snapshotLine)))
})

t.test(
  'requests are served between the snapshots of a checkpoint, and an actor forgotten meanwhile is left out',
  async t => {
    const { sql } = await startStores(t)
    const wanted = Array.from({ length: 100 }, (_, i) => companyActor(newCompany(`comp_${i}`, 'env_1'), 0))
    const dirty = new Set(wanted)
    const stored: SnapshotRow[] = []
    const put = async (rows: readonly SnapshotRow[]) => void stored.push(...rows)
    let turns = 0
    let isStored = false
    const count = () => {
      if (isStored) return
      turns++
      dirty.delete(wanted[99]!)
      setImmediate(count)
    }
    setImmediate(count)
    await storeChanged({ ...postgresSnapshots(sql), put }, 'g1', wanted, dirty, async () => {})
    isStored = true
    t.ok(turns >= 4, `${turns} turns in between`)
    t.equal(stored.length, 99)
    t.equal(dirty.size, 0)
  },
)

t.test('snapshots are read as they were written, in the form of today and in that of 0.1.0', async t => {
  t.comment(`seed ${seed}`)
  const reader = new SnapshotReader()
  const texts = fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: 'binary' }), fc.constant('acme'))
  const times = fc.oneof(fc.integer(), fc.integer({ min: 1_700_000_000_000, max: 1_800_000_000_000 }))
  const stored = fc.array(fc.tuple(texts, texts, times, times), { maxLength: 3 })
  const quantity = fc.oneof(times, fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n }).map(String))
  const anything = fc.oneof(fc.constant(null), fc.jsonValue().map(withoutMinusZero))
  const snapshots = fc.record({
    name: texts,
    keys: stored,
    traits: stored,
    lastSeenAtMs: fc.option(times),
    counters: fc.array(fc.tuple(texts, fc.array(quantity, { maxLength: 24 })), { maxLength: 30 }),
    plan: anything,
    credits: fc.array(anything, { maxLength: 2 }),
  })
  const read = (text: string, kind: 'c' | 'u' = 'c') => {
    const bytes = Buffer.from(`before ${text}\nafter`)
    const end = bytes.length - 6
    return kind === 'c' ? reader.read('c', bytes, 7, end) : reader.read('u', bytes, 7, end)
  }
  fc.assert(
    fc.property(snapshots, some => {
      const company = { ...encodeCompany(newCompany('comp_1', 'env_1')), ...(some as object) }
      const text = snapshotText(company)
      if (text.includes('\n')) return false
      assert.deepEqual(read(text), company)
      assert.deepEqual(read(JSON.stringify(company)), company)
      return true
    }),
    { numRuns: 500, seed },
  )
  const user = encodeUser(newUser('user_1', 'env_1'))
  t.strictSame(read(snapshotText(user), 'u'), user)
  const whole = snapshotText(encodeCompany(newCompany('comp_1', 'env_1')))
  for (let length = 0; length < whole.length - 1; length++)
    t.throws(() => read(whole.slice(0, length)), SyntaxError, `cut after ${length}`)
  t.throws(() => read(Buffer.from([2, 0x80]).toString('base64')), SyntaxError, 'a form of a later version')
})

function withoutMinusZero<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T
}
