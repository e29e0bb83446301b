// Keys, environments, scopes, and the order of judgement: AL-10…14, AL-20…23, AL-30.
import t from 'tap'
import { addressList } from '../../../../src/account/address-blocks.js'
import { ServiceError } from '../../../../src/errors.js'
import { admit } from '../../../../src/front/http/admission/admit.js'
import { defaultLimits, Limits } from '../../../../src/front/http/admission/limits.js'
import { get, post, put, type Route } from '../../../../src/front/http/routing/route.js'
import type { EnvironmentRecord, KeyConditions, KeyRecord } from '../../../../src/kit/call.js'
import { environment, key } from '../make.js'

const handle = () => ({})
const rows = {
  read: get('/read', { scope: 'read', handle }),
  analytics: get('/analytics', { scope: 'read', limit: 'analytics', handle }),
  check: post('/check', { scope: 'check', limit: 'check', handle }),
  events: post('/events', { scope: 'capture', limit: 'ingest', handle }),
  write: post('/write', { scope: 'write', handle }),
  preview: post('/preview', { scope: 'read', safe: true, handle }),
  replace: put('/replace', { scope: 'write', handle }),
  admin: get('/admin', { scope: 'admin', environment: 'optional', handle }),
  adminWrite: post('/admin', { scope: 'admin', environment: 'optional', handle }),
  adminOfAccount: get('/account', { scope: 'admin', environment: 'optional', ofAccount: true, handle }),
  who: get('/who', { scope: 'any', environment: 'optional', handle }),
} satisfies Record<string, Route>
type RowName = keyof typeof rows

const environments = [
  environment({ id: 'env_dev' }),
  environment({ id: 'env_prod', environmentType: 'production' }),
  environment({ id: 'env_signed', requireContextSignature: true }),
  environment({ id: 'env_other', accountId: 'acct_2' }),
]
const keys = {
  environment: (id: string): EnvironmentRecord | null => environments.find(e => e.id === id) ?? null,
}

let nowMs = 0
let address = ''
const asker = { wallMs: () => nowMs, contextToken: '', remoteIp: () => address }

function judge(
  row: Route,
  asking: KeyRecord,
  environmentId = '',
  limits = new Limits(null),
): number | string {
  const { outcome } = admit(row, asking, environmentId, keys, limits, 0, asker)
  if (outcome instanceof ServiceError) return outcome.status
  return outcome.environmentUnknown ? 'unknown' : (outcome.environment?.id ?? 'none')
}

const all = Object.keys(rows) as RowName[]
const kinds: readonly { who: string; key: KeyRecord; may: readonly RowName[] }[] = [
  {
    who: 'AL-5 an ordinary secret key',
    key: key({ id: 'k' }),
    may: all.filter(row => !row.startsWith('admin')),
  },
  {
    who: 'AL-20 admin ⊇ write ⊇ read; capture is separate',
    key: key({ id: 'k', scopes: ['admin'] }),
    may: all.filter(row => row !== 'events' && row !== 'adminOfAccount'),
  },
  {
    who: 'decision 14 the first key acts on the account, though it is bound',
    key: key({ id: 'k', scopes: ['admin', 'capture', 'read', 'write'], bootstrap: true }),
    may: all,
  },
  {
    who: 'security 18 a key for checks alone',
    key: key({ id: 'k', scopes: ['check'] }),
    may: ['check', 'who'],
  },
  {
    who: 'AL-20 write ⊇ read',
    key: key({ id: 'k', scopes: ['write'] }),
    may: ['read', 'analytics', 'check', 'write', 'preview', 'replace', 'who'],
  },
  {
    who: 'AL-20 read',
    key: key({ id: 'k', scopes: ['read'] }),
    may: ['read', 'analytics', 'check', 'preview', 'who'],
  },
  {
    who: 'AL-20 capture checks and sends',
    key: key({ id: 'k', scopes: ['capture'] }),
    may: ['check', 'events', 'who'],
  },
  {
    who: 'AL-21 a readonly key reads, checks, previews, and sends events that will be recorded as failed',
    key: key({ id: 'k', scopes: ['read'], readonly: true }),
    may: ['read', 'analytics', 'check', 'events', 'preview', 'who'],
  },
  {
    who: 'AL-21 a readonly key changes nothing, whatever its scopes',
    key: key({ id: 'k', scopes: ['read', 'write', 'capture', 'admin'], readonly: true }),
    may: ['read', 'analytics', 'check', 'events', 'preview', 'admin', 'who'],
  },
  {
    who: 'AL-22, AL-23 a publishable key checks and sends; no reads, no usage history',
    key: key({ id: 'k', kind: 'publishable', scopes: ['capture'] }),
    may: ['check', 'events'],
  },
  { who: 'a key without scopes', key: key({ id: 'k', scopes: [] }), may: ['who'] },
]

for (const { who, key: asking, may } of kinds) {
  for (const row of all)
    t.equal(judge(rows[row], asking), may.includes(row) ? 'env_dev' : 403, `${who}: ${row}`)
}

t.test('AL-10 a key with an environment works in that one only', async t => {
  const asking = key({ id: 'k' })
  t.equal(judge(rows.read, asking, 'env_dev'), 'env_dev', 'naming its own is fine')
  t.equal(judge(rows.read, asking, 'env_prod'), 403)
  t.equal(judge(rows.read, asking, 'env_nowhere'), 403)
})

