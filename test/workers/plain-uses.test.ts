// Usual events that draw credits, on the short way of the shard, against every event decided, applied and written by
// itself: the same companies, the same records, byte for byte.
import t from 'tap'
import { compileCatalog } from '../../src/core/catalog.js'
import { apply, decideCompany } from '../../src/core/company/company.js'
import { encodeCompany } from '../../src/core/company/state.js'
import { applyCredit } from '../../src/core/credits/ledger.js'
import { type CreditAccount, emptyAccount } from '../../src/core/model/account-state.js'
import type { Company } from '../../src/core/model/company-state.js'
import type { Counter } from '../../src/core/model/counters.js'
import type { Effect } from '../../src/core/model/message.js'
import { itemsOf, UsageBatchWriter } from '../../src/core/usage/batch.js'
import { readCounter } from '../../src/core/usage/counter.js'
import { encodeAmount } from '../../src/core/values/amount.js'
import { encodeId } from '../../src/core/values/id.js'
import { Group } from '../../src/journal/frame.js'
import { RecordFlag } from '../../src/journal/journal.js'
import { eventRow, monthOf } from '../../src/journal/records/event-row.js'
import { factBytes } from '../../src/journal/records/fact-bytes.js'
import { drawRows } from '../../src/journal/records/ledger-rows.js'
import { Encoder, unpack } from '../../src/wire/message-codec.js'
import { Changes } from '../../src/wire/version-counters.js'
import { companyActor } from '../../workers/shard/actors.js'
import { rowExtra } from '../../workers/shard/events/row-extra.js'
import { PlainUses } from '../../workers/shard/events/uses.js'
import { flagsOf } from '../../workers/shard/kinds.js'
import {
  catalogData,
  company,
  credit,
  entitlement,
  feature,
  holding,
  override,
  plan,
  planVersion,
  postpaid,
} from '../core/make.js'
import { Random } from '../random.js'

const env = 'env_23456789ABC'
const creditId = 'bcrd_23456789AB'
const otherCredit = 'bcrd_3456789ABC'
const begunMs = 1_773_568_800_000
const nano = 1_000_000_000

/** Plans that draw in every way there is: once, twice, past zero, with a top-up, never. */
function catalogOf(random: Random) {
  const paid = (credit: string, rate: number) =>
    entitlement('paid', { valueType: 'credit', valueCreditId: credit, consumptionRate: rate })
  const rate = random.pick([1.5, 1, 0.000000001, 123_456.789])
  const drawing = [
    paid(creditId, rate),
    entitlement('other', { valueType: 'credit', valueCreditId: otherCredit, consumptionRate: 0.25 }),
  ]
  const version = (id: string, creditGrants: ReturnType<typeof postpaid>[]) => ({
    versions: [planVersion(`${id}_v1`, { entitlements: drawing, creditGrants })],
  })
  return compileCatalog(
    catalogData({
      environmentId: env,
      features: [
        feature('paid'),
        feature('other'),
        // the common bytes of records name it: catalogs of one moment must not share them
        ...(random.chance(0.5) ? [feature('twice', { eventSubtype: 'paid' })] : []),
        feature('free'),
      ],
      credits: [
        credit(creditId, {
          burnStrategy: random.pick([
            'first_in_first_out',
            'last_in_first_out',
            'expiration_priority',
            'plan_first_then_credit_bundles_first_in_first_out',
          ]),
          ledgerAuthority: random.chance(0.1) ? 'external_rated' : 'service_authoritative',
        }),
        credit(otherCredit),
      ],
      plans: [
        plan('plan_once', drawing),
        plan('plan_twice', [
          ...drawing,
          entitlement('twice', { valueType: 'credit', valueCreditId: otherCredit, consumptionRate: 2 }),
        ]),
        plan('plan_owing', drawing, version('plan_owing', [postpaid(creditId, '50')])),
        plan(
          'plan_topped',
          drawing,
          version('plan_topped', [
            {
              ...postpaid(creditId, null),
              postpaidEnabled: false,
              autoTopupAvailability: 'automatic',
              autoTopupAmount: 30,
              autoTopupThresholdCredits: 10,
            },
          ]),
        ),
        plan('plan_free', []),
      ],
      spendPolicies: random.chance(0.1)
        ? [{ id: 'bcsp_1', creditId, companyId: null, userId: null, maxPerDraw: '5' } as never]
        : [],
    }),
  )
}

function accountOf(random: Random, companyId: string, of: string): CreditAccount {
  const account = emptyAccount(companyId, of)
  for (let i = random.below(5); i > 0; i--)
    applyCredit(account, {
      t: 'credit_grant',
      c: of,
      seq: account.sequence + 1,
      at: begunMs - random.below(3),
      g: {
        reason: random.pick(['free', 'purchased', 'plan', 'adjustment', 'rollover'] as const),
        q: random.pick([random.below(40) * nano, 1.5 * nano, 3 * nano, 1, '12345678901234567890']),
        from: random.chance(0.1) ? begunMs + random.below(4) : undefined,
        exp: random.chance(0.4) ? begunMs + random.below(6) : undefined,
      },
    })
  return account
}

