// The data stream of one node sends changes made through another node, and companies of another owner. It
// goes on when that node is killed.
import postgres from 'postgres'
import t from 'tap'
import { makeFlag, rule } from '../interface/flags.js'
import { StreamClient, type StreamMessage } from '../stream-client.js'
import { ownAll, skipped, TestCluster, until, whole } from './nodes.js'

t.setTimeout(240_000)

const [company, user] = ['rulesengine.Company', 'rulesengine.User']
const slugs = Array.from({ length: 40 }, (_, index) => `streamed${index}`)
const metric = {
  condition_type: 'metric',
  operator: 'gte',
  resource_ids: [],
  event_subtype: 'call',
  metric_period: 'all_time',
  metric_value: 1_000,
}

/** A client's data of each company: its figure, and its number of keys. */
class Held {
  readonly calls = new Map<string, number>()
  readonly keys = new Map<string, number>()
  readonly gone = new Set<string>()
  readonly confirmed = new Set<string>()

  take({ message_type: type, entity_type: kind, entity_id: id, data }: StreamMessage): void {
    if (kind !== company || id === undefined) return
    if (type === 'delete') this.gone.add(id)
    if (type === 'confirmed') this.confirmed.add(id)
    for (const one of data.metrics ?? []) if (one.period === 'all_time') this.calls.set(id, one.value)
    if (data.keys) this.keys.set(id, Object.keys(data.keys).length)
  }
}

