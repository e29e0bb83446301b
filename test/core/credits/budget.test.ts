// Budgets: a law of random draws, holds and releases over windows against a simple sum, through JSON as a restart does.
import t from 'tap'
import { due } from '../../../src/core/credits/balance.js'
import { budgetWindows } from '../../../src/core/credits/budget.js'
import { budgetRefusal, drawForEvent } from '../../../src/core/credits/draw.js'
import { acquireLease, releaseHold, reserve } from '../../../src/core/credits/hold.js'
import { applyCredit, draftOf } from '../../../src/core/credits/ledger.js'
import { decodeAccount, encodeAccount } from '../../../src/core/credits/ledger-json.js'
import { giveGrant } from '../../../src/core/credits/repayment.js'
import {
  type CreditAccount,
  type CreditConfig,
  type CreditEffect,
  emptyAccount,
} from '../../../src/core/model/account-state.js'
import type { SpendPolicyDef } from '../../../src/core/model/definitions.js'
import { encodeAmount } from '../../../src/core/values/amount.js'
import { Random, seed, times } from '../../random.js'

const credit = 1_000_000_000n
const hourMs = 3_600_000
const began = Date.UTC(2031, 0, 30, 22)

const policy = (more: Partial<SpendPolicyDef> & Pick<SpendPolicyDef, 'id' | 'window'>): SpendPolicyDef => ({
  creditId: 'c',
  companyId: 'comp',
  userId: null,
  maxPerDraw: null,
  ...more,
})
const policies: readonly SpendPolicyDef[] = [
  policy({ id: 'hour', window: { period: 'hour', max: '7', hard: true, label: null } }),
  policy({ id: 'day', window: { period: 'day', max: '20', hard: true, label: 'Daily' } }),
  policy({ id: 'soft', window: { period: 'month', max: '5', hard: false, label: null } }),
  policy({
    id: 'ann',
    companyId: null,
    userId: 'ann',
    window: { period: 'day', max: '4', hard: true, label: null },
  }),
  policy({
    id: 'team',
    companyId: null,
    group: { trait: 'team', value: 'red' },
    window: { period: 'hour', max: '3', hard: true, label: null },
  }),
]
const hourOf = (ms: number) => Math.floor(ms / hourMs)

function configAt(userId: string | null, team: string | null, nowMs: number): CreditConfig {
  const subject = { companyId: 'comp', userId, trait: (name: string) => (name === 'team' ? team : null) }
  return {
    burnStrategy: 'first_in_first_out',
    ledgerAuthority: 'service_authoritative',
    overdraft: null,
    topup: null,
    defaultExpiry: { type: 'no_expiry', unit: null, count: null },
    period: null,
    trialEndMs: null,
    maxPerDraw: null,
    windows: budgetWindows(policies, 'c', subject, nowMs),
  }
}

/** Hard bounds, each with the sums of its windows. */
class Sums {
  private readonly spent = new Map<string, bigint>()
  private key = (id: string, nowMs: number): string =>
    `${id} ${id === 'day' || id === 'ann' ? Math.floor(nowMs / (24 * hourMs)) : hourOf(nowMs)}`

  of(id: string, nowMs: number): bigint {
    return this.spent.get(this.key(id, nowMs)) ?? 0n
  }

  add(ids: readonly string[], amount: bigint, nowMs: number): void {
    for (const id of ids) this.spent.set(this.key(id, nowMs), this.of(id, nowMs) + amount)
  }
}
const mostOf: Readonly<Record<string, bigint>> = { hour: 7n, day: 20n, ann: 4n, team: 3n }

