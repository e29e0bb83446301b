// Replay rebuilds the company (promises 3 and 7): effects of a random life, replayed from any snapshot, give
// the same state.

import fc from 'fast-check'
import t from 'tap'
import { compileCatalog } from '../../src/core/catalog.js'
import { apply, decideCompany, newCompany, presentOf } from '../../src/core/company/company.js'
import { decodeCompany, encodeCompany } from '../../src/core/company/state.js'
import { settle } from '../../src/core/live/company-accounts.js'
import type { Company } from '../../src/core/model/company-state.js'
import type { CompanyMessage, Effect, EntityWrite } from '../../src/core/model/message.js'
import type { AcceptedEvent } from '../../src/core/model/requests.js'
import { acceptedEvent } from '../accepted-event.js'
import { catalogData, entitlement, feature, plan } from '../core/make.js'
import { seed, times } from '../random.js'

const runs = times(200)
const start = Date.UTC(2026, 2, 1)
const catalog = compileCatalog(
  catalogData({
    credits: [
      {
        id: 'bcrd_1',
        name: 'Credits',
        burnStrategy: 'expiration_priority',
        ledgerAuthority: 'service_authoritative',
        defaultExpiryUnit: 'days',
        defaultExpiryUnitCount: null,
        defaultRolloverPolicy: 'none',
      },
    ],
  }),
)

const write = (more: Partial<EntityWrite>): EntityWrite => ({
  addKeys: [],
  removeKeys: [],
  name: null,
  traits: [],
  introduces: [],
  lastSeenAtMs: null,
  atMs: start,
  ...more,
})

const name = fc.constantFrom('a', 'b', '__proto__')
const text = fc.constantFrom('1', '2', 'x')
const message: fc.Arbitrary<CompanyMessage> = fc.oneof(
  fc.record({
    type: fc.constant('upsert' as const),
    write: fc
      .record({ key: name, value: text, trait: name, to: fc.option(text) })
      .map(({ key, value, trait, to }) =>
        write({ addKeys: [[key, value]], traits: [{ name: trait, value: to }] }),
      ),
    updateOnly: fc.boolean(),
    preventRemap: fc.boolean(),
    basePlanId: fc.constant(null),
    basePlanPriceId: fc.constant(null),
  }),
  fc.record({ type: fc.constant('event' as const), event: fc.integer({ min: -3, max: 9 }).map(track) }),
  fc.record({
    type: fc.constant('increment_trait' as const),
    write: fc.constant(write({ addKeys: [['a', '1']] })),
    name,
    by: fc.integer({ min: -5, max: 5 }),
    updateOnly: fc.boolean(),
  }),
  fc.constant({ type: 'delete' as const }),
  fc.record({ type: fc.constant('seen' as const), atMs: fc.integer({ min: start, max: start + 1e9 }) }),
)

function track(quantity: number): AcceptedEvent {
  return acceptedEvent({
    id: `evt_${quantity}`,
    subtype: quantity % 2 ? 'odd' : 'even',
    quantity,
    capturedAtMs: start,
    receivedAtMs: start,
    companyId: 'comp_1',
  })
}

interface Step {
  readonly effects: readonly Effect[]
  readonly atMs: number
  /** The state after the step, as a snapshot. */
  readonly after: string
}

function live(messages: readonly CompanyMessage[]): Step[] {
  const company = newCompany('comp_1', 'env_1')
  return messages.map((one, index) => {
    const atMs = start + index * 3_600_000
    const timed = one.type === 'event' ? { ...one, event: { ...one.event, capturedAtMs: atMs } } : one
    const settled = company.exists ? settle(company, catalog, atMs).effects : []
    for (const effect of settled) apply(company, effect, atMs)
    const decision = decideCompany(company, catalog, timed, atMs)
    const effects = 'refused' in decision ? [] : decision.effects
    for (const effect of effects) apply(company, effect, atMs)
    company.timeMs = atMs
    company.sequence = index + 1
    return { effects: [...settled, ...effects], atMs, after: JSON.stringify(encodeCompany(company)) }
  })
}

/** Apply steps to a company. Each effect is encoded and decoded as in the journal. */
function replay(company: Company, steps: readonly Step[], from: number): string {
  for (const [index, { effects, atMs }] of steps.entries()) {
    if (index < from) continue
    for (const effect of JSON.parse(JSON.stringify(effects)) as Effect[]) apply(company, effect, atMs)
    company.timeMs = atMs
    company.sequence = index + 1
  }
  return JSON.stringify(encodeCompany(company))
}

