// Explanations over HTTP: of all flags of a company, and of instants that are past, ahead, or not kept.
import t from 'tap'
import { publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'

const { client } = await startHere(t)
// biome-ignore lint/suspicious/noExplicitAny: bodies are looked at member by member in tests
type Body = any

const { environment_id: environmentId } = await client.ok('GET', '/whoami')
const calls = await client.ok('POST', '/features', {
  name: 'Calls',
  description: '',
  feature_type: 'event',
  event_subtype: 'call',
})
const plan = await publishedPlan(client, 'Team', [
  { feature_id: calls.id, value_type: 'numeric', value_numeric: 2, metric_period: 'current_day' },
])
const setClock = (now: string) =>
  client.ok('PUT', `/environments/${environmentId}/clock`, { now, frozen: true })
const company = { slug: 'acme' }
const use = (more: object = {}) =>
  client.ok('POST', '/events', { event_type: 'track', body: { event: 'call', company }, ...more })
const why = (body: object) => client.ok('POST', '/flags/calls/explain', body)

await setClock('2031-03-03T10:00:00Z')
const { id } = await client.ok('POST', '/companies', {
  name: 'Acme',
  keys: company,
  traits: { tier: 'gold' },
})
await client.ok('PUT', `/company-plans/${id}`, { base_plan_id: plan.id })
await setClock('2031-03-03T11:00:00Z')
for (let i = 0; i < 2; i++) await use()
await setClock('2031-03-03T12:00:00Z')

t.test(
  'EX-1 EX-3 a company is explained flag by flag, as its checks say, and nothing is counted',
  async t => {
    await client.ok('POST', '/flags', {
      key: 'beta',
      name: 'Beta',
      description: '',
      default_value: true,
      flag_type: 'boolean',
    })
    const all: Body[] = await client.ok('GET', `/companies/${id}/explain`)
    t.same(
      all.map(one => [one.flag, one.value]),
      [
        ['beta', true],
        ['calls', false],
      ],
    )
    for (const one of all) {
      const checked = await client.ok('POST', `/flags/${one.flag}/check`, { company })
      t.match(one, { value: checked.value, reason: checked.reason, rule_id: checked.rule_id })
    }
    t.match(await client.ok('GET', `/companies/${id}/explain?flag_key=calls`), [{ flag: 'calls' }])
    t.match(await client.ok('GET', `/companies/${id}/explain?limit=1&offset=1`), [{ flag: 'calls' }])
    t.equal((await client.get(`/companies/${id}/explain?flag_key=none`)).status, 404)
    t.equal((await client.get('/companies/comp_none/explain')).status, 404)
    t.equal((await client.get(`/companies/${id}/explain?user_id=user_none`)).status, 404)
  },
)

t.test('EX-2 the smallest change is a limit, or time', async t => {
  const { smallest_change: change } = await why({ company })
  t.match(change, { text: /a limit of at least 3/, at: '2031-03-04T00:00:00.000Z' })
})

t.test('EX-6 at each instant the definitions, plans, keys, traits and use of that time count', async t => {
  await setClock('2031-03-04T12:00:00Z')
  // late: it is dated on the day before and received now
  await use({ sent_at: '2031-03-03T10:30:00Z', trusted_client_clock: true })
  await client.ok('PUT', `/company-plans/${id}`, { base_plan_id: null })
  await client.ok('POST', '/companies', { keys: { slug: 'acme' }, traits: { tier: 'tin' } })
  await client.ok('PUT', `/flags/${(await client.ok('GET', '/flags?q=calls'))[0].id}`, {
    default_value: true,
  })
  const saw = ({ rules }: Body) => rules.flatMap((rule: Body) => rule.conditions.map((one: Body) => one.saw))
  const before = await why({ company, at: '2031-03-03T10:30:00Z' })
  t.equal(before.value, true)
  t.ok(saw(before).includes('0'))
  const then = await why({ company, at: '2031-03-03T11:00:00Z' })
  t.match(then, { value: false, at: '2031-03-03T11:00:00.000Z', company_id: id })
  t.ok(saw(then).includes('2'), 'what was received later does not count')
  const now = await why({ company })
  t.match(now, { value: true, rules: [] })
  t.match(await client.ok('GET', `/companies/${id}/explain?at=2031-03-03T11:00:00Z&flag_key=calls`), [
    { value: false, reason: then.reason, rule_id: then.rule_id },
  ])
})

t.test('EX-7 an instant from which not everything is kept is refused, with the reason', async t => {
  const refused = async (body: object, error: RegExp) => {
    const answer = await client.post('/flags/calls/explain', body)
    t.equal(answer.status, 400)
    t.match(answer.body.error, error)
  }
  await refused({ company, at: '2032-01-01T00:00:00Z' }, /^at: the instant lies ahead/)
  await refused({ company, at: '2020-01-01T00:00:00Z' }, /^at: nothing is kept from before 20/)
  await refused({ company, at: 'yesterday' }, /at/)
  const other = { slug: 'gone' }
  const made = await client.ok('POST', '/companies', { name: 'Gone', keys: other })
  t.match(await why({ company: other, at: '2031-03-03T11:00:00Z' }), { company_id: null })
  t.equal((await client.get(`/companies/${made.id}/explain?at=2031-03-03T11:00:00Z`)).status, 404)
  await setClock('2031-03-04T13:00:00Z')
  await client.ok('DELETE', `/companies/${made.id}`)
  await refused({ company: other, at: '2031-03-04T12:00:00Z' }, /may have been deleted since/)
  t.match(
    await why({ company, at: '2031-03-04T12:00:00Z' }),
    { company_id: id },
    'others are explained as before',
  )
})
