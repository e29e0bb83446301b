// Replay rebuilds the company (promises 3 and 7): the effects of a random life, folded again from any snapshot on,
// give the same state. The seed is printed; TOLLGATE_SEED repeats a run, TOLLGATE_RUNS makes it longer.
import fc from 'fast-check'
import t from 'tap'
import { compileCatalog } from '../../src/core/catalog.js'
import { apply, type Company, decideCompany, newCompany } from '../../src/core/company.js'
import { settle } from '../../src/core/company-credit.js'
import type { AcceptedEvent, CompanyMessage, Effect, EntityWrite } from '../../src/core/message.js'
import { decodeCompany, encodeCompany } from '../../src/core/state.js'
import { catalogData } from '../core/make.js'

const seed = Number(process.env.TOLLGATE_SEED ?? Date.now() % 1_000_000)
const runs = Number(process.env.TOLLGATE_RUNS ?? 200)
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
  return {
    id: `evt_${quantity}`,
    type: 'track',
    subtype: quantity % 2 ? 'odd' : 'even',
    body: '{}',
    quantity,
    mode: 'normal',
    capturedAtMs: start,
    sentAtMs: null,
    receivedAtMs: start,
    apiKeyId: 'apik_1',
    idempotencyKey: null,
    companyId: 'comp_1',
    userId: null,
    leaseId: null,
    reservationId: null,
    failure: null,
    derivedFrom: null,
    inference: null,
  }
}

interface Step {
  readonly effects: readonly Effect[]
  readonly atMs: number
  /** The state after it, as a snapshot. */
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
    company.sequence = index + 1
    return { effects: [...settled, ...effects], atMs, after: JSON.stringify(encodeCompany(company)) }
  })
}

/** Fold steps over a company, each effect having been to the journal and back. */
function replay(company: Company, steps: readonly Step[], from: number): string {
  for (const [index, { effects, atMs }] of steps.entries()) {
    if (index < from) continue
    for (const effect of JSON.parse(JSON.stringify(effects)) as Effect[]) apply(company, effect, atMs)
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
