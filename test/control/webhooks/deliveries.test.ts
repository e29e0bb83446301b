// Statements of the deliverer of webhooks while receivers hang.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from 'postgres'
import t from 'tap'
import { Deliveries } from '../../../src/control/webhooks/deliveries.js'
import { silent } from '../../stores.js'
import { openHouse } from '../house.js'

t.setTimeout(120_000)

t.test('security 12 an environment without a free place is not looked for', async t => {
  const { stores, accountId, development } = await openHouse(t)
  const { sql } = stores
  const hanging: ServerResponse[] = []
  const server = createServer((request, response) => {
    request.resume().on('end', () => hanging.push(response))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const now = new Date()
  const made = { created_at: now, updated_at: now }
  for (const id of ['one', 'two', 'three']) {
    const url = `http://127.0.0.1:${port}/${id}`
    const webhook = {
      id,
      account_id: accountId,
      environment_id: development.id,
      name: id,
      url,
      secret: 'whsec_AAAA',
    }
    const rest = { status: 'active', request_types: sql.json([]), active_since: now, expiries_told_at: now }
    await sql`insert into webhooks ${sql({ ...webhook, ...rest, ...made })}`
    for (let i = 0; i < 5; i++) {
      const event = { id: `${id} ${i}`, webhook_id: id, environment_id: development.id, request_type: 'test' }
      const due = { payload: '{}', status: 'pending', next_attempt_at: now }
      await sql`insert into webhook_events ${sql({ ...event, ...due, ...made })}`
    }
  }

  let statements = 0
  const counted = new Proxy(sql, {
    apply(target, self, args) {
      statements++
      return Reflect.apply(target, self, args)
    },
  }) as Sql
  const deliveries = new Deliveries({
    sql: counted,
    log: silent,
    privateAddresses: true,
    retryMs: 1_000,
    deactivated: () => {},
  })
  deliveries.start()
  t.teardown(() => deliveries.stop())
  const until = async (count: number) => {
    while (hanging.length < count) await sleep(5)
  }
  await until(8)
  await sleep(100)
  const before = statements
  await sleep(1_000)
  t.equal(statements - before, 0, 'nothing is asked while every place is taken')
  hanging[0]!.writeHead(200).end()
  await until(9)
  t.equal(hanging.length, 9, 'a call that lands makes room for the next')
  for (const response of hanging) if (!response.writableEnded) response.writeHead(200).end()
  await until(15)
  for (const response of hanging) if (!response.writableEnded) response.writeHead(200).end()
})
