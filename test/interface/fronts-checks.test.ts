// Bulk checks and evaluations of OpenFeature over two fronts: the answer of an extra front is the main thread's, byte for byte,
// and costs the same tokens.
import t, { type Test } from 'tap'
import { chooseServer } from '../../src/front/http/apps/native.js'
import { bootstrapKey, type Client, startHere } from '../harness.js'
import { Random, times } from '../random.js'
import { type Answer, Connections, mainThreadTakesToo } from './connections.js'
import { makeFlag, rule } from './flags.js'

const skip = chooseServer('auto').native ? false : 'the native server does not load here'

// its answers are what the fronts' are compared with
mainThreadTakesToo(t)

const bulkPath = '/flags/check-bulk'
const ofrepPath = '/ofrep/v1/evaluate/flags'

/** Two fronts that know both keys; a flag that is on for companies of a tier, and three companies with a user each. */
async function prepare(t: Test, settings: Record<string, string> = {}) {
  const { client, tollgate } = await startHere(t, { TOLLGATE_FRONTS: '2', TOLLGATE_SHARDS: '2', ...settings })
  const connections = new Connections(tollgate.port)
  t.teardown(() => connections.close())
  await makeFlag(client, 'first', true)
  for (const slug of ['c0', 'c1', 'c2']) {
    await client.ok('POST', '/companies', { keys: { slug, id: `id-${slug}` }, traits: { tier: 'gold' } })
    await client.ok('POST', '/users', {
      keys: { id: `user-of-${slug}`, email: `${slug}@x` },
      company: { slug },
    })
  }
  const publicKey = await publicKeyOf(client)
  await connections.elsewhere(publicKey)
  const are = await connections.elsewhere()
  t.ok(are.includes(true) && are.includes(false), `connections of both: ${are}`)
  return { client, tollgate, connections, publicKey, elsewhere: are.indexOf(true), here: are.indexOf(false) }
}

async function publicKeyOf(client: Client): Promise<string> {
  const { environment_id: id } = await client.ok('GET', '/whoami')
  const listed = await client.ok('GET', `/api-keys?limit=250&require_environment=true&environment_id=${id}`)
  return listed.find((key: { secret?: string }) => key.secret?.startsWith('pk_')).secret
}

interface Asked {
  readonly path: string
  readonly text: string
  readonly headers: Readonly<Record<string, string>>
}

const goodContexts = [
  { company: { slug: 'c0' } },
  { company: { slug: 'c1' }, user: { email: 'c1@x' } },
  { company: { id: 'id-c2' } },
  { user: { id: 'user-of-c0' } },
  {},
]
const oddContexts = [
  { company: { slug: 'nobody' } },
  { company: { slug: 'c0', id: 'id-c1' } },
  { company: 'c0' },
  { company: { slug: 'c0' }, preflight: { usage: 1 } },
  5,
]
const goodEvaluated = [
  { company: { slug: 'c0' } },
  { companyKey: 'id-c1' },
  { companyKey: 'c2', companyKeyName: 'slug', targetingKey: 'user-of-c2' },
  { company: { slug: 'c1' }, user: { email: 'c1@x' }, other: [5] },
  {},
]
const oddEvaluated = [{ targetingKey: 'nobody' }, { company: 'c0' }, { company: { slug: 'c0', id: 'id-c1' } }]

function anyRequest(random: Random, publicKey: string): Asked {
  const key = random.chance(0.5) ? publicKey : bootstrapKey
  const isOdd = random.chance(0.2)
  const service = { 'X-Service-Api-Key': key }
  if (random.chance(0.5)) {
    const count = random.below(key === publicKey && !isOdd ? 11 : 14)
    const contexts: unknown[] = Array.from({ length: count }, () => random.pick(goodContexts))
    if (isOdd) contexts.push(random.pick(oddContexts))
    return { path: bulkPath, text: JSON.stringify({ contexts }), headers: service }
  }
  const headers = random.chance(0.5) ? service : { Authorization: `Bearer ${key}` }
  const path = random.chance(0.3)
    ? ofrepPath
    : `${ofrepPath}/${random.pick(['first', 'gold', 'nothing', 'a%20b'])}`
  const context = random.pick<object>(isOdd ? oddEvaluated : goodEvaluated)
  const text = isOdd && random.chance(0.2) ? '{' : JSON.stringify({ context })
  return { path, text, headers }
}

/** The parts of an answer that must be the same: an id of the request and what is left of the budget differ. */
const shown = ({ status, headers, text }: Answer) => ({
  status,
  text,
  headers: Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(date|x-request-id|x-ratelimit-.*)$/.test(name)),
  ),
})

