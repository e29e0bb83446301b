// Cost of a use of credits as a company's grants pile up: deciding, deciding and applying, reading the figures.
import { cpuUsage } from 'node:process'
import { due, figures } from '../../src/core/credits/balance.js'
import { drawForEvent } from '../../src/core/credits/draw.js'
import { acquireLease } from '../../src/core/credits/hold.js'
import { applyCredit, copyAccount, ledgerEntries } from '../../src/core/credits/ledger.js'
import { type CreditAccount, type CreditConfig, emptyAccount } from '../../src/core/model/account-state.js'
import { configOf } from '../../test/core/credit-world.js'

const nowMs = Date.UTC(2026, 2, 15, 10)
const endless = 10n ** 18n
let sink = 0

/** Median of runs, in microseconds of processor time per call: other processes do not count. */
function bench(name: string, goalUs: number | null, work: () => number): void {
  for (let i = 0; i < 10_000; i++) sink += work()
  const times: number[] = []
  for (let run = 0; run < 15; run++) {
    const begun = cpuUsage()
    for (let i = 0; i < 5_000; i++) sink += work()
    times.push(cpuUsage(begun).user / 5_000)
  }
  times.sort((a, b) => a - b)
  const median = times[7]!
  const verdict = goalUs === null ? '' : `goal ${goalUs} µs ${median <= goalUs ? 'met' : 'MISSED'}`
  console.log(`${name.padEnd(64)} ${median.toFixed(3).padStart(8)} µs   ${verdict}`)
}

/** An account of some grants, each with its own end. */
function accountOf(count: number, each: bigint): CreditAccount {
  const account = emptyAccount('comp_bench', 'bcrd_bench')
  for (let seq = 1; seq <= count; seq++) {
    const reason = seq % 3 === 0 ? 'plan' : 'purchased'
    const exp = nowMs + ((seq * 37) % count) * 86_400_000 + 86_400_000
    const g = { reason, q: each.toString(), exp } as const
    applyCredit(account, { t: 'credit_grant', c: account.creditId, seq, at: nowMs - 1000 + seq, g })
  }
  return account
}

const use = (cost: bigint) => ({
  cost,
  leaseId: null,
  reservationId: null,
  featureId: 'feat_bench',
  eventId: 'evnt_bench',
  userId: null,
  atMs: nowMs,
})

const byExpiry = configOf({ burnStrategy: 'expiration_priority' })
const strategies: readonly (readonly [string, CreditConfig])[] = [
  ['plan first', configOf()],
  ['newest first', configOf({ burnStrategy: 'last_in_first_out' })],
  ['by expiry', byExpiry],
]

for (const count of [1, 8, 64]) {
  const goalUs = count === 64 ? 5 : null
  for (const [name, config] of strategies) {
    const account = accountOf(count, endless)
    bench(`a draw on one of ${count} grants, ${name}: decide and apply`, goalUs, () => {
      const { effects } = drawForEvent(account, config, use(1_000_000n), nowMs)
      for (const effect of effects) applyCredit(account, effect)
      return effects.length
    })
  }
  const all = accountOf(count, 1_000_000_000n)
  const cost = BigInt(count) * 1_000_000_000n - 1n
  for (const [name, config] of strategies) {
    const decide = (): number => drawForEvent(all, config, use(cost), nowMs).effects.length
    bench(`a draw over all of ${count} grants, ${name}: decide`, goalUs, decide)
  }
  const { effects } = drawForEvent(all, configOf(), use(cost), nowMs)
  bench(`a draw over all of ${count} grants: copy the account and apply`, null, () => {
    const copy = copyAccount(all)
    for (const effect of effects) applyCredit(copy, effect)
    return copy.sequence
  })
  bench(`the effect of a draw over ${count} grants as JSON`, null, () => JSON.stringify(effects).length)
  bench(
    `the ledger entries of a draw over ${count} grants`,
    null,
    () => ledgerEntries('comp_bench', effects[0]!).length,
  )
  const idle = accountOf(count, endless)
  bench(`figures of ${count} grants`, null, () => (figures(idle, byExpiry, nowMs).remaining > 0n ? 1 : 0))
  bench(`nothing due in ${count} grants`, null, () => due(idle, byExpiry, nowMs).length + 1)
}

const leased = accountOf(8, endless)
const lease = acquireLease(leased, configOf(), { amount: endless, expiresAtMs: null }, nowMs)
if ('effects' in lease) for (const effect of lease.effects) applyCredit(leased, effect)
const leaseId = leased.lease!.id
bench('a commit on a lease: decide and apply', null, () => {
  const { effects } = drawForEvent(leased, configOf(), { ...use(1_000_000n), leaseId }, nowMs)
  for (const effect of effects) applyCredit(leased, effect)
  return effects.length
})
if (sink === 0.5) console.log(sink)
