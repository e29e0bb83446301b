// Features beside checks and events: several flags, fixed values, past use, holds, webhooks.
import { createHmac } from 'node:crypto'
import t from 'tap'
import { Tollgate, type TollgateError, verifyWebhook } from '../../clients/typescript/src/index.js'
import { publishedPlan } from '../control/planned.js'
import { startHere } from '../harness.js'
import { CreditWorld } from '../interface/credit-world.js'
import { makeFlag } from '../interface/flags.js'
import { clientOf } from './make.js'

t.setTimeout(120_000)

const { client } = await startHere(t)
const world = new CreditWorld(client)
await makeFlag(client, 'on', true)
await makeFlag(client, 'off', false)

const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    (error: TollgateError) => error.code,
  )

t.test('C6 several flags in one request, and here', async t => {
  let asked = 0
  const counted: typeof fetch = (input, init) => {
    asked++
    return fetch(input, init)
  }
  for (const local of [false, true]) {
    asked = 0
    const tollgate = clientOf(t, client, { local, fetch: counted, logger: null })
    await tollgate.ready()
    const found = await tollgate.checkFlags(['off', 'on', 'none'], {})
    t.strictSame(Object.keys(found), ['off', 'on', 'none'])
    t.match(found, {
      on: { value: true },
      off: { value: false },
      none: { value: false, source: 'default', error: /not found/i },
    })
    t.equal(found.on!.source, local ? 'local' : 'http')
    t.equal(asked, 1, 'one request at most')
  }
})

t.test('C6 offline: fixed values, defaults, and events that are kept', async t => {
  const tollgate = new Tollgate({
    offline: true,
    values: { exports: true, seats: { value: false, feature_allocation: 5, feature_usage: 5 } },
    defaults: { beta: true },
  })
  await tollgate.ready()
  t.match(await tollgate.check('exports'), { value: true, source: 'fixed', error: null })
  t.match(await tollgate.check('seats'), { value: false, feature_allocation: 5, source: 'fixed' })
  t.match(await tollgate.check('beta'), { value: true, source: 'default' })
  t.equal(await tollgate.isOn('none'), false)
  tollgate.setValue('exports', null)
  t.match(await tollgate.check('exports'), { value: false, source: 'default' })
  t.equal(tollgate.track('call', { idempotencyKey: 'k', company: { slug: 'a' } }), 'k')
  t.match(tollgate.recordedEvents, [{ event_type: 'track', idempotency_key: 'k', body: { event: 'call' } }])
  t.equal(await codeOf(tollgate.reserve('exports', {})), 'offline')
  t.same(
    (await tollgate.checkAll()).map(one => one.flag),
    ['seats', 'beta'],
  )
  t.equal(await tollgate.close(), 0)
})

t.test('C6 fixed values beside a service', async t => {
  const tollgate = clientOf(t, client, { local: false, values: { off: true } })
  t.match(await tollgate.check('off'), { value: true, source: 'fixed' })
  t.match(
    (await tollgate.checkAll()).map(({ flag, value }) => [flag, value]),
    [
      ['off', true],
      ['on', true],
    ],
  )
})

t.test('C6 own idempotency keys, times and past use', async t => {
  const company = { slug: 'past' }
  const { id } = await client.ok('POST', '/companies', { keys: company })
  const tollgate = clientOf(t, client, { local: false })
  for (const _ of [1, 2]) t.equal(tollgate.track('use', { company, idempotencyKey: 'once' }), 'once')
  const days = (count: number) => new Date(Date.now() - count * 86_400_000)
  tollgate.track('use', { company, quantity: 10, at: days(20) })
  tollgate.track('use', { company, quantity: 100, at: days(200).toISOString(), backfill: true })
  await tollgate.flush()
  const { metrics } = await client.ok('GET', `/companies/${id}`)
  const figure = (period: string) =>
    metrics.find(
      (one: { event_subtype: string; period: string }) =>
        one.event_subtype === 'use' && one.period === period,
    )?.value
  t.equal(figure('all_time'), 111)
  t.equal(figure('current_day'), 1)
  t.throws(() => tollgate.track('use', { company, at: 'yesterday' }), { code: 'options_invalid' })
})

