// A fault of a cluster under load on all its nodes, and the checks after it.
import type { Test } from 'tap'
import { Load } from '../faults/load.js'
import type { Client } from '../harness.js'
import { CreditWorld } from '../interface/credit-world.js'
import { Random } from '../random.js'
import { ownAll, type TestCluster, type TestNode, until, whole } from './nodes.js'

const clients = 8
const companies = 4
/** Requests answered before a fault, and after it. */
const answers = 80

export class ClusterLoad {
  readonly load: Load
  /** Nodes that get no requests, as a load balancer skips nodes that do not answer its probes. */
  readonly leftOut = new Set<TestNode>()

  private constructor(
    private readonly t: Test,
    private readonly cluster: TestCluster,
  ) {
    const random = new Random()
    t.comment(`seed ${random.seed}`)
    this.load = new Load({ random, companies, client: () => this.any(random) })
  }

  static async prepare(t: Test, cluster: TestCluster): Promise<ClusterLoad> {
    const load = new ClusterLoad(t, cluster)
    await load.whole()
    await load.load.prepare()
    return load
  }

  /** A living node, or, when none lives, one that refuses connections. */
  private any(random: Random): Client {
    const { clients } = this
    return clients.length > 0 ? random.pick(clients) : this.cluster.nodes[0]!.client
  }

  get clients(): readonly Client[] {
    return this.asked.map(({ client }) => client)
  }

  private get asked(): readonly TestNode[] {
    return this.cluster.living.filter(node => !this.leftOut.has(node))
  }

  /** Resolves when the living nodes own all shards, every one serves, and none is degraded. */
  async whole(): Promise<void> {
    await until(() => ownAll(this.asked), 'the living nodes own all shards')
    await whole(() => this.asked)
  }

  /**
   * Send load, cause the fault, wait until the cluster is whole again, and compare everything with the model.
   */
  async during(t: Test, name: string, fault: () => Promise<void>): Promise<void> {
    const { load } = this
    load.start(clients)
    await load.answered(answers)
    const refusals = load.refusals
    await fault()
    await this.whole()
    await load.answered(answers)
    await load.stop()
    const quiet = [...load.quietMs.values()].map(Math.round)
    const spent = load.refusals - refusals
    this.t.comment(`${name}: longest time without an answer, by company: ${quiet} ms; ${spent} tries again`)
    await this.verify(t)
  }

  /** Compare usage, credits, idempotency and rows of ClickHouse with the acknowledged requests. */
  async verify(t: Test): Promise<void> {
    const [client] = this.clients
    const caughtUp = async () => (await client!.get('/events?limit=1')).status === 200
    await until(caughtUp, 'ClickHouse has what was acknowledged')
    await this.load.verify(t)
    const world = new CreditWorld(client!)
    for (const { slug, companyId, creditId } of this.load.accounts)
      await world.agrees(t, companyId, creditId, `CR-88 ${slug}: its ledger`)
    await reconciled(t, client!)
  }
}

/** Counters in memory agree with rows in ClickHouse for every company. */
async function reconciled(t: Test, { url, key }: Client): Promise<void> {
  const answer = await fetch(`${url}/reconcile`, { headers: { 'X-Service-Api-Key': key } })
  const lines = (await answer.text()).trim().split('\n')
  const { differences } = JSON.parse(lines.at(-1)!) as { differences: number }
  t.equal(differences, 0, `usage in ClickHouse is that in memory: ${lines.slice(0, 3)}`)
}