t.test(`replaying the journal rebuilds the company (seed ${seed})`, async t => {
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 30 }), fc.nat(), (messages, pick) => {
      const steps = live(messages)
      const final = steps.at(-1)!.after
      const at = pick % steps.length
      const snapshot = decodeCompany(JSON.parse(steps[at]!.after))
      return (
        replay(newCompany('comp_1', 'env_1'), steps, 0) === final && replay(snapshot, steps, at + 1) === final
      )
    }),
    { seed, numRuns: runs },
  )
  t.pass(`${runs} lives, from the beginning and from a snapshot`)
})

/** A catalog whose one plan draws a credit for each use of `paid`. */
const drawing = compileCatalog(
  catalogData({
    credits: catalog.data.credits,
    features: [feature('paid')],
    plans: [
      plan('plan_paid', [
        entitlement('paid', { valueType: 'credit', valueCreditId: 'bcrd_1', consumptionRate: 1 }),
      ]),
    ],
    initialPlanId: 'plan_paid',
  }),
)

interface Arrival {
  readonly message: CompanyMessage
  readonly atMs: number
}

/**
 * Sends messages to a company in their order of arrival, each at its own present. Returns the times and the
 * state.
 */
function arrive(arrivals: readonly Arrival[]) {
  const company = newCompany('comp_1', 'env_1')
  const times: number[] = []
  for (const { message, atMs } of arrivals) {
    const nowMs = presentOf(company, atMs)
    times.push(nowMs)
    const settled = company.exists ? settle(company, drawing, nowMs).effects : []
    for (const effect of settled) apply(company, effect, nowMs)
    const decision = decideCompany(company, drawing, message, nowMs)
    if ('refused' in decision) continue
    for (const effect of decision.effects) apply(company, effect, nowMs)
    company.timeMs = nowMs
  }
  return { times, company }
}

const created: CompanyMessage = {
  type: 'upsert',
  write: write({ addKeys: [['a', '1']] }),
  updateOnly: false,
  preventRemap: false,
  basePlanId: null,
  basePlanPriceId: null,
}
const used = (quantity: number, atMs: number): CompanyMessage => ({
  type: 'event',
  event: { ...track(quantity), subtype: 'paid', capturedAtMs: atMs, receivedAtMs: atMs },
})

t.test('decision 22, CR-60 two refunds that overtook each other share one adjustment grant', async t => {
  const [first, second] = [start + 1_000, start + 1_017]
  const { company, times } = arrive([
    { message: created, atMs: start },
    { message: used(-2, second), atMs: second },
    { message: used(-3, first), atMs: first },
  ])
  const grants = company.credits.get('bcrd_1')!.grants.filter(({ reason }) => reason === 'adjustment')
  t.match(grants, { length: 1, 0: { remaining: 5_000_000_000n } })
  t.same(times, [start, second, second])
})

t.test(
  `decision 22 time never runs backwards in a company, however its messages arrive (seed ${seed})`,
  async t => {
    const arrival = fc.record({
      quantity: fc.integer({ min: -4, max: 4 }),
      jitterMs: fc.integer({ min: 0, max: 600_000 }),
    })
    fc.assert(
      fc.property(fc.array(arrival, { minLength: 2, maxLength: 30 }), list => {
        const sent = list.map(({ quantity, jitterMs }, i) => ({
          quantity: quantity || 1,
          atMs: start + i * 1_000 - jitterMs + 600_000,
        }))
        const messages = sent.map(({ quantity, atMs }) => ({ message: used(quantity, atMs), atMs }))
        const { times, company } = arrive([{ message: created, atMs: start }, ...messages])
        if (times.some((one, i) => i > 0 && one < times[i - 1]!)) throw new Error('time went back')
        if (
          times.some(
            (one, i) => i > 0 && one !== Math.max(start, ...sent.slice(0, i).map(({ atMs }) => atMs)),
          )
        )
          throw new Error('it is the latest of all that arrived')
        const refunds = (company.credits.get('bcrd_1')?.grants ?? []).filter(
          ({ reason }) => reason === 'adjustment',
        )
        if (refunds.length > 1) throw new Error('CR-60 allows one adjustment grant')
      }),
      { seed, numRuns: runs },
    )
    t.pass(`${runs} orders`)
  },
)

t.test('decision 22 a test clock that is removed takes its companies back', async t => {
  const day = 86_400_000
  const { times } = arrive([
    { message: created, atMs: start + 30 * day },
    { message: used(1, start), atMs: start },
    { message: used(1, start + 5), atMs: start + 5 },
    { message: used(1, start + 3), atMs: start + 3 },
  ])
  t.same(times, [start + 30 * day, start, start + 5, start + 5])
})
