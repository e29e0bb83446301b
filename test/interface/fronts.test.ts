// Two fronts are one service: what one has acknowledged the other shows at once, and budgets are shared to the token.
import t from 'tap'
import { chooseServer } from '../../src/front/http/apps/native.js'
import { startHere } from '../harness.js'
import { Random } from '../random.js'
import { Connections, mainThreadTakesToo } from './connections.js'
import { makeFlag, rule } from './flags.js'

const skip = chooseServer('auto').native ? false : 'the native server does not load here'

// its answers are what the fronts' are compared with
mainThreadTakesToo(t)

t.test('what one front acknowledged the other shows at once', { skip }, async t => {
  const { client, tollgate } = await startHere(t, { TOLLGATE_FRONTS: '2' })
  const connections = new Connections(tollgate.port)
  t.teardown(() => connections.close())
  await makeFlag(client, 'first', true)
  await client.ok('POST', '/companies', { keys: { slug: 'c0' }, traits: { tier: 'none' } })
  // Postgres may have it a moment later
  let trait: { readonly id: string } | undefined
  while (trait === undefined) [trait] = await client.ok('GET', '/entity-trait-definitions')
  const gold = {
    condition_type: 'trait',
    operator: 'eq',
    trait_id: trait.id,
    trait_value: 'gold',
    resource_ids: [],
  }
  const flag = await makeFlag(client, 'gold', false, [rule('gold', [gold])])
  const are = await connections.elsewhere()
  t.ok(are.includes(true) && are.includes(false), `connections of both: ${are}`)

  const random = new Random()
  t.comment(`seed ${random.seed}`)
  const any = (count: number) => random.below(count)
  const slugs = ['c0', 'c1', 'c2']
  const tiers = new Map<string, string>([['c0', 'none']])
  let isOn = true
  const keys: { readonly id: string; readonly secret: string }[] = []
  const expected = (slug: string) => tiers.has(slug) && isOn && tiers.get(slug) === 'gold'
  for (let step = 0; step < 120; step++) {
    const on = any(connections.count)
    const slug = slugs[any(3)]!
    const what = any(10)
    if (what < 5) {
      const tier = ['gold', 'none'][any(2)]!
      const made = await connections.send(on, 'POST', '/companies', { keys: { slug }, traits: { tier } })
      t.equal(made.status, 200)
      tiers.set(slug, tier)
    } else if (what < 7) {
      const gone = await connections.send(on, 'POST', '/companies/delete', { keys: { slug } })
      t.equal(gone.status < 300, tiers.has(slug), JSON.stringify(gone.body))
      tiers.delete(slug)
    } else if (what < 9) {
      isOn = !isOn
      const rules = isOn ? [rule('gold', [gold])] : []
      t.equal((await connections.send(on, 'PUT', `/flags/${flag.id}/rules`, { rules })).status, 200)
    } else if (keys.length === 0 || any(2) === 0) {
      const { body } = await connections.send(on, 'POST', '/api-keys', { name: `k${step}`, scopes: ['read'] })
      keys.push({ id: body.data.id, secret: body.data.secret })
    } else {
      const { id, secret } = keys.pop()!
      await Promise.all(
        are.map((_, i) => connections.send(i, 'POST', '/flags/first/check', { company: { slug } }, secret)),
      )
      t.equal((await connections.send(on, 'DELETE', `/api-keys/${id}`)).status < 300, true)
      const after = await Promise.all(
        are.map((_, i) => connections.send(i, 'POST', '/flags/first/check', {}, secret)),
      )
      t.ok(
        after.every(({ status }) => status === 401),
        'a deleted key is refused everywhere',
      )
    }
    const answers = await Promise.all(
      are.map((_, i) => connections.send(i, 'POST', '/flags/gold/check', { company: { slug } })),
    )
    const wrong = answers.filter(({ status, body }) => status !== 200 || body.data.value !== expected(slug))
    t.equal(wrong.length, 0, `step ${step}: ${slug} is ${expected(slug)}`)
    if (wrong.length > 0) return
  }
})

t.test('AL-41 a publishable key has one budget over all fronts, and servers another', { skip }, async t => {
  // so slow a rate that time adds no token while the test runs
  const rates = '{"global":[0.0001,3000],"events_ingest":[0.0001,300]}'
  const { tollgate, client } = await startHere(t, { TOLLGATE_FRONTS: '2', TOLLGATE_LIMITS: rates })
  const connections = new Connections(tollgate.port)
  t.teardown(() => connections.close())
  await makeFlag(client, 'first', true)
  await client.ok('POST', '/companies', { keys: { slug: 'c0' } })
  const { environment_id } = await client.ok('GET', '/whoami')
  const path = `/api-keys?limit=250&require_environment=true&environment_id=${environment_id}`
  const { secret } = (await client.ok('GET', path)).find((one: { secret?: string }) =>
    one.secret?.startsWith('pk_'),
  )
  const check = (on: number, key?: string) =>
    connections.send(on, 'POST', '/flags/first/check', { company: { slug: 'c0' } }, key)
  const event = (on: number) =>
    connections.send(
      on,
      'POST',
      '/events',
      { event_type: 'track', body: { event: 'a', company: { slug: 'c0' } } },
      secret,
    )
  const left = Number((await check(0, secret)).headers['x-ratelimit-remaining'])
  const counted = (answers: readonly { readonly status: number }[], status: number) =>
    answers.filter(one => one.status === status).length
  const events = await Promise.all(Array.from({ length: 330 }, (_, on) => event(on)))
  t.equal(counted(events, 201), 300, 'events are admitted to the token')
  t.equal(counted(events, 429), 30)
  // each front knows the key afterwards
  const are = await connections.elsewhere(secret)
  t.ok(are.includes(true) && are.includes(false), `connections of both: ${are}`)
  const passed = Number((await check(1, secret)).headers['x-ratelimit-remaining'])
  t.ok(passed < left && passed > 0, `${passed} of ${left} are left`)
  const checks = await Promise.all(Array.from({ length: passed + 100 }, (_, on) => check(on, secret)))
  t.equal(counted(checks, 200), passed, 'checks are admitted to the token')
  t.equal(counted(checks, 429), 100)
  const refused = await Promise.all(are.map((_, on) => check(on, secret)))
  t.equal(counted(refused, 429), are.length)
  t.ok(
    refused.some(({ headers }) => /-f\d+_/.test(String(headers['x-request-id']))),
    'each front refuses',
  )
  t.equal((await check(0)).status, 200, 'a server’s key has what it had')
  t.equal((await check(1)).status, 200)
})