const anyPlan = (random: Random) =>
  holding(
    random.pick([
      'plan_once',
      'plan_once',
      'plan_once',
      'plan_twice',
      'plan_owing',
      'plan_topped',
      'plan_free',
    ]),
  )

const dearer = override('paid', { valueType: 'credit', valueCreditId: creditId, consumptionRate: 3 })

/** Changes of a company between two of its events. */
function anyChange(random: Random, { credits }: Company, at: number): Effect {
  const account = credits.get(creditId)
  const holder = {
    planId: 'plan_twice',
    versionId: 'plan_twice_v1',
    addedAtMs: at,
    priceId: null,
    trial: null,
  }
  const grant = account?.grants.at(-1)
  const zeroed: Effect | null =
    grant === undefined
      ? null
      : {
          t: 'credit_zero_out',
          c: creditId,
          seq: account!.sequence + 1,
          at,
          r: 'manual',
          s: [[grant.seq, encodeAmount(grant.remaining), 0]],
        }
  return random.pick([
    { t: 'plan', plan: anyPlan(random) },
    { t: 'override', override: dearer },
    { t: 'override_removed', overrideId: dearer.id },
    { t: 'add_ons', addOns: random.chance(0.5) ? [holder] : [] },
    {
      t: 'credit_grant',
      c: creditId,
      seq: (account?.sequence ?? 0) + 1,
      at,
      g: {
        reason: random.pick(['purchased', 'adjustment', 'rollover'] as const),
        q: 30 * nano,
        exp: random.chance(0.5) ? at + 1 : undefined,
      },
    },
    zeroed ?? { t: 'seen', atMs: at },
  ] satisfies Effect[])
}

function companyOf(random: Random, i: number): Company {
  const id = encodeId('comp_', i, 7)
  return company({
    id,
    environmentId: env,
    plan: anyPlan(random),
    overrides: random.chance(0.1) ? [dearer] : [],
    credits: random.chance(0.9)
      ? [
          [creditId, accountOf(random, id, creditId)],
          [otherCredit, accountOf(random, id, otherCredit)],
        ]
      : [],
  })
}

function usesOf(random: Random, companies: number, at: number) {
  const rows = new UsageBatchWriter()
  let text = ''
  const put = (piece: string) => {
    const from = text.length
    text += piece
    return from
  }
  for (let i = random.below(12); i >= 0; i--) {
    const name = random.pick(['paid', 'paid', 'paid', 'other', 'free', 'unknown'])
    const body = `{"event":"${name}"}`
    rows.add({
      bodyAt: put(body),
      bodyLength: body.length,
      nameAt: put(name),
      nameLength: name.length,
      keyAt: 0,
      keyLength: 0,
      quantity: random.pick([1, 1, 1, 1, 2, 7, 0, -2]),
      idHigh: random.below(2 ** 31),
      idLow: random.below(2 ** 31),
      sentAtMs: null,
      companyId: encodeId('comp_', random.below(companies), 7),
      userId: random.chance(0.3) ? encodeId('user_', random.below(9), 1) : null,
    })
  }
  return { at, env, apiKeyId: 'apik_3mK9tQxYzAb', text, rows }
}

