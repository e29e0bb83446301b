// Placement of shards: every shard is served, the shares are even, and no shard moves without a reason.
import t from 'tap'
import { clusterShards, type NodeInfo, type Owner, planOf } from '../../src/cluster/leases.js'
import { Random } from '../random.js'

t.test('placement comes to rest with even shares, from any start', async t => {
  const random = new Random()
  t.comment(`seed ${random.seed}`)
  for (let run = 0; run < 200; run++) {
    const count = 1 + random.below(6)
    const states = Array.from({ length: count }, (_, i): NodeInfo['state'] =>
      i === 0 ? 'serving' : (['serving', 'serving', 'draining', 'loading'] as const)[random.below(4)]!,
    )
    const nodes = new Map(states.map((state, i) => [`n${i}`, { state } as NodeInfo]))
    const owners: Owner[] = Array.from({ length: clusterShards }, () => {
      const node = ['', ...nodes.keys()][random.below(count + 1)]!
      return { epoch: 1, node, mark: `1:${node}` }
    })
    let moved = 0
    for (let turn = 0; turn < 500; turn++) {
      const self = `n${random.below(count)}`
      const { take, give } = planOf({ nodes, owners }, self)
      for (const shard of take) {
        t.equal(owners[shard]!.node, '', 'what is taken was nobody’s')
        owners[shard] = { epoch: 1, node: self, mark: '' }
      }
      for (const [shard, to] of give) {
        t.equal(owners[shard]!.node, self, 'what is given was its own')
        owners[shard] = { epoch: 1, node: to, mark: '' }
        moved++
      }
    }
    const serving = states.filter(state => state === 'serving').length
    const shares = states.map((_, i) => owners.filter(({ node }) => node === `n${i}`).length)
    for (const [i, share] of shares.entries()) {
      const most = states[i] === 'serving' ? Math.ceil(clusterShards / serving) : 0
      if (share > most || (states[i] === 'serving' && share < Math.floor(clusterShards / serving)))
        t.fail(`${states} ended with ${shares}`)
    }
    t.equal(owners.filter(({ node }) => node === '').length, 0, 'all are served')
    t.ok(moved <= clusterShards * 2, 'and few moved')
  }
})
