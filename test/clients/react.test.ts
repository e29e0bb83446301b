// The React hooks without a browser: rendered on a server from a real Tollgate's answer, and kept current by its client.
import { createElement as h, type ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import t from 'tap'
import {
  TollgateProvider,
  useCredits,
  useEntitlement,
  useFlag,
  useStanding,
  useTollgate,
} from '../../clients/react/src/index.js'
import { type Standing, Tollgate, Watch } from '../../clients/typescript/src/index.js'
import { publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { CreditWorld } from '../interface/credit-world.js'
import { makeFlag } from '../interface/flags.js'
import { clientOf } from './make.js'

t.setTimeout(120_000)

function Page(): ReactNode {
  const { isAllowed, isLoading, usage, allocation, remaining } = useEntitlement('exports')
  const images = useEntitlement('images')
  const credits = useCredits()
  const shown = {
    beta: useFlag('beta'),
    absent: useFlag('absent', true),
    exports: [isAllowed, isLoading, usage, allocation, remaining],
    images: images.remaining,
    credits: credits.map(one => one.remaining),
    plan: useStanding().standing?.plan?.name ?? null,
    client: useTollgate() instanceof Tollgate,
  }
  return JSON.stringify(shown)
}

const render = (client: Tollgate, initial?: Standing): unknown =>
  JSON.parse(
    renderToString(h(TollgateProvider, { client, initial: initial ?? null }, h(Page))).replaceAll(
      '&quot;',
      '"',
    ),
  )

t.test('C6 a server renders what the company may do, and asks nothing while it renders', async t => {
  const { client } = await startHere(t)
  const world = new CreditWorld(client)
  await makeFlag(client, 'beta', true)
  const featureOf = (name: string, event: string) =>
    client.ok('POST', '/features', {
      name,
      description: '',
      feature_type: 'event',
      event_subtype: event,
      flag: { key: name, name, description: '', flag_type: 'boolean', default_value: false },
    })
  const credit = await world.credit()
  const images = await featureOf('images', 'image')
  const exports = await featureOf('exports', 'export')
  const plan = await publishedPlan(client, 'Pro', [
    {
      feature_id: images.id,
      value_type: 'credit',
      value_credit_id: credit.id,
      credit_consumption_rate: 2,
      price_behavior: 'credit_burndown',
    },
    { feature_id: exports.id, value_type: 'numeric', value_numeric: 5, metric_period: 'all_time' },
  ])
  const made = await world.company({ base_plan_id: plan.id })
  await world.grant(made.id, credit.id, 10)
  await client.ok('POST', '/events', {
    event_type: 'track',
    body: { event: 'export', company: made.keys, quantity: 2 },
  })
  let asked = 0
  const counted: typeof fetch = (input, init) => {
    asked++
    return fetch(input, init)
  }
  const context = { company: made.keys }
  for (const local of [false, true]) {
    const tollgate = clientOf(t, client, { local, fetch: counted })
    await tollgate.ready()
    const standing = await tollgate.standing(context)
    asked = 0
    t.match(render(tollgate, standing), {
      beta: true,
      absent: true,
      exports: [true, false, 2, 5, 3],
      images: 10,
      credits: [10],
      plan: local ? null : plan.name,
      client: true,
    })
    t.equal(asked, 0)
  }
  const watch = new Watch(clientOf(t, client), context)
  const changed = (holds: () => boolean) =>
    new Promise<void>(resolve => {
      const stop = watch.subscribe(() => {
        if (!holds()) return
        resolve()
        stop()
      })
    })
  const usage = () => watch.current().flags.get('exports')?.feature_usage
  const first = changed(() => usage() === 2)
  await first
  const before = watch.current()
  t.equal(watch.current(), before, 'the same object until something changes')
  const next = changed(() => usage() === 5)
  await client.ok('POST', '/events', {
    event_type: 'track',
    body: { event: 'export', company: made.keys, quantity: 3 },
  })
  await next
  t.equal(watch.current().flags.get('exports')?.value, false)
})

t.test('C6 until the first answer, in tests, and without a provider', async t => {
  const offline = new Tollgate({ offline: true, values: { beta: true } })
  t.match(render(offline), { beta: false, exports: [false, true, null, null, null], credits: [] })
  t.match(render(offline, await offline.standing()), {
    beta: true,
    exports: [false, false, null, null, null],
  })
  t.throws(() => renderToString(h(Page)), { message: /need a provider/ })
})
