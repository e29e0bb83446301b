// A key of a reservation is one company's for a day of its environment's time, whichever node receives it (CR-80, EV-26).
import t from 'tap'
import { CreditWorld } from '../interface/credit-world.js'
import { skipped, TestCluster, whole } from './nodes.js'

t.test(
  'CR-80 a key of a hold is free after a day of its environment’s time, at every node',
  { skip: skipped },
  async t => {
    const cluster = await TestCluster.start(t, 2)
    const [one, other] = cluster.nodes.map(({ client }) => client)
    await whole(() => cluster.nodes)
    const { environment_id: id } = await one!.ok('GET', '/whoami')
    const startMs = Date.now() + 60_000
    const clock = (ms: number) =>
      one!.ok('PUT', `/environments/${id}/clock`, { now: new Date(ms).toISOString(), frozen: true })
    await clock(startMs)
    const world = new CreditWorld(one!)
    const credit = await world.credit()
    const [owner, next] = [await world.company(), await world.company()]
    for (const company of [owner, next]) await world.grant(company.id, credit.id, 100)
    const reserve = async (client: typeof one, company_id: string): Promise<number> => {
      const body = { company_id, credit_type_id: credit.id, amount: 10, idempotency_key: 'held' }
      return (await client!.post('/billing/credits/reservations', body)).status
    }
    t.equal(await reserve(one, owner.id), 201)
    t.equal(await reserve(other, next.id), 409)
    await clock(startMs + 86_400_000)
    t.equal(await reserve(other, next.id), 201)
    t.equal(await reserve(one, owner.id), 409, 'it is the other company’s now')
  },
)
