// The page on moving customers (docs/tasks/move-customers.md), its calls sent in order.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { startHere } from '../harness.js'
import { type Body, MovesWorld } from './moves-world.js'

const page = readFileSync(new URL('../../../docs/tasks/move-customers.md', import.meta.url), 'utf8')

t.test('MI-1, MI-2, MI-4 the page on moving customers', async t => {
  const { client } = await startHere(t)
  const world = await MovesWorld.of(client)
  await world.clock('2031-01-10T00:00:00.000Z')
  const plan = await world.plan(1000, 4900, { yearly: 49_000 })
  const names: Record<string, string> = { plan: plan.id }
  const acme = await world.payer(plan)
  const bolt = await world.payer(plan)
  const coop = await world.payer(plan, { yearly: true })
  await world.use(bolt, 600)
  names.draft = await world.draft(plan.id, 500, 5900)

  const calls = [...page.matchAll(/^`(GET|POST|PUT) (\/[^`]*)`\n(?:\n```json\n([\s\S]*?)```)?/gm)]
  t.ok(calls.length <= 5, 'at most five calls')
  const filled = (text: string) => text.replaceAll(/\{(\w+)\}/g, (all, name) => names[name] ?? all)
  const answers: Body[] = []
  for (const [, method, path, body] of calls) {
    const answer = await client.ok(
      method as 'GET',
      filled(path!),
      body ? JSON.parse(filled(body)) : undefined,
    )
    if (path === '/plan-moves') names.move = answer.id
    answers.push(answer)
  }
  const [preview, , move, companies, back] = answers
  for (const [, name, value] of page.matchAll(/^\| (\w+) \| (\d+) \|/gm))
    t.equal(preview.totals[name!], Number(value), name!)
  t.match(preview.totals.prices, [{ currency: 'usd', interval_months: 1, before: 9800, after: 11_800 }])
  const ofBolt = preview.companies.find((one: Body) => one.company_id === bolt)
  const ofCoop = preview.companies.find((one: Body) => one.company_id === coop)
  t.equal(ofCoop.failure_reason, 'no_price')
  t.match(ofBolt.exceeded_limits, [{ feature_name: 'Calls', usage: 600, limit: 500 }])
  t.match(ofBolt.losses, [{ feature_name: 'Calls', before: { limit: 1000 }, after: { limit: 500 } }])
  t.match(move, { status: 'pending', pending_companies: 2, failed_companies: 1 })
  const status = Object.fromEntries(companies.map((one: Body) => [one.company_id, one.reason ?? one.status]))
  t.same(status, { [acme]: 'pending', [bolt]: 'pending', [coop]: 'no_price' })
  t.match(back, { kind: 'revert', reverts_id: names.move })
  t.equal((await client.ok('GET', `/plan-moves/${names.move}`)).status, 'cancelled')
})