t.test('CR-48, CR-86…91 usual events draw as events one by one', async t => {
  const random = new Random()
  t.comment(`TOLLGATE_SEED=${random.seed}`)
  let [short, drawn, late] = [0, 0, 0]
  for (let round = 0; round < 400; round++) {
    let catalog = catalogOf(random)
    const size = 1 + random.below(3)
    const seed = random.below(2 ** 31)
    const made = () => {
      const same = new Random(seed)
      return Array.from({ length: size }, (_, i) => companyOf(same, i))
    }
    const [quick, slow] = [made(), made()]
    const actors = new Map(quick.map(state => [state.id, companyActor(state, 0)]))
    const states = new Map(slow.map(state => [state.id, state]))
    const [group, apart] = [new Group(), new Group()]
    group.begin(1)
    apart.begin(1)
    const plain = new PlainUses(Changes.make(1))
    const packing = new Encoder()
    const isOvertaking = random.chance(0.5)
    for (let n = 0; n < 6; n++) packing.add(n, usesOf(random, size, begunMs + random.below(6)))
    unpack(structuredClone(packing.take()), request => {
      if (!('uses' in request)) throw new Error('no uses')
      if (random.chance(0.1)) catalog = catalogOf(random)
      for (const state of random.chance(0.3) ? states.values() : []) {
        const change = anyChange(random, state, request.at)
        apply(state, change, request.at)
        apply(actors.get(state.id)!.state as Company, change, request.at)
      }
      plain.begin(request, catalog)
      for (const [i, { id, m }] of itemsOf(request).entries()) {
        const { event } = m
        const state = states.get(id)!
        // a request that was overtaken counts when the one before it did (decision 22); a removed test clock takes time back
        const present = isOvertaking ? Math.max(request.at, state.timeMs) : request.at
        if (present > request.at) late++
        const decision = decideCompany(state, catalog, { type: 'event', event }, present)
        const fx: readonly Effect[] = 'refused' in decision ? [] : decision.effects
        for (const effect of fx) apply(state, effect, present)
        state.timeMs = present
        const flags = flagsOf(fx)
        const ledger = flags & RecordFlag.draws ? drawRows(env, id, present, fx) : ''
        const record = {
          flags: RecordFlag.event | flags,
          month: monthOf(request.at),
          row: eventRow(event, rowExtra(catalog, env, event, present)),
          ledger,
          fact: factBytes({ k: 'c', id, env, at: present, fx }, ledger !== ''),
        }
        const actor = actors.get(id)!
        actor.settledUntilMs = 1
        if (plain.add(actor, request, request.from + i, present)) {
          short++
          apart.add(present > request.at ? record : { ...record, flags: record.flags | RecordFlag.use })
          if (flags & RecordFlag.draws) drawn++
          // an account that owes may bring something by time alone
          if (fx.some(effect => effect.t === 'credit_draw' && state.credits.get(effect.c)?.overdraft))
            t.equal(actor.settledUntilMs, 0)
        } else {
          apart.add(record)
          if (plain.count > 0) group.addFramed(plain.take())
          for (const effect of fx) apply(actor.state, effect, present)
          ;(actor.state as Company).timeMs = present
          group.add(record)
        }
        const [one, other] = [
          JSON.stringify(encodeCompany(actor.state)),
          JSON.stringify(encodeCompany(state)),
        ]
        if (one !== other) t.equal(one, other)
      }
    })
    if (plain.count > 0) group.addFramed(plain.take())
    if (!group.seal().equals(apart.seal())) t.fail(`the records of round ${round} differ`)
  }
  t.ok(short > 5_000 && drawn > 1_000, `${short} on the short way, ${drawn} of them draw`)
  t.ok(late > 1_000, `${late} were overtaken`)
})

/** Rows of one company, each with one of the names 'free' and 'other'. */
function rowsOf(names: readonly ('free' | 'other')[]) {
  const rows = new UsageBatchWriter()
  for (const [i, name] of names.entries())
    rows.add({
      bodyAt: 0,
      bodyLength: 2,
      nameAt: name === 'free' ? 2 : 6,
      nameLength: name.length,
      keyAt: 0,
      keyLength: 0,
      quantity: 1,
      idHigh: 1,
      idLow: i,
      sentAtMs: null,
      companyId: encodeId('comp_', 0, 7),
      userId: null,
    })
  return { at: begunMs, env, apiKeyId: 'apik_3mK9tQxYzAb', text: '{}freeother', rows }
}

/** Take some rows of some requests of one time and key; the others are repeats. Returns how often each name was counted. */
function countsOf(requests: readonly { names: readonly ('free' | 'other')[]; taken: readonly number[] }[]) {
  const catalog = catalogOf(new Random())
  const actor = companyActor(company({ id: encodeId('comp_', 0, 7), environmentId: env }), 0)
  const plain = new PlainUses(Changes.make(1))
  for (const { names, taken } of requests) {
    const packing = new Encoder()
    packing.add(0, rowsOf(names))
    unpack(packing.take(), request => {
      if (!('uses' in request)) throw new Error('no uses')
      plain.begin(request, catalog)
      for (const i of taken)
        if (!plain.add(actor, request, request.from + i, request.at)) throw new Error('not plain')
    })
  }
  const { counters } = actor.state as Company
  const countOf = (counter: Counter) => readCounter(counter, 'all_time', 'first_of_month', begunMs, null)
  return Object.fromEntries([...counters].map(([name, counter]) => [name, countOf(counter)]))
}

t.test('EV-27 a row that is left out lends its name to no other row', async t => {
  t.same(countsOf([{ names: ['free', 'other', 'other'], taken: [0, 2] }]), { free: 1, other: 1 })
})

t.test('EV-27 a row of an earlier request lends its name to no row of the next', async t => {
  // the first row of the second request is a repeat: the row before its second one is not the first request's
  const requests = [
    { names: ['free'], taken: [0] },
    { names: ['other', 'other'], taken: [1] },
  ] as const
  t.same(countsOf(requests), { free: 1, other: 1 })
})