t.test('AL-11 a key without environment names one', async t => {
  const asking = key({ id: 'k', environmentId: null, scopes: ['admin'] })
  t.equal(judge(rows.read, asking, 'env_prod'), 'env_prod')
  t.equal(judge(rows.read, asking), 400)
  t.equal(judge(rows.admin, asking), 'none')
  t.equal(judge(rows.admin, asking, 'env_dev'), 'env_dev')
  t.equal(judge(rows.read, asking, 'env_nowhere'), 'unknown')
  t.equal(judge(rows.read, asking, 'env_other'), 'unknown', 'another account’s is no environment')
})

t.test('AL-1 a key whose environment is gone is no key', async t => {
  t.throws(() => judge(rows.read, key({ id: 'k', environmentId: 'env_gone' })), /missing or unknown/)
  t.throws(() => judge(rows.read, key({ id: 'k', environmentId: 'env_other' })), /missing or unknown/)
})

t.test('AL-14 an environment that requires signed contexts accepts secret keys only', async t => {
  const publishable = key({ id: 'k', kind: 'publishable', scopes: ['capture'], environmentId: 'env_signed' })
  t.equal(judge(rows.check, publishable), 403)
  t.equal(judge(rows.events, publishable), 403)
  t.equal(judge(rows.check, key({ id: 'k', environmentId: 'env_signed' })), 'env_signed')
})

t.test('security 18 a key is taken at its times and from its addresses alone, else 401', async t => {
  const always = {
    disabled: false,
    notBeforeMs: null,
    expiresAtMs: null,
    addresses: null,
    replaced: false,
  }
  const limits = new Limits({ ...defaultLimits, global: { ratePerSecond: 1e-6, burst: 1 } })
  const refused = (conditions: Partial<KeyConditions>) => {
    try {
      return judge(rows.read, key({ id: 'k', conditions: { ...always, ...conditions } }), '', limits)
    } catch (error) {
      t.equal((error as ServiceError).status, 401)
      return (error as ServiceError).message
    }
  }
  nowMs = 1_000
  address = '203.0.113.7'
  t.match(refused({ disabled: true }), /disabled/)
  t.match(refused({ notBeforeMs: 1_001 }), /not valid yet/)
  t.match(refused({ expiresAtMs: 1_000 }), /has expired/)
  t.match(refused({ expiresAtMs: 1_000, replaced: true }), /another value/)
  t.match(refused({ addresses: addressList(['203.0.113.0/29', '2001:db8::/32']) }), 'env_dev')
  t.equal(refused({}), 429, 'what was refused with 401 took nothing, what was let in did (AL-30)')
  for (const [from, isIn] of [
    ['203.0.113.8', false],
    ['2001:db8:1::7', true],
    ['2001:db9::1', false],
    ['::ffff:203.0.113.1', true],
    ['', false],
    ['no address', false],
  ] as const) {
    address = from
    const heard = refused({ addresses: addressList(['203.0.113.0/29', '2001:db8::/32']) })
    t.match(heard, isIn ? 429 : /not taken from this address/, from)
  }
})

t.test('AL-30 429 before 403 before 400', async t => {
  const tight = { ratePerSecond: 1, burst: 1 }
  const limits = new Limits({ ...defaultLimits, global: tight })
  const reader = key({ id: 'k', environmentId: null, scopes: ['read'] })
  t.equal(judge(rows.write, reader, '', limits), 403, 'lacking scope before lacking an environment')
  t.equal(judge(rows.write, reader, '', limits), 429, 'and it took its token')
})

t.test('AL-41 a request without an environment counts as production, unless it names another', async t => {
  const limits = new Limits(defaultLimits)
  const asking = key({ id: 'k', environmentId: null, scopes: ['admin'] })
  const left = (environmentId: string) =>
    admit(rows.admin, asking, environmentId, keys, limits, 0, asker).allowance?.remaining
  t.equal(left(''), 599)
  t.equal(left('env_prod'), 598)
  t.equal(left('env_dev'), 599)
  t.equal(left('env_nowhere'), 597)
})

t.test('security 21 limits that were set too low can be undone by who may set them', async t => {
  const tight = { ratePerSecond: 1e-6, burst: 1 }
  const limits = new Limits({ ...defaultLimits, global: tight, mutation: tight })
  const set = put('/limits', { scope: 'admin', environment: 'optional', neverLimited: true, handle })
  const admin = key({ id: 'k', environmentId: null, scopes: ['admin'] })
  t.equal(judge(rows.admin, admin, '', limits), 'none')
  t.equal(judge(rows.admin, admin, '', limits), 429)
  t.equal(judge(set, admin, '', limits), 'none')
  t.equal(judge(set, admin, '', limits), 'none', 'each time')
  t.equal(judge(set, key({ id: 'r', environmentId: null, scopes: ['read'] }), '', limits), 429, 'nobody else')
})

t.test(
  "decision 35 the ingest budget is the account's, or the environment's where the setting says so",
  async t => {
    const tight = { ...defaultLimits, events_ingest: { ratePerSecond: 1, burst: 1 } }
    const limits = new Limits(tight, 'environment')
    const asking = key({ id: 'k', environmentId: null, scopes: ['capture'] })
    t.equal(judge(rows.events, asking, 'env_dev', limits), 'env_dev')
    t.equal(judge(rows.events, asking, 'env_dev', limits), 429)
    t.equal(judge(rows.events, asking, 'env_prod', limits), 'env_prod')
    const shared = new Limits(tight)
    t.equal(judge(rows.events, asking, 'env_dev', shared), 'env_dev')
    t.equal(judge(rows.events, asking, 'env_prod', shared), 429)
  },
)
