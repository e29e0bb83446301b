// Ledger rows from the journal's text: the short ways give what the long ones do.
import fc from 'fast-check'
import t from 'tap'
import { amountToDecimal, decodeAmount, nanosToDecimal } from '../../src/core/amount.js'
import { ledgerEntries } from '../../src/core/ledger.js'
import type { Effect, Fact } from '../../src/core/message.js'
import { creditFactOf, ledgerRows } from '../../workers/project/ledger.js'
import { draw, fact } from '../journal/facts.js'

const seed = Number(process.env.TOLLGATE_SEED ?? Date.now() % 2 ** 31)

t.test('a fact read for its credits alone gives the rows of the whole fact', async t => {
  t.comment(`seed ${seed}`)
  fc.assert(
    fc.property(fact, one => {
      const text = JSON.stringify(one)
      const whole = JSON.parse(text) as Fact
      return JSON.stringify(ledgerRows(creditFactOf(text))) === JSON.stringify(ledgerRows(whole))
    }),
    { seed, numRuns: 2_000 },
  )
  const marks = '{"t":"credit_draw"}],"ik":["x"'
  const tricky: Fact = {
    k: 'c',
    id: 'comp_1',
    env: 'env_1',
    at: 1,
    fx: [
      { t: 'used', subtype: marks, quantity: 1, atMs: 1 },
      { t: 'credit_grant', c: 'bcrd_1', seq: 1, at: 1, g: { reason: 'free', q: 5 } },
      { t: 'seen', atMs: 1 },
    ],
    ik: [marks, 'evt_1', 1],
  }
  const text = JSON.stringify(tricky)
  t.same(creditFactOf(text).fx, tricky.fx.slice(1), 'marks inside of texts are none')
  t.same(ledgerRows(creditFactOf(text)), ledgerRows(tricky))
})

t.test('CR-87, CR-88 a draw: the row tells every member of its entry', async t => {
  t.comment(`seed ${seed}`)
  fc.assert(
    fc.property(draw, effect => {
      const of = { id: 'comp_23456789ABC', env: 'env_23456789ABC', fx: [effect as Effect] }
      const rows = ledgerRows(of)
      const entries = ledgerEntries(of.id, effect)
      return (
        rows.length === entries.length &&
        entries.every((entry, i) => {
          const told = JSON.parse(rows[i]!.line)
          const wanted = {
            environment_id: of.env,
            company_id: of.id,
            credit_id: entry.creditId,
            event_at: entry.atMs,
            sequence: entry.seq,
            event_type: 'usage',
            usage_reason: 'track',
            amount: amountToDecimal(entry.amount),
            quantity_consumed: amountToDecimal(entry.consumed),
            grant_id: entry.grantId ?? undefined,
            grant_quantity_remaining: entry.left === null ? undefined : amountToDecimal(entry.left),
            feature_id: entry.featureId ?? undefined,
            user_id: entry.userId ?? undefined,
            usage_event_id: entry.eventId ?? undefined,
          }
          return rows[i]!.atMs === entry.atMs && JSON.stringify(told) === JSON.stringify(wanted)
        })
      )
    }),
    { seed, numRuns: 2_000 },
  )
})

t.test('CR-2 an amount as JSON keeps it, as its decimal', async t => {
  t.comment(`seed ${seed}`)
  const nanos = fc.oneof(
    fc.maxSafeInteger(),
    fc.integer({ min: -2_000_000_000, max: 2_000_000_000 }),
    fc.integer().map(n => n * 1_000_000),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 90n }).map(String),
  )
  fc.assert(
    fc.property(nanos, one => nanosToDecimal(one) === amountToDecimal(decodeAmount(one))),
    { seed, numRuns: 5_000 },
  )
  t.equal(nanosToDecimal(0), '0')
  t.equal(nanosToDecimal(-0), '0')
  t.equal(nanosToDecimal(-1), '-0.000000001')
})