t.test('budgets are exact over fronts, and one page has the figures of all', { skip }, async t => {
  // so slow a rate that time adds no token while the test runs
  const { tollgate, client } = await startHere(t, {
    TOLLGATE_FRONTS: '2',
    TOLLGATE_LIMITS: '{"global":[0.0001,1000]}',
  })
  const connections = new Connections(tollgate.port)
  t.teardown(() => connections.close())
  await makeFlag(client, 'first', true)
  const are = await connections.elsewhere()
  t.ok(are.includes(true) && are.includes(false), `connections of both: ${are}`)
  const counted = async () => {
    const text = await (await fetch(`http://127.0.0.1:${tollgate.port}/metrics`)).text()
    const number = (line: RegExp) => Number(line.exec(text)?.[1] ?? 0)
    return {
      checks: number(/^tollgate_flag_checks_total (\d+)/m),
      passed: number(
        /^tollgate_http_requests_total\{route="POST \/flags\/:key\/check",status="200"\} (\d+)/m,
      ),
      timed: number(/^tollgate_http_request_seconds_count\{route="POST \/flags\/:key\/check"\} (\d+)/m),
      refused: number(
        /^tollgate_http_requests_total\{route="POST \/flags\/:key\/check",status="429"\} (\d+)/m,
      ),
    }
  }
  // the page is made anew after a second
  const madeAnew = () => new Promise(resolve => setTimeout(resolve, 1_100))
  await madeAnew()
  const before = await counted()
  const left = Number(
    (await connections.send(0, 'POST', '/flags/first/check', {})).headers['x-ratelimit-remaining'],
  )
  t.ok(left > 300, `${left} tokens are left`)
  const sent = left + 160
  const answers = await Promise.all(
    Array.from({ length: sent }, (_, i) => connections.send(i, 'POST', '/flags/first/check', {})),
  )
  const passed = answers.filter(({ status }) => status === 200).length
  t.equal(passed, left, 'admitted is what there was, to the token')
  t.equal(answers.filter(({ status }) => status === 429).length, 160)
  for (const { status, headers, body } of answers)
    if (status === 429) {
      t.match(body, { bucket: 'global' })
      t.ok(Number(headers['retry-after']) >= 1)
      break
    }
  await madeAnew()
  const after = await counted()
  t.equal(after.checks - before.checks, passed + 1, 'checks of both')
  t.equal(after.passed - before.passed, passed + 1)
  t.equal(after.refused - before.refused, 160)
  t.equal(after.timed - before.timed, sent + 1)
})

t.test('the page of metrics tells what fronts pass on, and why', { skip }, async t => {
  const { tollgate, client } = await startHere(t, { TOLLGATE_FRONTS: '2' })
  const connections = new Connections(tollgate.port)
  t.teardown(() => connections.close())
  await makeFlag(client, 'first', true)
  await client.ok('POST', '/companies', { keys: { slug: 'c0' } })
  const are = await connections.elsewhere()
  const [elsewhere, here] = [are.indexOf(true), are.indexOf(false)]
  t.ok(elsewhere >= 0 && here >= 0, `connections of both: ${are}`)
  const before = await connections.passedOn()
  const check = '/flags/first/check'
  for (const on of [elsewhere, here]) {
    const send = (path: string, body?: unknown, method = 'POST') =>
      connections.send(on, method, path, body).then(({ status }) => status)
    t.equal(await send(check, { company: { slug: 'c0' } }), 200, 'a front answers it')
    t.equal(await send(check, { company: { slug: 'nobody' } }), 200)
    t.equal(await send(check, { company: 'nobody' }), 400)
    t.equal(await send(`${check}?report=true`, {}), 200)
    t.equal(await send('/event-batch', { events: [{ event_type: 'track' }] }), 201)
    t.equal(await send('/companies', undefined, 'GET'), 200)
  }
  const after = await connections.passedOn()
  const more = [...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const)
  const ofCheck = 'POST /flags/:key/check'
  t.same(
    new Map(more.filter(([, count]) => count > 0)),
    new Map([
      [`${ofCheck} head`, 1],
      [`${ofCheck} body`, 1],
      [`${ofCheck} names`, 1],
      ['POST /event-batch body', 1],
      // and the page itself, where a front had its connection
      ['other route', after.get('other route')! - (before.get('other route') ?? 0)],
    ]),
  )
  t.ok(after.get('other route')! > (before.get('other route') ?? 0), 'a list is passed on')
})