t.test('decision 24 the stream of any node', { skip: skipped }, async t => {
  const cluster = await TestCluster.start(t, 2)
  const [one, other] = cluster.nodes.map(({ client }) => client)
  await whole(() => cluster.nodes)
  await makeFlag(one!, 'busy', false, [rule('busy', [metric])])
  const made = await Promise.all(slugs.map(slug => one!.ok('POST', '/companies', { keys: { slug } })))
  const ids = made.map(({ id }) => id as string)
  const stream = await StreamClient.open(one!.url, { protocols: ['tollgate'] })
  t.teardown(() => stream.ws.terminate())
  stream.ask(company, undefined, { keys_list: ids.map(id => ({ id })) })
  const held = new Held()
  let read = 0
  const sees = (holds: () => boolean, what: string) =>
    until(() => {
      while (read < stream.messages.length) held.take(stream.messages[read++]!)
      return holds()
    }, what)
  await sees(() => held.keys.size === ids.length, 'all are told')

  const call = (client: typeof one, id: string) =>
    client!.ok('POST', '/events', { event_type: 'track', body: { event: 'call', company: { id } } })

  await t.test('changes made through the other node', async t => {
    for (let round = 1; round <= 3; round++) {
      await Promise.all(ids.map(id => call(other, id)))
      await sees(() => ids.every(id => held.calls.get(id) === round), `each was used ${round} times`)
    }
    await Promise.all(slugs.map(slug => other!.ok('POST', '/companies', { keys: { slug, second: slug } })))
    await sees(() => ids.every(id => held.keys.get(id) === 2), 'keys')
    await other!.ok('DELETE', `/companies/${ids[0]}`)
    await sees(() => held.gone.has(ids[0]!), 'a deletion')
    const flags = stream.messages.length
    await makeFlag(other!, 'late', false, [rule('late', [metric])])
    await until(
      () => stream.messages.slice(flags).some(({ data }) => data.key === 'late' && data.rules.length > 0),
      'a definition',
    )
    t.pass('was told')
  })

  await t.test('a confirmation follows what the other node acknowledged', async t => {
    for (const id of ids.slice(1)) {
      await call(other, id)
      held.confirmed.delete(id)
      stream.ask(company, { id }, { action: 'confirm' })
      await sees(() => held.confirmed.has(id), 'it is confirmed')
      t.equal(held.calls.get(id), 4)
    }
  })

  await t.test(
    'a client that reconnects to the other node goes on hearing of what its key holds',
    async t => {
      const sql = postgres(cluster.databaseUrl, { max: 1 })
      t.teardown(() => sql.end())
      const mail = 'recalled@example.com'
      const { environment_id } = await one!.ok('GET', '/whoami')
      const { secret: key } = await one!.ok('POST', '/api-keys', { name: 'recalled', environment_id })
      const make = async (slug: string) =>
        (await one!.ok('POST', '/companies', { keys: { slug } })).id as string
      const [kept, stopped] = [await make('recalled'), await make('stopped')]
      const putUser = (seat: string) => one!.ok('POST', '/users', { keys: { mail, seat } })
      await putUser('first')
      const first = await StreamClient.open(one!.url, { key })
      for (const id of [kept, stopped]) {
        first.ask(company, { id })
        await first.of(company, 'full')
      }
      first.ask(user, { mail })
      await first.of(user, 'full')
      first.ask(company, { id: stopped }, { action: 'stop' })
      await until(async () => {
        const rows = await sql`select s.entity_id as id from stream_subscriptions s
        join api_keys k on k.id = s.api_key_id where k.name = 'recalled'`
        return rows.length === 2 && !rows.some(({ id }) => id === stopped)
      }, 'its subscriptions are kept')
      first.close()
      await first.closed
      await call(one, kept)
      const second = await StreamClient.open(other!.url, { key })
      t.teardown(() => second.ws.terminate())
      second.ask('rulesengine.Flags')
      const hears = (wanted: (message: StreamMessage) => boolean, what: string) =>
        until(() => second.messages.some(wanted), what)
      const hasCalls =
        (calls: number) =>
        ({ data }: StreamMessage): boolean =>
          data.metrics?.some(
            (one: { period: string; value: number }) => one.period === 'all_time' && one.value === calls,
          )
      const hasSeat =
        (seat: string) =>
        ({ entity_type: type, data }: StreamMessage): boolean =>
          type === user && data.keys?.seat === seat
      await hears(hasCalls(1), 'the company is told, with what happened meanwhile')
      await hears(hasSeat('first'), 'the user is told')
      t.match(await second.of(company), { message_type: 'full', entity_id: kept }, 'whole, and unasked')
      await Promise.all([call(one, stopped), call(one, kept), putUser('second')])
      await hears(hasCalls(2), 'a later change of the company is told')
      await hears(hasSeat('second'), 'a later change of the user is told')
      t.notOk(
        second.messages.some(one => one.entity_id === stopped),
        'a company is not told after its stop',
      )
    },
  )

  await t.test('M7 who reads definitions at one node is known at the other', async t => {
    const { environments } = await one!.ok('GET', '/whoami')
    const { secret: wide } = await one!.ok('POST', '/api-keys', { name: 'account' })
    const bound = async (name: string): Promise<string> => {
      const { id } = environments.find((each: { readonly name: string }) => each.name === name)
      const made = await one!.as(wide).ok('POST', '/api-keys', { name: `of ${name}`, environment_id: id })
      return made.secret
    }
    const [development, production] = [await bound('Development'), await bound('Production')]
    const { id } = await one!.ok('POST', '/flags', {
      key: 'read elsewhere',
      name: 'read elsewhere',
      description: '',
      flag_type: 'boolean',
      default_value: true,
    })
    let changes = 0
    const change = () => other!.as(development).put(`/flags/${id}`, { description: `change ${++changes}` })
    t.equal((await change()).status, 200, 'nobody reads')
    const reader = await StreamClient.open(one!.url, { key: production, protocols: ['tollgate'] })
    t.teardown(() => reader.ws.terminate())
    await until(async () => (await change()).status === 403, 'the other node knows')
    t.match(await change(), { body: { error: /in use in Production \(read by the data stream\)/ } })
    t.equal((await other!.as(production).put(`/flags/${id}`, { description: 'its own' })).status, 200)
  })

  await t.test('the other node is killed', async t => {
    await cluster.nodes[1]!.process.end('SIGKILL')
    // until it hears of the death, the node that is left is whole
    await until(() => ownAll(cluster.living), 'the node that is left has all shards')
    await whole(() => cluster.living)
    await Promise.all(ids.slice(1).map(id => call(one, id)))
    await sees(() => ids.slice(1).every(id => held.calls.get(id) === 5), 'changes are told as before')
    t.pass('went on')
  })
})
