import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { Backlog } from '../../src/recovery/backlog.js'
import { temporaryDirectory } from '../stores.js'

t.test(
  'what counts is closed segments: the one that is written is there with or without a backlog',
  async t => {
    const directory = await temporaryDirectory(t)
    const shards = ['shard-00', 'shard-01'].map(name => join(directory, name))
    for (const shard of shards) {
      await mkdir(shard)
      await writeFile(join(shard, '00000000000000000001.journal'), 'x'.repeat(1_000))
    }
    const backlog = new Backlog(shards, 1_000)
    t.teardown(() => backlog.stop())
    await backlog.look()
    t.same(backlog.perShard, [1_000, 1_000])
    t.equal(backlog.full, false)
    backlog.admit()
    await writeFile(join(shards[1]!, '00000000000000000009.journal'), 'x')
    await backlog.look()
    t.equal(backlog.full, true)
    t.throws(() => backlog.admit(), /backlog of events is full/)
    await rm(join(shards[1]!, '00000000000000000001.journal'))
    await backlog.look()
    t.equal(backlog.full, false)
  },
)