t.test('FE-92 bulk checks and OpenFeature have the same answer on each front', { skip }, async t => {
  const { client, connections, publicKey, elsewhere, here } = await prepare(t)
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
  const random = new Random()
  t.comment(`seed ${random.seed}`)
  for (let step = 0; step < times(30); step++) {
    if (random.chance(0.2)) {
      const slug = random.pick(['c0', 'c1', 'c2'])
      const tier = random.pick(['gold', 'none'])
      await connections.send(random.below(connections.count), 'POST', '/companies', {
        keys: { slug },
        traits: { tier },
      })
    } else if (random.chance(0.1)) {
      const rules = random.chance(0.5) ? [rule('gold', [gold])] : []
      await connections.send(random.below(connections.count), 'PUT', `/flags/${flag.id}/rules`, { rules })
    }
    const { path, text, headers } = anyRequest(random, publicKey)
    const send = (on: number, more: object = {}) =>
      connections.sendText(on, 'POST', path, text, { ...headers, ...more })
    const answers = [await send(elsewhere), await send(here), await send(elsewhere)].map(shown)
    t.same(answers[0], answers[1], `step ${step}: ${path} ${text}`)
    t.same(answers[2], answers[1])
    const etag = answers[1]!.headers.etag
    if (etag !== undefined) {
      const same = [elsewhere, here].map(on => send(on, { 'If-None-Match': `"x", W/${etag}` }))
      const [one, other] = (await Promise.all(same)).map(shown)
      t.equal(one!.status, 304)
      t.same(one, other)
    }
    if (!t.passing()) return
  }
})

t.test('an extra front answers bulk checks and OpenFeature itself', { skip }, async t => {
  const { tollgate, connections, publicKey, elsewhere } = await prepare(t)
  const before = await connections.passedOn()
  for (const key of [bootstrapKey, publicKey]) {
    const send = (path: string, body: unknown) => connections.send(elsewhere, 'POST', path, body, key)
    const bulk = await send(bulkPath, { contexts: goodContexts })
    t.equal(bulk.status, 201)
    t.equal(bulk.body.data.data.length, goodContexts.length)
    for (const context of goodEvaluated) {
      t.equal((await send(ofrepPath, { context })).status, 200)
      t.equal((await send(`${ofrepPath}/first`, { context })).status, 200)
    }
    t.match(await send(`${ofrepPath}/nothing`, {}), { status: 404, body: { errorCode: 'FLAG_NOT_FOUND' } })
  }
  const passed = await connections.passedOn()
  const ofThese = (counts: ReadonlyMap<string, number>) =>
    [...counts].filter(([name]) => name.includes(bulkPath) || name.includes(ofrepPath))
  t.same(ofThese(passed), ofThese(before), 'none was passed on')

  // its companies are not in memory for a while: the main thread has them loaded
  const { shards } = tollgate.services.shards as unknown as {
    shards: { readonly thread: { destroy(): Promise<unknown> } | null }[]
  }
  for (const { thread } of shards) await thread!.destroy()
  for (let tries = 0; ; tries++) {
    const { status, body } = await connections.send(elsewhere, 'POST', bulkPath, { contexts: goodContexts })
    if (status === 503 && tries < 200) {
      await new Promise(resolve => setTimeout(resolve, 25))
      continue
    }
    t.equal(status, 201, JSON.stringify(body))
    t.equal(body.data.data.length, goodContexts.length)
    break
  }
})

t.test('AL-52 a bulk check costs the same tokens on each front', { skip }, async t => {
  // so slow a rate that time adds no token while the test runs
  const settings = { TOLLGATE_LIMITS: '{"global":[0.0001,2000],"mutation":[0.0001,2000]}' }
  const { connections, elsewhere, here } = await prepare(t, settings)
  const left = ({ headers }: Answer) => Number(headers['x-ratelimit-remaining'])
  const bulk = (on: number, contexts: readonly unknown[]) =>
    connections.send(on, 'POST', bulkPath, { contexts })
  const ten = Array.from({ length: 10 }, () => ({ company: { slug: 'c0' } }))
  const passedOn = [...ten.slice(1), { company: { slug: 'nobody' } }]
  let before = left(await bulk(here, ten))
  for (const [on, contexts] of [
    [elsewhere, ten],
    [elsewhere, passedOn],
    [here, ten],
    [elsewhere, ten],
  ] as const) {
    const answer = await bulk(on, contexts)
    t.equal(answer.status, 201)
    t.equal(left(answer), before - 10, 'each of them ten, told before the last nine are taken')
    before = left(answer)
  }
  const many = Array.from({ length: 100 }, () => ({ company: { slug: 'c0' } }))
  let taken = 0
  for (let turn = 0; ; turn++) {
    const { status, headers, body } = await bulk(turn % 2 ? here : elsewhere, many)
    if (status !== 201) {
      t.equal(status, 429)
      t.equal(body.bucket, 'global')
      t.ok(Number(headers['retry-after']) >= 1)
      break
    }
    taken++
  }
  t.equal(taken, Math.ceil((before - 9) / 100), 'the last one may overdraw what is left, and none after it')
  const after = await Promise.all([elsewhere, here].map(on => bulk(on, [])))
  t.same(
    after.map(({ status }) => status),
    [429, 429],
  )
})