t.test('C6 check, then settle or release', async t => {
  const credit = await world.credit()
  const feature = await client.ok('POST', '/features', {
    name: 'Renders',
    description: '',
    feature_type: 'event',
    event_subtype: 'render',
    flag: { key: 'renders', name: 'r', description: '', flag_type: 'boolean', default_value: false },
  })
  const entitlement = {
    feature_id: feature.id,
    value_type: 'credit',
    value_credit_id: credit.id,
    credit_consumption_rate: 2,
    price_behavior: 'credit_burndown',
  }
  const plan = await publishedPlan(client, 'Renders', [entitlement])
  const made = await world.company({ base_plan_id: plan.id })
  await world.grant(made.id, credit.id, 20)
  const tollgate = clientOf(t, client, { local: false })
  const held = await tollgate.reserve('renders', { company: made.keys }, { quantity: 3 })
  t.equal(held.value, true)
  t.match(held.reservation, { credits_reserved: 6, quantity_reserved: 3, event_subtype: 'render' })
  t.same(await world.balance(made.id, credit.id), [14, 6, 20])
  t.type(held.settle({ quantity: 2 }), 'string')
  await tollgate.flush()
  t.same(await world.balance(made.id, credit.id), [16, 0, 16], 'two were used, the third is free')
  t.throws(() => held.settle(), { code: 'request_invalid' })
  const other = await tollgate.reserve('renders', { company: made.keys })
  await other.release()
  await other.release()
  t.same(await world.balance(made.id, credit.id), [16, 0, 16])
  const denied = await tollgate.reserve('renders', { company: made.keys }, { quantity: 100 })
  t.equal(denied.value, false)
  t.equal(denied.reservation, null)
  t.equal(await codeOf(tollgate.reserve('absent', { company: made.keys })), 'not_found')
})

t.test('C6 a page’s client opens nothing before somebody listens', async t => {
  let opened = 0
  const tollgate = clientOf(t, client, {
    local: false,
    signedContext: () => 'v1.none.none',
    webSocket: () => {
      opened++
      throw new Error('no socket')
    },
    logger: null,
  })
  await new Promise(resolve => setImmediate(resolve))
  t.equal(opened, 0, 'modules of pages are loaded on servers, too')
  t.equal(await codeOf(tollgate.ready({ timeoutMs: 50 })), 'not_ready')
  t.equal(opened, 1)
  tollgate.onChange(() => {})()
  await new Promise(resolve => setImmediate(resolve))
  t.equal(opened, 1, 'a listener does not hurry the next attempt')
})

t.test('C6 errors have codes', async t => {
  const away = clientOf(t, client, { url: 'http://127.0.0.1:9', local: false })
  t.equal(await codeOf(away.check('on', {}, { order: ['http'] })), 'unreachable')
  const silent: typeof fetch = (_, init) =>
    new Promise((_, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal!.reason))
    })
  const slow = clientOf(t, client, { local: false, fetch: silent })
  t.equal(await codeOf(slow.check('on', {}, { order: ['http'], timeoutMs: 20 })), 'timeout')
  const wrong = clientOf(t, client, { key: 'sk_dev_wrong', local: false })
  t.equal(await codeOf(wrong.check('on', {}, { order: ['http'] })), 'key_refused')
})

t.test('C6 a webhook is verified, and an altered, old or foreign one is not', async t => {
  const secret = `whsec_${Buffer.from('twenty-four bytes of key').toString('base64')}`
  const payload = '{"type":"company.updated","data":{"id":"comp_1"}}'
  const nowMs = 1_700_000_000_000
  const timestamp = String(nowMs / 1_000)
  const signatureOf = (key: string, text = payload) =>
    `v1,${createHmac('sha256', Buffer.from(key.slice(6), 'base64'))
      .update(`msg_1.${timestamp}.${text}`)
      .digest('base64')}`
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': signatureOf(secret),
  }
  const verify = (more: object) => verifyWebhook({ payload, headers, secret, nowMs, ...more })
  t.match(await verify({}), { type: 'company.updated' })
  t.match(await verify({ payload: Buffer.from(payload), headers: new Headers(headers) }), {
    data: { id: 'comp_1' },
  })
  const next = `whsec_${Buffer.from('another key of 24 bytes!').toString('base64')}`
  const both = { ...headers, 'webhook-signature': `${signatureOf(next)} ${signatureOf(secret)}` }
  await verify({ headers: both })
  await verify({ headers: both, secret: [next] })
  const invalid = async (more: object, message: RegExp) => {
    const error = await verify(more).catch(one => one)
    t.match(error, { code: 'webhook_invalid', message })
  }
  await invalid({ payload: payload.replace('comp_1', 'comp_2') }, /signature/)
  await invalid({ secret: next }, /signature/)
  await invalid({ nowMs: nowMs + 301_000 }, /more than 300 s/)
  await invalid({ nowMs: nowMs - 301_000 }, /more than 300 s/)
  await invalid({ headers: {} }, /webhook-id is missing/)
  await invalid({ headers: { ...headers, 'webhook-signature': 'v1,not base64!' } }, /signature/)
  await invalid(
    { headers: { ...headers, 'webhook-signature': signatureOf(secret).replace('v1', 'v2') } },
    /signature/,
  )
  // security L8: one signature has one text
  const signed = signatureOf(secret)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const last = alphabet[alphabet.indexOf(signed.at(-2)!) ^ 1]
  for (const one of [
    `${signed},junk`,
    `${signed},`,
    signed.slice(0, -1),
    `${signed.slice(0, -2)}${last}=`,
    `${signed}\t`,
  ])
    await invalid({ headers: { ...headers, 'webhook-signature': one } }, /signature/)
  t.equal(await codeOf(verify({ secret: '' })), 'options_invalid')
})
