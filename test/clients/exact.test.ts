// Integers of 64 bits in answers, as the client's `parseExact` reads them.
import t from 'tap'
import { parseExact } from '../../clients/typescript/src/index.js'
import { publishDraftOf } from '../control/planned.js'
import { startHere } from '../harness.js'
import { Random } from '../random.js'
import { clientOf } from './make.js'

t.test('long: an answer read as text keeps every digit', async t => {
  const { client } = await startHere(t)
  const tollgate = clientOf(t, client, { local: false })
  const { id } = await client.ok('POST', '/plans', { name: 'Long', plan_type: 'plan' })
  const response = await fetch(`${client.url}/plans/${id}/billing_products`, {
    method: 'PUT',
    headers: { 'X-Service-Api-Key': client.key, 'Content-Type': 'application/json' },
    body: '{"charge_type":"recurring","is_trialable":false,"monthly_price":9007199254740993,"yearly_price":12}',
  })
  t.equal(response.status, 200)
  await publishDraftOf(client, id)
  const named = { params: { path: { plan_id: id } } } as const
  const { data: text } = await tollgate.api.GET('/plans/{plan_id}', { ...named, parseAs: 'text' })
  const prices = (answer: unknown) =>
    (answer as { data: Record<'monthly_price' | 'yearly_price', { price: unknown }> }).data
  const exact = prices(parseExact(text!))
  t.equal(exact.monthly_price.price, 9007199254740993n)
  t.equal(exact.yearly_price.price, 12, 'a number where it is exact')
  const { data } = await tollgate.api.GET('/plans/{plan_id}', named)
  t.equal(prices(data).monthly_price.price, 9007199254740992, 'without it the number is rounded')
})

t.test('what JSON.parse reads exactly is the same; integers beyond are bigints', async t => {
  for (const [text, value] of [
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', 9007199254740992n],
    ['-9223372036854775808', -9223372036854775808n],
    ['[1e21,0.1,-0.5,1E2,12345678901234567890.5]', [1e21, 0.1, -0.5, 100, 12345678901234567000]],
    ['{"9007199254740993":"9007199254740993"}', { '9007199254740993': '9007199254740993' }],
    ['"a \\"9007199254740993\\" \\\\"', 'a "9007199254740993" \\'],
    ['["#9007199254740993",9007199254740993]', ['#9007199254740993', 9007199254740993n]],
    ['["\\u00239007199254740993",9007199254740993]', ['#9007199254740993', 9007199254740993n]],
    ['["###1","#\\u00231",99999999999999999999]', ['###1', '##1', 99999999999999999999n]],
  ] as const)
    t.strictSame(parseExact(text), value, text)
  for (const text of ['', '{', '[1,]', '01', '9007199254740993x', '"9007199254740993'])
    t.throws(() => parseExact(text), SyntaxError, text)
})

t.test('any JSON without large integers is read as JSON.parse reads it', async t => {
  const random = new Random()
  const characters = ['"', '\\', '#', '7', '-', '.', 'e', '\n', 'ä', '{', ':', '\u0001', '90071992547409931']
  const text = () => Array.from({ length: random.below(6) }, () => random.pick(characters)).join('')
  const value = (depth: number): unknown => {
    const kind = random.below(depth > 3 ? 4 : 6)
    if (kind === 0) return text()
    if (kind === 1) return random.below(1_000_000) - 500_000
    if (kind === 2) return (random.next() - 0.5) * 10 ** random.below(30)
    if (kind === 3) return random.pick([null, true, false])
    const items = Array.from({ length: random.below(5) }, () => value(depth + 1))
    return kind === 4 ? items : Object.fromEntries(items.map(item => [text(), item]))
  }
  for (let i = 0; i < 2_000; i++) {
    const made = JSON.stringify(value(0), (_, one: unknown) =>
      typeof one === 'number' && Number.isInteger(one) && !Number.isSafeInteger(one) ? 0 : one,
    )
    t.strictSame(parseExact(made), JSON.parse(made), made)
  }
})
