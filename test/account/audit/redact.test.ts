// Redaction of bodies and addresses in the audit log: secrets by name in every spelling, and by shape.
import t from 'tap'
import { keptBytesMax, redactBody, redactQuery, redactText } from '../../../src/account/audit/redact.js'
import { newKeyValue } from '../../../src/account/key-value.js'

t.test('security 10 secrets are known by their names, however they are spelled', async t => {
  for (const name of [
    'apiKey',
    'api_key',
    'API-KEY',
    'secret_key',
    'secretKey',
    'private_key',
    'PrivateKey',
    'password',
    'dbPassword',
    'passphrase',
    'client_secret',
    'access_token',
    'accessToken',
    'Authorization',
    'credentials',
    'pin',
  ])
    for (const value of ['x', 12_345, ['x'], { a: 'x' }])
      t.equal(redactBody(JSON.stringify({ [name]: value })), JSON.stringify({ [name]: '***' }), name)
  const plain = {
    keys: { slug: 'acme' },
    key: 'flag-key',
    require_context_signature: true,
    tokens: 5,
    has_password: true,
    idempotency_key: 'order-1',
  }
  t.equal(redactBody(JSON.stringify(plain)), JSON.stringify(plain))
  t.equal(redactBody('{"a":1, "apiKey" :  12345, "b": "cut'), '{"a":1, "apiKey" : "***", "b": "cut')
})

t.test('security 10 secrets are recognised by their shapes, at any place', async t => {
  const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P'
  for (const secret of [
    newKeyValue('secret', 'production'),
    newKeyValue('publishable', null),
    'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    'Bearer abcdefghijklmnop',
    jwt,
    'c4f1a9d27be85063f9e2b7a14d6c8305',
    'Zm9vYmFyQmF6MTIzNDU2Nzg5MA4tVxQ7',
    'k3j5h2g7f9d1s4a6p8o0i2u4y6t8',
    '-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----',
  ]) {
    t.notOk(redactText(`see ${secret}, please`).includes(secret), secret)
    t.match(redactText(`see ${secret}, please`), /^see .*\*\*\*.*, please$/s)
    t.notOk(
      redactBody(JSON.stringify({ description: secret })).includes(secret.split('\n')[1] ?? secret),
      secret,
    )
  }
  for (const plain of [
    'A feature for seats',
    'comp_5tRw8NdJk1V',
    '0b1f7c7e-3a0f-4e6e-9f5d-2f6f0c2b7a11',
    '2026-11-23T02:00:00.000Z',
    'billing-linked-plan-entitlement-of-the-year',
    'https://example.com/hooks/tollgate',
    'internationalisation',
  ])
    t.equal(redactText(plain), plain)
})

t.test('security 10 addresses that are secrets: user, query, and long parts of the path', async t => {
  t.equal(
    redactText(
      'to https://user:pw@hooks.example.com/services/T000/B000/a8f5f167f44f4964e6c998de?token=x&y=1 now',
    ),
    'to https://***@hooks.example.com/services/T000/B000/***?token=***&y=*** now',
  )
  t.equal(redactQuery('/flags?q=one&apiKey=two&limit=3'), '/flags?q=one&apiKey=***&limit=3')
  for (const name of ['api%5Fkey', 'api%5fk%65y', '%73ecret', 'api+key', 'p%61ssword%ZZ'])
    t.equal(redactQuery(`/flags?q=one&${name}=two`), `/flags?q=one&${name}=***`, name)
  for (const value of [
    'sk%5Fprod%5Fabcdefgh12',
    'Bearer%20abcdefgh12',
    'bearer+abcdefgh12',
    '%73k_prod_abcdefgh12',
  ])
    t.equal(redactQuery(`/flags?q=${value}`), '/flags?q=***', value)
  t.equal(
    redactQuery('/flags?q=a%20b&name=x+y&%ZZ=%'),
    '/flags?q=a%20b&name=x+y&%ZZ=%',
    'others as they were',
  )
})

t.test('security 10 padding cannot blind it: blanks, long texts, depth', async t => {
  t.equal(redactBody(`{${' '.repeat(20_000)}"name":"x"}`), '{"name":"x"}')
  t.match(redactBody(`{"a":"${'y'.repeat(20_000)}","name":"x"}`), /20000 characters\)","name":"x"\}$/)
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`a${i}`, 'y '.repeat(2_000)]))
  t.match(redactBody(JSON.stringify({ ...many, name: 'x' })), /"name":"x"\}$/)
  t.ok(Buffer.byteLength(redactBody(JSON.stringify({ t: 'ü'.repeat(100_000) }))) <= keptBytesMax)
  t.ok(redactBody('['.repeat(100_000)).length <= keptBytesMax)
  t.ok(redactBody('['.repeat(50_000) + ']'.repeat(50_000)).length < 200)
  t.equal(redactBody('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}')
})
