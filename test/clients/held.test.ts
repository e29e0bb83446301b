// The memory of a client has a bound, whatever its callers ask about.
import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { type SocketLike, Tollgate } from '../../clients/typescript/src/index.js'
import { Store } from '../../clients/typescript/src/store.js'
import { Usage } from '../../clients/typescript/src/usage.js'
import type { EngineCompany } from '../../src/core/evaluator/engine-shapes.js'

const companyOf = (id: string): EngineCompany => ({
  account_id: 'account',
  environment_id: 'environment',
  id,
  billing_product_ids: [],
  credit_balances: {},
  keys: { slug: id },
  metrics: [],
  plan_ids: [],
  plan_version_ids: [],
  rules: [],
  traits: [],
})

t.test('security 48 companies that are not held any more take no memory', async t => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const usage = new Usage(
    () => true,
    () => {},
  )
  const store = new Store(2, () => {}, usage)
  const told = (id: string, data: object) => {
    store.take({ message_type: 'full', entity_type: 'rulesengine.Company', entity_id: id, data }, 0)
    return store.companies.find({ slug: id })!
  }
  for (let i = 0; i < 10; i++) told(`c${i}`, companyOf(`c${i}`))
  t.equal(store.companies.size, 2)
  t.equal(usage.size, 2)

  const used = told('used', companyOf('used'))
  usage.add('key', 'used', 'call', 3, [])
  t.equal(used.uncounted.get('call'), 3)
  told('c0', companyOf('c0'))
  told('c1', companyOf('c1'))
  t.equal(store.companies.find({ slug: 'used' }), null)
  t.equal(usage.size, 3, 'what it used is not forgotten')
  t.equal(told('used', companyOf('used')).uncounted.get('call'), 3, 'and counts when it is held again')
  told('c2', companyOf('c2'))
  told('c3', companyOf('c3'))
  usage.sent(['key'])
  usage.taken(['key'])
  mock.timers.tick(1_000)
  usage.confirmed('used')
  t.equal(usage.size, 2, 'once it is counted, nothing is kept')
})

t.test('security 48 a question without an answer is over with its wait, and may be asked again', async t => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  t.teardown(() => mock.timers.reset())
  const asked: unknown[] = []
  const socket: SocketLike = {
    onopen: null,
    onmessage: null,
    onclose: null,
    onerror: null,
    send: text => {
      const { data } = JSON.parse(text)
      if (data.entity_type === 'rulesengine.User' && data.keys_list.length > 0) asked.push(data.keys_list)
    },
    close: () => {},
  }
  const tollgate = new Tollgate({
    url: 'http://tollgate.invalid',
    key: 'sk_none',
    local: true,
    logger: null,
    webSocket: () => socket,
    fetch: () => Promise.reject(new Error('away')),
    entityMs: 100,
  })
  t.teardown(() => tollgate.close(0))
  while (socket.onopen === null) await turn()
  socket.onopen({} as never)
  const user = { mail: 'x'.repeat(2_000) }
  const check = async () => {
    const checked = tollgate.check('exports', { user })
    for (let i = 0; i < 20; i++) await turn()
    mock.timers.tick(100)
    t.match(await checked, { source: 'default' })
  }
  await check()
  t.strictSame(asked, [[user]])
  mock.timers.tick(1_000)
  await check()
  t.strictSame(asked, [[user], [user]])
})