t.test(
  'BU-1 BU-2 BU-3 BU-4 BU-8 no history of draws and holds exceeds a hard policy, across restarts',
  async t => {
    for (let run = 0; run < times(60); run++) {
      const from = seed + run
      const random = new Random(from)
      const draft = draftOf(emptyAccount('comp', 'c'))
      giveGrant(draft, { reason: 'free', q: encodeAmount(100_000n * credit) }, began)
      let account: CreditAccount = draft.account
      const sums = new Sums()
      let nowMs = began
      const apply = (effects: readonly CreditEffect[]) => {
        for (const effect of effects) applyCredit(account, effect)
      }
      /** Holds that are open, with what they count in. */
      const open = new Map<string, { ids: readonly string[]; amount: bigint; atMs: number; endMs: number }>()
      const close = (id: string, returned: bigint) => {
        const hold = open.get(id)!
        open.delete(id)
        sums.add(hold.ids, -returned, hold.atMs)
      }
      for (let step = 0; step < 120; step++) {
        nowMs += random.pick([0, 1, 60_000, 1_000_000, hourMs, 5 * hourMs])
        for (const [id, hold] of [...open]) if (hold.endMs <= nowMs) close(id, hold.amount)
        const userId = random.pick([null, 'ann', 'bob'])
        const team = random.pick([null, 'red', 'blue'])
        const config = configAt(userId, team, nowMs)
        apply(due(account, config, nowMs))
        const ids = ['hour', 'day', ...(userId === 'ann' ? ['ann'] : []), ...(team === 'red' ? ['team'] : [])]
        const amount = BigInt(1 + random.below(4)) * credit
        const fits = ids.every(id => sums.of(id, nowMs) + amount <= mostOf[id]! * credit)
        const said = `seed ${from} step ${step}`
        switch (random.below(4)) {
          case 0: {
            const use = {
              cost: amount,
              leaseId: null,
              reservationId: null,
              featureId: null,
              eventId: 'e',
              userId,
              atMs: nowMs,
            }
            const refused = budgetRefusal(account, config, use)
            if ((refused === null) !== fits) t.fail(`${said}: a draw of ${amount}: ${refused}`)
            if (refused !== null) break
            apply(drawForEvent(account, config, use, nowMs).effects)
            sums.add(ids, amount, nowMs)
            break
          }
          case 1: {
            const made = reserve(account, config, { amount, expiresAtMs: nowMs + 900_000 }, nowMs)
            if ('refused' in made !== !fits) t.fail(`${said}: a reservation of ${amount}`)
            if ('refused' in made) {
              t.match(made.detail, /^Spend policy .+ allows .+ it resets at /)
              break
            }
            apply(made.effects)
            sums.add(ids, amount, nowMs)
            open.set(made.hold.id, { ids, amount, atMs: nowMs, endMs: nowMs + 900_000 })
            break
          }
          case 2: {
            if (account.lease !== null) break
            const made = acquireLease(account, config, { amount, expiresAtMs: nowMs + 600_000 }, nowMs)
            if ('refused' in made !== !fits) t.fail(`${said}: a lease of ${amount}`)
            if ('refused' in made) break
            apply(made.effects)
            sums.add(ids, amount, nowMs)
            open.set(made.hold.id, { ids, amount, atMs: nowMs, endMs: nowMs + 600_000 })
            break
          }
          default: {
            const [id] = [...open.keys()]
            if (id === undefined) break
            const hold = open.get(id)!
            const isLease = account.lease?.id === id
            const cost = BigInt(random.below(5)) * credit
            if (cost === 0n) {
              const ended = releaseHold(account, config, isLease ? 'lease' : 'reservation', id, nowMs)
              if (!('refused' in ended)) apply(ended.effects)
              close(id, hold.amount)
              break
            }
            const holds = { leaseId: isLease ? id : null, reservationId: isLease ? null : id }
            const use = { cost, ...holds, featureId: null, eventId: 'e', userId, atMs: nowMs }
            const paid = cost < hold.amount ? cost : hold.amount
            const rest = isLease ? 0n : cost - paid
            // a window that counted the hold has counted what it pays
            const beside = ids.filter(one => !hold.ids.includes(one))
            const room = (list: readonly string[], more: bigint) =>
              more === 0n || list.every(one => sums.of(one, nowMs) + more <= mostOf[one]! * credit)
            const refused = budgetRefusal(account, config, use)
            if ((refused === null) !== (room(beside, paid + rest) && room(ids, rest)))
              t.fail(`${said}: ${cost} from a hold of ${hold.amount}: ${refused}`)
            if (refused !== null) break
            apply(drawForEvent(account, config, use, nowMs).effects)
            sums.add(beside, paid, nowMs)
            sums.add(ids, rest, nowMs)
            if (isLease) open.set(id, { ...hold, amount: hold.amount - paid })
            else close(id, hold.amount - paid)
          }
        }
        for (const id of Object.keys(mostOf))
          if (sums.of(id, nowMs) > mostOf[id]! * credit) t.fail(`${said}: ${id} is exceeded`)
        // a restart
        if (random.chance(0.2)) account = decodeAccount(JSON.parse(JSON.stringify(encodeAccount(account))))
        if (!t.passing()) return
      }
    }
    t.pass('no window is exceeded, and none refuses what fits')
  },
)
