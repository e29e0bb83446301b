// Ledger rows from the journal's text: the short ways give what the long ones do.

import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { drawForEvent } from '../../src/core/credits/draw.js'
import { applyCredit, ledgerEntries } from '../../src/core/credits/ledger.js'
import { decodeAccount, encodeAccount } from '../../src/core/credits/ledger-json.js'
import { balanceOf } from '../../src/core/credits/overdraft.js'
import { type CreditEffect, emptyAccount } from '../../src/core/model/account-state.js'
import type { Effect, Fact } from '../../src/core/model/message.js'
import {
  amountFromDecimal,
  amountToDecimal,
  decodeAmount,
  nanosToDecimal,
} from '../../src/core/values/amount.js'
import { putDraws } from '../../src/journal/records/draw-decoder.js'
import { factBytes } from '../../src/journal/records/fact-bytes.js'
import { FactReader } from '../../src/journal/records/fact-reader.js'
import { drawColumns, drawRows } from '../../src/journal/records/ledger-rows.js'
import { ledgerRows } from '../../workers/projector/ledger.js'
import { configOf, overdraftOf } from '../core/credit-world.js'
import { draw, tellable } from '../journal/facts.js'
import { seed } from '../random.js'

t.test('CR-87, CR-88 a draw: the row has every member of its entry', async t => {
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

/** Rows as the store takes them: by column, amounts in nano-credits; what is left out has its default. */
function readyMade(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map(line => {
      const values = line.split('\t')
      if (values.length !== drawColumns.length) throw new Error(line)
      const { grant_sequence, ...row } = Object.fromEntries(drawColumns.map((name, i) => [name, values[i]]))
      const amount = row.quantity_consumed === '0' ? '0' : `-${row.quantity_consumed}`
      return stored({ ...row, event_type: 'usage', usage_reason: 'track', amount })
    })
}

const amounts = new Set(['amount', 'quantity_consumed', 'grant_quantity_remaining'])

function stored(row: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [name, amounts.has(name) ? amountFromDecimal(String(value)) : String(value)]),
  )
}

const reader = new FactReader()
const read = (bytes: Buffer): Fact => reader.read(bytes, 0, bytes.length)

const built = (of: Fact): Record<string, unknown>[] =>
  ledgerRows(read(factBytes(of))).map(({ line }) => stored(JSON.parse(line)))

t.test('CR-87, CR-88 rows that are written ready-made are those that follow from the fact', async t => {
  t.comment(`seed ${seed}`)
  const draws = fc.array(draw, { maxLength: 3 })
  fc.assert(
    fc.property(draws, fc.boolean(), (given, tells) => {
      const fx = tells ? tellable(given, 1) : given
      const of: Fact = { k: 'c', id: 'comp_23456789ABC', env: 'env_23456789ABC', at: 1, fx }
      const text = drawRows(of.env, of.id, of.at, fx)
      if (fx.some(({ ext, now, at }) => ext !== undefined || (now ?? at) !== of.at)) return text === ''
      return isDeepStrictEqual(readyMade(text), built(of))
    }),
    { seed, numRuns: 2_000 },
  )
})

t.test(
  'CR-89 random histories of draws: the ready-made rows are those of the facts, add up, and replay',
  async t => {
    t.comment(`seed ${seed}`)
    const history = fc.record({
      grants: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }),
      costs: fc.array(fc.bigInt({ min: 1n, max: 30_000_000_000n }), { maxLength: 20 }),
      limit: fc.constantFrom(null, 20n * 1_000_000_000n),
    })
    fc.assert(
      fc.property(history, ({ grants, costs, limit }) => {
        const id = 'comp_23456789ABC'
        const account = emptyAccount(id, 'bcrd_23456789ABC')
        const config = configOf({ overdraft: limit === null ? null : overdraftOf(limit) })
        grants.forEach((credits, i) => {
          const g = { reason: i % 2 === 0 ? 'free' : 'plan', q: credits * 1e9 } as const
          applyCredit(account, { t: 'credit_grant', c: account.creditId, seq: i + 1, at: i, g })
        })
        const replayed = decodeAccount(encodeAccount(account))
        let left = balanceOf(account, 1_000)
        return costs.every((cost, i) => {
          const atMs = 1_000 + i
          // some happened before they were told of
          const links = {
            featureId: 'feat_23456789ABC',
            eventId: `evt_${i}`,
            userId: null,
            atMs: atMs - (i % 2),
          }
          const use = { cost, leaseId: null, reservationId: null, ...links }
          const fx: Effect[] = []
          for (const effect of drawForEvent(account, config, use, atMs).effects) {
            applyCredit(account, effect)
            if (effect.t === 'credit_draw') fx.push(effect)
            else applyCredit(replayed, effect)
          }
          const text = Buffer.from(drawRows('env_1', id, atMs, fx))
          const again: Effect[] = []
          putDraws(text, 0, text.length, atMs, again)
          for (const effect of again) applyCredit(replayed, effect as CreditEffect)
          const rows = readyMade(drawRows('env_1', id, atMs, fx))
          for (const { amount } of rows) left += amount as bigint
          return (
            left === balanceOf(account, atMs) &&
            isDeepStrictEqual(encodeAccount(replayed), encodeAccount(account)) &&
            isDeepStrictEqual(rows, built({ k: 'c', id, env: 'env_1', at: atMs, fx }))
          )
        })
      }),
      { seed, numRuns: 500 },
    )
  },
)
