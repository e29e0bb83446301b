// Account budgets and key caps: AL-40…46 and the rate_limit conformance cases.
import t from 'tap'
import {
  type Allowance,
  defaultLimits,
  Limits,
  limitTable,
} from '../../../../src/front/http/admission/limits.js'
import type { LimitKind } from '../../../../src/front/http/routing/route.js'
import type { KeyRecord } from '../../../../src/kit/call.js'
import { vectors } from '../../../core/vectors.js'
import { key } from '../make.js'

interface RateCase {
  readonly title: string
  readonly input: { readonly rate_limit_percent: number | null }
  readonly steps: readonly {
    readonly t: number
    readonly kind: 'read' | 'write' | 'flag_check' | 'event' | 'analytics'
    readonly count: number
    readonly expect: unknown
  }[]
}

const kinds = {
  read: 'read',
  write: 'mutation',
  flag_check: 'check',
  event: 'ingest',
  analytics: 'analytics',
} as const

for (const { id, title, input, steps } of vectors<RateCase>('rate_limit')) {
  const limits = new Limits(defaultLimits)
  const asking = key({ id: 'apik_1', rateLimitPercent: input.rate_limit_percent })
  const seen = steps.map(step => burst(limits, asking, kinds[step.kind], step.count, step.t * 1_000))
  t.same(
    seen,
    steps.map(step => step.expect),
    `${id} ${title}`,
  )
}

t.test('AL-41 global and mutation are kept apart for production and the rest', async t => {
  const limits = new Limits(defaultLimits)
  const asking = key({ id: 'apik_1' })
  const left = (kind: LimitKind, production: boolean, environmentId: string) =>
    limits.admit(asking, kind, production, 0, environmentId)?.remaining
  t.equal(left('read', true, 'env_prod'), 599)
  t.equal(left('read', false, 'env_dev'), 599)
  t.equal(left('read', false, 'env_staging'), 598)
  t.equal(left('mutation', true, 'env_prod'), 119)
  t.equal(left('mutation', false, 'env_dev'), 119)
  t.equal(left('mutation', false, 'env_staging'), 118)
})

t.test('AL-41 tokens of companies’ pages take nothing from servers, nor from publishable keys', async t => {
  const limits = new Limits(defaultLimits)
  const server = key({ id: 'apik_1', environmentId: 'env_prod' })
  const page = key({ id: 'apik_2', environmentId: 'env_prod', kind: 'publishable' })
  const token = key({ id: 'tat_1', environmentId: 'env_prod', companyId: 'comp_1' })
  const left = (asking: KeyRecord, environmentId = 'env_prod') =>
    limits.admit(asking, 'read', true, 0, environmentId)?.remaining
  for (let n = 0; n < 600; n++) left(token)
  t.ok(limits.admit(token, 'read', true, 0, 'env_prod')?.refused, 'its own are used up')
  t.equal(left(server), 599)
  t.equal(left(page), 599)
  t.equal(left({ ...token, environmentId: 'env_dev' }, 'env_dev'), 599, 'of each environment')
})

t.test('AL-40 nodes that tell each other what they took use up one budget', async t => {
  const nodes = [new Limits(defaultLimits), new Limits(defaultLimits)] as const
  const [one, other] = nodes
  for (const node of nodes) node.share()
  const settle = (nowMs: number) => {
    const all = nodes.map(node => node.takeSpent())
    one.spentElsewhere(all[1]!, nowMs)
    other.spentElsewhere(all[0]!, nowMs)
  }
  const admit = (node: Limits, asking: KeyRecord, kind: LimitKind, nowMs: number) =>
    node.admit(asking, kind, false, nowMs, 'env_dev')
  const secret = key({ id: 'apik_1' })
  const others = [
    key({ id: 'apik_2', kind: 'publishable' }),
    key({ id: 'apik_3', rateLimitPercent: 10 }),
  ] as const
  for (const asking of [secret, ...others])
    for (const kind of ['ingest', 'analytics', 'mutation', 'check'] as const) {
      while (admit(one, asking, kind, 0)?.refused === null);
      t.equal(admit(other, asking, kind, 0)?.refused, null, `${kind} of ${asking.id}: not told yet`)
      settle(0)
      t.match(admit(other, asking, kind, 0), { remaining: 0, refused: {} }, `${kind} of ${asking.id}: told`)
      for (const node of nodes) node.setAccount(secret.accountId, undefined)
    }

  // Both nodes take all they may for ten seconds, and settle ten times a second.
  let taken = 0
  for (let nowMs = 0; nowMs < 10_000; nowMs += 10) {
    for (const node of nodes)
      for (let i = 0; i < 20; i++) if (admit(node, secret, 'ingest', nowMs)?.refused === null) taken++
    if (nowMs % 100 === 0) settle(nowMs)
  }
  const { ratePerSecond, burst } = defaultLimits.events_ingest
  const bound = burst + 10 * ratePerSecond
  t.ok(taken >= bound * 0.98, `${taken} of ${bound} are used`)
  // Once, what one node may take in a tenth of a second.
  t.ok(taken <= bound + burst + ratePerSecond, `${taken} of ${bound} are not exceeded for long`)
  t.same(new Limits(defaultLimits).takeSpent(), [])
})

