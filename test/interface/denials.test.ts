// Records of denials: kept beyond the rate of records, within a bound, and found by what they answered.
import t from 'tap'
import { startHere } from '../harness.js'

const { client, tollgate } = await startHere(t, {
  TOLLGATE_FLAG_CHECK_ROWS_PER_SECOND: '0',
  TOLLGATE_DENIED_ROWS_PER_MINUTE: '3',
})
const flag = (key: string, on: boolean) =>
  client.ok('POST', '/flags', { key, name: key, description: '', default_value: on, flag_type: 'boolean' })
await flag('off', false)
await flag('on', true)
for (const slug of ['acme', 'globex']) await client.ok('POST', '/companies', { name: slug, keys: { slug } })
// within one minute of the environment's time
const { environment_id: environmentId } = await client.ok('GET', '/whoami')
await client.ok('PUT', `/environments/${environmentId}/clock`, { now: '2031-05-05T10:00:30Z', frozen: true })

interface Denied {
  readonly company_name: string | null
  readonly checks: number
  readonly left_out: number
}

t.test('EX-5 each company keeps so many denials of a minute, and is told how many it does not', async t => {
  const check = (key: string, body: object) => client.ok('POST', `/flags/${key}/check`, body)
  // different questions, so that none is answered from the cache
  for (let i = 0; i < 8; i++) await check('off', { company: { slug: 'acme' }, preflight: { usage: i + 1 } })
  await check('off', { company: { slug: 'globex' } })
  for (let i = 0; i < 4; i++) await check('on', { company: { slug: 'acme' }, preflight: { usage: i + 1 } })
  await tollgate.services.shards.tellChecks()
  let rows: Denied[] = []
  const seen = () => rows.reduce((sum, { checks }) => sum + checks, 0)
  const records = () => client.ok('GET', '/events?flag_key=off&value=false')
  // what is counted only is told from the records that are there: they are looked for first
  let kept = 0
  for (let i = 0; i < 120 && (seen() < 9 || kept < 4); i++) {
    kept = (await records()).length
    rows = await client.ok(
      'GET',
      `/denied-checks?by=flag&by=company&start_time=2031-05-05T10:00:00Z&end_time=2031-05-05T10:01:00Z&limit=${100 + i}`,
    )
    await new Promise(resolve => setTimeout(resolve, 250))
  }
  const of = (name: string) => rows.find(row => row.company_name === name)
  t.match(of('acme'), { checks: 8, left_out: 5 })
  t.match(of('globex'), { checks: 1, left_out: 0 })
  t.equal((await records()).length, 4, 'three of one company, and one of the other')
})

t.test('EX-4 checks among events are found by flag, value and reason, and counted', async t => {
  t.same(await client.ok('GET', '/events?value=true'), [], 'allowed checks are kept by rate')
  const all = await client.ok('GET', '/events?value=false')
  t.ok(all.every((one: { type: string }) => one.type === 'flag_check'))
  const { reason } = all[0].body
  const named = `reason=${encodeURIComponent(reason)}`
  t.equal((await client.ok('GET', `/events?${named}`)).length, 4)
  t.same(await client.ok('GET', '/events/count?value=false&flag_key=off'), { count: 4 })
  t.same(await client.ok('GET', `/events/count?${named}&flag_key=on`), { count: 0 })
  const window = (from: string, to: string) =>
    client.ok('GET', `/events/count?value=false&start_time=2031-05-05T${from}Z&end_time=2031-05-05T${to}Z`)
  t.same(await window('10:00:30', '10:00:31'), { count: 4 })
  t.same(await window('10:00:31', '10:01:00'), { count: 0 })
  t.same(
    await client.ok('GET', '/events?value=false&event_types=track'),
    [],
    'a type that is asked for holds',
  )
})

t.test(
  'a window outside of the times that stores hold is refused, and one without a start begins in 1970',
  async t => {
    const { id } = await client.ok('POST', '/features', {
      name: 'counted',
      description: '',
      feature_type: 'event',
      event_subtype: 'call',
    })
    const bad = [
      'end_time=1970-01-01T00:00:00Z',
      'start_time=1969-12-31T00:00:00Z&end_time=1970-01-01T00:00:00Z',
      'start_time=2299-12-30T00:00:00Z&end_time=2300-01-01T00:00:00Z',
      'end_time=9999-12-31T00:00:00Z',
    ]
    for (const path of ['/denied-checks?', '/flag-checks?', `/top-companies?feature_id=${id}&`, '/costs?']) {
      for (const window of bad) t.equal((await client.get(path + window)).status, 400, path + window)
      t.equal((await client.get(`${path}end_time=1970-01-01T12:00:00Z`)).status, 200, path)
    }
  },
)
