// Snapshots in the real Postgres: a statement that was given up may run after its successor.
import t from 'tap'
import { postgresSnapshots, type SnapshotRow } from '../../workers/company/snapshots.js'
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
  const kept = async () =>
    (await snapshots.find(['comp_1'])).map(({ generation, state }) => [generation, state])
  await snapshots.put([row(7)])
  await snapshots.put([row(5)])
  t.same(await kept(), [['g1', row(7).state]])
  await snapshots.put([row(9)])
  t.same(await kept(), [['g1', row(9).state]])
  await snapshots.put([row(2, 'g2')])
  t.same(await kept(), [['g2', row(2).state]], 'sequences of another generation are no older')

  await snapshots.checkpointed('g1', 0, 7)
  await snapshots.checkpointed('g1', 0, 5)
  const [checkpoint] = await sql`select sequence from checkpoints where generation = 'g1' and shard = 0`
  t.equal(Number(checkpoint!.sequence), 7)
})