t.test('security 5 publishable keys use up no budget that a server needs', async t => {
  const limits = new Limits(defaultLimits)
  const [server, page] = [key({ id: 'apik_1' }), key({ id: 'apik_2', kind: 'publishable' })]
  const admit = (asking: typeof server, kind: LimitKind, environmentId: string) =>
    limits.admit(asking, kind, true, 0, environmentId)
  for (const kind of ['ingest', 'check'] as const) {
    while (admit(page, kind, 'env_a')?.refused === null);
    t.match(admit(page, kind, 'env_a'), { remaining: 0, refused: {} }, `${kind} of pages is exhausted`)
    t.equal(admit(server, kind, 'env_a')?.refused, null, 'that of servers is not')
    t.equal(admit(page, kind, 'env_b')?.refused, null, 'nor that of pages of another environment')
  }
})

const wide = { ...defaultLimits, global: { ratePerSecond: 1, burst: 10_000 } }

t.test('decision 35 events ingest and analytics are one budget of all environments', async t => {
  for (const kind of ['ingest', 'analytics'] as const) {
    const limits = new Limits(wide)
    const admit = (
      production: boolean,
      environmentId: string,
      kindOfKey: 'secret' | 'publishable' = 'secret',
    ) => limits.admit(key({ id: 'apik_1', kind: kindOfKey }), kind, production, 0, environmentId)
    while (admit(false, 'env_dev')?.refused === null);
    t.match(admit(true, 'env_prod'), { remaining: 0, refused: {} }, `${kind}: used up in Development`)
    t.match(admit(true, ''), { remaining: 0, refused: {} }, 'nor is there one without an environment')
    t.equal(admit(true, 'env_prod', 'publishable')?.refused, null, 'publishable keys have their own')
    while (admit(true, 'env_prod', 'publishable')?.refused === null);
    t.equal(admit(false, 'env_dev', 'publishable')?.refused, null, 'in each environment')
  }
})

t.test('decision 35 nodes count one budget of events ingest', async t => {
  const [one, other] = [new Limits(wide), new Limits(wide)]
  one.share()
  other.share()
  const asking = key({ id: 'apik_1' })
  for (let i = 0; i < 100; i++) one.admit(asking, 'ingest', false, 0, 'env_dev')
  other.spentElsewhere(one.takeSpent(), 0)
  t.equal(other.admit(asking, 'ingest', true, 0, 'env_prod')?.remaining, 49)
})

t.test('decision 35 TOLLGATE_LIMITS_SCOPE=environment keeps events ingest and analytics apart', async t => {
  const limits = new Limits(wide, 'environment')
  const asking = key({ id: 'apik_1' })
  for (const kind of ['ingest', 'analytics'] as const) {
    const admit = (production: boolean, environmentId: string) =>
      limits.admit(asking, kind, production, 0, environmentId)
    while (admit(false, 'env_dev')?.refused === null);
    t.match(admit(false, 'env_dev'), { remaining: 0, refused: {} }, `${kind} of Development is exhausted`)
    t.equal(admit(true, 'env_prod')?.refused, null, `${kind} of Production is not`)
    t.equal(admit(false, 'env_staging')?.refused, null, `nor that of Staging`)
  }
})

t.test('decision 35 a capped key has its share of what environments have', async t => {
  const limits = new Limits(defaultLimits, 'environment')
  const capped = key({ id: 'apik_1', environmentId: null, rateLimitPercent: 10 })
  t.match(limits.admit(capped, 'ingest', false, 0, 'env_dev'), { limit: 15, remaining: 14 })
  t.match(limits.admit(capped, 'ingest', true, 0, 'env_prod'), { limit: 15, remaining: 14 })
  const together = new Limits(defaultLimits)
  t.match(together.admit(capped, 'ingest', false, 0, 'env_dev'), { limit: 15, remaining: 14 })
  t.match(together.admit(capped, 'ingest', true, 0, 'env_prod'), { limit: 15, remaining: 13 })
})

t.test('AL-40 every key of an account draws from the same budgets; another account has its own', async t => {
  const limits = new Limits(defaultLimits)
  t.equal(limits.admit(key({ id: 'apik_1' }), 'read', true, 0)?.remaining, 599)
  t.equal(limits.admit(key({ id: 'apik_2' }), 'read', true, 0)?.remaining, 598)
  t.equal(limits.admit(key({ id: 'apik_3', accountId: 'acct_2' }), 'read', true, 0)?.remaining, 599)
})

t.test('AL-40 a refusal takes nothing, also not from the bucket that still had tokens', async t => {
  const limits = new Limits(defaultLimits)
  const asking = key({ id: 'apik_1' })
  burst(limits, asking, 'mutation', 130, 0)
  t.equal(limits.admit(asking, 'read', true, 0)?.remaining, 479, '120 writes and this read')
})

t.test('AL-42 a tie of remaining requests goes to the longer reset', async t => {
  const limits = new Limits({
    ...defaultLimits,
    global: { ratePerSecond: 1, burst: 10 },
    mutation: { ratePerSecond: 5, burst: 10 },
  })
  const asking = key({ id: 'apik_1' })
  burst(limits, asking, 'mutation', 4, 0)
  t.match(limits.admit(asking, 'mutation', true, 0), { limit: 10, remaining: 5, resetSeconds: 5 })
})

t.test('AL-43 a key over its cap takes nothing from the account', async t => {
  const limits = new Limits(defaultLimits)
  burst(limits, key({ id: 'apik_1', rateLimitPercent: 25 }), 'mutation', 40, 0)
  t.equal(limits.admit(key({ id: 'apik_2' }), 'mutation', true, 0)?.remaining, 120 - 30 - 1)
})

t.test('AL-43 an exhausted account refuses a key under its cap, which loses nothing', async t => {
  const limits = new Limits(defaultLimits)
  const capped = key({ id: 'apik_1', rateLimitPercent: 25 })
  t.match(limits.admit(capped, 'mutation', true, 0), { limit: 30, remaining: 29 })
  burst(limits, key({ id: 'apik_2' }), 'mutation', 119, 0)
  const refused = limits.admit(capped, 'mutation', true, 0)
  t.match(refused, { limit: 30, remaining: 29, refused: { bucket: 'mutation', retryAfterSeconds: 1 } })
  t.match(
    limits.admit(capped, 'mutation', true, 1_000),
    { limit: 30, remaining: 29, refused: null },
    'it was full again',
  )
})

t.test('AL-46 a changed cap starts full, and splits production from the rest', async t => {
  const limits = new Limits(defaultLimits)
  const at10 = key({ id: 'apik_1', rateLimitPercent: 10 })
  burst(limits, at10, 'read', 60, 0)
  t.ok(limits.admit(at10, 'read', true, 0)?.refused)
  t.equal(limits.admit(at10, 'read', false, 0)?.remaining, 59)
  t.match(limits.admit({ ...at10, rateLimitPercent: 20 }, 'read', true, 0), { limit: 120, remaining: 119 })
})

t.test('AL-45 a percentage of 0 is no cap', async t => {
  const limits = new Limits(defaultLimits)
  t.match(limits.admit(key({ id: 'apik_1', rateLimitPercent: 0 }), 'read', true, 0), { limit: 600 })
})

t.test('limits are off, raised for one account, and taken back', async t => {
  const limits = new Limits(null)
  const asking = key({ id: 'apik_1' })
  t.equal(limits.admit(asking, 'mutation', true, 0), null)
  limits.setAccount('acct_1', { ...defaultLimits, global: { ratePerSecond: 1_000, burst: 5_000 } })
  t.match(limits.admit(asking, 'read', true, 0), { limit: 5_000, remaining: 4_999 })
  const capped = key({ id: 'apik_2', rateLimitPercent: 10 })
  t.match(
    limits.admit(capped, 'read', true, 0),
    { limit: 500 },
    'a cap is a share of the account’s own limit',
  )
  limits.setAccount('acct_1', undefined)
  t.equal(limits.admit(asking, 'read', true, 0), null)
})

t.test('a setting names a table, whole or in part', async t => {
  t.equal(limitTable('off'), null)
  t.same(limitTable('default'), defaultLimits)
  const raised = { ratePerSecond: 1, burst: 2 }
  t.same(limitTable({ analytics: raised }), { ...defaultLimits, analytics: raised })
})

t.test('limits of everyone do not reach an account that has none', async t => {
  const limits = new Limits(defaultLimits)
  limits.setAccount('acct_1', null)
  t.equal(limits.admit(key({ id: 'apik_1', rateLimitPercent: 1 }), 'analytics', true, 0), null)
})

// A number of requests back to back, told as the conformance cases tell them.
function burst(
  limits: Limits,
  asking: ReturnType<typeof key>,
  kind: LimitKind,
  count: number,
  nowMs: number,
) {
  let accepted = 0
  let last: Allowance | null = null
  for (let i = 0; i < count; i++) {
    last = limits.admit(asking, kind, true, nowMs)
    if (last?.refused === null) accepted++
  }
  return { accepted, rejected: count - accepted, last_response: told(last!) }
}

function told(allowance: Allowance) {
  const { limit, remaining, resetSeconds: reset, refused } = allowance
  if (refused === null) return { status: 200, limit, remaining, reset }
  return {
    status: 429,
    bucket: refused.bucket,
    limit,
    remaining,
    reset,
    retry_after: refused.retryAfterSeconds,
  }
}
